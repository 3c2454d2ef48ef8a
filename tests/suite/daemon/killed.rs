//! `kill -9` of the daemon, between and during calls.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;
use stepstone_tests::{Answer, Goal, Sandbox, eventually, worklist};

use super::{HeldLock, gone, rounds, served_by_the_daemon};

#[test]
fn a_session_goes_on_over_any_number_of_killed_daemons() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, []));
    let mut session = sandbox.mcp();
    let mut expected = Vec::new();
    for round in 0..10 {
        let added = session.call("add", json!({"title": format!("Goal {round}")}));
        expected.push(added.id().to_owned());
        let daemon = sandbox.daemon();
        daemon.signal(Signal::KILL);
        gone(&daemon);
        assert_eq!(session.read("stepstone://worklist/list").ids(), expected, "{round}");
        assert_eq!(served_by_the_daemon(&sandbox).pid, sandbox.daemon().pid);
    }
}

#[test]
fn a_call_under_way_when_the_daemon_is_killed_is_carried_out_once_by_the_next() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    for round in 0..rounds() / 4 {
        let daemon = served_by_the_daemon(&sandbox);
        let lock = HeldLock::new(&sandbox);
        let mut command = sandbox.command(&sandbox.executables().cli);
        command.args(["add", &format!("Goal {round}"), "--json"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        eventually("a queued change", || {
            let status = sandbox.cli(["daemon", "status"]).json();
            status.result()["worklists"].as_array()?.iter().any(|one| one["queued"] == 1).then_some(())
        });
        daemon.signal(Signal::KILL);
        gone(&daemon);
        drop(lock);
        let output = child.wait_with_output().unwrap();
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{shown}");
        assert_eq!(Answer(serde_json::from_slice(&output.stdout).unwrap()).id(), format!("goal-{round}"));
        let list = sandbox.cli(["list"]).json();
        assert_eq!(list.ids().len(), round + 2);
        assert_eq!(list.revision(), Some(round as u64 + 2));
        assert_ne!(served_by_the_daemon(&sandbox), daemon);
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_done_twice_when_daemons_are_killed_at_any_moment() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, []));
    let mut session = sandbox.mcp();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let stop = &stop;
    let sandbox = &sandbox;
    let acknowledged = std::thread::scope(|scope| {
        scope.spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                if let Some(daemon) = sandbox.daemons().first() {
                    daemon.signal(Signal::KILL);
                    gone(daemon);
                }
            }
        });
        let mut acknowledged = Vec::new();
        for round in 0..rounds() * 2 {
            let answer = session.call("add", json!({"title": format!("Goal {round}")}));
            if answer.0["ok"] == true {
                acknowledged.push(answer.id().to_owned());
            } else {
                // Allowed only for a change whose fate is not known.
                answer.refused_with("UNAVAILABLE", "check-outcome-before-retrying");
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        acknowledged
    });
    let ids = sandbox.cli(["list"]).json().ids();
    for id in &acknowledged {
        assert_eq!(ids.iter().filter(|other| other == &id).count(), 1, "{id}: {ids:?}");
    }
    // A goal carried out twice would have been given a second id.
    assert!(ids.iter().all(|id| id.split('-').count() == 2), "{ids:?}");
    assert!(acknowledged.len() > rounds(), "{} of {}", acknowledged.len(), rounds() * 2);
}

#[test]
fn a_change_whose_fate_cannot_be_known_is_reported_and_not_sent_again() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, []));
    let daemon = served_by_the_daemon(&sandbox);
    let _lock = HeldLock::new(&sandbox);
    let mut command = sandbox.command(&sandbox.executables().cli);
    command.args(["add", "Unknown", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    eventually("a queued change", || {
        let status = sandbox.cli(["daemon", "status"]).json();
        status.result()["worklists"].as_array()?.iter().any(|one| one["queued"] == 1).then_some(())
    });
    daemon.signal(Signal::KILL);
    // With the directory goes the journal that could tell.
    let state = sandbox.state_directory().unwrap();
    std::fs::rename(&state, sandbox.base().join("moved-away")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let answer = Answer(serde_json::from_slice(&output.stderr).unwrap());
    answer.refused_with("UNAVAILABLE", "check-outcome-before-retrying");
    assert_eq!(answer.refused("UNAVAILABLE")["retryable"], true);
    assert_eq!(sandbox.cli(["list"]).json().ids(), [""; 0]);
}
