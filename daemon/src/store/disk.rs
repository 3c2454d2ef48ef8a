//! Every call that a store makes to the system, in one place: the seam at which tests make a disk fail.
//!
//! A call that a signal interrupted is made again here, so nobody above sees `EINTR`.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_NOW};

use super::stamp::{Facts, Kind, Stamp};
use crate::file_system::is_remote;

/// How much is compared at a time: few calls, and it stays in the processor's cache.
const PIECE: usize = 64 << 10;

/// What is asked of the system. Tests name the call that is to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Step {
    Look,
    Open,
    Inspect,
    Read,
    Create,
    Write,
    SetOwner,
    SetMode,
    Sync,
    Rename,
    RenameNew,
    MakeDirectory,
    RemoveDirectory,
    RemoveFile,
    OpenDirectory,
    SyncDirectory,
    ListDirectory,
    Touch,
    OpenLock,
    Lock,
    Record,
    Append,
    Truncate,
}

/// The system's files.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    #[cfg(test)]
    pub(super) rig: Option<std::sync::Arc<super::tests::rig::Rig>>,
}

impl Disk {
    /// Makes one call, and makes it again as long as signals interrupt it.
    fn call<T>(&self, step: Step, at: &Path, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            match self.before(step, at).and_then(|()| call()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "tests put a failing disk here")]
    fn before(&self, _: Step, _: &Path) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn before(&self, step: Step, at: &Path) -> io::Result<()> {
        self.rig.as_ref().map_or(Ok(()), |rig| rig.before(step, at))
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests have no power cuts, and leave this out")]
    fn sync_all(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    #[cfg(test)]
    fn sync_all(&self, file: &File) -> io::Result<()> {
        if self.rig.is_some() { Ok(()) } else { file.sync_all() }
    }

    /// What is at a path, links followed.
    pub(super) fn look(&self, path: &Path) -> io::Result<Facts> {
        self.call(Step::Look, path, || Ok(facts(&std::fs::metadata(path)?)))
    }

    /// What is at a path itself, be it a link.
    pub(super) fn look_no_follow(&self, path: &Path) -> io::Result<Facts> {
        self.call(Step::Look, path, || Ok(facts(&std::fs::symlink_metadata(path)?)))
    }

    /// Opens for reading. Never waits for the other end of a pipe, never becomes the process's terminal.
    pub(super) fn open(&self, path: &Path) -> io::Result<File> {
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        self.call(Step::Open, path, || OpenOptions::new().read(true).custom_flags(flags).open(path))
    }

    /// What an open file is.
    pub(super) fn inspect(&self, file: &File, path: &Path) -> io::Result<Facts> {
        self.call(Step::Inspect, path, || Ok(facts(&file.metadata()?)))
    }

    /// Whether an open file lies on a file system whose time stamps other machines set.
    pub(super) fn is_remote(file: &File) -> bool {
        rustix::fs::fstatfs(file).is_ok_and(|found| is_remote(&found))
    }

    /// The whole content from the start, but no more than `limit` bytes.
    pub(super) fn read(&self, file: &File, path: &Path, size: u64, limit: u64) -> io::Result<Vec<u8>> {
        self.call(Step::Read, path, || {
            let mut content = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0) + 1);
            let mut from_start = file;
            io::Seek::rewind(&mut from_start)?;
            from_start.take(limit).read_to_end(&mut content)?;
            Ok(content)
        })
    }

    /// Whether the file begins with exactly these bytes. Takes no memory for them.
    pub(super) fn begins_with(&self, file: &File, path: &Path, expected: &[u8]) -> io::Result<bool> {
        let mut piece = vec![0; PIECE.min(expected.len())];
        self.call(Step::Read, path, || {
            let mut start = 0;
            for expected in expected.chunks(PIECE) {
                let piece = piece.get_mut(..expected.len()).unwrap_or_default();
                match file.read_exact_at(piece, start) {
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                    other => other?,
                }
                if piece != expected {
                    return Ok(false);
                }
                start += expected.len() as u64;
            }
            Ok(true)
        })
    }

    /// Reads `length` bytes from `start` on, which must be there.
    pub(super) fn read_range(
        &self,
        file: &File,
        path: &Path,
        start: u64,
        length: u64,
    ) -> io::Result<Vec<u8>> {
        let mut content = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.call(Step::Read, path, || file.read_exact_at(&mut content, start))?;
        Ok(content)
    }

