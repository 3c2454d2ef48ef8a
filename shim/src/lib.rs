//! MCP on standard streams: tools and resources to operations, notifications from events.
