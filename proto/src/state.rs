//! The state directory as it is on disk: whether it can be trusted, and the locks in it.
//!
//! It is looked at on every use: a directory, no link, ours, not writable by others. Anything else is refused by
//! name, and the asker goes on without it.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::paths::{Layout, NoLayout, STATE_DIR_VARIABLE};

/// Which directory or file it is, whatever its path: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of what was looked at.
    #[must_use]
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The device's number and the inode's.
    #[must_use]
    pub const fn numbers(self) -> [u64; 2] {
        [self.device, self.inode]
    }

    /// As it crosses the socket.
    #[must_use]
    pub fn text(self) -> String {
        format!("{:x}-{:x}", self.device, self.inode)
    }
}

/// Why a directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    /// There is no path to look at.
    #[error(transparent)]
    NoLayout(#[from] NoLayout),
    /// A link could be pointed elsewhere at any time.
    #[error("{0} is a symbolic link; put a directory of mode 700 there")]
    Link(PathBuf),
    /// It is something else.
    #[error("{0} is not a directory; move it away")]
    NoDirectory(PathBuf),
    /// Another user could read and replace what is in it.
    #[error("{path} belongs to user {owner}, not to user {user}; move it away, or change its owner")]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner's uid.
        owner: u32,
        /// Our uid.
        user: u32,
    },
    /// Others could replace what is in it.
    #[error("{path} has mode {mode:o}, others may write to it; run chmod 700 on it")]
    Writable {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The home directory is never made.
    #[error("the home directory {0} does not exist")]
    NoHome(PathBuf),
    /// The system refused.
    #[error("{path}: {source}")]
    System {
        /// What was looked at or made.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
}

impl Untrusted {
    /// The directory is simply not there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    fn system(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::System { path, source }
    }
}

/// The effective user.
#[must_use]
pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The layout for this process: `STEPSTONE_STATE_DIR`, else below the home directory as the system defines it.
///
/// # Errors
///
/// When neither is an absolute path.
pub fn layout() -> Result<Layout, NoLayout> {
    let chosen = std::env::var_os(STATE_DIR_VARIABLE);
    let base = directories::BaseDirs::new();
    let host = rustix::system::uname();
    let host = std::os::unix::ffi::OsStrExt::from_bytes(host.nodename().to_bytes());
    Layout::choose(chosen.as_deref(), base.as_ref().map(directories::BaseDirs::home_dir), uid(), host)
}

/// Checks one directory.
///
/// # Errors
///
/// What is wrong with it, or that it is missing ([`Untrusted::is_missing`]).
pub fn verify(path: &Path) -> Result<Identity, Untrusted> {
    let found = path.symlink_metadata().map_err(Untrusted::system(path))?;
    let user = uid();
    if found.is_symlink() {
        Err(Untrusted::Link(path.to_owned()))
    } else if !found.is_dir() {
        Err(Untrusted::NoDirectory(path.to_owned()))
    } else if found.uid() != user {
        Err(Untrusted::NotOurs { path: path.to_owned(), owner: found.uid(), user })
    } else if found.mode() & 0o022 != 0 {
        Err(Untrusted::Writable { path: path.to_owned(), mode: found.mode() & 0o7777 })
    } else {
        Ok(Identity::of(&found))
    }
}

/// Checks the state directory, and the socket's own directory where there is one.
///
/// # Errors
///
/// As [`verify`].
pub fn verify_layout(layout: &Layout) -> Result<Identity, Untrusted> {
    let identity = verify(layout.directory())?;
    if let Some(directory) = layout.socket_directory() {
        verify(directory)?;
    }
    Ok(identity)
}

/// Makes what is missing (mode 700) and checks the whole. A missing home directory is never made.
///
/// # Errors
///
/// What is wrong, or what the system refused.
pub fn prepare(layout: &Layout) -> Result<Identity, Untrusted> {
    if let Some(home) = layout.home()
        && !home.is_dir()
    {
        return Err(Untrusted::NoHome(home.to_owned()));
    }
    let own = [layout.directory().to_owned(), layout.locks(), layout.journal()];
    for directory in own.iter().map(PathBuf::as_path).chain(layout.socket_directory()) {
        match verify(directory) {
            Ok(_) => {}
            Err(error) if error.is_missing() => make(directory)?,
            Err(error) => return Err(error),
        }
    }
    verify_layout(layout)
}

fn make(directory: &Path) -> Result<(), Untrusted> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(Untrusted::system(directory))?;
    verify(directory).map(|_| ())
}

/// Whether bytes can be written below a directory now: it is there, ours to write, and the disk has room.
#[must_use]
pub fn takes_bytes(directory: &Path) -> bool {
    let path = directory.join(format!(".probe-{}", fresh_id()));
    let written = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let written =
        written.and_then(|mut file| io::Write::write_all(&mut file, b"x").and_then(|()| file.sync_data()));
    // It was not made, or it goes.
    let _ = std::fs::remove_file(&path);
    written.is_ok()
}

/// A kernel lock on a file of the state directory, held until it is dropped. The file is never deleted.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Takes the lock, or gives `None` while somebody else holds it.
    ///
    /// The file is opened for reading and writing, as network file systems want it. A lock on a file that is no
    /// longer the one at its path (a cleaner removed it) binds nobody, so it is taken again on the new one.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, made or locked.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
                .open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let lock = Self { file, path: path.to_owned() };
            if lock.is_at_its_path() {
                return Ok(Some(lock));
            }
        }
    }

    /// Whether the file at the path is the locked one.
    #[must_use]
    pub fn is_at_its_path(&self) -> bool {
        let ours = self.file.metadata().map(|metadata| Identity::of(&metadata));
        let there = self.path.symlink_metadata().map(|metadata| Identity::of(&metadata));
        matches!((ours, there), (Ok(ours), Ok(there)) if ours == there)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that is being started has it too until it runs its own program. What
        // cannot be unlocked here is let go when the last of them has closed it.
        let _ = self.file.unlock();
    }
}

/// An id that no other call gives, in this process or another: 32 hexadecimal digits.
///
/// Made from the random keys that the standard library draws for its hash maps, the process id, the time and a count.
#[must_use]
pub fn fresh_id() -> String {
    use std::hash::{BuildHasher, RandomState};
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let facts = (now.as_nanos(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let half = || RandomState::new().hash_one(facts);
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
