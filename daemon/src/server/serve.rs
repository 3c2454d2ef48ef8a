//! The daemon's main loop: from readiness to the last drain.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use notify::{RecursiveMode, Watcher as _};
use serde_json::json;
use stepstone_proto::paths::Layout;
use stepstone_proto::protocol::{self, RANGE, StartReport};
use stepstone_proto::state;
use stepstone_proto::transport::{Listener, Peer, Stream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::life::{Life, NotBegun};
use super::tick::Tick;
use super::{Backend, Server, connections, log, router, start};

/// More connections at a time are refused.
const CONNECTIONS: usize = 256;
/// So many of those who are refused at a time are told why; others are cut off.
const REFUSALS: usize = 64;
/// How long a client may say nothing after it connected.
const SILENCE: Duration = Duration::from_secs(10);
/// How long the daemon lives without a connection.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// But whoever started it gets the time to connect, however short that is: all that a client has for a start.
const FIRST_CLIENT: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_secs(60);
/// How long accepted work may take once the daemon leaves.
const DRAIN: Duration = Duration::from_secs(3);

/// Who started this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `stepstoned --start`, which reads the report from our standard output.
    Spawned,
    /// A person or a service manager.
    Foreground,
}

/// Lives as the daemon of this user and host. `backend` makes the engine, in the state directory that is given.
pub fn serve(mode: Mode, backend: impl FnOnce(&Path) -> Arc<dyn Backend>) -> ExitCode {
    // A daemon of its own session survives the terminal and the process group that started it. Under a service
    // manager, or by hand, the process may lead a group already; then it stays where it was put.
    let _ = rustix::process::setsid();
    let _ = std::env::set_current_dir("/");
    raise_descriptor_limit();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return start::report(mode, &failed(format!("no event loop: {error}"))),
    };
    let code = runtime.block_on(live(mode, backend));
    // A disk call that still runs does not keep the process; whatever it was doing, the disk is consistent.
    runtime.shutdown_background();
    code
}

fn failed(error: String) -> StartReport {
    StartReport::Failed { error }
}

async fn live(mode: Mode, backend: impl FnOnce(&Path) -> Arc<dyn Backend>) -> ExitCode {
    let begun = async {
        let signals = Signals::catch().map_err(|error| failed(format!("no signals: {error}")))?;
        let layout = state::layout().map_err(|error| failed(error.to_string()))?;
        let (life, listener) = Life::begin(&layout).await.map_err(|why| match why {
            NotBegun::SomeoneElse { pid } => StartReport::SomeoneElse { pid },
            NotBegun::Failed(error) => failed(error),
        })?;
        Ok::<_, StartReport>((signals, layout, life, listener))
    };
    let (signals, layout, life, listener) = match begun.await {
        Ok(begun) => begun,
        Err(report) => return start::report(mode, &report),
    };
    log::begin(&layout);
    let backend = backend(layout.directory());
    let server = Server::new(backend, Some(layout.clone()), Some(layout.journal()));
    tracing::info!(
        version = protocol::VERSION,
        pid = std::process::id(),
        socket = %layout.socket().display(),
        "ready"
    );
    write_info(&layout);
    let code = start::report(mode, &StartReport::Ready { pid: std::process::id() });
    let routes = router(Arc::clone(&server));
    let house = House { server, routes, life, listener, signals, connections: JoinSet::new() };
    let idle = std::env::var("STEPSTONE_IDLE_SECS").ok();
    house.live(idle_limit(idle.as_deref())).await;
    code
}

/// `STEPSTONE_IDLE_SECS`, decimals allowed; 0 is never, anything unreadable is the default.
fn idle_limit(given: Option<&str>) -> Option<Duration> {
    let seconds = given.and_then(|text| text.trim().parse::<f64>().ok());
    // Sums with an instant stay within what the clock can hold.
    let seconds = seconds.filter(|seconds| !seconds.is_nan()).map(|seconds| seconds.min(f64::from(u32::MAX)));
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(IDLE);
    (!limit.is_zero()).then_some(limit)
}

/// Facts for people who look into the state directory; nothing reads them.
fn write_info(layout: &Layout) {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let started = jiff::Timestamp::from_millisecond(i64::try_from(started).unwrap_or_default());
    let facts = json!({
        "pid": std::process::id(),
        "version": protocol::VERSION,
        "protocol": RANGE.to_string(),
        "started": started.map(|instant| instant.to_string()).unwrap_or_default(),
    });
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(layout.info())
        .and_then(|mut file| writeln!(file, "{facts:#}"));
    if let Err(error) = written {
        tracing::warn!("{}: {error}", layout.info().display());
    }
}

/// Many connections and worklists need more descriptors than some shells allow at first.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(4096).min(4096);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(wanted);
        // With fewer descriptors it serves fewer clients.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// The signals that this process has an opinion about.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Caught and ignored. Being caught, they are back to normal in the `git` that this process runs.
    _ignored: Vec<Signal>,
}

