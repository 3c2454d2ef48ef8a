//! The pages that are rendered from the contract.

use anyhow::{Context, Result, ensure};
use stepstone_proto::contract::{command_line, integrations::integrations};
use stepstone_tests::workspace_root;

use crate::say;

/// A page: where it is, below the workspace, and its whole text.
struct Page {
    path: String,
    text: String,
}

/// The lines in README.md between which each MCP host's configuration stands.
const HOSTS: [&str; 2] = ["<!-- hosts: rendered by `cargo xtask docs` -->\n", "<!-- hosts: end -->\n"];

fn pages() -> Result<Vec<Page>> {
    let mut pages = vec![
        Page { path: "README.md".to_owned(), text: readme()? },
        Page { path: "docs/cli.md".to_owned(), text: command_line::cli_reference() },
        Page { path: "packaging/skill/stepstone/SKILL.md".to_owned(), text: command_line::skill() },
    ];
    pages.extend(crate::dist::pages().into_iter().map(|(path, text)| Page { path, text }));
    Ok(pages)
}

/// The README as it is, with the hosts' configurations as they should be.
fn readme() -> Result<String> {
    let text = fs_err::read_to_string(workspace_root().join("README.md"))?;
    let (before, rest) = text.split_once(HOSTS[0]).context("README.md has no place for the hosts")?;
    let (_, after) = rest.split_once(HOSTS[1]).context("README.md does not end the hosts' place")?;
    Ok([before, HOSTS[0], &hosts(), HOSTS[1], after].concat())
}

/// Each MCP host's way to know of the server.
fn hosts() -> String {
    let all = integrations("/absolute/path/to/repository", "/absolute/path/to/stepstone-mcp");
    let mut text = String::new();
    for host in &all {
        let Some(file) = &host.file else { continue };
        text += &format!("\n### {}\n\n", host.name);
        if let Some(command) = &host.command {
            text += &format!("```sh\n{command}\n```\n\n");
        }
        let place = match host.host {
            // Its place differs between systems.
            "claude-desktop" => "`claude_desktop_config.json` (Settings, Developer, Edit Config)".to_owned(),
            _ => format!("`{}`", file.path),
        };
        text += &format!("{place}:\n\n```{}\n{}\n```\n", file.format, file.content);
        if let Some(note) = host.note {
            text += &format!("\n{note}\n");
        }
    }
    text + "\n"
}

/// Writes the pages that differ, or with `check` only names them.
///
/// # Errors
/// When a page differs and only checking was asked for, or a page cannot be written.
pub(crate) fn run(check: bool) -> Result<()> {
    let pages = pages()?;
    let mut differing = Vec::new();
    for page in &pages {
        let path = workspace_root().join(&page.path);
        if fs_err::read(&path).ok().as_deref() == Some(page.text.as_bytes()) {
            continue;
        }
        differing.push(page.path.as_str());
        if !check {
            if let Some(directory) = path.parent() {
                fs_err::create_dir_all(directory)?;
            }
            fs_err::write(&path, &page.text)?;
            say::line(format!("wrote {}", page.path));
        }
    }
    ensure!(
        !check || differing.is_empty(),
        "not as the contract renders them: {}\nrun `cargo xtask docs` and commit the result",
        differing.join(", ")
    );
    say::line(format!("{} rendered pages are current", pages.len()));
    Ok(())
}
