//! What others do to the state directory: stale numbers, cleaners, rubbish.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command};

use rustix::process::Signal;
use serde_json::json;
use stepstone_tests::{Sandbox, eventually};

use super::{gone, rounds, served_by_the_daemon, socket};

/// A process that has nothing to do with us.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_foreign_process_id_in_any_file_harms_nobody() {
    let sandbox = Sandbox::new();
    let mut bystander = Bystander::new();
    let daemon = served_by_the_daemon(&sandbox);
    sandbox.cli(["add", "One"]).json();
    daemon.signal(Signal::KILL);
    gone(&daemon);
    let state = sandbox.state_directory().unwrap();
    let pid = bystander.0.id().to_string();
    let mut files = vec![];
    for directory in [state.clone(), state.join("locks")] {
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                files.push(entry.path());
            }
        }
    }
    assert!(files.len() >= 4, "{files:?}");
    for file in &files {
        let text = if file.ends_with("daemon.json") {
            json!({"pid": bystander.0.id()}).to_string()
        } else {
            pid.clone()
        };
        std::fs::write(file, text).unwrap();
    }
    let next = served_by_the_daemon(&sandbox);
    assert_eq!(sandbox.cli(["add", "Two"]).json().id(), "two");
    let stopped = sandbox.cli(["daemon", "stop"]).json();
    assert_eq!(stopped.result()["pid"], next.pid);
    let stopped = sandbox.cli(["daemon", "stop"]).json();
    assert_eq!(stopped.result()["wasRunning"], false);
    assert!(bystander.is_alive());
}

#[test]
fn rubbish_in_the_places_of_our_files_is_no_failure() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    daemon.signal(Signal::KILL);
    gone(&daemon);
    let socket = socket(&sandbox);
    let state = sandbox.state_directory().unwrap();
    // A file, a dead socket, and a socket of somebody who hung up, where ours is to be.
    std::fs::remove_file(&socket).unwrap();
    std::fs::write(&socket, "rubbish").unwrap();
    let daemon = served_by_the_daemon(&sandbox);
    daemon.signal(Signal::KILL);
    gone(&daemon);
    std::fs::remove_file(&socket).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    for name in ["daemon.json", "daemon.log"] {
        std::fs::remove_file(state.join(name)).unwrap();
        std::fs::create_dir(state.join(name)).unwrap();
    }
    served_by_the_daemon(&sandbox);
}

#[test]
fn a_removed_socket_is_restored() {
    let sandbox = Sandbox::new();
    let mut daemon = served_by_the_daemon(&sandbox);
    for round in 0..rounds() / 4 {
        std::fs::remove_file(socket(&sandbox)).unwrap();
        assert_eq!(sandbox.cli(["add", &format!("Goal {round}")]).json().id(), format!("goal-{round}"));
        gone(&daemon);
        daemon = served_by_the_daemon(&sandbox);
    }
}

#[test]
fn a_removed_lock_is_taken_again_and_a_second_daemon_does_not_come() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let lock = sandbox.state_directory().unwrap().join("daemon.lock");
    for _ in 0..rounds() / 4 {
        let before = lock.metadata().unwrap().ino();
        std::fs::remove_file(&lock).unwrap();
        eventually("the lock's file", || lock.metadata().ok());
        let by_hand = stepstone_tests::Run::new(sandbox.command(&sandbox.executables().daemon)).finish();
        by_hand.ended(0);
        assert_eq!(served_by_the_daemon(&sandbox), daemon);
        assert_ne!(lock.metadata().unwrap().ino(), before);
    }
}

#[test]
fn a_state_directory_that_is_removed_or_moved_away_is_made_again() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.call("add", json!({"title": "One"}));
    for (round, title) in ["Two", "Three", "Four", "Five"].into_iter().enumerate() {
        let daemon = served_by_the_daemon(&sandbox);
        let state = sandbox.state_directory().unwrap();
        if round % 2 == 0 {
            // The daemon takes its lock again meanwhile, until it sees that its socket is gone.
            eventually("the end of the directory", || std::fs::remove_dir_all(&state).ok());
        } else {
            std::fs::rename(&state, sandbox.base().join(format!("moved-{round}"))).unwrap();
        }
        // With the directory goes the journal: a change that met the leaving daemon would be of unknown fate.
        gone(&daemon);
        assert_eq!(session.call("add", json!({"title": title})).id(), title.to_lowercase());
        assert_ne!(served_by_the_daemon(&sandbox), daemon);
    }
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one", "two", "three", "four", "five"]);
}

#[test]
fn locks_and_journals_removed_while_in_use_are_no_failure() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    for round in 0..5 {
        assert_eq!(sandbox.cli(["add", &format!("Goal {round}")]).json().id(), format!("goal-{round}"));
        let state = sandbox.state_directory().unwrap();
        for directory in ["locks", "journal"] {
            for entry in std::fs::read_dir(state.join(directory)).unwrap().flatten() {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        std::fs::remove_file(state.join("start.lock")).unwrap_or_default();
    }
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}
