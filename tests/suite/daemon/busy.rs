//! A daemon that does not answer is not a dead one.

use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;
use stepstone_tests::{Answer, Goal, Sandbox, eventually, worklist};

use super::{HeldLock, connect, note, operation, parts, request, served_by_the_daemon, socket};

#[test]
fn a_stopped_daemon_is_not_replaced_and_answers_again_when_it_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let daemon = served_by_the_daemon(&sandbox);
    let mut session = sandbox.mcp();
    session.read("stepstone://worklist/list");
    let identity = socket(&sandbox).metadata().unwrap().ino();

    daemon.signal(Signal::STOP);
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one"]);
    assert_eq!(sandbox.cli(["add", "Two"]).json().id(), "two");
    let why = note(&sandbox);
    assert!(why.contains("does not answer"), "{why}");
    assert_eq!(session.read("stepstone://worklist/list").ids(), ["one", "two"]);
    assert_eq!(session.call("add", json!({"title": "Three"})).id(), "three");
    assert_eq!(sandbox.daemons(), std::slice::from_ref(&daemon));
    assert_eq!(socket(&sandbox).metadata().unwrap().ino(), identity);

    daemon.signal(Signal::CONT);
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
    // What was sent while it was stopped was not carried out a second time.
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one", "two", "three"]);
    assert_eq!(sandbox.cli(["list"]).json().revision(), Some(3));
    assert_eq!(session.call("add", json!({"title": "Four"})).id(), "four");
    assert_eq!(sandbox.cli(["list"]).json().revision(), Some(4));
}

#[test]
fn what_a_stopped_daemon_finds_in_its_socket_is_not_carried_out_when_its_sender_is_gone() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    daemon.signal(Signal::STOP);
    for number in 0..20 {
        let body = operation(&sandbox.root(), &json!({"action": "add", "title": format!("Late {number}")}));
        let mut stream = connect(&sandbox);
        std::io::Write::write_all(&mut stream, request("POST", "/v1/operations", "", &body).as_bytes())
            .unwrap();
    }
    daemon.signal(Signal::CONT);
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
    assert_eq!(sandbox.cli(["list"]).json().ids(), [""; 0]);
}

#[test]
fn a_waiting_change_holds_up_no_read_and_gives_its_head_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let daemon = served_by_the_daemon(&sandbox);
    let lock = HeldLock::new(&sandbox);
    let body = operation(&sandbox.root(), &json!({"action": "add", "title": "Two"}));
    let mut stream = connect(&sandbox);
    std::io::Write::write_all(&mut stream, request("POST", "/v1/operations", "", &body).as_bytes()).unwrap();
    let mut begin = [0; 15];
    std::io::Read::read_exact(&mut stream, &mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200 OK");
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one"]);
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
    drop(lock);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stream, &mut rest).unwrap();
    assert!(rest.contains(r#""ok":true"#), "{rest}");
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one", "two"]);
}

#[test]
fn a_queued_change_whose_asker_is_killed_before_its_turn_is_not_carried_out() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, []));
    let daemon = served_by_the_daemon(&sandbox);
    let lock = HeldLock::new(&sandbox);
    let queued = |count: u64| {
        eventually(&format!("{count} queued changes"), || {
            let status = sandbox.cli(["daemon", "status"]).json();
            let worklists = status.result()["worklists"].as_array().cloned().unwrap_or_default();
            let queued: u64 = worklists.iter().map(|one| one["queued"].as_u64().unwrap()).sum();
            (queued == count).then_some(())
        });
    };
    let mut children: Vec<_> = ["First", "Killed", "Last"]
        .into_iter()
        .enumerate()
        .map(|(place, title)| {
            let mut command = sandbox.command(&sandbox.executables().cli);
            command.args(["add", title, "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            queued(place as u64 + 1);
            child
        })
        .collect();
    children[1].kill().unwrap();
    children[1].wait().unwrap();
    // The daemon sees the end of that connection before it answers the next one.
    sandbox.cli(["list"]).json();
    drop(lock);
    for (place, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        if place != 1 {
            assert!(Answer(serde_json::from_slice(&output.stdout).unwrap()).changed());
        }
    }
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["first", "last"]);
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn a_daemon_with_a_full_accept_queue_is_busy_and_not_gone() {
    // Somebody listens, and never takes a connection.
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    daemon.signal(Signal::STOP);
    let mut waiting = Vec::new();
    let full = loop {
        let stream = std::os::unix::net::UnixStream::connect(socket(&sandbox));
        match stream {
            Ok(stream) if waiting.len() < 300 => waiting.push(stream),
            _ => break waiting.len(),
        }
    };
    assert!(full > 0);
    assert_eq!(sandbox.cli(["list"]).json().ids(), [""; 0]);
    drop(waiting);
    daemon.signal(Signal::CONT);
    // It first takes all those connections, more than it serves at once, before it sees that they are gone.
    eventually("an answer by the daemon", || note(&sandbox).contains("answered by the daemon").then_some(()));
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
    let (status, _) = {
        let mut stream = connect(&sandbox);
        std::io::Write::write_all(&mut stream, request("GET", "/v1/status", "", "").as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        parts(&answer)
    };
    assert_eq!(status, 200);
}
