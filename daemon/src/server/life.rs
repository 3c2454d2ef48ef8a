//! The daemon's lock, its socket, and whether both are still its own.
//!
//! The lock comes before the socket: only its holder unlinks, and only a socket that refuses the connection.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};
use stepstone_proto::paths::Layout;
use stepstone_proto::protocol;
use stepstone_proto::state::{self, Identity, LockFile};
use stepstone_proto::transport::{self, ConnectError, Listener};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout_at};

/// How long a beginning daemon waits for one that is leaving, or for one that is still beginning.
const PATIENCE: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(5);

/// Why a daemon did not begin to live.
#[derive(Debug)]
pub(super) enum NotBegun {
    /// Another one lives, and its socket answers.
    SomeoneElse { pid: Option<u32> },
    /// Something is wrong.
    Failed(String),
}

/// A living daemon's hold on its place.
#[derive(Debug)]
pub(super) struct Life {
    layout: Layout,
    lock: LockFile,
    socket: Identity,
    executable: Option<Build>,
}

/// Who answers at the socket.
enum Answers {
    /// There is no socket.
    Nothing,
    /// There is one, and it refuses the connection.
    Nobody,
    Yes(Option<u32>),
    /// Somebody took the connection and did not answer. Perhaps one who is just leaving: worth another look.
    Not(String),
}

impl Life {
    /// Takes the lock for life, then the socket.
    ///
    /// # Errors
    ///
    /// When another daemon lives, or something stands in the way.
    pub(super) async fn begin(layout: &Layout) -> Result<(Self, Listener), NotBegun> {
        state::prepare(layout).map_err(|error| NotBegun::Failed(error.to_string()))?;
        let executable = Build::of_this_process();
        let deadline = Instant::now() + PATIENCE;
        let lock = take_lock(layout, deadline).await?;
        let socket = layout.socket();
        free_socket(socket, deadline).await?;
        let listener = Listener::bind(socket).map_err(failed(socket))?;
        let identity = socket.symlink_metadata().map_err(failed(socket))?;
        let life = Self { layout: layout.clone(), lock, socket: Identity::of(&identity), executable };
        Ok((life, listener))
    }

    /// Where the socket and the lock are.
    pub(super) fn directories(&self) -> Vec<&Path> {
        std::iter::once(self.layout.directory()).chain(self.layout.socket_directory()).collect()
    }

    /// Keeps cleaners of old files away from the socket and the locks.
    pub(super) fn touch(&self) {
        let layout = &self.layout;
        let locks = std::fs::read_dir(layout.locks()).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = locks.map(|entry| entry.path()).collect();
        paths.extend([layout.socket().to_owned(), layout.daemon_lock(), layout.start_lock()]);
        paths.extend(layout.socket_directory().map(Path::to_owned));
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let now = Timestamps { last_access: now, last_modification: now };
        for path in paths {
            // A file that is gone is the self-check's business.
            let _ = utimensat(CWD, &path, &now, AtFlags::SYMLINK_NOFOLLOW);
        }
    }

    /// Looks whether this is still the daemon of its place; gives the reason to leave if not. A lock whose file was
    /// removed is taken again.
    pub(super) fn reason_to_leave(&mut self) -> Option<&'static str> {
        if self.executable.as_ref().is_some_and(Build::is_replaced) {
            return Some("another build is installed now");
        }
        if state::layout().ok().as_ref() != Some(&self.layout) {
            return Some("the state directory is another one now");
        }
        if state::verify_layout(&self.layout).is_err() {
            return Some("the state directory cannot be used any more");
        }
        if !self.lock.is_at_its_path() {
            match LockFile::try_take(&self.layout.daemon_lock()) {
                Ok(Some(lock)) => self.lock = lock,
                _ => return Some("another daemon holds the lock"),
            }
        }
        if !self.owns_socket() {
            return Some("the socket is gone");
        }
        None
    }

    fn owns_socket(&self) -> bool {
        let there = self.layout.socket().symlink_metadata();
        there.is_ok_and(|there| Identity::of(&there) == self.socket)
    }

    /// Removes the socket's name, if it is still ours.
    pub(super) fn unlink(&self) {
        if self.lock.is_at_its_path() && self.owns_socket() {
            // Whoever comes next removes a dead socket too.
            let _ = std::fs::remove_file(self.layout.socket());
        }
    }
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> NotBegun {
    move |error| NotBegun::Failed(format!("{}: {error}", path.display()))
}

