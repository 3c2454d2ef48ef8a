//! The lines that users know, against a registry on this machine that has the packed packages.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use stepstone_tests::{Run, Sandbox, workspace_root};

use super::{is_here, npm, plugin, release};

/// The registry; it ends with its input, when this is dropped.
struct Registry {
    child: Child,
    address: String,
}

impl Registry {
    fn start() -> Self {
        let script = workspace_root().join("packaging/npm/test/registry.mjs");
        let mut command = Command::new("node");
        command.arg(script).arg(release()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A sandbox whose npm knows this registry and no other.
fn sandbox(registry: &Registry) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.set_env("npm_config_registry", &registry.address);
    sandbox.set_env("npm_config_update_notifier", "false");
    sandbox
}

#[test]
fn npx_runs_the_command_line_and_the_server_from_nothing() {
    if !is_here("npx", "npx") {
        return;
    }
    let registry = Registry::start();
    let sandbox = sandbox(&registry);
    let line = Run::new(sandbox.command("npx")).args(["-y", "stepstone@latest", "add", "Through npx"]);
    line.finish().ended(0);
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["through-npx"]);
    sandbox.cli(["delete", "through-npx", "--confirm"]).finish().ended(0);

    let line = ["npx", "-y", "--package", "stepstone@latest", "stepstone-mcp"].map(OsStr::new);
    if let Some(seen) = npm::official_session(&sandbox, &line) {
        npm::assert_whole_session(&seen);
    }
}

#[test]
fn the_plugins_line_starts_the_server_again_when_the_registry_is_gone() {
    if !is_here("npx", "npx") {
        return;
    }
    let registry = Registry::start();
    let sandbox = sandbox(&registry);
    let configuration = plugin::read(".mcp.json");
    let start = || {
        let mut session = sandbox.session_of("npx");
        let words = configuration["mcpServers"]["stepstone"]["args"].as_array().unwrap();
        session.command().args(words.iter().map(|word| word.as_str().unwrap()));
        session.start()
    };
    assert!(start().close().0.success());
    drop(registry);
    let mut offline = start();
    assert_eq!(offline.read("stepstone://worklist/list").ids(), Vec::<String>::new());
    assert!(offline.close().0.success());
}
