//! What the process was started with that matters for reaching an engine.

use std::ffi::OsString;

use stepstone_proto::paths::{Layout, NoLayout};
use stepstone_proto::state;

/// Variables that sandboxes of agents set for what runs inside them. A client in there does not start the daemon
/// that everyone shares: it would be caught in the sandbox with it.
const SANDBOX_VARIABLES: [&str; 4] =
    ["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "SANDBOX_RUNTIME", "SANDBOX"];

/// What the process was started with that matters for reaching an engine.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Where the daemon is, or why there is no such place.
    pub layout: Result<Layout, NoLayout>,
    /// `STEPSTONE_NO_DAEMON` is set (and neither blank nor `0`): never use the daemon.
    pub no_daemon: bool,
    /// The variable that says that this is a sandbox.
    pub sandbox: Option<&'static str>,
    /// `PATH`, where `stepstoned` is looked for when it is not beside this executable.
    pub path: Option<OsString>,
}

impl Surroundings {
    /// Of this process.
    #[must_use]
    pub fn from_env() -> Self {
        let is_set =
            |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        Self {
            layout: state::layout(),
            no_daemon: is_set("STEPSTONE_NO_DAEMON"),
            sandbox: SANDBOX_VARIABLES.into_iter().find(|name| is_set(name)),
            path: std::env::var_os("PATH"),
        }
    }
}
