//! Clients by others, started against this build: they list, read, call, are refused, subscribe, see a change made
//! elsewhere, and close.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use stepstone_tests::{Run, Sandbox, eventually, skipped, workspace_root};

/// A client by others that says what it sees.
struct Client {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, said }
    }

    /// The next thing that it says, which must be this.
    #[track_caller]
    fn says(&mut self, event: &str) -> Value {
        let line = self.said.next().unwrap_or_else(|| panic!("it ended before {event}")).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(said["event"], event, "{said}");
        said
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Goes through a whole session with this client, and checks what it saw.
fn session(sandbox: &Sandbox, command: Command) {
    let mut client = Client::start(command);
    let connected = client.says("connected");
    assert_eq!(connected["server"]["name"], "stepstone");
    let listed = client.says("listed");
    assert_eq!(listed["tools"].as_array().unwrap().len(), 11);
    assert_eq!(listed["tools"][10], "read_goals");
    assert_eq!(listed["resources"].as_array().unwrap().len(), 4);
    assert_eq!(listed["templates"].as_array().unwrap().len(), 2);
    assert_eq!(listed["prompts"], json!(["plan_roadmap", "next_goal"]));
    assert_eq!(client.says("read")["envelope"]["result"]["goals"], json!([]));
    let called = client.says("called");
    assert_eq!((&called["isError"], &called["envelope"]["ok"]), (&json!(false), &json!(true)));
    let refused = client.says("refused");
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["envelope"]["error"]["code"], "APPROVAL_REQUIRED");
    assert_eq!(client.says("unknown")["code"], -32602);
    assert_eq!(client.says("completed")["values"], json!(["from-a-real-client"]));
    assert!(client.says("prompted")["text"].as_str().unwrap().contains("From a real client"));
    client.says("subscribed");
    sandbox.mcp().call("add", json!({ "title": "Elsewhere" })).goal();
    assert_eq!(client.says("updated")["uri"], "stepstone://worklist/list");
    let server = client.says("closing")["pid"].as_u64();
    writeln!(client.child.stdin.as_mut().unwrap()).unwrap();
    assert_eq!(client.says("closed")["problems"], json!([]));
    assert!(client.child.wait().unwrap().success());
    if let Some(server) = server {
        let gone = || (!Path::new(&format!("/proc/{server}")).exists()).then_some(());
        eventually("the server is gone", gone);
    }
}

/// The folder of the clients' packages, when this package is installed there.
fn installed(test: &str, folder: &str, package: &str) -> Option<PathBuf> {
    let folder = workspace_root().join(folder);
    if !folder.join("node_modules").join(package).exists() {
        skipped(test, &format!("run `npm ci --prefix {}` first (needs Node and npm)", folder.display()));
        return None;
    }
    Some(folder)
}

#[test]
fn the_official_typescript_client_of_the_first_line() {
    let Some(folder) = installed("typescript v1", "tests/interop", "@modelcontextprotocol/sdk") else {
        return;
    };
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("node");
    command.arg(folder.join("mcp-session.mjs")).arg(&sandbox.executables().mcp);
    session(&sandbox, command);
}

/// The clients of the long test run: `.ci/run --full` installs them.
const LONG_RUN: &str = "tests/interop/full";

#[test]
fn the_official_typescript_client_of_the_second_line_in_both_eras() {
    let Some(folder) = installed("typescript v2", LONG_RUN, "@modelcontextprotocol/client") else { return };
    for mode in ["auto", "legacy"] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command("node");
        command.arg(folder.join("session.mjs")).arg(mode).arg(&sandbox.executables().mcp);
        session(&sandbox, command);
    }
}

#[test]
fn the_official_python_client_in_both_eras() {
    let folder = workspace_root().join(LONG_RUN);
    let python = folder.join("venv/bin/python");
    if !python.exists() {
        let folder = folder.display();
        skipped("python", &format!("make {folder}/venv with {folder}/requirements.txt in it first"));
        return;
    }
    for mode in ["auto", "legacy"] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(&python);
        command.arg(folder.join("session.py")).arg(mode).arg(&sandbox.executables().mcp);
        session(&sandbox, command);
    }
}

#[test]
fn the_inspector_finds_every_schema_portable_in_both_eras() {
    let Some(folder) = installed("inspector", LONG_RUN, "@modelcontextprotocol/inspector") else { return };
    let sandbox = Sandbox::new();
    for era in ["legacy", "auto", "modern"] {
        let inspect = |arguments: &[&str]| {
            Run::new(sandbox.command("node"))
                .arg(folder.join("node_modules/.bin/mcp-inspector"))
                .args(["--cli", "--format", "json", "--protocol-era", era])
                .arg(&sandbox.executables().mcp)
                .args(arguments)
                .finish()
        };
        let listed = inspect(&["--strict", "--method", "tools/list"]).ended(0);
        let listed: Value =
            serde_json::from_str(&listed).unwrap_or_else(|error| panic!("{era}: {error}: {listed}"));
        assert!(listed.to_string().contains("read_goals"), "{era}: {listed}");
        inspect(&["--method", "resources/read", "--uri", "stepstone://worklist/list"]).ended(0);
        inspect(&["--method", "tools/call", "--tool-name", "read_goals", "--tool-arg", "view=list"]).ended(0);
    }
}
