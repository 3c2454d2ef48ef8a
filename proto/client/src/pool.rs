//! Connections that wait for the next request, and which engine is to be used.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::find::Why;
use crate::wire::{Connection, Engine};

/// How long a passing reason keeps a client away from the daemon.
const KEEP_AWAY: Duration = Duration::from_secs(30);

/// Which engine the next request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The daemon, to be found or started.
    Daemon,
    /// The private engine, for now or for good.
    Private,
    /// The private engine, while somebody should see whether the daemon is there again.
    PrivateAndLook,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    why: Option<Why>,
    until: Option<Instant>,
    looking: bool,
}

/// Idle connections and the reason, if there is one, to keep away from the daemon.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<State>);

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which engine to use now. `PrivateAndLook` is given once; whoever gets it must call [`Pool::daemon_is_there`]
    /// or [`Pool::keep_away`].
    pub(crate) fn way(&self) -> Way {
        let mut state = self.state();
        let Some(why) = &state.why else { return Way::Daemon };
        let over = state.until.is_some_and(|until| until <= Instant::now());
        if why.lasting || !over || state.looking {
            return Way::Private;
        }
        state.looking = true;
        Way::PrivateAndLook
    }

    /// Why the private engine is used, if it is.
    pub(crate) fn why(&self) -> Option<Why> {
        self.state().why.clone()
    }

    /// The daemon is not to be used for a while, or for good.
    pub(crate) fn keep_away(&self, why: Why) {
        let mut state = self.state();
        state.until = Some(Instant::now() + KEEP_AWAY);
        state.why = Some(why);
        state.looking = false;
        state.idle.retain(|connection| connection.engine == Engine::Private);
    }

    /// The daemon answers (again).
    pub(crate) fn daemon_is_there(&self) {
        let mut state = self.state();
        if state.why.take().is_some() {
            state.idle.retain(|connection| connection.engine == Engine::Shared);
        }
        state.until = None;
        state.looking = false;
    }

    /// An idle connection to this engine that is still open.
    pub(crate) fn take(&self, engine: Engine) -> Option<Connection> {
        let mut state = self.state();
        state.idle.retain(|connection| !connection.is_closed());
        let place = state.idle.iter().rposition(|connection| connection.engine == engine)?;
        Some(state.idle.swap_remove(place))
    }

    /// Keeps a connection for the next request. One private engine is enough to wait.
    pub(crate) fn put(&self, connection: Connection) {
        let mut state = self.state();
        let private = |connection: &Connection| connection.engine == Engine::Private;
        let unwanted =
            if private(&connection) { state.idle.iter().any(private) } else { state.why.is_some() };
        if !unwanted && !connection.is_closed() {
            state.idle.push(connection);
        }
    }

    /// Whether a connection to the daemon waits.
    pub(crate) fn is_warm(&self) -> bool {
        self.state().idle.iter().any(|connection| !connection.is_closed())
    }
}
