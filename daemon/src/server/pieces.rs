//! An answer as it crosses the socket: JSON text in pieces, so that a large result is passed on as it was made.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use serde::Serialize;
use stepstone_proto::envelope::Envelope;

/// Text in pieces, each given once.
#[derive(Debug, Default)]
pub(super) struct Pieces(VecDeque<Bytes>);

impl Pieces {
    /// Of anything small.
    pub(super) fn of(body: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self([serde_json::to_vec(body)?.into()].into()))
    }

    /// Of an envelope. Its result, when it is large, becomes a piece without being copied.
    pub(super) fn of_envelope(envelope: Envelope) -> serde_json::Result<Self> {
        Ok(Self(envelope.into_pieces()?.into_iter().map(Bytes::from).collect()))
    }

    pub(super) fn next(&mut self) -> Option<Bytes> {
        self.0.pop_front()
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn the_pieces_are_the_envelope_and_their_size_is_known_before() {
        for size in [1, 100, 1 << 20] {
            let result = RawValue::from_string(format!("\"{}\"", "x".repeat(size))).unwrap();
            let envelope = Envelope::success("list", result);
            let whole = serde_json::to_string(&envelope).unwrap();
            let mut pieces = Pieces::of_envelope(envelope).unwrap();
            assert_eq!(pieces.size_hint().exact(), Some(whole.len() as u64));
            assert!(!pieces.is_end_stream());
            let mut joined = Vec::new();
            while let Some(piece) = pieces.next() {
                joined.extend_from_slice(&piece);
            }
            assert!(pieces.is_end_stream());
            assert_eq!(String::from_utf8(joined).unwrap(), whole);
        }
    }
}
