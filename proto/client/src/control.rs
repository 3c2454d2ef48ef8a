//! `stepstone daemon status|start|stop|restart|logs`: the daemon itself, whatever its version.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use rustix::process::Pid;
use stepstone_proto::paths::NoLayout;
use stepstone_proto::protocol::{self, Status};
use stepstone_proto::state::LockFile;
use tokio::time::{Instant, sleep, timeout};

use crate::client::DAEMON_PATIENCE;
use crate::find::{self, Reach, Why};
use crate::surroundings::Surroundings;
use crate::wire::Connection;

/// How long a daemon that was asked to leave is awaited: it drains for 3 seconds at most.
const LEAVE_PATIENCE: Duration = Duration::from_secs(6);
/// How long an explicit start may take.
const START_PATIENCE: Duration = Duration::from_secs(6);

/// Why the daemon could not be asked, started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It cannot be reached from here.
    #[error("{0}")]
    Unreachable(String),
    /// It runs and does not answer.
    #[error(
        "the daemon{} does not answer; wait, or end that process",
        process(*pid)
    )]
    NoAnswer {
        /// Its process, where the system tells.
        pid: Option<u32>,
    },
    /// It was asked to leave and has not left.
    #[error(
        "the daemon{} was asked to leave and still runs after {} s; wait, or end that process",
        process(*pid),
        LEAVE_PATIENCE.as_secs()
    )]
    StillThere {
        /// Its process, where the system tells.
        pid: Option<u32>,
    },
    /// Its lock is held, but there is no socket to ask at.
    #[error("a daemon runs but its socket is gone; it notices within a minute and leaves by itself")]
    NoSocket,
    /// No daemon came to be.
    #[error("{0}")]
    NotStarted(String),
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// What `start` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// It ran before.
    pub already: bool,
    /// The daemon that runs now.
    pub status: Status,
}

/// What `stop` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The daemon that ran and is gone; `None` when none ran.
    pub pid: Option<u32>,
}

/// Where the daemon's log is.
///
/// # Errors
///
/// When there is no state directory.
pub fn log_path(surroundings: &Surroundings) -> Result<PathBuf, NoLayout> {
    surroundings.layout.as_ref().map(stepstone_proto::paths::Layout::log).map_err(Clone::clone)
}

/// Asks the daemon how it is; `None` when none runs. Never starts one.
///
/// # Errors
///
/// When it cannot be reached from here, or does not answer.
pub async fn status(surroundings: &Surroundings) -> Result<Option<Status>, ControlError> {
    let deadline = Instant::now() + DAEMON_PATIENCE;
    match reach(surroundings, deadline).await? {
        Some(mut connection) => ask(&mut connection, deadline).await.map(Some),
        None => Ok(None),
    }
}

/// Starts the daemon, unless it runs.
///
/// # Errors
///
/// When it cannot be reached or started from here.
pub async fn start(surroundings: &Surroundings) -> Result<Started, ControlError> {
    let deadline = Instant::now() + START_PATIENCE;
    if let Some(mut connection) = reach(surroundings, deadline).await? {
        return Ok(Started { already: true, status: ask(&mut connection, deadline).await? });
    }
    let surroundings = Surroundings { no_daemon: false, ..surroundings.clone() };
    let started = find::find_or_start(&surroundings, deadline).await;
    let mut connection = started.map_err(|why| ControlError::NotStarted(why.reason))?;
    Ok(Started { already: false, status: ask(&mut connection, deadline).await? })
}

/// Asks the daemon to leave, and returns when its process is gone.
///
/// # Errors
///
/// When it cannot be reached from here, or has not left in time.
pub async fn stop(surroundings: &Surroundings) -> Result<Stopped, ControlError> {
    let deadline = Instant::now() + DAEMON_PATIENCE;
    let Some(mut connection) = reach(surroundings, deadline).await? else {
        return if is_lock_held(surroundings) {
            Err(ControlError::NoSocket)
        } else {
            Ok(Stopped { pid: None })
        };
    };
    let pid = connection.pid;
    // Taken before asking: afterwards the number may be another process's.
    let process = Process::of(pid);
    let answer = connection.ask(Method::POST, protocol::SHUTDOWN, Bytes::new(), deadline).await;
    drop(connection);
    match timeout(LEAVE_PATIENCE, process.end(surroundings)).await {
        Ok(()) => Ok(Stopped { pid }),
        Err(_) if answer.is_err() => Err(ControlError::NoAnswer { pid }),
        Err(_) => Err(ControlError::StillThere { pid }),
    }
}

/// Stops the daemon if it runs, and starts another.
///
/// # Errors
///
/// As [`stop`] and [`start`].
pub async fn restart(surroundings: &Surroundings) -> Result<(Stopped, Started), ControlError> {
    let stopped = stop(surroundings).await?;
    Ok((stopped, start(surroundings).await?))
}

async fn reach(surroundings: &Surroundings, deadline: Instant) -> Result<Option<Connection>, ControlError> {
    let unreachable = |why: Why| ControlError::Unreachable(why.reason);
    let layout =
        surroundings.layout.as_ref().map_err(|error| ControlError::Unreachable(error.to_string()))?;
    match find::connect(layout, deadline).await {
        Ok((stream, peer)) => find::speak(layout, stream, peer).await.map(Some).map_err(unreachable),
        Err(Reach::Absent) => Ok(None),
        Err(Reach::Why(why)) => Err(unreachable(why)),
    }
}

async fn ask(connection: &mut Connection, deadline: Instant) -> Result<Status, ControlError> {
    let pid = connection.pid;
    let answer = connection.ask(Method::GET, protocol::STATUS, Bytes::new(), deadline).await;
    let answer = answer.map_err(|_| ControlError::NoAnswer { pid })?;
    let mut status: Status = serde_json::from_slice(&answer.body).unwrap_or_default();
    // What the system says about the process is better than what the process says.
    status.pid = pid.unwrap_or(status.pid);
    Ok(status)
}

fn is_lock_held(surroundings: &Surroundings) -> bool {
    let Ok(layout) = &surroundings.layout else { return false };
    let lock = layout.daemon_lock();
    lock.exists() && matches!(LockFile::try_take(&lock), Ok(None))
}

/// A process to wait for.
enum Process {
    #[cfg(target_os = "linux")]
    Descriptor(std::os::fd::OwnedFd),
    Number(Pid),
    /// The system does not tell: the socket has to.
    Unknown,
}

impl Process {
    fn of(pid: Option<u32>) -> Self {
        let number = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let Some(number) = number else { return Self::Unknown };
        #[cfg(target_os = "linux")]
        if let Ok(descriptor) = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty()) {
            return Self::Descriptor(descriptor);
        }
        Self::Number(number)
    }

    /// Returns when it is gone.
    async fn end(self, surroundings: &Surroundings) {
        const PAUSE: Duration = Duration::from_millis(10);
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => {
                while !has_ended(&descriptor) {
                    sleep(PAUSE).await;
                }
            }
            Self::Number(number) => {
                while rustix::process::test_kill_process(number).is_ok() {
                    sleep(PAUSE).await;
                }
            }
            Self::Unknown => {
                let soon = || Instant::now() + PAUSE;
                while reach(surroundings, soon()).await.is_ok_and(|connection| connection.is_some()) {
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// A process's descriptor becomes readable when the process ends.
#[cfg(target_os = "linux")]
fn has_ended(process: &std::os::fd::OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut asked = [PollFd::new(process, PollFlags::IN)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&now)).is_ok_and(|ready| ready > 0)
}
