//! JSON-RPC on a pair of byte streams, one message per line, whatever the other side writes.
//!
//! Nothing here knows MCP's methods. [`lines`] cuts the input and bounds it, [`message`] says what a line is,
//! [`outbox`] is the only writer of the output.

pub mod lines;
pub mod message;
pub mod outbox;
