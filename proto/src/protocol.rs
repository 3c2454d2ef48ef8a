//! The names and numbers of the HTTP protocol on the local socket.
//!
//! The protocol number grows when an older side would misunderstand a newer one: a changed meaning, a field that
//! must be understood, a removed route. It does not grow for added fields, actions or routes, which the other side
//! ignores or answers with a typed error. `GET /v1/status` and `POST /v1/shutdown` never change shape, so that any
//! version can ask and stop any other.

use std::fmt;

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
