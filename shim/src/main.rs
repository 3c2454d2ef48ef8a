//! `stepstone-mcp`: the stdio MCP server, a client of the daemon.

fn main() {}
