//! Runs `git` with an argument vector: no shell, no inherited environment, no more than ten seconds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long Git may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Of the caller's environment, what Git gets to see. `GIT_*` is never among it.
const PASSED_ON: [&str; 2] = ["HOME", "XDG_CONFIG_HOME"];

/// Which programs called `git` may be run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Programs {
    /// Whichever the caller's `PATH` leads to: the caller could run it itself.
    #[default]
    Any,
    /// The one that this process's own `PATH` leads to, or one that the system's owner installed. The caller may sit
    /// in a sandbox and have written the program itself.
    Trusted,
}

/// What Git is run with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Environment<'a> {
    /// Of the caller's environment, as it was sent.
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) programs: Programs,
}

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
    /// The caller's `PATH` leads to a program that this process does not run for others.
    NotTrusted(PathBuf),
    /// It was ended by the time limit or by a signal.
    Killed,
}

/// Asks Git something that is about `directory`.
pub(super) async fn ask(
    environment: Environment<'_>,
    directory: &Path,
    arguments: &[OsString],
) -> Result<Said, Silence> {
    let git_env = environment.variables;
    let search = search_path(git_env);
    let mut program = find(&search).ok_or(Silence::Missing)?;
    if environment.programs == Programs::Trusted {
        // What was looked at is what is run, whatever a link leads to by then.
        program = trusted(&program).ok_or(Silence::NotTrusted(program))?;
    }
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
    git_env.get("PATH").map_or_else(own_search_path, |path| absolute(&OsString::from(path)))
}

fn own_search_path() -> Vec<PathBuf> {
    absolute(&std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin")))
}

fn absolute(path: &OsString) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|directory| directory.is_absolute()).collect()
}

/// The program, links resolved, if a caller that may write less than this process cannot have made it.
fn trusted(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let own = find(&own_search_path()).and_then(|own| own.canonicalize().ok());
    // The system's owner alone can have put it there. To the system's owner itself, that says nothing.
    let of_the_system = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0)
    };
    let installed = || !rustix::process::geteuid().is_root() && real.ancestors().all(of_the_system);
    (own.as_ref() == Some(&real) || installed()).then_some(real)
}

fn find(search: &[PathBuf]) -> Option<PathBuf> {
    search.iter().map(|directory| directory.join("git")).find(|candidate| {
        std::fs::metadata(candidate)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_git_and_the_systems_are_trusted() {
        let own = find(&own_search_path()).expect("the tests need git");
        assert!(trusted(&own).is_some());
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("git");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert_eq!(trusted(&link), own.canonicalize().ok(), "a link to the own one is the own one");
        std::fs::remove_file(&link).unwrap();
        std::fs::copy("/bin/sh", &link).unwrap();
        assert!(find(&[directory.path().to_owned()]).is_some());
        assert_eq!(trusted(&link), None, "a program in a directory that others may write");
        assert_eq!(trusted(&directory.path().join("nothing")), None);
    }
}
