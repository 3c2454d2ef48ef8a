//! Install and uninstall below a prefix.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

use anyhow::{Context, Result, ensure};

use crate::dist::{self, RECORD, SKILL};
use crate::say;

/// Builds for release, or takes the executables of the directory `from`, and installs below `prefix`.
///
/// Running programs keep the file that they run: each one is replaced by a rename. A daemon that runs from there
/// notices within a minute that another build lies at its path, and leaves; its clients start the new one and go on.
///
/// # Errors
/// When the build fails, or the system refuses a file; what was installed by then stays and is on record.
pub(crate) fn install(prefix: &Path, from: Option<&Path>) -> Result<()> {
    let tree = dist::installation(&dist::executables(from)?)?;
    let record_path = prefix.join(RECORD);
    let before = recorded(&record_path)?;
    let places: BTreeSet<String> = tree.files().map(|(place, _)| place.to_owned()).collect();
    // What either version has is on record until the old one's leftovers are gone.
    let both: String = places.union(&before).map(|place| format!("{place}\n")).collect();
    replace(&record_path, both.as_bytes(), 0o644)?;
    for (place, file) in tree.files() {
        replace(&prefix.join(place), &file.bytes, file.mode())?;
        say::line(format!("installed {}", prefix.join(place).display()));
    }
    for place in before.difference(&places) {
        remove(prefix, place)?;
    }
    replace(&record_path, dist::record(&tree).as_bytes(), 0o644)?;
    advise(prefix);
    Ok(())
}

/// Removes what is on record below `prefix`, and the directories that this leaves empty. A running daemon
/// serves on until it is stopped or idle.
///
/// # Errors
/// When nothing is on record, or the system refuses to remove a file.
pub(crate) fn uninstall(prefix: &Path) -> Result<()> {
    let record = prefix.join(RECORD);
    ensure!(record.exists(), "nothing is installed below {} ({RECORD} is missing)", prefix.display());
    for place in recorded(&record)?.iter().filter(|place| *place != RECORD) {
        remove(prefix, place)?;
    }
    remove(prefix, RECORD)
}

/// The places on record; none when there is no record.
fn recorded(record: &Path) -> Result<BTreeSet<String>> {
    let text = match fs_err::read_to_string(record) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        other => other?,
    };
    let places: BTreeSet<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    for place in &places {
        let is_below = Path::new(place).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(is_below, "{} names {place:?}, which is not below the prefix", record.display());
    }
    Ok(places)
}

/// Removes one file, and each directory above it that is empty then, up to the prefix.
fn remove(prefix: &Path, place: &str) -> Result<()> {
    let path = prefix.join(place);
    match fs_err::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => say::line(format!("removed {}", path.display())),
    }
    for directory in path.ancestors().skip(1).take_while(|directory| *directory != prefix) {
        // A directory that others use is not empty, and stays.
        if std::fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
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

fn advise(prefix: &Path) {
    let bin = prefix.join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|each| each == bin) {
        say::line(format!("{} is not on PATH: add it to use the commands by name", bin.display()));
    }
    if let Some(skill) = prefix.join(SKILL).parent() {
        say::line(format!(
            "the agent skill is in {}: copy that folder into your agent's skills",
            skill.display()
        ));
    }
}