/// The lock for life. Its holder may be up, not up yet, or leaving; it counts only when its socket answers.
async fn take_lock(layout: &Layout, deadline: Instant) -> Result<LockFile, NotBegun> {
    let path = layout.daemon_lock();
    loop {
        if let Some(lock) = LockFile::try_take(&path).map_err(failed(&path))? {
            return Ok(lock);
        }
        let why = match answers(layout.socket(), deadline).await {
            Answers::Yes(pid) => return Err(NotBegun::SomeoneElse { pid }),
            Answers::Nothing | Answers::Nobody => "and its socket is gone".to_owned(),
            Answers::Not(why) => why,
        };
        pause(deadline, || format!("another daemon holds {}, {why}", path.display())).await?;
    }
}

/// Removes a socket that nobody listens on. Whoever lost the lock's file to a cleaner still lives and answers.
async fn free_socket(socket: &Path, deadline: Instant) -> Result<(), NotBegun> {
    loop {
        match answers(socket, deadline).await {
            Answers::Yes(pid) => return Err(NotBegun::SomeoneElse { pid }),
            Answers::Nothing => return Ok(()),
            Answers::Nobody => return std::fs::remove_file(socket).map_err(failed(socket)),
            Answers::Not(why) => {
                pause(deadline, || format!("{} is in use, {why}", socket.display())).await?;
            }
        }
    }
}

/// Waits a moment, or gives up at the deadline.
async fn pause(deadline: Instant, why: impl FnOnce() -> String) -> Result<(), NotBegun> {
    if Instant::now() + PAUSE >= deadline {
        return Err(NotBegun::Failed(why()));
    }
    sleep(PAUSE).await;
    Ok(())
}

/// Whether somebody answers at a socket, asked in the protocol's oldest form.
async fn answers(socket: &Path, deadline: Instant) -> Answers {
    let limit = deadline.saturating_duration_since(Instant::now());
    let (mut stream, peer) = match transport::connect(socket, limit).await {
        Ok(connected) => connected,
        Err(ConnectError::Absent(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Answers::Nothing;
        }
        Err(ConnectError::Absent(_)) => return Answers::Nobody,
        Err(error) => return Answers::Not(error.to_string()),
    };
    let ask = async {
        let request = format!(
            "GET {} HTTP/1.1\r\nhost: stepstone\r\n{}: {}\r\nconnection: close\r\n\r\n",
            protocol::STATUS,
            protocol::PROTOCOL_HEADER,
            protocol::RANGE
        );
        stream.write_all(request.as_bytes()).await?;
        let mut begin = [0; 8];
        stream.read_exact(&mut begin).await?;
        Ok::<_, std::io::Error>(begin == *b"HTTP/1.1")
    };
    let named = || peer.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
    match timeout_at(deadline, ask).await {
        Ok(Ok(true)) => Answers::Yes(peer.pid),
        Ok(Ok(false)) => Answers::Not(format!("whose owner{} speaks no HTTP", named())),
        Ok(Err(error)) => Answers::Not(format!("whose owner{} hung up ({error})", named())),
        Err(_) => Answers::Not(format!("whose owner{} does not answer", named())),
    }
}

/// The executable at its path, as it was when this process began.
#[derive(Debug)]
struct Build {
    path: PathBuf,
    stamp: Stamp,
}

type Stamp = (u64, u64, u64, i64, i64);

impl Build {
    fn of_this_process() -> Option<Self> {
        let path = std::env::current_exe().ok()?;
        let stamp = stamp(&path)?;
        Some(Self { path, stamp })
    }

    /// The path holds another file now. A file that is gone is none: an upgrade may be under way.
    fn is_replaced(&self) -> bool {
        stamp(&self.path).is_some_and(|stamp| stamp != self.stamp)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}
