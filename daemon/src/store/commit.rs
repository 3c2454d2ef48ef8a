//! Replacing a goal file so that it is either the old one or the new one at every moment, also after a crash.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::StoreError;
use super::attempt::Workbench;
use super::content::{self, Content};
use super::disk::{Disk, since_1970_ns};
use super::journal::{Journal, Record};
use super::lock_directory::{self, LockDirectory};
use super::place::Place;
use super::stamp::Facts;
use crate::roadmap::Roadmap;

/// A temporary file's name: this, the digits of a passing name, and `.tmp`.
const PREFIX: &str = ".worklist-";
const SUFFIX: &str = ".tmp";

/// Temporary files of other worklists in the directory are left alone until nobody can be interested in them.
const ANYBODYS: Duration = Duration::from_secs(60 * 60);

/// What became of a replacement that did not fail.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// It is there; `durable`: and known to be on the disk.
    Done { durable: bool },
    /// The file is another than the one decided on. Nothing was written.
    Changed,
    /// The lock directory is somebody else's now. Nothing was written.
    LockLost,
}

/// One replacement, with both locks held.
pub(super) struct Replacement<'a, 'j> {
    pub(super) bench: &'a mut Workbench,
    pub(super) place: &'a Place,
    pub(super) held: &'a LockDirectory,
    pub(super) journal: Option<&'a mut Journal<'j>>,
    /// Takes the replaced file, still open.
    pub(super) closing: &'a mut Vec<Arc<File>>,
}

impl Replacement<'_, '_> {
    /// Replaces `old`, on which was decided, by `next`. `records` are the journal's, given the temporary file's name.
    pub(super) fn make(
        &mut self,
        old: &Arc<Content>,
        next: Roadmap,
        records: impl Fn(&str) -> Vec<Record>,
    ) -> Result<Replaced, StoreError> {
        let bytes = next.print();
        if bytes.len() as u64 > content::LIMIT {
            return Err(StoreError::TooLarge { path: self.place.target.clone(), size: bytes.len() as u64 });
        }
        let (name, temporary, file) = self.create(old)?;
        let filled = self.fill(&file, &temporary, old, &bytes);
        let written = match filled {
            Ok(written) => written,
            Err(error) => {
                self.drop_temporary(&name, &temporary, false);
                return Err(error);
            }
        };
        let noted = self.write_down(records(&name));
        // From here to the rename nothing waits.
        match self.last_check(old) {
            Ok(None) => {}
            Ok(Some(reason)) => {
                self.drop_temporary(&name, &temporary, noted);
                return Ok(reason);
            }
            Err(error) => {
                self.drop_temporary(&name, &temporary, noted);
                return Err(error);
            }
        }
        self.keep_open();
        match self.rename(&temporary, old, &written) {
            Ok(true) => {}
            Ok(false) => {
                self.drop_temporary(&name, &temporary, noted);
                return Ok(Replaced::Changed);
            }
            Err(error) => {
                self.drop_temporary(&name, &temporary, noted);
                return Err(StoreError::disk(&self.place.target, "rename to", &self.place.target, error));
            }
        }
        let durable = self.sync_directories(old);
        if noted {
            self.note_end(&name, true);
        }
        let facts = self.bench.disk.inspect(&file, &self.place.target);
        self.bench.known = facts.ok().map(|facts| Arc::new(Content::written(facts, bytes, next)));
        Ok(Replaced::Done { durable })
    }

