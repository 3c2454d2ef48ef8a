//! The sizes that are kept in sight.

use anyhow::{Context, Result, ensure};

use stepstone_tests::Executables;

use crate::{build, say};

/// Bytes in a megabyte, as sizes are usually told.
const MEGABYTE: u64 = 1_000_000;

/// Builds for release and compares.
///
/// # Errors
/// When an executable is larger than its limit.
pub(crate) fn run() -> Result<()> {
    compare(&build::release()?)
}

/// Compares the executables with their limits.
///
/// # Errors
/// As [`run`].
pub(crate) fn compare(built: &Executables) -> Result<()> {
    let limits =
        [(&built.cli, 5 * MEGABYTE / 2), (&built.mcp, 5 * MEGABYTE / 2), (&built.daemon, 5 * MEGABYTE)];
    let mut over = Vec::new();
    for (path, limit) in limits {
        let size = path.metadata().with_context(|| path.display().to_string())?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        say::line(format!("{name:<14} {size:>9} bytes of at most {limit}"));
        if size > limit {
            over.push(name);
        }
    }
    ensure!(over.is_empty(), "over the limit: {}", over.join(", "));
    Ok(())
}
