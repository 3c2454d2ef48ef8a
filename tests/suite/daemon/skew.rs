//! Other versions: of the daemon, of the client, of the file that the daemon was started from.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::Signal;
use serde_json::json;
use stepstone_proto::protocol::RANGE;
use stepstone_proto::state::LockFile;
use stepstone_tests::{Executables, Sandbox, eventually};

use super::{ask, gone, note, operation, served_by_the_daemon, socket};

/// A daemon of another protocol: it answers status and shutdown as every version does, and nothing else.
struct OtherDaemon {
    asked: Arc<Mutex<Vec<String>>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    left: Receiver<()>,
    socket: std::path::PathBuf,
}

impl OtherDaemon {
    /// With the lock and the socket of the sandbox. When it is asked to leave it does, if it is a good one.
    fn new(sandbox: &Sandbox, range: &'static str, leaves: bool) -> Self {
        let state = sandbox.state_directory().unwrap();
        let lock = LockFile::try_take(&state.join("daemon.lock")).unwrap().expect("no daemon runs");
        let socket = state.join("daemon.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let stopping = Arc::new(AtomicBool::new(false));
        let (sender, left) = channel();
        let (told, stop, path) = (Arc::clone(&asked), Arc::clone(&stopping), socket.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let mut stream = stream.unwrap();
                let mut text = [0; 65536];
                let length = stream.read(&mut text).unwrap();
                let text = String::from_utf8_lossy(&text[..length]).into_owned();
                let line = text.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
                let leaving = line == "POST /v1/shutdown" && leaves;
                let (status, body) = match line.as_str() {
                    "POST /v1/shutdown" => (200, json!({"pid": std::process::id()})),
                    "GET /v1/status" => (200, json!({"pid": 1, "version": "99.0.0", "protocol": range})),
                    _ => (426, json!({"error": "another protocol", "shape": ["that", "nobody", "knows"]})),
                };
                told.lock().unwrap().push(line);
                let body = body.to_string();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nstepstone-protocol: {range}\r\nstepstone-version: 99.0.0\r\n\
                     connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                // Who asked may be gone.
                let _ = stream.write_all(answer.as_bytes());
                if leaving {
                    break;
                }
            }
            if stop.load(Ordering::Relaxed) || leaves {
                let _ = std::fs::remove_file(&path);
            }
            drop(listener);
            drop(lock);
            let _ = sender.send(());
        });
        Self { asked, stopping, thread: Some(thread), left, socket }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for OtherDaemon {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        if self.left.try_recv().is_err() {
            let _ = std::os::unix::net::UnixStream::connect(&self.socket);
        }
        let _ = self.thread.take().unwrap().join();
    }
}

/// A sandbox whose state directory is there, without a daemon.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    served_by_the_daemon(&sandbox);
    let daemon = sandbox.daemon();
    sandbox.cli(["daemon", "stop"]).json();
    gone(&daemon);
    sandbox
}

#[test]
fn a_client_older_than_the_daemon_uses_its_own_engine_and_leaves_the_daemon_alone() {
    let sandbox = prepared();
    let other = OtherDaemon::new(&sandbox, "70-90", true);
    assert_eq!(sandbox.cli(["add", "One"]).json().id(), "one");
    let mut session = sandbox.mcp();
    assert_eq!(session.call("add", json!({"title": "Two"})).id(), "two");
    assert_eq!(session.read("stepstone://worklist/list").ids(), ["one", "two"]);
    // This one is said unasked: the user has to upgrade something.
    let plain = sandbox.cli(["list"]).finish();
    plain.ended(0);
    assert_eq!(plain.err().lines().count(), 1, "{}", plain.err());
    let note = note(&sandbox);
    assert_eq!(note, plain.err());
    assert!(note.contains("70-90") && note.contains(&RANGE.to_string()), "{note}");
    assert!(!other.asked().iter().any(|line| line.contains("shutdown")), "{:?}", other.asked());
    assert_eq!(sandbox.daemons(), []);
}

#[test]
fn a_client_newer_than_the_daemon_asks_it_to_leave_and_starts_its_own() {
    let sandbox = prepared();
    let other = OtherDaemon::new(&sandbox, "0-0", true);
    assert_eq!(sandbox.cli(["add", "One"]).json().id(), "one");
    assert_eq!(other.asked(), ["POST /v1/operations", "POST /v1/shutdown"]);
    served_by_the_daemon(&sandbox);
    assert_eq!(sandbox.cli(["list"]).json().revision(), Some(1));
}

#[test]
fn an_older_daemon_that_does_not_leave_is_worked_around() {
    let sandbox = prepared();
    let other = OtherDaemon::new(&sandbox, "0-0", false);
    // It answers, and its process (this one) goes on.
    assert_eq!(sandbox.cli(["add", "One"]).json().id(), "one");
    assert!(other.asked().contains(&"POST /v1/shutdown".to_owned()));
    assert_eq!(sandbox.daemons(), []);
}

