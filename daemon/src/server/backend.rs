//! The engine as the server sees it, so that routes can be tested with another one.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stepstone_proto::operation::{Context, Request};
use stepstone_proto::protocol::OpenWorklist;
use tokio::sync::mpsc;

pub use crate::service::Reply;

/// Something that the engine is at work on.
pub type Answering<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What an event stream tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The worklist's content.
    Changed {
        /// The file's revision.
        revision: u64,
        /// Ids of new goals.
        added: Vec<String>,
        /// Ids that are gone.
        removed: Vec<String>,
        /// Ids of goals that read differently now.
        changed: Vec<String>,
        /// The goals that stayed stand in another order.
        order_changed: bool,
    },
    /// The file cannot be read as a worklist any more.
    Malformed {
        /// What is wrong with it.
        message: String,
    },
    /// Anything may have changed.
    ReadAgain,
}

/// The changes of one (root, override), from the subscription on. Dropping it ends the subscription.
pub type Changes = mpsc::Receiver<Change>;

/// The engine behind the routes.
pub trait Backend: Send + Sync + 'static {
    /// Carries out one request. `wanted` turns false when the asker is gone.
    fn execute(self: Arc<Self>, request: Request, wanted: Arc<AtomicBool>) -> Answering<Reply>;
    /// Begins to watch the worklist that the context is about.
    fn subscribe(self: Arc<Self>, context: Context) -> Answering<Result<Changes, Reply>>;
    /// The open worklists.
    fn overview(&self) -> Vec<OpenWorklist>;
    /// How changes by others are noticed: `system`, `polling` or `off`.
    fn watching(&self) -> &'static str;
    /// Ends when everything that was accepted is done.
    fn finish(self: Arc<Self>) -> Answering<()>;
}
