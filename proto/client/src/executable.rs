//! Where `stepstoned` is: beside this executable first, then on `PATH`.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "stepstoned";

/// Every place that has one, the best first.
///
/// This executable may have been replaced or removed since it was started (Linux then names it `… (deleted)`); its
/// directory is what counts.
pub(crate) fn candidates(path: Option<&OsStr>) -> Vec<PathBuf> {
    let own = std::env::current_exe().ok();
    // A client that was started through a link lies beside the link's target.
    let target = own.as_deref().and_then(|own| own.canonicalize().ok());
    let beside = own.iter().chain(&target).filter_map(|own| own.parent()).map(Path::to_owned);
    let on_path = path.map(std::env::split_paths).into_iter().flatten().filter(|entry| entry.is_absolute());
    let mut found: Vec<PathBuf> = Vec::new();
    for candidate in beside.chain(on_path).map(|directory| directory.join(NAME)) {
        if candidate.is_file() && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}

/// Starts the first one that can be started.
///
/// # Errors
///
/// What to say when there is none.
pub(crate) fn spawn_first<T>(
    path: Option<&OsStr>,
    mut spawn: impl FnMut(&Path) -> io::Result<T>,
) -> Result<T, String> {
    let mut refusals = Vec::new();
    for candidate in candidates(path) {
        match spawn(&candidate) {
            Ok(child) => return Ok(child),
            Err(error) => refusals.push(format!("{}: {error}", candidate.display())),
        }
    }
    Err(if refusals.is_empty() {
        format!("{NAME} is neither beside this executable nor on PATH")
    } else {
        format!("{NAME} cannot be started ({})", refusals.join("; "))
    })
}
