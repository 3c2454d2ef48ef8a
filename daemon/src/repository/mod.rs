//! Which root and which goal file, asked of Git and the file system.
//!
//! Git itself answers which work tree holds a directory, so `safe.directory`, `.git` files, submodules and nested
//! repositories mean here what they mean to Git. What it answered is kept for a moment, with the state of every file
//! that the answer depends on.

mod cache;
mod choose;
mod failures;
mod git;
mod locate;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepstone_proto::envelope::Failure;

pub use choose::{CANONICAL, Choice, ChoiceKind, LEGACY, canonical_path, choose};
pub(crate) use resolve::resolve;

use cache::Cache;
use git::{Environment, Programs};

/// Answers where a directory's roadmap is, and remembers what Git said about it for at most ten seconds.
#[derive(Debug, Default)]
pub struct Repositories {
    cache: Arc<Cache>,
    programs: Programs,
}

/// Where a caller is. All paths are absolute, with symbolic links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The work tree that has the roadmap: the repository's main one.
    pub root: PathBuf,
    /// The work tree that holds the caller's directory. Another than `root` in a linked worktree.
    pub work_tree: PathBuf,
    /// The Git directory of `work_tree`.
    pub git_dir: PathBuf,
    /// The Git directory that all worktrees of the repository share.
    pub common_dir: PathBuf,
}

/// Why there is no root.
#[derive(Debug, Clone)]
pub enum LocateError {
    /// The same for everyone who asks from there.
    Refused(Box<Failure>),
    /// The system refused this process. The caller may have rights that this process lacks, so its own engine
    /// should be asked; if this already is that engine, the failure is the answer.
    CallerMust {
        /// Why, in a few words.
        reason: String,
        /// The answer if nobody else can be asked.
        failure: Box<Failure>,
    },
}

impl LocateError {
    /// The failure as callers see it.
    #[must_use]
    pub fn failure(&self) -> Failure {
        match self {
            Self::Refused(failure) | Self::CallerMust { failure, .. } => failure.as_ref().clone(),
        }
    }

    /// Why the caller's own engine should be asked instead, if it should.
    #[must_use]
    pub fn caller_must(&self) -> Option<String> {
        match self {
            Self::Refused(_) => None,
            Self::CallerMust { reason, .. } => Some(reason.clone()),
        }
    }
}

impl Repositories {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, for callers that may have fewer rights than this process: of the programs called `git`, only the one
    /// on this process's own `PATH`, and those that the system's owner installed, are run for them.
    #[must_use]
    pub fn shared() -> Self {
        Self { programs: Programs::Trusted, ..Self::default() }
    }

    fn environment<'a>(&self, variables: &'a BTreeMap<String, String>) -> Environment<'a> {
        Environment { variables, programs: self.programs }
    }

    /// The root for a caller in `cwd`. Of `git_env`, `PATH`, `HOME` and `XDG_CONFIG_HOME` are passed on to Git.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE`, with the resolution `run-inside-git-repository`, `repair-git-availability`,
    /// `retry-git-command`, `repair-git-repository` or `provide-existing-directory`.
    pub async fn locate(
        &self,
        cwd: &Path,
        git_env: &BTreeMap<String, String>,
    ) -> Result<Located, LocateError> {
        locate::locate(&self.cache, cwd, self.environment(git_env)).await
    }

    /// The root, if Git's answer is known, still holds, and everything about it lies on file systems that answer at
    /// once. It takes some microseconds, so the event loop may ask; for all other callers there is
    /// [`Repositories::locate`].
    #[must_use]
    pub fn at_hand(&self, cwd: &Path, git_env: &BTreeMap<String, String>) -> Option<Located> {
        locate::at_hand(&self.cache, cwd, self.environment(git_env))
    }

    /// The branch checked out in the caller's own work tree; `None` when HEAD is detached. A branch without a commit
    /// has a name too.
    ///
    /// # Errors
    ///
    /// As [`Repositories::locate`], when Git has to be asked and does not answer.
    pub async fn branch(
        &self,
        located: &Located,
        git_env: &BTreeMap<String, String>,
    ) -> Result<Option<String>, LocateError> {
        locate::branch(located, self.environment(git_env)).await
    }
}
