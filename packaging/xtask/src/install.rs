//! Install and uninstall below a prefix.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{build, say};

/// What an installation put where, below the prefix; one path a line. Uninstalling removes exactly these.
const RECORD: &str = "share/stepstone/installed-files";

/// What the command line prints about itself, and where shells and man look for it.
const RENDERED: &[(&[&str], &str)] = &[
    (&["completions", "bash"], "share/bash-completion/completions/stepstone"),
    (&["completions", "zsh"], "share/zsh/site-functions/_stepstone"),
    (&["completions", "fish"], "share/fish/vendor_completions.d/stepstone.fish"),
    (&["man"], "share/man/man1/stepstone.1"),
];

/// Builds for release and installs below `prefix`. Running programs keep the file that they run: each one is replaced
/// by a rename.
///
/// # Errors
/// When the build fails, or the system refuses a file; what was installed by then stays and is on record.
pub(crate) fn install(prefix: &Path) -> Result<()> {
    let built = build::release()?;
    let mut files: Vec<(PathBuf, Vec<u8>, u32)> = Vec::new();
    for path in [&built.daemon, &built.cli, &built.mcp] {
        let name = path.file_name().context("an executable has a name")?;
        files.push((Path::new("bin").join(name), fs_err::read(path)?, 0o755));
    }
    for (arguments, place) in RENDERED {
        files.push((place.into(), printed(&built.cli, arguments)?, 0o644));
    }
    let names: String = files.iter().map(|(place, _, _)| format!("{}\n", place.display())).collect();
    replace(&prefix.join(RECORD), names.as_bytes(), 0o644)?;
    for (place, bytes, mode) in &files {
        let path = prefix.join(place);
        replace(&path, bytes, *mode)?;
        say::line(format!("installed {}", path.display()));
    }
    Ok(())
}

/// Removes what is on record below `prefix`. A running daemon notices that its executable is gone and leaves.
///
/// # Errors
/// When nothing is on record, or the system refuses to remove a file.
pub(crate) fn uninstall(prefix: &Path) -> Result<()> {
    let record = prefix.join(RECORD);
    ensure!(record.exists(), "nothing is installed below {} ({RECORD} is missing)", prefix.display());
    for place in fs_err::read_to_string(&record)?.lines() {
        let path = prefix.join(place);
        match fs_err::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => say::line(format!("removed {}", path.display())),
        }
    }
    fs_err::remove_file(&record)?;
    // Only ours; the directories of others stay.
    if let Some(own) = record.parent() {
        let _ = std::fs::remove_dir(own);
    }
    Ok(())
}

/// What the built command line prints for these arguments.
fn printed(cli: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(cli).args(arguments).stdin(Stdio::null()).output()?;
    let shown = arguments.join(" ");
    ensure!(output.status.success(), "stepstone {shown}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// Writes a file beside its place and renames it there.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let directory = path.parent().context("a file lies in a directory")?;
    fs_err::create_dir_all(directory)?;
    let fresh = tempfile::NamedTempFile::new_in(directory)?;
    fs_err::write(fresh.path(), bytes)?;
    fs_err::set_permissions(fresh.path(), std::fs::Permissions::from_mode(mode))?;
    fresh.persist(path).with_context(|| path.display().to_string())?;
    Ok(())
}
