//! What crosses Stepstone's local socket, and the one table from which every interface is rendered.
//!
//! - [`operation`]: one request, as clients send it and as the engine decodes it.
//! - [`envelope`]: one answer, the same on every interface.
//! - [`contract`]: the actions, their arguments and their texts, as data.
//! - [`protocol`]: header names, the protocol range and the rule for when it grows.
//! - [`paths`]: where the state directory, the socket and the locks are.
//!
//! Nothing in this crate talks to a file, a socket or a clock.

pub mod contract;
pub mod envelope;
pub mod goal;
pub mod operation;
pub mod paths;
pub mod protocol;
