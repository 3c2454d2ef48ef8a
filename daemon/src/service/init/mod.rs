//! `init`: writes or refreshes Stepstone's block in `<root>/AGENTS.md`, nothing else, and says how hosts are set up.

mod block;
mod file;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use stepstone_proto::contract::command_line::agents_block;
use stepstone_proto::contract::integrations::{Integration, integrations};
use stepstone_proto::envelope::{ErrorCode, Failure};

use block::Problem;

/// The file, below the root.
const AGENTS: &str = "AGENTS.md";

/// What was done.
#[derive(Debug)]
pub struct Initialized {
    /// The whole result object.
    pub result: Box<RawValue>,
    /// The file was written; else its block was current.
    pub changed: bool,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The file's shape leaves it open what should become of it.
    #[error("{}: {problem}", path.display())]
    Unclear {
        /// The file.
        path: PathBuf,
        /// What is unclear.
        problem: Problem,
    },
    /// Somebody else holds the lock for too long.
    #[error("{} is held by somebody else", path.display())]
    Locked {
        /// The lock directory.
        path: PathBuf,
    },
    /// The disk refused.
    #[error("{}: {source}", path.display())]
    Disk {
        /// What was read or written.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl InitError {
    /// As callers see it: `VALIDATION_FAILED` with `markerProblem`, or `PERSISTENCE_FAILED`.
    #[must_use]
    pub fn failure(&self) -> Failure {
        match self {
            Self::Unclear { path, problem } => Failure::new(
                ErrorCode::ValidationFailed,
                format!("{} was not changed: {problem} {}", path.display(), problem.way_out()),
            )
            .resolution(problem.resolution())
            .with("path", path.to_string_lossy())
            .with("markerProblem", problem.name()),
            Self::Locked { path } => disk_failure(
                path,
                format!(
                    "AGENTS.md was not changed: the lock {} is held by somebody else. Try again in a moment.",
                    path.display()
                ),
            ),
            Self::Disk { path, source } => disk_failure(
                path,
                format!(
                    "AGENTS.md was not changed: {}: {source}. See what is wrong there, and run init again.",
                    path.display()
                ),
            ),
        }
    }

    /// Why the caller's own engine should be asked instead, if it should: the system refused this process.
    #[must_use]
    pub fn caller_must(&self) -> Option<String> {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self {
            Self::Disk { path, source } if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                Some(format!("{}: {source}", path.display()))
            }
            Self::Unclear { .. } | Self::Locked { .. } | Self::Disk { .. } => None,
        }
    }
}

fn disk_failure(path: &Path, message: String) -> Failure {
    Failure::new(ErrorCode::PersistenceFailed, message)
        .retryable()
        .resolution("check-repository-and-retry")
        .with("path", path.to_string_lossy())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    scope: &'static str,
    action: &'static str,
    agents_path: &'a Path,
    integrations: Vec<Integration>,
}

/// Writes or refreshes the block below this root (absolute, links resolved).
///
/// # Errors
///
/// [`InitError`]; the file is as it was.
pub async fn init(root: &Path) -> Result<Initialized, InitError> {
    let path = root.join(AGENTS);
    let work = {
        let (root, path) = (root.to_owned(), path.clone());
        move || file::refresh(&root, &path, &agents_block())
    };
    let disk = |source: std::io::Error| InitError::Disk { path: path.clone(), source };
    let changed =
        tokio::task::spawn_blocking(work).await.map_err(|error| disk(std::io::Error::other(error)))??;
    let answer = Answer {
        scope: "project",
        action: "init",
        agents_path: &path,
        integrations: integrations(&root.to_string_lossy(), &server().to_string_lossy()),
    };
    let result = to_raw_value(&answer).map_err(|error| disk(error.into()))?;
    Ok(Initialized { result, changed })
}

/// The MCP server beside this executable; its bare name when it is not there.
fn server() -> PathBuf {
    const NAME: &str = "stepstone-mcp";
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(NAME)));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(NAME))
}

#[cfg(test)]
mod tests;
