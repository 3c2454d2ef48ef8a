//! Runs `git` with an argument vector: no shell, no inherited environment, no more than ten seconds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long Git may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Of the caller's environment, what Git gets to see. `GIT_*` is never among it.
const PASSED_ON: [&str; 2] = ["HOME", "XDG_CONFIG_HOME"];

/// What Git said.
#[derive(Debug)]
pub(super) struct Said {
    /// It ended with status 0.
    pub(super) success: bool,
    /// Its standard output.
    pub(super) out: Vec<u8>,
    /// Its standard error, trimmed.
    pub(super) err: String,
}

/// Why Git said nothing.
#[derive(Debug)]
pub(super) enum Silence {
    /// There is no `git` on the caller's `PATH`.
    Missing,
    /// It could not be run.
    NotRunnable(io::Error),
    /// It was ended by the time limit or by a signal.
    Killed,
}

/// Asks Git something that is about `directory`.
pub(super) async fn ask(
    git_env: &BTreeMap<String, String>,
    directory: &Path,
    arguments: &[OsString],
) -> Result<Said, Silence> {
    let search = search_path(git_env);
    let program = find(&search).ok_or(Silence::Missing)?;
    let mut command = Command::new(program);
    command
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .env_clear()
        // Git's own words decide which failure it is, so they must be the untranslated ones.
        .env("LC_ALL", "C")
        .env("PATH", std::env::join_paths(&search).unwrap_or_default())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    for name in PASSED_ON {
        let own = || if name == "HOME" { std::env::var_os(name) } else { None };
        if let Some(value) = git_env.get(name).map(OsString::from).or_else(own) {
            command.env(name, value);
        }
    }
    let child = command.spawn().map_err(Silence::NotRunnable)?;
    // The child is killed when the future that waits for it is dropped.
    let output = match tokio::time::timeout(LIMIT, child.wait_with_output()).await {
        Err(_) => return Err(Silence::Killed),
        Ok(output) => output.map_err(Silence::NotRunnable)?,
    };
    if output.status.code().is_none() {
        return Err(Silence::Killed);
    }
    Ok(Said {
        success: output.status.success(),
        out: output.stdout,
        err: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// The absolute directories of the caller's `PATH`. A relative one would mean another program in every directory.
fn search_path(git_env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let path = match git_env.get("PATH") {
        Some(path) => OsString::from(path),
        None => std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin")),
    };
    std::env::split_paths(&path).filter(|directory| directory.is_absolute()).collect()
}

fn find(search: &[PathBuf]) -> Option<PathBuf> {
    search.iter().map(|directory| directory.join("git")).find(|candidate| {
        std::fs::metadata(candidate)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}
