//! How many requests are being carried out, and waiting for the last one.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts what is under way.
#[derive(Debug, Clone)]
pub(super) struct Work(Arc<watch::Sender<usize>>);

impl Default for Work {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

/// One piece of work; done when it is dropped.
#[derive(Debug)]
pub(super) struct Piece(Work);

impl Work {
    pub(super) fn begin(&self) -> Piece {
        self.0.send_modify(|count| *count += 1);
        Piece(self.clone())
    }

    /// Ends when nothing is under way.
    pub(super) async fn done(&self) {
        // The sender lives as long as this does.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
