//! The file on disk: read and replaced under a lock, as a whole or not at all.
//!
//! The lock is a directory in the root, by the same convention as the goal file's: made by its holder, refreshed while
//! it is held, taken over by others when its time is older than ten seconds. It is held for a few milliseconds here,
//! so it never needs refreshing.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::InitError;
use super::block::{Problem, with_block};
use stepstone_proto::state::fresh_id;

/// The lock, below the root.
const LOCK: &str = ".stepstone-agents.lock";
/// A lock of which nobody has heard for so long is taken over. A convention, so never another value.
const STALE: Duration = Duration::from_secs(10);
/// The longest wait for the lock.
const PATIENCE: Duration = Duration::from_secs(12);
/// No page of instructions is longer.
const LIMIT: u64 = 16 * 1024 * 1024;
/// How often an edit by somebody who takes no lock may begin it all again.
const ATTEMPTS: usize = 5;

/// Makes the block in the file current; whether anything had to be written.
pub(super) fn refresh(root: &Path, path: &Path, block: &str) -> Result<bool, InitError> {
    let lock = Lock::take(&root.join(LOCK))?;
    for _ in 0..ATTEMPTS {
        let found = read(path)?;
        let text = found.as_ref().map(|found| found.text.as_str()).unwrap_or_default();
        let unclear = |problem| InitError::Unclear { path: path.to_owned(), problem };
        let wanted = with_block(text, block).map_err(unclear)?;
        if found.is_some() && wanted == text {
            return Ok(false);
        }
        if replace(root, path, found.as_ref(), &wanted, &lock)? {
            return Ok(true);
        }
    }
    Err(InitError::Disk {
        path: path.to_owned(),
        source: io::Error::other("it is being edited all the time"),
    })
}

/// A file that is there.
struct Found {
    text: String,
    metadata: Metadata,
}

fn read(path: &Path) -> Result<Option<Found>, InitError> {
    let disk = |source| InitError::Disk { path: path.to_owned(), source };
    let unclear = |problem| InitError::Unclear { path: path.to_owned(), problem };
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(disk)?,
    };
    if !metadata.is_file() || metadata.len() > LIMIT {
        return Err(unclear(Problem::Kind));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(disk)?.take(LIMIT + 1).read_to_end(&mut bytes).map_err(disk)?;
    let text = String::from_utf8(bytes).map_err(|_| unclear(Problem::Encoding))?;
    Ok(Some(Found { text, metadata }))
}

/// Puts the text in the file's place; `false` when the file or the lock is not what it was any more.
fn replace(
    root: &Path,
    path: &Path,
    found: Option<&Found>,
    text: &str,
    lock: &Lock,
) -> Result<bool, InitError> {
    let temporary = Temporary(root.join(format!(".stepstone-agents-{}.tmp", fresh_id())));
    let disk = |path: &Path| {
        let path = path.to_owned();
        move |source| InitError::Disk { path, source }
    };
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(&temporary.0).map_err(disk(&temporary.0))?;
    if let Some(found) = found {
        let mode = fs::Permissions::from_mode(found.metadata.mode() & 0o7777);
        file.set_permissions(mode).map_err(disk(&temporary.0))?;
    }
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(disk(&temporary.0))?;
    if !is_unchanged(path, found) || !lock.is_ours() {
        return Ok(false);
    }
    fs::rename(&temporary.0, path).map_err(disk(path))?;
    // The rename has happened: if the directory cannot be synced, the file is there all the same.
    let _ = File::open(root).and_then(|root| root.sync_all());
    Ok(true)
}

fn is_unchanged(path: &Path, found: Option<&Found>) -> bool {
    let now = fs::symlink_metadata(path).ok();
    let stamp = |metadata: &Metadata| {
        (
            metadata.dev(),
            metadata.ino(),
            metadata.len(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime_nsec(),
        )
    };
    now.as_ref().map(stamp) == found.map(|found| stamp(&found.metadata))
}

/// Removed unless it was renamed away.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The lock directory, removed when dropped if it is still ours.
struct Lock {
    path: PathBuf,
    identity: (u64, u64),
}

impl Lock {
    fn take(path: &Path) -> Result<Self, InitError> {
        let disk = |source| InitError::Disk { path: path.to_owned(), source };
        let deadline = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(10);
        loop {
            match fs::create_dir(path) {
                Ok(()) => {
                    let identity = identity(&fs::symlink_metadata(path).map_err(disk)?);
                    return Ok(Self { path: path.to_owned(), identity });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(disk(error)),
            }
            if is_stale(path) {
                // Somebody may be quicker: then the directory is theirs, and the next look says so.
                let _ = fs::remove_dir(path);
            } else if Instant::now() >= deadline {
                return Err(InitError::Locked { path: path.to_owned() });
            } else {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(250));
            }
        }
    }

    fn is_ours(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_ours() {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn is_stale(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .ok()
        .filter(Metadata::is_dir)
        .and_then(|found| found.modified().ok()?.elapsed().ok())
        .is_some_and(|age| age > STALE)
}
