//! The refusals of a search for the root. Each says what to do next.

use std::io;
use std::path::Path;

use stepstone_proto::envelope::{ErrorCode, Failure};

use super::LocateError;
use super::git::Silence;

fn unavailable(message: String, resolution: &str) -> Failure {
    Failure::new(ErrorCode::Unavailable, message).resolution(resolution)
}

fn refused(failure: Failure) -> LocateError {
    LocateError::Refused(Box::new(failure))
}

/// The directory is in no work tree.
pub(super) fn no_repository(directory: &Path) -> LocateError {
    let message = format!(
        "Nothing was done: {} is not inside a Git work tree, and a roadmap belongs to one. Ask again from inside a \
         Git repository: with --cwd on the command line, with \"cwd\" in an MCP host's server configuration, or make \
         one there with \"git init\".",
        directory.display()
    );
    refused(unavailable(message, "run-inside-git-repository").with("path", text(directory)))
}

/// The directory is in a bare repository, and none of its worktrees can stand for it.
pub(super) fn bare(directory: &Path) -> LocateError {
    let message = format!(
        "Nothing was done: {} is in a bare Git repository, and no worktree has its HEAD branch checked out. Ask again \
         from inside one of its worktrees, or make one with \"git worktree add\".",
        directory.display()
    );
    refused(unavailable(message, "run-inside-git-repository").with("path", text(directory)))
}

/// There is no such directory.
pub(super) fn no_directory(directory: &Path, why: &str) -> LocateError {
    let message = format!(
        "Nothing was done: the directory {} cannot be used: {why}. Give an existing directory inside a Git repository.",
        directory.display()
    );
    refused(unavailable(message, "provide-existing-directory").with("path", text(directory)))
}

/// The directory could not be looked at.
pub(super) fn unreadable(directory: &Path, error: &io::Error) -> LocateError {
    let message = format!(
        "Nothing was done: the directory {} cannot be read: {error}. Check its permissions and ask again.",
        directory.display()
    );
    let failure = unavailable(message, "provide-existing-directory").with("path", text(directory));
    if is_refusal(error) {
        let reason = format!("{}: {error}", directory.display());
        LocateError::CallerMust { reason, failure: Box::new(failure) }
    } else {
        refused(failure)
    }
}

/// Git did not answer.
pub(super) fn silence(silence: &Silence) -> LocateError {
    match silence {
        Silence::Killed => refused(
            unavailable(
                "Nothing was done: Git was ended before it answered (its limit is 10 seconds). Ask again; if it \
                 happens every time, run \"git status\" in the repository to see what holds it up."
                    .to_owned(),
                "retry-git-command",
            )
            .retryable(),
        ),
        Silence::Missing => not_runnable("there is no git in the absolute directories of PATH"),
        Silence::NotRunnable(error) => not_runnable(&error.to_string()),
        Silence::NotTrusted(program) => not_runnable(&format!(
            "{} is another program than the one that the daemon runs by itself",
            program.display()
        )),
    }
}

/// Git is there, but not as a program that works (the stub on a Mac without developer tools, for one).
pub(super) fn not_runnable(why: &str) -> LocateError {
    let message = format!(
        "Nothing was done: Git cannot be run: {why}. Install Git, or put it on the PATH that this program is started \
         with, and ask again."
    );
    LocateError::CallerMust {
        reason: format!("git cannot be run: {why}"),
        failure: Box::new(unavailable(message, "repair-git-availability")),
    }
}

/// Git was asked and refused, for a reason that is not simply "no repository here".
pub(super) fn git_refused(directory: &Path, words: &str) -> LocateError {
    let message = format!(
        "Nothing was done: Git refused the repository around {}: {words}. Repair what Git names (\"git status\" there \
         shows the same), and ask again.",
        directory.display()
    );
    let failure = unavailable(message, "repair-git-repository")
        .with("path", text(directory))
        .with("gitError", words.to_owned());
    if words.contains("Permission denied") || words.contains("Operation not permitted") {
        LocateError::CallerMust { reason: words.to_owned(), failure: Box::new(failure) }
    } else {
        refused(failure)
    }
}

/// Errors that another process of the same user may not meet.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
