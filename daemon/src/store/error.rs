//! What can go wrong with a goal file, and what callers are told.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepstone_proto::envelope::{ErrorCode, Failure};
use thiserror::Error;

use crate::roadmap::Defect;

/// Why a store did not do what it was asked. Cheap to clone, because a whole batch may fail for one reason.
#[derive(Debug, Clone, Error)]
pub enum StoreError {
    /// The file's content is not a roadmap, or a newer program's. It is never written.
    #[error("{} is not a roadmap that this version reads", path.display())]
    Content {
        /// The goal file.
        path: PathBuf,
        /// What is wrong with it.
        defect: Arc<Defect>,
    },
    /// Something other than a file has the goal file's name.
    #[error("{} is {found}, not a file", path.display())]
    NotAFile {
        /// The goal file.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// The file is larger than anything that is read or written.
    #[error("{} would be or is {size} bytes large", path.display())]
    TooLarge {
        /// The goal file.
        path: PathBuf,
        /// In bytes.
        size: u64,
    },
    /// The system refused.
    #[error("{}: {doing} {}: {error}", path.display(), at.display())]
    Disk {
        /// The goal file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// With what.
        at: PathBuf,
        /// The system's reason.
        error: Arc<io::Error>,
    },
    /// The file changed each time while it was read.
    #[error("{} changes all the time", path.display())]
    Unsteady {
        /// The goal file.
        path: PathBuf,
    },
    /// Somebody else held a lock for the whole time that was waited.
    #[error("{} is held", lock.display())]
    Locked {
        /// The goal file.
        path: PathBuf,
        /// The lock.
        lock: PathBuf,
    },
    /// The idempotency key was used for another operation.
    #[error("the idempotency key was used for another operation")]
    KeyUsed,
    /// The asker was gone before its turn, so nothing was done.
    #[error("the asker is gone")]
    Abandoned,
    /// The worklist's task ended before it answered. The change may have been made.
    #[error("the task of {} ended unexpectedly", path.display())]
    Ended {
        /// The goal file.
        path: PathBuf,
    },
    /// There already is a file where one was to be moved to.
    #[error("{} exists", path.display())]
    Occupied {
        /// The destination.
        path: PathBuf,
        /// What was to be moved.
        other: PathBuf,
    },
}

impl StoreError {
    /// The system refused to do something for the goal file `path`.
    pub(super) fn disk(path: &Path, doing: &'static str, at: &Path, error: io::Error) -> Self {
        Self::Disk { path: path.to_owned(), doing, at: at.to_owned(), error: Arc::new(error) }
    }

    /// The path `path` cannot be followed to a file or to where one would be made.
    pub(super) fn lost(path: &Path, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::IsADirectory {
            return Self::NotAFile { path: path.to_owned(), found: "a directory" };
        }
        Self::disk(path, "find", path, error)
    }

    /// The same error, about the goal file as the caller named it.
    pub(super) fn about(mut self, named: &Path) -> Self {
        match &mut self {
            Self::Content { path, .. }
            | Self::NotAFile { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Disk { path, .. }
            | Self::Unsteady { path }
            | Self::Locked { path, .. }
            | Self::Ended { path } => named.clone_into(path),
            Self::KeyUsed | Self::Abandoned | Self::Occupied { .. } => {}
        }
        self
    }

    /// The failure as callers see it.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let persistence = |message: String| Failure::new(ErrorCode::PersistenceFailed, message);
        match self {
            Self::Content { path, defect } => defect.failure(&text(path)),
            Self::NotAFile { path, found } => persistence(format!(
                "Nothing was done: {} is {found}. The roadmap must be a regular file or a link to one. Put the right \
                 file there, or move this out of the way, and ask again.",
                path.display()
            ))
            .with("path", text(path))
            .resolution("repair-project-file"),
            Self::TooLarge { path, size } => persistence(format!(
                "Nothing was done: {} has {size} bytes, and a roadmap has at most {} MiB. Shorten it (descriptions \
                 take most room, as a rule) and ask again.",
                path.display(),
                super::content::LIMIT >> 20
            ))
            .with("path", text(path))
            .resolution("repair-project-file"),
            Self::Disk { path, doing, at, error } => persistence(format!(
                "Nothing was changed in {}: the system refused to {doing} {}: {error}. Check free space, permissions \
                 and whether the disk is writable, then ask again.",
                path.display(),
                at.display()
            ))
            .retryable()
            .with("path", text(path))
            .with("reason", error.to_string())
            .resolution("check-repository-and-retry"),
            Self::Unsteady { path } => persistence(format!(
                "Nothing was changed: {} was being written by another program each time it was read. Ask again when \
                 that program is done.",
                path.display()
            ))
            .retryable()
            .with("path", text(path))
            .resolution("check-repository-and-retry"),
            Self::Locked { path, lock } => persistence(format!(
                "Nothing was changed in {}: another program held the lock {} for {} seconds. Ask again. If no program \
                 is writing this roadmap, the lock is let go by itself 10 seconds after its holder died.",
                path.display(),
                lock.display(),
                super::attempt::PATIENCE.as_secs()
            ))
            .retryable()
            .with("path", text(path))
            .with("lockPath", text(lock))
            .resolution("check-repository-and-retry"),
            Self::KeyUsed => Failure::new(
                ErrorCode::ValidationFailed,
                "Nothing was changed: this idempotency key was already used for another operation. Give each change a \
                 key of its own.",
            )
            .fields(["idempotencyKey"])
            .resolution("use-a-new-idempotency-key"),
            Self::Abandoned => Failure::new(
                ErrorCode::Unavailable,
                "Nothing was changed: the connection was gone before the change had its turn.",
            )
            .retryable()
            .resolution("retry-operation"),
            Self::Ended { path } => Failure::new(
                ErrorCode::Unavailable,
                format!(
                    "It is not known whether {} was changed: the engine failed inside. Read the goals again before \
                     repeating a change.",
                    path.display()
                ),
            )
            .retryable()
            .with("path", text(path))
            .resolution("check-outcome-before-retrying"),
            Self::Occupied { path, other } => Failure::new(
                ErrorCode::ValidationFailed,
                format!(
                    "Nothing was moved: both {} and {} exist, and only a person can say which goals belong together. \
                     Merge them into the first by hand, remove the second, and ask again.",
                    path.display(),
                    other.display()
                ),
            )
            .with("path", text(path))
            .with("conflictingPath", text(other))
            .resolution("merge-worklists-by-hand"),
        }
    }

    /// Why the caller's own engine should be asked instead: the system refused this process something that the
    /// caller may have the right to (permission denied, not permitted, read-only).
    #[must_use]
    pub fn caller_must(&self) -> Option<String> {
        let Self::Disk { doing, at, error, .. } = self else { return None };
        let refused =
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
        refused.then(|| format!("{doing} {}: {error}", at.display()))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
