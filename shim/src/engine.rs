//! What carries operations out, as this server sees it. A seam: the real one is the client of the daemon.

use std::pin::Pin;

use serde_json::{Map, Value};
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::Context;

/// A future behind a pointer.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Carries operations out and says when something changed.
pub trait Engine: Send + Sync {
    /// Gets ready, so that the first operation finds the engine waiting. What goes wrong is left to that operation.
    fn warm(&self) -> Boxed<'_, ()>;

    /// Carries one operation out. Never fails: what goes wrong is an envelope too. Dropping the future withdraws an
    /// operation that has not been begun.
    fn perform(&self, context: Context, operation: Map<String, Value>) -> Boxed<'_, Envelope>;

    /// Begins to watch the roadmap of this context. Ready once nothing can be missed any more, or once it is clear
    /// that watching has to be tried again later, which the stream does by itself.
    fn watch(&self, context: Context) -> Boxed<'_, Box<dyn Watch>>;
}

/// Changes of one roadmap, as they happen.
pub trait Watch: Send {
    /// The next event. May be dropped while it waits. `None` when there will be none any more.
    fn next(&mut self) -> Boxed<'_, Option<Event>>;
}

/// Something happened to the roadmap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Goals, their order or the file's revision changed.
    Changed,
    /// Anything may have changed, also what watching missed: read everything again.
    ReadAgain,
}