impl Signals {
    fn catch() -> std::io::Result<Self> {
        // A limit on file sizes answers a write with an error instead of ending the process.
        let too_large = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            // Some hosts start their children with SIGCHLD ignored, and then nobody can wait for `git`.
            _ignored: vec![signal(SignalKind::hangup())?, signal(too_large)?, signal(SignalKind::child())?],
        })
    }
}

/// Everything that lives and leaves together.
struct House {
    server: Arc<Server>,
    /// Made once; each connection has a copy, which costs next to nothing.
    routes: Router,
    life: Life,
    listener: Listener,
    signals: Signals,
    connections: JoinSet<()>,
}

impl House {
    async fn live(mut self, idle: Option<Duration>) {
        let (_watcher, mut removed) = watch(&self.life.directories());
        let mut tick = Tick::every(TICK);
        let mut leaving = self.server.leaving.subscribe();
        let mut lonely_since = Instant::now();
        let mut was_used = false;
        let why = loop {
            let patience = idle.map(|idle| if was_used { idle } else { idle.max(FIRST_CLIENT) });
            let idle_end = lonely_since + patience.unwrap_or_default();
            let lonely = self.connections.is_empty();
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        was_used = true;
                        admit(&self.server, &self.routes, &mut self.connections, stream, peer);
                    }
                    Err(error) => {
                        tracing::warn!("no connection accepted: {error}");
                        // Out of descriptors: some will be given back.
                        sleep(Duration::from_millis(100)).await;
                    }
                },
                Some(_) = self.connections.join_next(), if !lonely => lonely_since = Instant::now(),
                () = sleep_until(idle_end), if lonely && patience.is_some() => break "idle",
                () = tick.next() => {
                    self.life.touch();
                    if let Some(why) = self.life.reason_to_leave() {
                        break why;
                    }
                }
                Some(()) = removed.recv() => {
                    if let Some(why) = self.life.reason_to_leave() {
                        break why;
                    }
                }
                _ = leaving.wait_for(Option::is_some) => break "asked to leave",
                _ = self.signals.terminate.recv() => break "SIGTERM",
                _ = self.signals.interrupt.recv() => break "SIGINT",
            }
        };
        self.leave(why).await;
    }

    /// Nobody new is cut off, nobody accepted is forgotten, and the place is free for the next daemon at once.
    async fn leave(self, why: &'static str) {
        tracing::info!("leaving: {why}");
        self.server.leave(why);
        self.life.unlink();
        let Self { server, routes, life, listener, mut connections, .. } = self;
        for (stream, peer) in listener.close() {
            admit(&server, &routes, &mut connections, stream, peer);
        }
        drop(life);
        let drained = async {
            while connections.join_next().await.is_some() {}
            server.work.done().await;
            Arc::clone(&server.backend).finish().await;
        };
        if timeout(DRAIN, drained).await.is_err() {
            tracing::warn!("left with work unfinished after {} s", DRAIN.as_secs());
        }
        tracing::info!("gone");
    }
}

/// Serves a new connection, if it is one of ours and there is room.
fn admit(server: &Arc<Server>, routes: &Router, connections: &mut JoinSet<()>, stream: Stream, peer: Peer) {
    if peer.uid != state::uid() {
        return tracing::warn!("user {} was refused", peer.uid);
    }
    if connections.len() >= CONNECTIONS {
        tracing::warn!("more than {CONNECTIONS} connections; one was refused");
        if connections.len() < CONNECTIONS + REFUSALS {
            connections.spawn(connections::refuse(stream));
        }
        return;
    }
    connections.spawn(connections::connection(Arc::clone(server), routes.clone(), stream, Some(SILENCE)));
}

/// Tells when something is removed from one of these directories. Where the system does not tell, the minute tick
/// finds out.
fn watch(directories: &[&Path]) -> (Option<notify::RecommendedWatcher>, mpsc::Receiver<()>) {
    let (sender, receiver) = mpsc::channel(1);
    let tell = move |event: notify::Result<notify::Event>| {
        use notify::EventKind::{Modify, Remove};
        use notify::event::ModifyKind::Name;
        let matters = event.is_ok_and(|event| matches!(event.kind, Remove(_) | Modify(Name(_))));
        if matters {
            // One waiting message is enough.
            let _ = sender.try_send(());
        }
    };
    let watcher = notify::recommended_watcher(tell).and_then(|mut watcher| {
        for directory in directories {
            watcher.watch(directory, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    });
    (watcher.ok(), receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_limit_is_seconds_and_zero_is_never() {
        for (given, expected) in [
            (None, Some(IDLE)),
            (Some(""), Some(IDLE)),
            (Some("soon"), Some(IDLE)),
            (Some("-1"), Some(IDLE)),
            (Some("nan"), Some(IDLE)),
            (Some("0"), None),
            (Some(" 90 "), Some(Duration::from_secs(90))),
            (Some("0.25"), Some(Duration::from_millis(250))),
            (Some("1e300"), Some(Duration::from_secs(u64::from(u32::MAX)))),
            (Some("inf"), Some(Duration::from_secs(u64::from(u32::MAX)))),
        ] {
            assert_eq!(idle_limit(given), expected, "{given:?}");
        }
    }
}
