//! The lock that other software on the same file understands: an empty directory beside the file, made by its
//! holder, its time refreshed while it is held, taken over by others when that time is old. This is the convention of
//! npm's `proper-lockfile`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::disk::{Disk, since_1970_ns};
use super::kernel_lock::{Identity, KernelLock};
use super::place::Place;
use super::stamp::{Facts, Kind};

/// One lock for everything in a directory.
pub(super) const NAME: &str = ".worklist.lock";
/// Before a lock directory gets its name, and after one was moved out of the way: this and 16 hexadecimal digits.
const PASSING: &str = ".worklist.lock-";

/// A holder that has not refreshed its lock for this long is taken for dead. A convention, so never another value.
const STALE: Duration = Duration::from_secs(10);
/// How often a held lock is refreshed; the convention needs it every 5 seconds.
pub(super) const REFRESH: Duration = Duration::from_secs(3);

/// The open directory of the lock that is held at the moment, for whoever refreshes it.
pub(super) type Pulse = Arc<Mutex<Option<Arc<File>>>>;

/// Held until it is let go or dropped.
#[derive(Debug)]
pub(super) struct LockDirectory {
    disk: Disk,
    path: PathBuf,
    /// Its name before, unless it was made in place.
    passing: Option<PathBuf>,
    /// The directory that it is in. Should that be moved away, what is ours is removed there all the same.
    folder: Arc<File>,
    made: Facts,
    /// A lock that a dead holder left was in the way.
    pub(super) took_over: bool,
    released: bool,
    /// Keeps the directory open as long as the lock is held: so nobody else's can get the same inode.
    pulse: Pulse,
}

/// A lock directory that was let go and not removed, so that the next lock need not make one. Making and removing a
/// directory takes some file systems longer than everything else that a lock needs.
///
/// It stands under its passing name and is nobody's lock. Whoever has it must [`Spare::remove`] it soon.
#[derive(Debug)]
pub(super) struct Spare {
    disk: Disk,
    passing: PathBuf,
    folder: Arc<File>,
    handle: Arc<File>,
    made: Facts,
}

impl Spare {
    /// Removes the directory, which somebody else may have done. Whether it is gone.
    pub(super) fn remove(self) -> bool {
        match self.disk.remove_directory_in(&self.folder, &self.passing) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.passing.display(), %error, "a spare lock directory was not removed");
                false
            }
            _ => true,
        }
    }
}

/// What became of an attempt to lock.
#[derive(Debug)]
pub(super) enum Taken {
    Held(LockDirectory),
    /// Somebody else has it.
    Busy,
}

