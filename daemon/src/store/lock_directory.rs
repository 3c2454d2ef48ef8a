//! The lock that other software on the same file understands: an empty directory beside the file, made by its
//! holder, its time refreshed while it is held, taken over by others when that time is old. This is the convention of
//! npm's `proper-lockfile`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::disk::{Disk, since_1970_ns};
use super::kernel_lock::{Identity, KernelLock};
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
    made: Facts,
    /// A lock that a dead holder left was in the way.
    pub(super) took_over: bool,
    released: bool,
    /// Keeps the directory open as long as the lock is held: so nobody else's can get the same inode.
    pulse: Pulse,
}

/// What became of an attempt to lock.
#[derive(Debug)]
pub(super) enum Taken {
    Held(LockDirectory),
    /// Somebody else has it.
    Busy,
}

impl LockDirectory {
    /// Makes the lock directory in `folder`, unless somebody else's is there.
    pub(super) fn take(
        disk: &Disk,
        folder: &Path,
        kernel: Option<&mut KernelLock>,
        pulse: &Pulse,
    ) -> io::Result<Taken> {
        let path = folder.join(NAME);
        let mut took_over = false;
        match disk.look_no_follow(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(found) => {
                let left_behind = kernel.as_ref().and_then(|kernel| kernel.left_behind);
                if left_behind.is_some() && Identity::of(&found) == left_behind {
                    // Its maker held the kernel lock that is ours now.
                    if !removed(disk.remove_directory(&path))? {
                        return Ok(Taken::Busy);
                    }
                } else if !is_stale(&found) || !put_away(disk, folder, &path, &found)? {
                    return Ok(Taken::Busy);
                }
                took_over = true;
            }
        }
        let Some((handle, made)) = make(disk, folder, &path, kernel)? else {
            return Ok(Taken::Busy);
        };
        *pulse.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handle));
        let (disk, pulse) = (disk.clone(), Arc::clone(pulse));
        Ok(Taken::Held(Self { disk, path, made, took_over, released: false, pulse }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Nobody has taken the lock over. Asked directly before anything is replaced.
    pub(super) fn is_ours(&self) -> bool {
        self.disk
            .look_no_follow(&self.path)
            .is_ok_and(|found| found.kind == Kind::Directory && found.stamp.is_same_file(&self.made.stamp))
    }

    /// Lets go.
    pub(super) fn release(mut self, kernel: Option<&mut KernelLock>) {
        self.remove();
        if let Some(kernel) = kernel {
            kernel.clear();
        }
    }

    fn remove(&mut self) {
        self.released = true;
        let ours = self.is_ours();
        *self.pulse.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if !ours {
            tracing::warn!(path = %self.path.display(), "the lock was taken over while it was held");
        } else if let Err(error) = self.disk.remove_directory(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the lock was not removed; it lapses by itself");
        }
    }
}

impl Drop for LockDirectory {
    fn drop(&mut self) {
        if !self.released {
            self.remove();
        }
    }
}

/// Refreshes the lock that is held, if one is, through the descriptor from its making: never somebody else's.
pub(super) fn refresh(disk: &Disk, pulse: &Pulse) {
    let handle = pulse.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(handle) = handle
        && let Err(error) = disk.touch(&handle, Path::new(NAME))
    {
        tracing::warn!(%error, "a held lock was not refreshed");
    }
}

/// Makes the directory under a passing name, records it, and gives it its name: so whoever finds a lock directory
/// without a maker always finds its record too. `None`: somebody else was faster.
fn make(
    disk: &Disk,
    folder: &Path,
    path: &Path,
    mut kernel: Option<&mut KernelLock>,
) -> io::Result<Option<(File, Facts)>> {
    let passing = passing_name(folder);
    disk.make_directory(&passing)?;
    let made = open_made(disk, &passing, kernel.as_deref_mut());
    let named = made.and_then(|made| {
        disk.rename_new(&passing, path)?;
        Ok(made)
    });
    let error = match named {
        Ok(made) => return Ok(Some(made)),
        Err(error) => error,
    };
    let _ = disk.remove_directory(&passing);
    if let Some(kernel) = kernel.as_deref_mut() {
        kernel.clear();
    }
    match error.kind() {
        io::ErrorKind::AlreadyExists => Ok(None),
        io::ErrorKind::Unsupported => make_in_place(disk, path, kernel),
        _ => Err(error),
    }
}

/// Where the system cannot rename without replacing: made first, then recorded.
fn make_in_place(
    disk: &Disk,
    path: &Path,
    kernel: Option<&mut KernelLock>,
) -> io::Result<Option<(File, Facts)>> {
    match disk.make_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        other => other?,
    }
    open_made(disk, path, kernel).map(Some).inspect_err(|_| {
        let _ = disk.remove_directory(path);
    })
}

fn open_made(disk: &Disk, path: &Path, kernel: Option<&mut KernelLock>) -> io::Result<(File, Facts)> {
    let handle = disk.open_directory(path)?;
    let made = disk.inspect(&handle, path)?;
    if let (Some(kernel), Some(identity)) = (kernel, Identity::of(&made))
        && let Err(error) = kernel.record(identity)
    {
        // Only the instant recovery is lost: without a record the lock lapses after its ten seconds.
        tracing::warn!(path = %path.display(), %error, "a lock was not recorded");
    }
    Ok((handle, made))
}

/// Moves a stale lock out of the way and removes it. Moving shows whether it still was the stale one: its holder, or
/// another that took over, may have been at it since it was looked at. Whether the way is free.
fn put_away(disk: &Disk, folder: &Path, path: &Path, stale: &Facts) -> io::Result<bool> {
    if stale.kind != Kind::Directory || !disk.names(path).is_ok_and(|names| names.is_empty()) {
        // Not a lock of this convention. Nobody's to remove.
        return Ok(false);
    }
    let passing = passing_name(folder);
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

/// Whether the way is free.
fn removed(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(true),
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => Ok(false),
            _ => Err(error),
        },
    }
}

fn is_stale(found: &Facts) -> bool {
    let age = since_1970_ns(SystemTime::now()) - found.stamp.modified_ns;
    age > STALE.as_nanos().cast_signed()
}

/// Removes lock directories that never got their name, or were moved out of the way by somebody who died then. Called
/// with the lock held; other worklists in the folder may be about to lock, so only old ones go.
pub(super) fn clean(disk: &Disk, folder: &Path, name: &str) {
    let is_passing = name.strip_prefix(PASSING).is_some_and(super::is_hex_16);
    let path = folder.join(name);
    if is_passing && disk.look_no_follow(&path).is_ok_and(|found| is_stale(&found)) {
        let _ = disk.remove_directory(&path);
    }
}

fn passing_name(folder: &Path) -> PathBuf {
    folder.join(format!("{PASSING}{}", super::random_hex_16()))
}
