//! An answer as it crosses the socket: JSON text in pieces, so that a large result is passed on as it was made.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use serde::Serialize;
use serde_json::value::RawValue;
use stepstone_proto::envelope::Envelope;
use stepstone_proto::state;

/// A shorter result is copied: that costs less than a piece of its own.
const LARGE: usize = 64 << 10;

/// Text in pieces, each given once.
#[derive(Debug, Default)]
pub(super) struct Pieces(VecDeque<Bytes>);

impl Pieces {
    /// Of anything small.
    pub(super) fn of(body: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self([serde_json::to_vec(body)?.into()].into()))
    }

    /// Of an envelope. Its result, when it is large, becomes a piece without being copied.
    pub(super) fn of_envelope(mut envelope: Envelope) -> serde_json::Result<Self> {
        let Some(result) = envelope.result.take_if(|result| result.get().len() >= LARGE) else {
            return Self::of(&envelope);
        };
        // It stands for the result, and nobody has said it before.
        let mark = format!("\"{}\"", state::fresh_id());
        envelope.result = Some(RawValue::from_string(mark.clone())?);
        let text = serde_json::to_string(&envelope)?;
        let Some((before, after)) = text.split_once(&mark) else {
            envelope.result = Some(result);
            return Self::of(&envelope);
        };
        let (before, after) = (before.to_owned(), after.to_owned());
        let result = String::from(Box::<str>::from(result));
        Ok(Self([before, result, after].map(Bytes::from).into()))
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
    use super::*;

    #[test]
    fn the_pieces_are_the_envelope_and_a_large_result_is_not_copied() {
        for size in [0, 1, LARGE - 3, LARGE - 2, LARGE, 3 * LARGE] {
            let result = RawValue::from_string(format!("\"{}\"", "x".repeat(size))).unwrap();
            let place = result.get().as_ptr();
            let is_large = result.get().len() >= LARGE;
            let envelope = Envelope::success("list", result);
            let whole = serde_json::to_string(&envelope).unwrap();
            let mut pieces = Pieces::of_envelope(envelope).unwrap();
            assert_eq!(pieces.size_hint().exact(), Some(whole.len() as u64));
            assert_eq!(pieces.0.len(), if is_large { 3 } else { 1 });
            assert_eq!(pieces.0.get(1).is_some_and(|piece| piece.as_ptr() == place), is_large);
            let mut joined = Vec::new();
            while let Some(piece) = pieces.next() {
                joined.extend_from_slice(&piece);
            }
            assert_eq!(String::from_utf8(joined).unwrap(), whole);
        }
    }
}
