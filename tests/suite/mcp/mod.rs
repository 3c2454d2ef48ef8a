//! The MCP server as a process: what hosts do to it, and what it tells them.

mod clients;
mod ending;
mod eras;
mod following;
mod hostile;
mod reading;
mod transcript;

use serde_json::{Value, json};

/// Parameters that carry their own context, as the revision without a handshake has it.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "modern-host", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}