#[test]
fn status_and_stop_work_across_versions_and_stop_tells_the_truth() {
    for range in ["0-0", "70-90"] {
        let sandbox = prepared();
        let _other = OtherDaemon::new(&sandbox, range, false);
        let status = sandbox.cli(["daemon", "status"]).json();
        assert_eq!(status.result()["running"], true);
        assert_eq!(status.result()["version"], "99.0.0");
        assert_eq!(status.result()["protocol"], range);
        assert_eq!(status.result()["pid"], std::process::id());
        // It says that it leaves; this process is still here.
        let stop = sandbox.cli(["daemon", "stop"]).json();
        let failure = stop.refused("UNAVAILABLE");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains(&std::process::id().to_string()), "{message}");
    }
}

#[test]
fn the_daemon_answers_and_leaves_for_clients_of_any_version() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let body = operation(&sandbox.root(), &json!({"action": "add", "title": "One"}));
    for range in ["0-0", "70-90", "nonsense"] {
        let header = format!("stepstone-protocol: {range}\r\n");
        let (status, refusal) = ask(&sandbox, "POST", "/v1/operations", &header, &body);
        assert_eq!(status, 426, "{refusal}");
        let (status, answer) = ask(&sandbox, "GET", "/v1/status", &header, "");
        assert_eq!((status, &answer["pid"]), (200, &json!(daemon.pid)));
    }
    assert!(!sandbox.worklist_path().exists());
    for range in ["0-1", "1-70"] {
        let header = format!("stepstone-protocol: {range}\r\n");
        assert_eq!(ask(&sandbox, "POST", "/v1/operations", &header, &body).0, 200);
    }
    let (status, _) = ask(&sandbox, "POST", "/v1/shutdown", "stepstone-protocol: 70-90\r\n", "");
    assert_eq!(status, 200);
    gone(&daemon);
}

/// Executables of this sandbox's own, to be replaced and removed.
fn with_own_executables() -> Sandbox {
    let sandbox = Sandbox::new();
    let directory = sandbox.base().join("bin");
    std::fs::create_dir(&directory).unwrap();
    for path in [&sandbox.executables().cli, &sandbox.executables().mcp, &sandbox.executables().daemon] {
        std::fs::copy(path, directory.join(path.file_name().unwrap())).unwrap();
    }
    sandbox.with_executables(Executables::within(&directory))
}

fn replace(executable: &Path) {
    let other = executable.with_extension("new");
    std::fs::copy(executable, &other).unwrap();
    std::fs::rename(&other, executable).unwrap();
}

#[test]
fn replaced_executables_are_no_failure_and_the_old_daemon_leaves_by_itself() {
    let sandbox = with_own_executables();
    let daemon = served_by_the_daemon(&sandbox);
    let mut session = sandbox.mcp();
    let executables = sandbox.executables().clone();
    for path in [&executables.cli, &executables.mcp, &executables.daemon] {
        replace(path);
    }
    assert_eq!(session.call("add", json!({"title": "One"})).id(), "one");
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
    // The daemon looks each minute, and when something goes from its directory.
    let file = sandbox.state_directory().unwrap().join("any-file");
    std::fs::write(&file, "").unwrap();
    std::fs::remove_file(&file).unwrap();
    gone(&daemon);
    assert_eq!(session.call("add", json!({"title": "Two"})).id(), "two");
    assert_ne!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn deleted_executables_are_no_failure() {
    let sandbox = with_own_executables();
    let daemon = served_by_the_daemon(&sandbox);
    let mut session = sandbox.mcp();
    let executables = sandbox.executables().clone();
    std::fs::remove_file(&executables.daemon).unwrap();
    assert_eq!(session.call("add", json!({"title": "One"})).id(), "one");
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
    // The session's own file goes too, and a new installation comes.
    std::fs::copy(stepstone_tests::executables().daemon.as_path(), &executables.daemon).unwrap();
    std::fs::remove_file(&executables.mcp).unwrap();
    daemon.signal(Signal::KILL);
    gone(&daemon);
    assert_eq!(session.call("add", json!({"title": "Two"})).id(), "two");
    let next = eventually("a daemon of the new installation", || sandbox.daemons().pop());
    assert_ne!(next, daemon);
    assert!(socket(&sandbox).exists());
}

#[test]
fn a_daemon_is_found_on_the_path_when_none_is_beside_the_client() {
    let mut sandbox = with_own_executables();
    let executables = sandbox.executables().clone();
    let elsewhere = sandbox.base().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::rename(&executables.daemon, elsewhere.join("stepstoned")).unwrap();
    let run = sandbox.cli(["list"]).json();
    run.refused_with("UNAVAILABLE", "repair-stepstone-installation");
    let path = std::env::join_paths(
        std::iter::once(elsewhere).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    sandbox.set_env("PATH", path.unwrap());
    served_by_the_daemon(&sandbox);
}
