//! The engine as the server sees it, so that routes can be tested with another one.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stepstone_proto::operation::{Context, Request};
use stepstone_proto::protocol::OpenWorklist;
use tokio::sync::mpsc;

pub use crate::service::Reply;
pub use crate::store::WorklistEvent as Change;

/// Something that the engine is at work on.
pub type Answering<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The changes of one (root, override), from the subscription on. Dropping it ends the subscription.
pub type Changes = mpsc::Receiver<Change>;

/// The engine behind the routes.
pub trait Backend: Send + Sync + 'static {
    /// Carries out one request. `wanted` turns false when the asker is gone.
    fn execute(self: Arc<Self>, request: Request, wanted: Arc<AtomicBool>) -> Answering<Reply>;
    /// Begins to watch the worklist that the context is about.
    fn subscribe(self: Arc<Self>, context: Context) -> Answering<Result<Changes, Reply>>;
    /// The root of the repository that the context is about, if it has one.
    fn root(self: Arc<Self>, context: Context) -> Answering<Option<String>>;
    /// The open worklists.
    fn overview(&self) -> Vec<OpenWorklist>;
    /// How changes by others are noticed: `system`, `polling` or `off`.
    fn watching(&self) -> &'static str;
    /// Ends when everything that was accepted is done.
    fn finish(self: Arc<Self>) -> Answering<()>;
}
