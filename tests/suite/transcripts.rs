//! What the pages for users show is what happens: every `console` block is typed into a shell, in the page's order,
//! and what comes back is compared with what the page says.
//!
//! A page is one session in one fresh repository. What differs from run to run (directories, instants, process ids)
//! is written as one example. `STEPSTONE_WRITE_PAGES=1 cargo test transcripts` writes what came back into the pages.

use std::fs;
use std::path::{Path, PathBuf};

use stepstone_tests::{Run, Sandbox, workspace_root};

/// The pages, below `docs`.
const PAGES: [&str; 6] =
    ["getting-started.md", "usage.md", "goals.md", "dependencies.md", "migrating.md", "troubleshooting.md"];
/// What stands for the directory around home and repository.
const BASE: &str = "/home/you";
/// What stands for every instant of the run.
const INSTANT: &str = "2026-06-15T12:00:00.000Z";

/// One shell whose directory lasts from command to command.
struct Shell {
    sandbox: Sandbox,
    directory: PathBuf,
}

impl Shell {
    fn new() -> Self {
        let mut sandbox = Sandbox::new();
        let own = sandbox.executables().directory.clone();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).unwrap();
        sandbox.set_env("PATH", path);
        let directory = sandbox.root();
        Self { sandbox, directory }
    }

    /// Types a command; what it printed, standard output and standard error as they came.
    fn type_in(&mut self, command: &str) -> String {
        let place = self.sandbox.base().join("place");
        let script = format!("{{ {command}\n}} 2>&1\npwd > '{}'", place.display());
        let mut shell = self.sandbox.command("bash");
        shell.args(["--noprofile", "--norc", "-c", &script]);
        let said = Run::new(shell).within(&self.directory).finish().out();
        self.directory = PathBuf::from(fs::read_to_string(&place).unwrap().trim_end());
        steady(&said.replace(&*self.sandbox.base().to_string_lossy(), BASE))
    }
}

/// The same text with everything that differs from run to run replaced.
fn steady(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = instant(rest, "0000-00-00T00:00:00.000Z") {
            // The examples' own instants are from before the programs were written.
            out.push_str(if rest.starts_with("2026-01-") { &rest[..length] } else { INSTANT });
            rest = &rest[length..];
        } else if let Some(length) = instant(rest, "0000-00-00 00:00 UTC") {
            out.push_str(if rest.starts_with("2026-01-") { &rest[..length] } else { "2026-06-15 12:00 UTC" });
            rest = &rest[length..];
        } else if let Some(behind) = rest.strip_prefix("process ") {
            out.push_str("process 4711");
            rest = behind.trim_start_matches(|digit: char| digit.is_ascii_digit());
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// The length of the instant that the text begins with, when it has this shape (`0` is any digit).
fn instant(text: &str, shape: &str) -> Option<usize> {
    let fits = text.len() >= shape.len()
        && text
            .bytes()
            .zip(shape.bytes())
            .all(|(byte, shape)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape });
    fits.then_some(shape.len())
}

/// The page with what really came back in its `console` blocks.
fn replayed(page: &str) -> String {
    let mut shell = Shell::new();
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(first) = line.strip_prefix("$ ") else { continue };
            let mut command = first.to_owned();
            out.push_str(&format!("{line}\n"));
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                command.push_str(&format!("\n{}", &more[2..]));
                out.push_str(&format!("{more}\n"));
            }
            out.push_str(&shell.type_in(&command));
        }
    }
    out
}

fn check(name: &str) {
    let path = workspace_root().join("docs").join(name);
    let page = fs::read_to_string(&path).unwrap();
    let replayed = replayed(&page);
    if std::env::var_os("STEPSTONE_WRITE_PAGES").is_some() {
        fs::write(&path, replayed).unwrap();
    } else {
        assert_eq!(replayed, page, "{name} does not show what happens");
    }
}

#[test]
fn getting_started_shows_what_happens() {
    check(PAGES[0]);
}

#[test]
fn usage_shows_what_happens() {
    check(PAGES[1]);
}

#[test]
fn goals_shows_what_happens() {
    check(PAGES[2]);
}

#[test]
fn dependencies_shows_what_happens() {
    check(PAGES[3]);
}

#[test]
fn migrating_shows_what_happens() {
    check(PAGES[4]);
}

#[test]
fn troubleshooting_shows_what_happens() {
    check(PAGES[5]);
}

#[test]
fn no_page_for_users_has_a_shell_block_that_nothing_runs() {
    for name in PAGES {
        let page = fs::read_to_string(workspace_root().join("docs").join(name)).unwrap();
        for language in ["sh", "bash", "shell"] {
            assert!(!page.contains(&format!("```{language}\n")), "{name} has a {language} block");
        }
        assert!(page.contains("```console\n"), "{name}");
    }
}

#[test]
fn what_differs_from_run_to_run_is_made_steady() {
    assert_eq!(
        steady("at 2027-03-04T05:06:07.089Z, process 12 (2027-03-04 05:06 UTC)"),
        format!("at {INSTANT}, process 4711 (2026-06-15 12:00 UTC)")
    );
    assert_eq!(steady("2026-01-01T00:00:00.000Z stays"), "2026-01-01T00:00:00.000Z stays");
    assert!(!Path::new(BASE).join("repo").exists(), "the example is nobody's directory");
}
