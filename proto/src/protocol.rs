//! The names and numbers of the HTTP protocol on the local socket.
//!
//! The protocol number grows when an older side would misunderstand a newer one: a changed meaning, a field that
//! must be understood, a removed route. It does not grow for added fields, actions or routes, which the other side
//! ignores or answers with a typed error. `GET /v1/status` and `POST /v1/shutdown` never change shape, so that any
//! version can ask and stop any other.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `POST`: one [`crate::operation::Request`] in, one [`crate::envelope::Envelope`] out.
pub const OPERATIONS: &str = "/v1/operations";
/// `GET`: newline-delimited JSON about one worklist.
pub const EVENTS: &str = "/v1/events";
/// `GET`: who the engine is and what it has open.
pub const STATUS: &str = "/v1/status";
/// `POST`: leave.
pub const SHUTDOWN: &str = "/v1/shutdown";

/// Header with the sender's protocol range, `<min>-<max>`.
pub const PROTOCOL_HEADER: &str = "stepstone-protocol";
/// Header with the sender's version.
pub const VERSION_HEADER: &str = "stepstone-version";

/// Status of an answer that the caller's own engine must give instead; nothing was written. Its body is an
/// [`Elsewhere`].
pub const CALLER_MUST: u16 = 421;
/// Status of an answer to a side whose protocol range does not meet ours; nothing was done. Its body is a
/// [`NotUnderstood`], its headers carry our range.
pub const RANGES_APART: u16 = 426;
/// Status of an engine that has no room for another connection; nothing was done.
pub const FULL: u16 = 503;

/// The largest request body, in bytes.
pub const BODY_LIMIT: usize = 16 * 1024 * 1024;

/// The version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The range of protocol numbers that this build understands.
pub const RANGE: Range = Range { min: 1, max: 1 };

/// Protocol numbers from `min` to `max`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The oldest that is understood.
    pub min: u32,
    /// The newest that is understood.
    pub max: u32,
}

impl Range {
    /// Reads `<min>-<max>`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (min, max) = text.trim().split_once('-')?;
        let range = Self { min: min.trim().parse().ok()?, max: max.trim().parse().ok()? };
        (range.min <= range.max).then_some(range)
    }

    /// Whether the two sides have a number in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.min, self.max)
    }
}

/// Body of a [`CALLER_MUST`] answer. Where that is known only after the head of a 200 answer was sent, the same
/// object stands in the place of the envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elsewhere {
    /// Why the shared engine leaves it to the caller's own.
    pub caller_must: Because,
}

/// A reason in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Because {
    /// For people.
    pub reason: String,
}

/// Body of every answer that is neither 200 nor [`CALLER_MUST`]: the request itself was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotUnderstood {
    /// What is wrong with it.
    pub error: String,
}

/// Answer of [`STATUS`]. Fields are only ever added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The engine's version.
    pub version: String,
    /// Its protocol range, `<min>-<max>`.
    pub protocol: String,
    /// Its process.
    pub pid: u32,
    /// An id of its own for each run of an engine.
    pub instance: String,
    /// Since it was ready, in milliseconds.
    pub uptime_ms: u64,
    /// Its state directory; absent for a private engine without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_directory: Option<String>,
    /// Its socket; absent for a private engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// Which directory its journals are in ([`crate::state::Identity::text`]); absent when none can be written now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// Whether, and how, it notices changes by others: `system`, `polling` or `off`.
    pub watching: String,
    /// The worklists that it has open.
    pub worklists: Vec<OpenWorklist>,
    /// Who is connected, once per program that has asked for something.
    pub clients: Vec<ConnectedClient>,
}

/// One open worklist.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenWorklist {
    /// The goal file, absolute.
    pub path: String,
    /// Its revision as last read, as decimal text.
    pub revision: String,
    /// How many goals it has.
    pub goals: usize,
    /// How many changes wait.
    pub queued: usize,
}

/// One connected client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectedClient {
    /// As it calls itself.
    pub name: String,
    /// Its version, as it calls it.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// The root of the repository that it last asked about, or the directory where there is none.
    pub root: String,
    /// Since its last request, in milliseconds.
    pub last_request_ms: u64,
}

/// Answer of [`SHUTDOWN`]: the engine leaves from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Leaving {
    /// The process to wait for.
    pub pid: u32,
}

/// What `stepstoned --start` prints: one line, then it ends. The daemon that it started lives on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "kebab-case")]
pub enum StartReport {
    /// The daemon that was started listens on the socket.
    Ready {
        /// Its process.
        pid: u32,
    },
    /// Another daemon was there first, and its socket answers.
    SomeoneElse {
        /// Its process, where the system tells.
        pid: Option<u32>,
    },
    /// No daemon came to be.
    Failed {
        /// The daemon's own words.
        error: String,
    },
}

/// One line of an event stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum EventLine {
    /// The first line. A stream after a lost one begins with another sequence or instance, and its reader reads
    /// everything again.
    Hello {
        /// Of the engine, as in [`Status::instance`].
        instance: String,
        /// The number of the next change.
        sequence: u64,
    },
    /// The worklist's content changed, whoever changed it.
    Changed {
        /// Counts the lines of this stream that tell of something.
        sequence: u64,
        /// The file's revision, as decimal text.
        revision: String,
        /// Ids of new goals.
        added: Vec<String>,
        /// Ids that are gone.
        removed: Vec<String>,
        /// Ids of goals that read differently now.
        changed: Vec<String>,
        /// The goals that stayed stand in another order.
        #[serde(default)]
        order_changed: bool,
    },
    /// The file cannot be read as a worklist any more.
    Malformed {
        /// As for `changed`.
        sequence: u64,
        /// What is wrong with it.
        message: String,
    },
    /// What changed is not known (another file is in use, events were lost): read everything.
    ReadAgain {
        /// As for `changed`.
        sequence: u64,
    },
    /// Nothing happened; the stream lives.
    Heartbeat,
    /// The engine leaves; the stream ends.
    Leaving,
    /// A line of a kind that this build does not know; to be ignored.
    #[serde(other)]
    Unknown,
}

/// Writes one component of a query, percent-encoded.
#[must_use]
pub fn encode_component(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            _ => {
                encoded.push('%');
                for digit in [byte >> 4, byte & 15] {
                    encoded.push(char::from_digit(digit.into(), 16).unwrap_or('0').to_ascii_uppercase());
                }
            }
        }
    }
    encoded
}

/// Reads one percent-encoded component; `None` when it is none, or no UTF-8.
#[must_use]
pub fn decode_component(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let value = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
