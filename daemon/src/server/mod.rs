//! The engine's life: routes, events, start, idle, drain, signals, self-check, log.
//!
//! - [`router`] answers requests; it knows the engine only as a [`Backend`].
//! - `connections` serves them one connection at a time, with deadlines that `axum::serve` does not have.
//! - `life` holds the lock and the socket; `serve` is the daemon's main loop, from readiness to the last drain.
//! - `start` spawns the daemon and reports; `pipe` is the private engine.

mod backend;
mod clients;
mod connections;
mod descriptors;
mod engine;
mod events;
mod late;
mod life;
mod log;
mod older;
mod pieces;
mod pipe;
mod routes;
mod serve;
mod start;
#[cfg(test)]
mod tests;
mod tick;
mod work;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use stepstone_proto::paths::Layout;
use stepstone_proto::state;
use tokio::sync::watch;

pub use backend::{Answering, Backend, Change, Changes, Reply};
pub use descriptors::close_foreign;
pub use pipe::pipe;
pub use routes::router;
pub use serve::{Mode, serve};
pub use start::start;

/// What every route knows: the engine, and the life around it.
pub struct Server {
    backend: Arc<dyn Backend>,
    /// An id of its own for each run.
    instance: String,
    started: Instant,
    /// Absent for a private engine.
    layout: Option<Layout>,
    /// Where the journals are.
    journals: Option<PathBuf>,
    clients: clients::Clients,
    work: work::Work,
    /// Why the engine leaves, once it does.
    leaving: watch::Sender<Option<&'static str>>,
}

impl Server {
    /// A server that has served nothing yet. `layout` is the shared daemon's; `journals` is the directory that the
    /// engine writes them in, if it has one.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, layout: Option<Layout>, journals: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self {
            backend,
            instance: state::fresh_id(),
            started: Instant::now(),
            layout,
            journals,
            clients: clients::Clients::default(),
            work: work::Work::default(),
            leaving: watch::Sender::new(None),
        })
    }

    /// Which directory the journals are in, while they can be written. A client sends a change again only to an
    /// engine that names the same one: where nothing can be written down, nobody knows what was done already.
    fn journal(&self) -> Option<String> {
        let journals = self.journals.as_deref().filter(|journals| state::takes_bytes(journals))?;
        state::verify(journals).ok().map(state::Identity::text)
    }

    /// Begins to leave, for this reason; the first one counts.
    fn leave(&self, why: &'static str) {
        self.leaving.send_if_modified(|reason| {
            let first = reason.is_none();
            *reason = reason.or(Some(why));
            first
        });
    }

    fn is_leaving(&self) -> bool {
        self.leaving.borrow().is_some()
    }
}
