//! Which requests are in flight, and whom their answers are for.
//!
//! rmcp sees numbers that are given here, each once. So a client's id comes back as it was written, one that is used
//! twice confuses nothing, and whatever rmcp still has to say about a request that was answered or cancelled ends
//! here.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::{Map, Value, json};

use crate::wire::message::{WireError, WireId};

/// A request in flight, by the number that rmcp knows.
pub(super) type Number = i64;
/// A batch in flight.
pub(super) type BatchNumber = u64;

/// What is known of a request in flight.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// As the client wrote it.
    pub(super) id: WireId,
    /// The method that was asked for.
    pub(super) method: String,
    /// Whether it carries its own context, as revisions without a handshake have it.
    pub(super) modern: bool,
    /// The batch that it came in.
    pub(super) batch: Option<BatchNumber>,
}

/// All requests in flight.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    last: Number,
    pending: BTreeMap<Number, Pending>,
    last_batch: BatchNumber,
    batches: HashMap<BatchNumber, Batch>,
}

#[derive(Debug)]
struct Batch {
    open: usize,
    answers: Vec<String>,
}

impl Ledger {
    /// Takes a request in.
    pub(super) fn open(&mut self, pending: Pending) -> Number {
        self.last += 1;
        self.pending.insert(self.last, pending);
        self.last
    }

    /// The request with this number, while it is in flight.
    #[must_use]
    pub(super) fn get(&self, number: Number) -> Option<&Pending> {
        self.pending.get(&number)
    }

    /// The answer to a request was given: what was known of it, once.
    pub(super) fn close(&mut self, number: Number) -> Option<Pending> {
        self.pending.remove(&number)
    }

    /// The client no longer wants an answer to this id: the requests that were in flight under it, and the batches
    /// that this completes, as lines.
    pub(super) fn cancel(&mut self, id: &WireId) -> (Vec<Number>, Vec<String>) {
        let numbers: Vec<Number> = self
            .pending
            .iter()
            // A handshake cannot be cancelled.
            .filter(|(_, pending)| pending.id == *id && pending.method != "initialize")
            .map(|(number, _)| *number)
            .collect();
        let mut lines = Vec::new();
        for number in &numbers {
            if let Some(batch) = self.pending.remove(number).and_then(|pending| pending.batch) {
                lines.extend(self.settle(batch, None));
            }
        }
        (numbers, lines)
    }

    /// Whether everything that was asked has been answered.
    #[must_use]
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Begins a batch of so many messages that will be answered or cancelled.
    pub(super) fn batch(&mut self, open: usize) -> BatchNumber {
        self.last_batch += 1;
        self.batches.insert(self.last_batch, Batch { open, answers: Vec::new() });
        self.last_batch
    }

    /// The line to write for an answer, now that there is one: the answer itself, or the whole batch when it was the
    /// last one of it.
    pub(super) fn line(&mut self, batch: Option<BatchNumber>, answer: String) -> Option<String> {
        match batch {
            None => Some(answer),
            Some(batch) => self.settle(batch, Some(answer)),
        }
    }

    fn settle(&mut self, number: BatchNumber, answer: Option<String>) -> Option<String> {
        let batch = self.batches.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.open = batch.open.saturating_sub(1);
        if batch.open > 0 {
            return None;
        }
        let batch = self.batches.remove(&number)?;
        (!batch.answers.is_empty()).then(|| format!("[{}]", batch.answers.join(",")))
    }
}

/// The line of a result. It is written once and not copied: it may be large.
///
/// # Errors
///
/// When the result cannot be written as JSON.
pub(super) fn result_line(id: &WireId, result: &impl Serialize) -> serde_json::Result<String> {
    let mut line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.as_json()).into_bytes();
    serde_json::to_writer(&mut line, result)?;
    line.push(b'}');
    String::from_utf8(line).map_err(serde_json::Error::custom)
}

/// The line of a protocol error. Without an id when none could be read.
#[must_use]
pub(super) fn error_line(id: Option<&WireId>, error: &WireError, data: Option<Value>) -> String {
    let mut body = Map::new();
    body.insert("code".to_owned(), error.code.into());
    body.insert("message".to_owned(), error.message.as_str().into());
    if let Some(data) = data {
        body.insert("data".to_owned(), data);
    }
    let error = Value::Object(body);
    match id {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.as_json()),
        None => json!({ "jsonrpc": "2.0", "error": error }).to_string(),
    }
}