impl LockDirectory {
    /// Makes the lock directory beside a goal file, or takes the spare one, unless somebody else's is there.
    pub(super) fn take(
        disk: &Disk,
        place: &Place,
        mut kernel: Option<&mut KernelLock>,
        pulse: &Pulse,
        spare: &mut Option<Spare>,
    ) -> io::Result<Taken> {
        let path = place.folder().join(NAME);
        let mut took_over = remove_left_behind(disk, place, kernel.as_deref())?;
        match disk.look_no_follow(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(found) => {
                if !is_stale(&found) || !put_away(disk, place, &path, &found)? {
                    return Ok(Taken::Busy);
                }
                took_over = true;
            }
        }
        begin(&path, kernel.as_deref_mut());
        let Some(Made { passing, folder, handle, facts }) = make(disk, place, &path, kernel, spare)? else {
            return Ok(Taken::Busy);
        };
        *super::lock(pulse) = Some(handle);
        let (disk, pulse) = (disk.clone(), Arc::clone(pulse));
        Ok(Taken::Held(Self { disk, path, passing, folder, made: facts, took_over, released: false, pulse }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that it is in, wherever that is by now.
    pub(super) fn folder(&self) -> &File {
        &self.folder
    }

    /// Nobody has taken the lock over. Asked directly before anything is replaced.
    pub(super) fn is_ours(&self) -> io::Result<bool> {
        match self.disk.look_no_follow(&self.path) {
            Ok(found) => Ok(found.kind == Kind::Directory && found.stamp.is_same_file(&self.made.stamp)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets go. What could not be removed stays recorded, so that the next holder of the kernel lock removes it. The
    /// removed directory is given back, still open: the system frees it when it is closed.
    pub(super) fn release(mut self, kernel: Option<&mut KernelLock>) -> Option<Arc<File>> {
        let gone = self.remove();
        if let Some(kernel) = kernel.filter(|_| gone) {
            kernel.clear();
        }
        super::lock(&self.pulse).take()
    }

    /// Lets go, and keeps the directory for the next lock. Where that cannot be done it is removed, as by
    /// [`Self::release`], and given back like there.
    pub(super) fn put_aside(mut self, kernel: Option<&mut KernelLock>) -> Result<Spare, Option<Arc<File>>> {
        // Without a kernel lock nobody would know that it is left, should its owner die.
        let Some(kernel) = kernel else { return Err(self.release(None)) };
        let handle = super::lock(&self.pulse).clone();
        let (Some(passing), Some(handle)) = (self.passing.clone(), handle) else {
            return Err(self.release(Some(kernel)));
        };
        if !self.is_ours().is_ok_and(|ours| ours) || self.disk.rename_new(&self.path, &passing).is_err() {
            return Err(self.release(Some(kernel)));
        }
        self.released = true;
        *super::lock(&self.pulse) = None;
        begin(&self.path, Some(kernel));
        let (disk, folder) = (self.disk.clone(), Arc::clone(&self.folder));
        Ok(Spare { disk, passing, folder, handle, made: self.made })
    }

    /// Whether there is no lock of ours any more.
    fn remove(&mut self) -> bool {
        self.released = true;
        let removed = self.is_ours().and_then(|ours| {
            if ours {
                self.disk.remove_directory(&self.path)?;
            } else if self.is_elsewhere() {
                self.disk.remove_directory_in(&self.folder, &self.path)?;
            } else {
                tracing::warn!(path = %self.path.display(), "the lock was taken over while it was held");
            }
            Ok(())
        });
        if let Err(error) = &removed {
            tracing::warn!(path = %self.path.display(), %error, "the lock was not removed; it lapses by itself");
        }
        removed.is_ok()
    }
}

impl LockDirectory {
    /// Whether it went elsewhere with its directory.
    fn is_elsewhere(&self) -> bool {
        let found = self.disk.look_at_directory_in(&self.folder, &self.path);
        found.is_ok_and(|found| found.stamp.is_same_file(&self.made.stamp))
    }
}

impl Drop for LockDirectory {
    fn drop(&mut self) {
        if !self.released {
            self.remove();
            *super::lock(&self.pulse) = None;
        }
    }
}

/// Refreshes the lock that is held, if one is, through the descriptor from its making: never somebody else's.
pub(super) fn refresh(disk: &Disk, pulse: &Pulse) {
    let handle = super::lock(pulse).clone();
    if let Some(handle) = handle
        && let Err(error) = disk.touch(&handle, Path::new(NAME))
    {
        tracing::warn!(%error, "a held lock was not refreshed");
    }
}

/// A directory that has the lock's name now.
struct Made {
    passing: Option<PathBuf>,
    folder: Arc<File>,
    handle: Arc<File>,
    facts: Facts,
}

/// Makes the directory under a passing name, unless there is a spare one, records it, and gives it its name: so whoever
/// finds a lock directory without a maker always finds its record too. `None`: somebody else was faster, or has cleaned
/// it away.
fn make(
    disk: &Disk,
    place: &Place,
    path: &Path,
    mut kernel: Option<&mut KernelLock>,
    spare: &mut Option<Spare>,
) -> io::Result<Option<Made>> {
    if let Some(spare) = spare.take()
        && let Some(made) = name_spare(path, kernel.as_deref_mut(), spare)
    {
        return Ok(Some(made));
    }
    let folder = Arc::new(disk.open_directory(place.folder())?);
    let passing = passing_name(place);
    disk.make_directory(&passing)?;
    let made = open_made(disk, &passing, kernel.as_deref_mut());
    let named = made.and_then(|(handle, facts)| {
        disk.rename_new(&passing, path)?;
        Ok(Made { passing: Some(passing.clone()), folder: Arc::clone(&folder), handle, facts })
    });
    let error = match named {
        Ok(made) => return Ok(Some(made)),
        Err(error) => error,
    };
    let _ = disk.remove_directory_in(&folder, &passing);
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => Ok(None),
        io::ErrorKind::Unsupported => make_in_place(disk, path, folder, kernel),
        _ => Err(error),
    }
}

/// Gives the spare directory the lock's name. One that is not where it was, or not where the lock belongs, is let go.
fn name_spare(path: &Path, kernel: Option<&mut KernelLock>, spare: Spare) -> Option<Made> {
    let Spare { disk, passing, handle, made, .. } = &spare;
    // It must not look stale to anybody, however long it has been there.
    let is_usable = passing.parent() == path.parent() && disk.touch(handle, passing).is_ok();
    if is_usable {
        record(made, path, kernel);
    }
    if !is_usable || disk.rename_new(passing, path).is_err() {
        spare.remove();
        return None;
    }
    let Spare { passing, folder, handle, made, .. } = spare;
    Some(Made { passing: Some(passing), folder, handle, facts: made })
}

/// Where the system cannot rename without replacing: made first, then recorded.
fn make_in_place(
    disk: &Disk,
    path: &Path,
    folder: Arc<File>,
    kernel: Option<&mut KernelLock>,
) -> io::Result<Option<Made>> {
    match disk.make_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        other => other?,
    }
    let made = open_made(disk, path, kernel).inspect_err(|_| {
        let _ = disk.remove_directory(path);
    });
    made.map(|(handle, facts)| Some(Made { passing: None, folder, handle, facts }))
}

fn open_made(disk: &Disk, path: &Path, kernel: Option<&mut KernelLock>) -> io::Result<(Arc<File>, Facts)> {
    let handle = disk.open_directory(path)?;
    let made = disk.inspect(&handle, path)?;
    record(&made, path, kernel);
    Ok((Arc::new(handle), made))
}

/// Writes down that there is something of ours in the directory.
fn begin(path: &Path, kernel: Option<&mut KernelLock>) {
    if let Some(kernel) = kernel
        && let Err(error) = kernel.begin()
    {
        // Only the quick recovery from our own death is lost.
        tracing::warn!(path = %path.display(), %error, "a lock's record was not begun");
    }
}

/// Writes down whose directory this is.
fn record(made: &Facts, path: &Path, kernel: Option<&mut KernelLock>) {
    if let (Some(kernel), Some(identity)) = (kernel, Identity::of(made))
        && let Err(error) = kernel.record(identity)
    {
        // Only the instant recovery is lost: without a record the lock lapses after its ten seconds.
        tracing::warn!(path = %path.display(), %error, "a lock was not recorded");
    }
}

/// Moves a stale lock out of the way and removes it. Moving shows whether it still was the stale one: its holder, or
/// another that took over, may have been at it since it was looked at. Whether the way is free.
fn put_away(disk: &Disk, place: &Place, path: &Path, stale: &Facts) -> io::Result<bool> {
    if stale.kind != Kind::Directory || !disk.names(path).is_ok_and(|names| names.is_empty()) {
        // Not a lock of this convention. Nobody's to remove.
        return Ok(false);
    }
    let passing = passing_name(place);
    match disk.rename(path, &passing) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other?,
    }
    let moved = disk.look_no_follow(&passing)?;
    let same = moved.stamp.is_same_file(&stale.stamp) && moved.stamp.modified_ns == stale.stamp.modified_ns;
    if !same {
        // A living holder's: it gets it back, unless yet another has locked meanwhile.
        match disk.rename_new(&passing, path) {
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                disk.rename(&passing, path)?;
                return Ok(false);
            }
            Err(_) => {}
        }
    }
    disk.remove_directory(&passing)?;
    Ok(same)
}

/// Removes the lock directory of a dead engine at once: exactly the one that the last holder of the kernel lock wrote
/// down. Whether it was there.
pub(super) fn remove_left_behind(
    disk: &Disk,
    place: &Place,
    kernel: Option<&KernelLock>,
) -> io::Result<bool> {
    let Some(left_behind) = kernel.and_then(|kernel| kernel.left_behind) else { return Ok(false) };
    let path = place.folder().join(NAME);
    let removed = disk.look_no_follow(&path).and_then(|found| {
        if Identity::of(&found) == Some(left_behind) {
            disk.remove_directory(&path)?;
            return Ok(true);
        }
        Ok(false)
    });
    match removed {
        // Gone, or something was put into it: then it is no lock of this convention, and nobody's to remove.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Ok(false)
        }
        other => other,
    }
}

fn is_stale(found: &Facts) -> bool {
    let age = since_1970_ns(SystemTime::now()) - found.stamp.modified_ns;
    age > STALE.as_nanos().cast_signed()
}

/// Removes lock directories that never got their name, or were moved out of the way by somebody who died then. Called
/// with both locks held; other worklists in the folder may be about to lock, so only old ones of theirs go.
pub(super) fn clean(disk: &Disk, folder: &Path, name: &str, own: &str) {
    let digits = name.strip_prefix(PASSING).filter(|digits| super::is_hex_16(digits));
    let path = folder.join(name);
    let stale = || disk.look_no_follow(&path).is_ok_and(|found| is_stale(&found));
    if digits.is_some_and(|digits| digits.starts_with(own) || stale()) {
        let _ = disk.remove_directory(&path);
    }
}

fn passing_name(place: &Place) -> PathBuf {
    place.folder().join(format!("{PASSING}{}", place.new_digits()))
}
