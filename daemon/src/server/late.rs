//! A body whose text is not known yet when its head is sent.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::oneshot;

/// Turns the flag false when it is dropped: nobody waits for the answer any more.
#[derive(Debug)]
pub(super) struct Asker(pub(super) Arc<AtomicBool>);

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// One piece of text that comes later.
#[derive(Debug)]
pub(super) struct Late {
    text: Option<oneshot::Receiver<Bytes>>,
    _asker: Asker,
}

impl Late {
    pub(super) fn new(text: oneshot::Receiver<Bytes>, asker: Asker) -> Self {
        Self { text: Some(text), _asker: asker }
    }
}

impl Body for Late {
    type Data = Bytes;
    type Error = oneshot::error::RecvError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(text) = &mut self.text else { return Poll::Ready(None) };
        let ready = std::task::ready!(Pin::new(text).poll(context));
        self.text = None;
        // An engine that ended without an answer breaks the connection off, which clients understand.
        Poll::Ready(Some(ready.map(Frame::data)))
    }
}
