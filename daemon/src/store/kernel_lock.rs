//! The lock between our own engines: a file in the state directory, locked by the kernel and let go by it when its
//! holder ends in whatever way.
//!
//! In the file stands the identity of the lock directory that the holder made, as long as there is one. A next holder
//! that finds exactly that directory knows that its maker is dead, for it holds the maker's kernel lock.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::place::Key;
use super::stamp::Facts;

/// Which directory somebody made. Without a creation time an inode number may have been used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    born_ns: i128,
}

impl Identity {
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        let born_ns = facts.born_ns?;
        Some(Self { device: facts.stamp.device, inode: facts.stamp.inode, born_ns })
    }
}

/// The record's length: always the same, so that a shorter one leaves nothing of a longer one behind.
const RECORD: usize = 192;

/// Held as long as it lives.
#[derive(Debug)]
pub(super) struct KernelLock {
    disk: Disk,
    file: File,
    path: PathBuf,
    /// The last holder died at work, or kept a spare lock directory: there may be left-overs.
    pub(super) unclean: bool,
    /// The lock directory that it had made, unless it died before writing that down.
    pub(super) left_behind: Option<Identity>,
}

impl KernelLock {
    /// Takes the lock of a worklist. `None`: another engine has it.
    pub(super) fn take(disk: &Disk, state_dir: &Path, key: &Key) -> io::Result<Option<Self>> {
        let path = state_dir.join("locks").join(key.file_name());
        loop {
            let file = match disk.open_lock(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_private_directory(&state_dir.join("locks"))?;
                    disk.open_lock(&path)?
                }
                other => other?,
            };
            if !disk.try_lock(&file, &path)? {
                return Ok(None);
            }
            // Something may have cleaned the directory between opening and locking: then this is nobody's lock.
            let held = disk.inspect(&file, &path)?.stamp;
            if disk.look(&path).is_ok_and(|found| found.stamp.is_same_file(&held)) {
                let (unclean, left_behind) = read_record(disk, &file, &path);
                return Ok(Some(Self { disk: disk.clone(), file, path, unclean, left_behind }));
            }
        }
    }

    /// Writes down that there is, or soon will be, something of this holder's in the directory.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.left_behind = None;
        self.write(b"{}")
    }

    /// Writes down which lock directory this holder makes.
    pub(super) fn record(&mut self, identity: Identity) -> io::Result<()> {
        self.write(&serde_json::to_vec(&identity)?)
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let mut record = text.to_owned();
        record.resize(RECORD - 1, b' ');
        record.push(b'\n');
        self.disk.record(&self.file, &self.path, &record)
    }

    /// There is nothing of ours in the directory any more.
    pub(super) fn clear(&mut self) {
        self.left_behind = None;
        if let Err(error) = self.write(b"") {
            // Harmless: the identity names a directory that does not exist any more.
            tracing::warn!(path = %self.path.display(), %error, "a lock's record was not cleared");
        }
    }
}

impl Drop for KernelLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that is being started has it too until it runs its own program.
        if let Err(error) = self.file.unlock() {
            tracing::warn!(path = %self.path.display(), %error, "a lock was not let go");
        }
    }
}

fn read_record(disk: &Disk, file: &File, path: &Path) -> (bool, Option<Identity>) {
    // A file without a whole record has none.
    let record = disk.read_range(file, path, 0, RECORD as u64).unwrap_or_default();
    (!record.trim_ascii().is_empty(), serde_json::from_slice(&record).ok())
}

/// A directory in the state directory, for the user alone.
pub(super) fn make_private_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::*;

    #[test]
    fn a_lock_that_was_let_go_is_free_also_while_a_child_that_is_being_started_has_its_file() {
        let state = tempfile::tempdir().unwrap();
        let key = Place::of(&state.path().join("worklist.json")).unwrap().key;
        let take = || KernelLock::take(&Disk::default(), state.path(), &key).unwrap();
        let held = take().unwrap();
        let inherited = held.file.try_clone().unwrap();
        assert!(take().is_none());
        drop(held);
        assert!(take().is_some());
        drop(inherited);
    }
}
