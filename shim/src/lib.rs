//! MCP on standard streams: tools and resources to operations, notifications from events.
//!
//! - [`wire`]: JSON-RPC lines, whatever the other side writes.
//! - [`mcp`]: the protocol, in both of its eras, and the only place that knows the library for it.
//! - [`call`], [`uri`], [`key`], [`prompts`]: what hosts ask for, as operations.
//! - [`subscriptions`]: who is told of changes.
//! - [`place`]: where this server works.
//! - [`engine`]: the seam behind which operations are carried out; [`daemon`]: what stands behind it.
//!
//! No goal is looked at here and no argument judged: the engine does both, for every interface.

pub mod call;
pub mod daemon;
pub mod engine;
pub mod key;
pub mod mcp;
pub mod output;
pub mod place;
pub mod prompts;
pub mod subscriptions;
pub mod uri;
pub mod wire;
