//! `cargo xtask install` and `uninstall`.

use std::path::{Path, PathBuf};

use stepstone_tests::{Executables, Run, Sandbox, executables};

use super::{contents, is_here, xtask};

/// What is installed below a prefix, beside the record of it.
const INSTALLED: [&str; 14] = [
    "bin/stepstone",
    "bin/stepstone-mcp",
    "bin/stepstoned",
    "share/bash-completion/completions/stepstone",
    "share/doc/stepstone/CHANGELOG.md",
    "share/doc/stepstone/LICENSE",
    "share/doc/stepstone/README.md",
    "share/fish/vendor_completions.d/stepstone.fish",
    "share/man/man1/stepstone-mcp.1",
    "share/man/man1/stepstone.1",
    "share/man/man1/stepstoned.1",
    "share/stepstone/installed-files",
    "share/stepstone/skills/stepstone/SKILL.md",
    "share/zsh/site-functions/_stepstone",
];

fn install(sandbox: &Sandbox) -> PathBuf {
    let prefix = sandbox.base().join("prefix");
    let run = xtask(sandbox, &["install", "--prefix"]).arg(&prefix);
    run.arg("--from").arg(&executables().directory).finish().ended(0);
    prefix
}

fn uninstall(sandbox: &Sandbox, prefix: &Path) -> Run {
    xtask(sandbox, &["uninstall", "--prefix"]).arg(prefix)
}

#[test]
fn installing_puts_the_programs_and_what_belongs_to_them_below_the_prefix() {
    let sandbox = Sandbox::new();
    let prefix = install(&sandbox);
    let files = contents(&prefix);
    assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), INSTALLED);
    let sandbox = sandbox.with_executables(Executables::within(&prefix.join("bin")));
    sandbox.cli(["add", "Installed"]).finish().ended(0);
    assert_eq!(sandbox.mcp().read("stepstone://worklist/next").id(), "installed");
    let running = std::fs::read_link(format!("/proc/{}/exe", sandbox.daemon().pid)).unwrap();
    assert_eq!(running, prefix.join("bin/stepstoned"));
}

#[test]
fn installed_texts_are_what_their_readers_take() {
    let sandbox = Sandbox::new();
    let prefix = install(&sandbox);
    let skill = std::fs::read_to_string(prefix.join("share/stepstone/skills/stepstone/SKILL.md")).unwrap();
    assert!(skill.starts_with("---\nname: stepstone\n"), "{skill}");
    for page in ["stepstone", "stepstone-mcp", "stepstoned"] {
        let text = std::fs::read_to_string(prefix.join(format!("share/man/man1/{page}.1"))).unwrap();
        assert!(text.starts_with(".TH ") && text.contains("\n.SH NAME\n"), "{page}");
    }
    for (shell, file) in [
        ("bash", "share/bash-completion/completions/stepstone"),
        ("zsh", "share/zsh/site-functions/_stepstone"),
        ("fish", "share/fish/vendor_completions.d/stepstone.fish"),
    ] {
        if is_here("completions", shell) {
            Run::new(sandbox.command(shell)).arg("-n").arg(prefix.join(file)).finish().ended(0);
        }
    }
}

#[test]
fn uninstalling_removes_what_was_installed_and_nothing_else() {
    let sandbox = Sandbox::new();
    let prefix = install(&sandbox);
    uninstall(&sandbox, &prefix).finish().ended(0);
    assert_eq!(std::fs::read_dir(&prefix).unwrap().count(), 0);

    let prefix = install(&sandbox);
    std::fs::write(prefix.join("bin/other"), "").unwrap();
    std::fs::write(prefix.join("share/man/man1/other.1"), "").unwrap();
    uninstall(&sandbox, &prefix).finish().ended(0);
    assert_eq!(contents(&prefix).into_keys().collect::<Vec<_>>(), ["bin/other", "share/man/man1/other.1"]);

    let again = uninstall(&sandbox, &prefix).finish();
    again.ended(1);
    assert!(again.err().contains("nothing is installed below"), "{}", again.err());
}

#[test]
fn installing_over_an_older_version_removes_what_only_that_had() {
    let sandbox = Sandbox::new();
    let prefix = install(&sandbox);
    let record = prefix.join("share/stepstone/installed-files");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::create_dir_all(prefix.join("share/old")).unwrap();
    std::fs::write(prefix.join("share/old/page"), "").unwrap();
    std::fs::write(&record, format!("share/old/page\n{text}")).unwrap();
    install(&sandbox);
    assert_eq!(contents(&prefix).keys().map(String::as_str).collect::<Vec<_>>(), INSTALLED);
    assert!(!prefix.join("share/old").exists());
    assert_eq!(std::fs::read_to_string(&record).unwrap(), text);
}

#[test]
fn a_record_that_names_a_place_outside_the_prefix_is_refused_whole() {
    let sandbox = Sandbox::new();
    let outside = sandbox.base().join("precious");
    std::fs::write(&outside, "mine").unwrap();
    for place in ["../precious".to_owned(), outside.display().to_string(), "bin/../../precious".to_owned()] {
        let prefix = install(&sandbox);
        let record = prefix.join("share/stepstone/installed-files");
        let text = std::fs::read_to_string(&record).unwrap();
        std::fs::write(&record, format!("{text}{place}\n")).unwrap();
        let refused = uninstall(&sandbox, &prefix).finish();
        refused.ended(1);
        assert!(refused.err().contains("not below the prefix"), "{}", refused.err());
        assert!(outside.exists() && prefix.join("bin/stepstone").exists(), "{place}");
        std::fs::write(&record, text).unwrap();
    }
}
