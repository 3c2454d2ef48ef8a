//! Connect, start the daemon, private engine, when to send again.
