//! Where the state directory, the socket, the locks and the journals are.
//!
//! A pure function of (home directory, uid, host name), shared by the three executables. It never looks at `XDG_*`,
//! `TMPDIR` or the working directory, because hosts start MCP servers with a filtered environment and everyone must
//! arrive at the same daemon. `STEPSTONE_STATE_DIR` moves it.
