//! Idle exit, signals with work under way, and an old daemon's last moments beside a new one.

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use stepstone_tests::{Answer, Sandbox, eventually, worklist};

use super::{HeldLock, connect, gone, note, rounds, served_by_the_daemon, socket};

fn adding(sandbox: &Sandbox, title: &str) -> Child {
    let mut command = sandbox.command(&sandbox.executables().cli);
    command.args(["add", title, "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn answer(child: Child) -> Answer {
    let output = child.wait_with_output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    Answer(serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}: {text:?}")))
}

fn queued(sandbox: &Sandbox, count: u64) {
    eventually(&format!("{count} queued changes"), || {
        let status = sandbox.cli(["daemon", "status"]).json();
        let worklists = status.result()["worklists"].as_array()?.clone();
        (worklists.iter().filter_map(|one| one["queued"].as_u64()).sum::<u64>() == count).then_some(())
    });
}

#[test]
fn an_unused_daemon_leaves_and_a_used_one_stays() {
    let mut sandbox = Sandbox::new();
    sandbox.set_env("STEPSTONE_IDLE_SECS", "0.3");
    let daemon = served_by_the_daemon(&sandbox);
    let mut session = sandbox.mcp();
    session.read("stepstone://worklist/list");
    let with_session = sandbox.daemon();
    // A session's connection counts, however quiet it is: three times the limit without a word.
    std::thread::sleep(Duration::from_millis(900));
    assert_eq!(sandbox.daemons(), std::slice::from_ref(&with_session));
    drop(session);
    gone(&with_session);
    gone(&daemon);
    assert!(!socket(&sandbox).exists());
    assert_eq!(sandbox.cli(["list"]).json().ids(), [""; 0]);
}

#[test]
fn a_client_that_connects_while_the_daemon_leaves_for_idleness_gets_its_answer() {
    let mut sandbox = Sandbox::new();
    sandbox.set_env("STEPSTONE_IDLE_SECS", "0.02");
    for round in 0..rounds() * 3 {
        // Around the end of the idle time, from before it to after it.
        let pause = Duration::from_micros(15_000 + 200 * (round as u64 % 60));
        let begin = Instant::now();
        while begin.elapsed() < pause {
            std::hint::spin_loop();
        }
        let note = note(&sandbox);
        assert!(note.contains("answered by the daemon"), "{round}: {note}");
        assert_eq!(sandbox.cli(["add", &format!("Goal {round}")]).json().id(), format!("goal-{round}"));
    }
}

#[test]
fn requests_under_way_are_answered_when_the_daemon_is_told_to_leave() {
    for signal in [Signal::TERM, Signal::INT] {
        let sandbox = Sandbox::new();
        sandbox.write_worklist(worklist(1, []));
        let daemon = served_by_the_daemon(&sandbox);
        let lock = HeldLock::new(&sandbox);
        let first = adding(&sandbox, "First");
        queued(&sandbox, 1);
        let second = adding(&sandbox, "Second");
        queued(&sandbox, 2);
        daemon.signal(signal);
        eventually("a socket that is gone", || (!socket(&sandbox).exists()).then_some(()));
        drop(lock);
        assert_eq!(answer(first).id(), "first");
        assert_eq!(answer(second).id(), "second");
        gone(&daemon);
        assert_eq!(sandbox.cli(["list"]).json().ids(), ["first", "second"]);
    }
}

#[test]
fn what_does_not_end_in_time_is_done_once_by_the_next_daemon() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, []));
    let daemon = served_by_the_daemon(&sandbox);
    let lock = HeldLock::new(&sandbox);
    let adding = adding(&sandbox, "One");
    queued(&sandbox, 1);
    daemon.signal(Signal::TERM);
    gone(&daemon);
    drop(lock);
    assert_eq!(answer(adding).id(), "one");
    assert_eq!(sandbox.cli(["list"]).json().revision(), Some(2));
}

#[test]
fn an_old_daemons_end_takes_nothing_from_the_new_one() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, []));
    for round in 0..rounds() {
        let old = served_by_the_daemon(&sandbox);
        let lock = HeldLock::new(&sandbox);
        let waiting = adding(&sandbox, &format!("Goal {round}"));
        queued(&sandbox, 1);
        old.signal(Signal::TERM);
        // The old one still has work; the place is free for the new one.
        let new = eventually("a new daemon beside the old one", || {
            sandbox.cli(["list"]).json();
            sandbox.daemons().into_iter().find(|daemon| *daemon != old)
        });
        let path = socket(&sandbox);
        eventually("the new socket", || path.exists().then_some(()));
        drop(lock);
        assert_eq!(answer(waiting).id(), format!("goal-{round}"));
        gone(&old);
        assert!(path.exists(), "{round}");
        assert_eq!(served_by_the_daemon(&sandbox), new, "{round}");
    }
    assert_eq!(sandbox.cli(["list"]).json().revision(), Some(rounds() as u64 + 1));
}

#[test]
fn a_silent_client_does_not_keep_a_daemon_that_leaves() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let _silent = connect(&sandbox);
    let mut half = connect(&sandbox);
    half.write_all(b"POST /v1/operations HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{").unwrap();
    let stopped = sandbox.cli(["daemon", "stop"]).json();
    assert_eq!(stopped.result()["pid"], daemon.pid);
    gone(&daemon);
}

#[test]
fn a_session_whose_daemon_was_stopped_starts_another_when_it_needs_one() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    assert_eq!(session.call("add", json!({"title": "One"})).id(), "one");
    for title in ["Two", "Three"] {
        let daemon = sandbox.daemon();
        let stopped = sandbox.cli(["daemon", "stop"]).json();
        assert_eq!(stopped.result()["pid"], daemon.pid);
        assert!(!daemon.is_alive());
        assert_eq!(session.call("add", json!({"title": title})).id(), title.to_lowercase());
        assert_ne!(sandbox.daemon(), daemon);
    }
}