    /// Makes a new file for writing, readable for the user alone until its mode is set.
    pub(super) fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        self.call(Step::Create, path, || {
            OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
        })
    }

    /// Writes everything.
    pub(super) fn write(&self, mut file: &File, path: &Path, mut content: &[u8]) -> io::Result<()> {
        while !content.is_empty() {
            let written = self.call(Step::Write, path, || file.write(content))?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            content = content.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Gives a file to a user and a group.
    pub(super) fn set_owner(&self, file: &File, path: &Path, uid: u32, gid: u32) -> io::Result<()> {
        self.call(Step::SetOwner, path, || std::os::unix::fs::fchown(file, Some(uid), Some(gid)))
    }

    /// Sets the permission bits.
    pub(super) fn set_mode(&self, file: &File, path: &Path, mode: u32) -> io::Result<()> {
        self.call(Step::SetMode, path, || Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(raw_mode(mode)))?))
    }

    /// Returns when a file's content has reached the disk.
    pub(super) fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.call(Step::Sync, path, || self.sync_all(file))
    }

    /// Gives a file the name of another, which it replaces.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Step::Rename, to, || std::fs::rename(from, to))
    }

    /// Gives something a name that nothing has. `Unsupported` where the system cannot promise that.
    pub(super) fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        use rustix::io::Errno;
        let cwd = rustix::fs::CWD;
        self.call(Step::RenameNew, to, || {
            match rustix::fs::renameat_with(cwd, from, cwd, to, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
                other => Ok(other?),
            }
        })
    }

    /// Makes one directory.
    pub(super) fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.call(Step::MakeDirectory, path, || DirBuilder::new().create(path))
    }

    /// Removes one empty directory.
    pub(super) fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.call(Step::RemoveDirectory, path, || std::fs::remove_dir(path))
    }

    /// Removes one empty directory out of the directory that `folder` is, wherever that was moved. `path` is where it was.
    pub(super) fn remove_directory_in(&self, folder: &File, path: &Path) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        self.call(Step::RemoveDirectory, path, || Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?))
    }

    /// What the directory with that name is in the directory that `folder` is, wherever that was moved.
    pub(super) fn look_at_directory_in(&self, folder: &File, path: &Path) -> io::Result<Facts> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.call(Step::Look, path, || {
            let found = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
            Ok(facts(&found.metadata()?))
        })
    }

    /// Removes a file out of the directory that `folder` is, wherever that was moved. `path` is where it was.
    pub(super) fn remove_file_in(&self, folder: &File, path: &Path) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        self.call(Step::RemoveFile, path, || Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?))
    }

    /// Removes a file.
    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.call(Step::RemoveFile, path, || std::fs::remove_file(path))
    }

    /// Opens a directory.
    pub(super) fn open_directory(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::DIRECTORY.bits().cast_signed();
        self.call(Step::OpenDirectory, path, || OpenOptions::new().read(true).custom_flags(flags).open(path))
    }

    /// Returns when a directory's names have reached the disk.
    pub(super) fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let directory = self.open_directory(path)?;
        self.sync_open_directory(&directory, path)
    }

    /// The same for one that is open.
    pub(super) fn sync_open_directory(&self, directory: &File, path: &Path) -> io::Result<()> {
        self.call(Step::SyncDirectory, path, || self.sync_all(directory))
    }

    /// The names in a directory.
    pub(super) fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.call(Step::ListDirectory, path, || {
            std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
        })
    }

    /// Sets the time of an open file or directory to now.
    pub(super) fn touch(&self, file: &File, path: &Path) -> io::Result<()> {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        self.call(Step::Touch, path, || {
            Ok(rustix::fs::futimens(file, &Timestamps { last_access: now, last_modification: now })?)
        })
    }

    /// Opens a file for locks or records, making it if needed, for the user alone.
    pub(super) fn open_lock(&self, path: &Path) -> io::Result<File> {
        self.call(Step::OpenLock, path, || {
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
        })
    }

    /// Takes the kernel's lock on an open file, if nobody has it. Whether it was taken.
    pub(super) fn try_lock(&self, file: &File, path: &Path) -> io::Result<bool> {
        self.call(Step::Lock, path, || match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        })
    }

    /// Writes a record over the start of a file, in one call.
    pub(super) fn record(&self, file: &File, path: &Path, record: &[u8]) -> io::Result<()> {
        self.call(Step::Record, path, || file.write_all_at(record, 0))
    }

    /// Writes at `end`, where the file ends.
    pub(super) fn append(&self, file: &File, path: &Path, end: u64, lines: &[u8]) -> io::Result<()> {
        self.call(Step::Append, path, || file.write_all_at(lines, end))
    }

    /// Cuts a file.
    pub(super) fn truncate(&self, file: &File, path: &Path, size: u64) -> io::Result<()> {
        self.call(Step::Truncate, path, || file.set_len(size))
    }
}

#[cfg(target_os = "linux")]
const fn raw_mode(mode: u32) -> rustix::fs::RawMode {
    mode
}

#[cfg(not(target_os = "linux"))]
fn raw_mode(mode: u32) -> rustix::fs::RawMode {
    // Twelve bits of permissions fit everywhere.
    rustix::fs::RawMode::try_from(mode & 0o7777).unwrap_or(0o600)
}

fn facts(found: &Metadata) -> Facts {
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let kind = found.file_type();
    Facts {
        stamp: Stamp {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
        },
        kind: match () {
            () if kind.is_file() => Kind::File,
            () if kind.is_dir() => Kind::Directory,
            () if kind.is_symlink() => Kind::Link,
            () => Kind::Other,
        },
        mode: found.mode() & 0o7777,
        uid: found.uid(),
        gid: found.gid(),
        born_ns: found.created().ok().map(since_1970_ns),
    }
}

/// Nanoseconds since 1970, negative before.
pub(super) fn since_1970_ns(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos().cast_signed(),
        Err(before) => -before.duration().as_nanos().cast_signed(),
    }
}
