//! The daemon's life, and what its clients do when it has none: started, busy, killed, refused, replaced, leaving.

mod busy;
mod callers_rights;
mod control;
mod denied;
mod directories;
mod filter;
mod foreign;
mod homes;
mod killed;
mod leaving;
mod refused;
mod skew;
mod starting;
mod surroundings;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use stepstone_tests::{Process, Sandbox, eventually};

/// The daemon's socket; something has to have started it.
fn socket(sandbox: &Sandbox) -> PathBuf {
    sandbox.state_directory().expect("a state directory").join("daemon.sock")
}

/// A new connection to it, which never waits for ever.
fn connect(sandbox: &Sandbox) -> UnixStream {
    let stream = UnixStream::connect(socket(sandbox)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// One request as bytes, the last one of its connection.
fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

/// Status and body of the answer to one request.
fn ask(sandbox: &Sandbox, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
    let mut stream = connect(sandbox);
    stream.write_all(request(method, path, headers, body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    parts(&answer)
}

/// Status and body of an answer with a length.
fn parts(answer: &str) -> (u16, Value) {
    let status = answer.get(9..12).and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    (
        status.unwrap_or_else(|| panic!("no answer: {answer:?}")),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

/// The body of an operation, asked for in `directory`.
fn operation(directory: &Path, operation: &Value) -> String {
    let git_env = json!({"PATH": std::env::var("PATH").unwrap()});
    json!({"context": {"cwd": directory, "gitEnv": git_env}, "operation": operation}).to_string()
}

/// What `-v` says about the engine.
#[track_caller]
fn note(sandbox: &Sandbox) -> String {
    let finished = sandbox.cli(["list", "-v"]).finish();
    finished.ended(0);
    finished.err()
}

/// Asserts that commands are answered by the daemon, which is the only one, and gives it.
#[track_caller]
fn served_by_the_daemon(sandbox: &Sandbox) -> Process {
    let note = note(sandbox);
    assert!(note.contains("answered by the daemon"), "{note}");
    sandbox.daemon()
}

/// Waits until a process has ended.
fn gone(process: &Process) {
    eventually(&format!("the end of {process:?}"), || (!process.is_alive()).then_some(()));
}

/// Makes every change to the goal file wait: somebody else's lock, which is dropped with this.
struct HeldLock(PathBuf);

impl HeldLock {
    fn new(sandbox: &Sandbox) -> Self {
        Self(sandbox.take_lock())
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Whoever took it over after all removed it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// How often a race is run: 20 times, and 200 times when `STEPSTONE_TESTS_FULL` is set.
fn rounds() -> usize {
    if std::env::var_os("STEPSTONE_TESTS_FULL").is_some() { 200 } else { 20 }
}
