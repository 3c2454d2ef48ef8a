//! What crosses Stepstone's local socket, and the one table from which every interface is rendered.
//!
//! - [`operation`]: one request, as clients send it and as the engine decodes it.
//! - [`envelope`]: one answer, the same on every interface.
//! - [`contract`]: the actions, their arguments and their texts, as data.
//! - [`protocol`]: header names, the protocol range and the rule for when it grows.
//! - [`paths`]: where the state directory, the socket and the locks are.
//!
//! Two modules do I/O, because both sides of the socket need exactly the same: [`state`] (is the state directory to
//! be trusted, and its locks) and [`transport`] (connect, listen, who is at the other end). Nothing else in this
//! crate talks to a file, a socket or a clock.

pub mod contract;
pub mod envelope;
pub mod goal;
pub mod operation;
pub mod paths;
pub mod protocol;
pub mod state;
pub mod transport;