    fn create(&self, old: &Content) -> Result<(String, PathBuf, File), StoreError> {
        // A new file gets the mode that the user's mask leaves; a replaced one gets the old mode later.
        let mode = if old.file.is_some() { 0o600 } else { 0o666 };
        loop {
            let name = format!("{PREFIX}{}{SUFFIX}", self.place.new_digits());
            let path = self.place.folder().join(&name);
            match self.bench.disk.create(&path, mode) {
                Ok(file) => return Ok((name, path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::disk(&self.place.target, "create", &path, error)),
            }
        }
    }

    fn fill(&self, file: &File, path: &Path, old: &Content, bytes: &[u8]) -> Result<Facts, StoreError> {
        let disk = &self.bench.disk;
        let failed = |doing| move |error| StoreError::disk(&self.place.target, doing, path, error);
        disk.write(file, path, bytes).map_err(failed("write"))?;
        if let Some(old) = &old.file {
            let made = disk.inspect(file, path).map_err(failed("look at"))?;
            if (made.uid, made.gid) != (old.uid, old.gid) {
                // Only a privileged process may give files away; others go on without.
                let _ = disk.set_owner(file, path, old.uid, old.gid);
            }
            disk.set_mode(file, path, old.mode).map_err(failed("set the mode of"))?;
        }
        disk.sync(file, path).map_err(failed("sync"))?;
        disk.inspect(file, path).map_err(failed("look at"))
    }

    /// Whether something stands in the journal now. A journal that cannot be written stops nobody, as no state
    /// directory would; only a retry would not be recognised.
    fn write_down(&mut self, records: Vec<Record>) -> bool {
        let Some(journal) = self.journal.as_deref_mut().filter(|_| !records.is_empty()) else { return false };
        match journal.write_down(records) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "changes were not written down in the journal");
                false
            }
        }
    }

    /// What stands against the replacement, if something does.
    fn last_check(&self, old: &Arc<Content>) -> Result<Option<Replaced>, StoreError> {
        let lock = self.held.path();
        let ours = self.held.is_ours();
        if !ours.map_err(|error| StoreError::disk(&self.place.target, "look at the lock", lock, error))? {
            return Ok(Some(Replaced::LockLost));
        }
        let now = content::fresh(&self.bench.disk, &self.place.target, Some(old))?;
        // Equal stamps do not mean much while they are young, so then the bytes have been read again.
        let same = now.stamp() == old.stamp() && now.bytes == old.bytes;
        Ok((!same).then_some(Replaced::Changed))
    }

    /// Opens the file that is about to be replaced, so that what it occupies is freed when it is closed, and not while
    /// somebody waits for the rename. On a network file system an open file would leave a hidden one behind.
    fn keep_open(&mut self) {
        if let Ok(file) = self.bench.disk.open(&self.place.target)
            && !Disk::is_remote(&file)
        {
            self.closing.push(Arc::new(file));
        }
    }

    /// `false`: somebody has made the file meanwhile, or has taken the temporary one away.
    fn rename(&self, temporary: &Path, old: &Content, written: &Facts) -> io::Result<bool> {
        let (disk, target) = (&self.bench.disk, &self.place.target);
        let renamed = if old.file.is_some() {
            disk.rename(temporary, target)
        } else {
            match disk.rename_new(temporary, target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Unsupported => disk.rename(temporary, target),
                other => other,
            }
        };
        match renamed {
            Ok(()) => Ok(true),
            // A network file system may report a failure for a rename that it has done.
            Err(error) => match disk.look_no_follow(target) {
                Ok(found) if found.stamp.is_same_file(&written.stamp) => Ok(true),
                _ if error.kind() == io::ErrorKind::NotFound => Ok(false),
                _ => Err(error),
            },
        }
    }

    /// Syncs the directory, and every other whose names may not be on the disk yet. What fails is tried again with
    /// the next replacement.
    fn sync_directories(&mut self, old: &Content) -> bool {
        let folder = self.place.folder();
        let mut directories = std::mem::take(&mut self.bench.unsynced);
        directories.push(folder.to_owned());
        if old.file.is_none() {
            // Whoever made the folder may have died before syncing its parent.
            directories.extend(folder.parent().map(Path::to_owned));
        }
        directories.sort();
        directories.dedup();
        for directory in directories {
            let synced = if directory == folder {
                self.bench.disk.sync_open_directory(self.held.folder(), folder)
            } else {
                self.bench.disk.sync_directory(&directory)
            };
            match synced {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(path = %directory.display(), %error, "a directory was not synced");
                    self.bench.unsynced.push(directory);
                }
            }
        }
        self.bench.unsynced.is_empty()
    }

    /// Without a word in the journal the temporary file itself must stay: it is the proof that its change was not
    /// made.
    fn drop_temporary(&mut self, name: &str, temporary: &Path, noted: bool) {
        let may_go = !noted || self.note_end(name, false);
        if !may_go || self.bench.disk.remove_file_in(self.held.folder(), temporary).is_err() {
            self.bench.cleaned = false;
        }
    }

    fn note_end(&mut self, name: &str, made: bool) -> bool {
        let Some(journal) = self.journal.as_deref_mut() else { return true };
        match journal.end_of(name, made) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the end of a change was not written down; the next holder settles it");
                false
            }
        }
    }
}

/// Removes what dead engines left in the directory. Both locks must be held, and the journal be settled.
pub(super) fn clean(disk: &Disk, place: &Place) {
    let folder = place.folder();
    let own = place.own_digits();
    let Ok(names) = disk.names(folder) else { return };
    for name in names.iter().filter_map(|name| name.to_str()) {
        let digits = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
        if let Some(digits) = digits.filter(|digits| super::is_hex_16(digits)) {
            let path = folder.join(name);
            if digits.starts_with(&own) || is_anybodys(disk, &path) {
                let _ = disk.remove_file(&path);
            }
        } else {
            lock_directory::clean(disk, folder, name, &own);
        }
    }
}

fn is_anybodys(disk: &Disk, path: &Path) -> bool {
    disk.look_no_follow(path).is_ok_and(|found| {
        since_1970_ns(SystemTime::now()) - found.stamp.modified_ns > ANYBODYS.as_nanos().cast_signed()
    })
}
