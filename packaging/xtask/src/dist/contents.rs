//! What an installation consists of, below its prefix: the same for `install`, archives and packages.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use stepstone_proto::contract::command_line;
use stepstone_tests::{Executables, workspace_root};

use super::tree::Tree;

/// What an installation put where, below the prefix; one path a line. Uninstalling removes exactly these.
pub(crate) const RECORD: &str = "share/stepstone/installed-files";

/// Where the agent skill is: a folder that can be copied into a host's folder for skills.
pub(crate) const SKILL: &str = "share/stepstone/skills/stepstone/SKILL.md";

/// What the command line prints about itself, and where shells and man look for it.
const RENDERED: &[(&[&str], &str)] = &[
    (&["completions", "bash"], "share/bash-completion/completions/stepstone"),
    (&["completions", "zsh"], "share/zsh/site-functions/_stepstone"),
    (&["completions", "fish"], "share/fish/vendor_completions.d/stepstone.fish"),
    (&["man"], "share/man/man1/stepstone.1"),
];

/// Pages that are written by hand, and where they go.
const WRITTEN: &[(&str, &str)] = &[
    ("packaging/man/stepstone-mcp.1", "share/man/man1/stepstone-mcp.1"),
    ("packaging/man/stepstoned.1", "share/man/man1/stepstoned.1"),
    ("LICENSE", "share/doc/stepstone/LICENSE"),
    ("README.md", "share/doc/stepstone/README.md"),
    ("CHANGELOG.md", "share/doc/stepstone/CHANGELOG.md"),
];

/// Executables, completions, man pages, skill and papers.
///
/// # Errors
/// When an executable or a page cannot be read, or the command line does not print what it is asked for.
pub(crate) fn installation(executables: &Executables) -> Result<Tree> {
    let mut tree = Tree::default();
    for path in [&executables.cli, &executables.mcp, &executables.daemon] {
        let name = path.file_name().context("an executable has a name")?.to_string_lossy();
        tree.add_program(format!("bin/{name}"), fs_err::read(path)?);
    }
    for (arguments, place) in RENDERED {
        tree.add(*place, printed(&executables.cli, arguments)?);
    }
    for (source, place) in WRITTEN {
        tree.add(*place, fs_err::read(workspace_root().join(source))?);
    }
    tree.add(SKILL, command_line::skill());
    Ok(tree)
}

/// Every path of a tree, one a line.
pub(crate) fn record(tree: &Tree) -> String {
    tree.files().map(|(path, _)| format!("{path}\n")).collect()
}

/// What the built command line prints for these arguments.
fn printed(cli: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(cli)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| cli.display().to_string())?;
    let shown = arguments.join(" ");
    ensure!(output.status.success(), "stepstone {shown}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}
