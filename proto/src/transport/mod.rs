//! The local socket: the one module that knows how the two sides reach each other.
//!
//! A socket's name is never reclaimed on drop and never overwritten: only the holder of the daemon's lock removes
//! it (see the daemon's `server`). The module is the seam for other systems.

mod stream;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use interprocess::local_socket::traits::StreamCommon as _;
use interprocess::local_socket::traits::tokio::{Listener as _, Stream as _};
use interprocess::local_socket::{GenericFilePath, ListenerOptions, Name, ToFsName as _};
use interprocess::os::unix::uds_local_socket::tokio as unix;

#[cfg(not(unix))]
compile_error!(
    "stepstone runs on Unix. Another system needs its own `proto::transport` (connect, listen, peer credentials), \
     `proto::state` (ownership of directories, locks) and `proto::paths` (where the state directory is)."
);

pub use stream::Stream;

/// Who is at the other end, as the system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its process, where the system tells.
    pub pid: Option<u32>,
    /// Its effective user.
    pub uid: u32,
}

/// Why there is no connection. What follows from each is the caller's business.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens there: no such file, or refused. The only two that mean "no daemon".
    #[error("no daemon listens on its socket ({0})")]
    Absent(#[source] io::Error),
    /// Somebody listens, but does not take connections now.
    #[error("the daemon does not take connections ({0})")]
    Busy(#[source] io::Error),
    /// This process may not use local sockets, or not this one: a sandbox.
    #[error("this process may not use the daemon's socket ({0})")]
    Denied(#[source] io::Error),
    /// Another user listens there.
    #[error("user {0} listens on the daemon's socket")]
    Foreign(u32),
    /// Anything else.
    #[error("the daemon's socket cannot be used ({0})")]
    Other(#[source] io::Error),
}

impl ConnectError {
    /// What an error of `socket` or `connect` means.
    #[must_use]
    pub fn of(error: io::Error) -> Self {
        use io::ErrorKind;
        use rustix::io::Errno;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => return Self::Absent(error),
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::NotConnected => {
                return Self::Busy(error);
            }
            ErrorKind::PermissionDenied => return Self::Denied(error),
            _ => {}
        }
        // What filters answer that forbid a kind of socket as if the system did not have it.
        let unsupported = [Errno::AFNOSUPPORT, Errno::PROTONOSUPPORT, Errno::OPNOTSUPP, Errno::NOSYS];
        if Errno::from_io_error(&error).is_some_and(|errno| unsupported.contains(&errno)) {
            Self::Denied(error)
        } else {
            Self::Other(error)
        }
    }
}

/// Connects to the socket at `path`, to a listener of our own user only.
///
/// # Errors
///
/// Why not; see [`ConnectError`].
pub async fn connect(path: &Path, limit: Duration) -> Result<(Stream, Peer), ConnectError> {
    let connecting = async {
        let stream = unix::Stream::connect(name(path)?).await?;
        // A full accept queue leaves a stream that looks connected and is not.
        rustix::net::getpeername(&stream)?;
        with_peer(stream)
    };
    let connected = match tokio::time::timeout(limit, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    let (stream, peer) = connected.map_err(ConnectError::of)?;
    if peer.uid == crate::state::uid() { Ok((stream, peer)) } else { Err(ConnectError::Foreign(peer.uid)) }
}

/// The connection, and who is at its other end.
fn with_peer(stream: unix::Stream) -> io::Result<(Stream, Peer)> {
    let credentials = stream.peer_creds()?;
    let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
    let uid = credentials.euid().ok_or(io::ErrorKind::Unsupported)?;
    Ok((Stream::over(stream)?, Peer { pid, uid }))
}

/// The daemon's end.
#[derive(Debug)]
pub struct Listener(unix::Listener);

impl Listener {
    /// Binds and listens. A file in the way is an error, never overwritten; nothing is removed on drop.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn bind(path: &Path) -> io::Result<Self> {
        ListenerOptions::new()
            .name(name(path)?)
            .reclaim_name(false)
            .create_tokio_as::<unix::Listener>()
            .map(Self)
    }

    /// The next connection.
    ///
    /// # Errors
    ///
    /// The system's; the listener stays usable.
    pub async fn accept(&self) -> io::Result<(Stream, Peer)> {
        with_peer(self.0.accept().await?)
    }

    /// Refuses whoever connects from now on, and gives those who already wait in the accept queue.
    pub fn close(self) -> Vec<(Stream, Peer)> {
        // Where listeners cannot be shut down, who connects between the last accept and the close is cut off, which
        // clients take for a daemon that died before it answered.
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Read);
        let Ok(listener) = OwnedFd::try_from(self.0) else { return Vec::new() };
        let listener = std::os::unix::net::UnixListener::from(listener);
        std::iter::from_fn(|| listener.accept().ok())
            .filter_map(|(stream, _)| {
                stream.set_nonblocking(true).ok()?;
                with_peer(unix::Stream::try_from(OwnedFd::from(stream)).ok()?).ok()
            })
            .collect()
    }
}

fn name(path: &Path) -> io::Result<Name<'_>> {
    path.to_fs_name::<GenericFilePath>()
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn only_two_errors_mean_that_there_is_no_daemon() {
        let kind = |errno: Errno| match ConnectError::of(errno.into()) {
            ConnectError::Absent(_) => "absent",
            ConnectError::Busy(_) => "busy",
            ConnectError::Denied(_) => "denied",
            ConnectError::Foreign(_) => "foreign",
            ConnectError::Other(_) => "other",
        };
        let table = [
            (Errno::NOENT, "absent"),
            (Errno::CONNREFUSED, "absent"),
            (Errno::AGAIN, "busy"),
            (Errno::NOTCONN, "busy"),
            (Errno::TIMEDOUT, "busy"),
            (Errno::PERM, "denied"),
            (Errno::ACCESS, "denied"),
            (Errno::AFNOSUPPORT, "denied"),
            (Errno::NOSYS, "denied"),
            (Errno::MFILE, "other"),
            (Errno::CONNRESET, "other"),
            (Errno::NOTDIR, "other"),
        ];
        for (errno, expected) in table {
            assert_eq!(kind(errno), expected, "{errno:?}");
        }
    }
}
