//! Finding the daemon, or starting it.
//!
//! Connect; only "no such file" and "refused" mean that there is none. Then one of those who want it started takes
//! `start.lock`, connects again, and runs `stepstoned --start`; the others try the socket at every pause. The
//! starter reports in one typed line and ends; the daemon is nobody's child.

use std::process::Stdio;
use std::time::Duration;

use stepstone_proto::paths::Layout;
use stepstone_proto::protocol::StartReport;
use stepstone_proto::state::{self, LockFile, Untrusted};
use stepstone_proto::transport::{self, ConnectError, Peer, Stream};
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout_at};

use crate::surroundings::Surroundings;
use crate::wire::{Connection, Engine};

/// Why the daemon is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Why {
    /// For people.
    pub(crate) reason: String,
    /// Holds for the life of this process; else it is tried again after a while.
    pub(crate) lasting: bool,
    /// Worth a line that nobody asked for: the user has to do something about it.
    pub(crate) shown: bool,
}

impl Why {
    pub(crate) fn passing(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), lasting: false, shown: false }
    }

    pub(crate) fn lasting(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), lasting: true, shown: false }
    }
}

impl From<ConnectError> for Why {
    fn from(error: ConnectError) -> Self {
        Self { lasting: matches!(error, ConnectError::Denied(_)), ..Self::passing(error.to_string()) }
    }
}

impl From<Untrusted> for Why {
    fn from(error: Untrusted) -> Self {
        use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
        let lasting = match &error {
            Untrusted::NoLayout(_) | Untrusted::NoHome(_) => true,
            Untrusted::System { source, .. } => {
                matches!(source.kind(), NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem)
            }
            Untrusted::Link(_)
            | Untrusted::NoDirectory(_)
            | Untrusted::NotOurs { .. }
            | Untrusted::Writable { .. } => false,
        };
        Self { lasting, ..Self::passing(format!("the state directory cannot be used: {error}")) }
    }
}

/// A connection to the daemon, found or started, before `deadline`.
pub(crate) async fn find_or_start(surroundings: &Surroundings, deadline: Instant) -> Result<Connection, Why> {
    if surroundings.no_daemon {
        return Err(Why::lasting("STEPSTONE_NO_DAEMON is set"));
    }
    let layout = surroundings.layout.as_ref().map_err(|error| Why::from(Untrusted::from(error.clone())))?;
    match connect(layout, deadline).await {
        Err(Reach::Absent) => {}
        Err(Reach::Why(why)) => return Err(why),
        Ok((stream, peer)) => return speak(layout, stream, peer).await,
    }
    let (stream, peer) = start(surroundings, layout, deadline).await?;
    speak(layout, stream, peer).await
}

/// Why there is no connection yet.
#[derive(Debug)]
pub(crate) enum Reach {
    /// No daemon runs.
    Absent,
    /// It is not to be used.
    Why(Why),
}

impl From<ConnectError> for Reach {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Absent(_) => Self::Absent,
            other => Self::Why(other.into()),
        }
    }
}

/// Connects to a daemon that is there, in a state directory that can be trusted.
pub(crate) async fn connect(layout: &Layout, deadline: Instant) -> Result<(Stream, Peer), Reach> {
    match state::verify_layout(layout) {
        Ok(_) => {}
        Err(error) if error.is_missing() => return Err(Reach::Absent),
        Err(error) => return Err(Reach::Why(error.into())),
    }
    let limit = deadline.saturating_duration_since(Instant::now());
    Ok(transport::connect(layout.socket(), limit).await?)
}

pub(crate) async fn speak(layout: &Layout, stream: Stream, peer: Peer) -> Result<Connection, Why> {
    let connection = Connection::over(stream, Engine::Shared).await;
    let mut connection = connection.map_err(|error| Why::passing(format!("no HTTP connection ({error})")))?;
    connection.journal = state::verify(&layout.journal()).ok().map(state::Identity::text);
    connection.pid = peer.pid;
    Ok(connection)
}

/// Starts the daemon, or waits for whoever starts it, and connects.
pub(crate) async fn start(
    surroundings: &Surroundings,
    layout: &Layout,
    deadline: Instant,
) -> Result<(Stream, Peer), Why> {
    if let Some(name) = surroundings.sandbox {
        return Err(Why::passing(format!(
            "no daemon runs, and none is started from inside a sandbox ({name} is set)"
        )));
    }
    state::prepare(layout)?;
    let mut pause = Duration::from_millis(2);
    let lock = loop {
        match LockFile::try_take(&layout.start_lock()) {
            Ok(Some(lock)) => break lock,
            Ok(None) => {}
            Err(error) => {
                let path = layout.start_lock();
                return Err(Untrusted::System { path, source: error }.into());
            }
        }
        if Instant::now() + pause >= deadline {
            return Err(Why::passing("another program has been starting the daemon for too long"));
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(40));
        if let Some(connected) = there(layout, deadline).await? {
            return Ok(connected);
        }
    };
    if let Some(connected) = there(layout, deadline).await? {
        return Ok(connected);
    }
    let report = run_starter(surroundings, deadline).await;
    // Released only now: who waits for the lock finds the daemon, or starts it.
    let connected = there(layout, deadline).await;
    drop(lock);
    match (connected?, report) {
        (Some(connected), _) => Ok(connected),
        (None, Ok(StartReport::Failed { error })) => {
            Err(Why::passing(format!("the daemon could not be started: {error}")))
        }
        (None, Ok(StartReport::Ready { .. } | StartReport::SomeoneElse { .. })) => {
            Err(Why::passing("the daemon was started and is gone again"))
        }
        (None, Err(reason)) => Err(Why::passing(reason)),
    }
}

async fn there(layout: &Layout, deadline: Instant) -> Result<Option<(Stream, Peer)>, Why> {
    match connect(layout, deadline).await {
        Ok(connected) => Ok(Some(connected)),
        Err(Reach::Absent) => Ok(None),
        Err(Reach::Why(why)) => Err(why),
    }
}

/// Runs `stepstoned --start` and reads its report. A starter that takes too long is left to end by itself.
async fn run_starter(surroundings: &Surroundings, deadline: Instant) -> Result<StartReport, String> {
    let child = crate::executable::spawn_first(surroundings.path.as_deref(), |program| {
        Command::new(program)
            .arg("--start")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    })?;
    let output = match timeout_at(deadline, child.wait_with_output()).await {
        Ok(output) => output.map_err(|error| format!("the daemon's starter was lost ({error})"))?,
        Err(_) => return Err("the daemon was not ready in time".to_owned()),
    };
    serde_json::from_slice(output.stdout.trim_ascii())
        .map_err(|_| format!("the daemon's starter ended without a report ({})", output.status))
}
