//! A body whose text is not known yet when its head is sent.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::oneshot;

use super::pieces::Pieces;

/// Turns the flag false when it is dropped: nobody waits for the answer any more.
#[derive(Debug)]
pub(super) struct Asker(pub(super) Arc<AtomicBool>);

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Text that comes later.
#[derive(Debug)]
pub(super) struct Late {
    text: Option<oneshot::Receiver<Pieces>>,
    /// What has come of it.
    pieces: Pieces,
    _asker: Asker,
}

impl Late {
    pub(super) fn new(text: oneshot::Receiver<Pieces>, asker: Asker) -> Self {
        Self { text: Some(text), pieces: Pieces::default(), _asker: asker }
    }
}

impl Body for Late {
    type Data = Bytes;
    type Error = oneshot::error::RecvError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(text) = &mut self.text {
            let ready = std::task::ready!(Pin::new(text).poll(context));
            self.text = None;
            match ready {
                Ok(pieces) => self.pieces = pieces,
                // An engine that ended without an answer breaks the connection off, which clients understand.
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        Poll::Ready(self.pieces.next().map(|piece| Ok(Frame::data(piece))))
    }
}
