//! Start, cancellation and end.

use std::time::Duration;

use serde_json::json;
use stepstone_tests::{Sandbox, eventually};

/// Five calls at once, then the end of the input: all are answered, and the status is 0.
fn drains(sandbox: &Sandbox, private: bool) {
    let session = sandbox.session();
    let mut session = if private { session.env("STEPSTONE_NO_DAEMON", "1") } else { session }.start();
    let ids: Vec<u64> = (0..5)
        .map(|number| {
            session.ask(
                "tools/call",
                json!({ "name": "add", "arguments": { "title": format!("Goal {number}") } }),
            )
        })
        .collect();
    let (status, answers) = session.finish();
    assert_eq!(status.code(), Some(0));
    let mut answered: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert!(answers.iter().all(|answer| answer["result"]["structuredContent"]["ok"] == true), "{answers:?}");
}

#[test]
fn the_end_of_the_input_drains_on_a_cold_daemon() {
    let sandbox = Sandbox::new();
    drains(&sandbox, false);
}

#[test]
fn the_end_of_the_input_drains_on_a_warm_daemon() {
    let sandbox = Sandbox::new();
    sandbox.mcp().call("read_goals", json!({ "view": "list" })).result();
    drains(&sandbox, false);
}

#[test]
fn the_end_of_the_input_drains_without_a_daemon() {
    drains(&Sandbox::new(), true);
}

#[test]
fn a_handshake_and_the_lists_need_no_engine() {
    let sandbox = Sandbox::new();
    // A state directory that cannot be: no daemon can be started, and no executable is found on PATH.
    let session =
        sandbox.session().env("STEPSTONE_STATE_DIR", "/dev/null/nowhere").env("PATH", "/nonexistent");
    let mut session = session.start();
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        session.request(method, json!({})).unwrap();
    }
    assert_eq!(sandbox.daemons().len(), 0);
}

#[test]
fn nothing_is_said_after_a_cancellation_and_late_ones_are_ignored() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    for _ in 0..20 {
        let asked =
            session.ask("tools/call", json!({ "name": "read_goals", "arguments": { "view": "list" } }));
        session.notify("notifications/cancelled", json!({ "requestId": asked }));
        // What comes next is the answer to this, or the cancelled request was answered before its cancellation was read.
        let after = session.ask("ping", json!({}));
        session.reply(after).unwrap();
        let behind = session.ask("ping", json!({}));
        session.reply(behind).unwrap();
        session.notify("notifications/cancelled", json!({ "requestId": asked }));
        session.notify("notifications/cancelled", json!({ "requestId": "never" }));
    }
    let (status, rest) = session.finish();
    assert_eq!((status.code(), rest), (Some(0), vec![]));
}

#[test]
fn a_change_that_waits_for_its_turn_is_not_carried_out_after_its_cancellation() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.call("add", json!({ "title": "First" })).goal();
    // Somebody else's lock, by the convention of all software on the file.
    let lock = sandbox.take_lock();
    let asked = session.ask("tools/call", json!({ "name": "add", "arguments": { "title": "Withdrawn" } }));
    session.notify("notifications/cancelled", json!({ "requestId": asked }));
    // Reads are not held up, and this answer says that the cancellation was read.
    assert_eq!(session.call("read_goals", json!({ "view": "list" })).ids(), ["first"]);
    std::fs::remove_dir(&lock).unwrap();
    session.call("add", json!({ "title": "Second" })).goal();
    assert_eq!(session.call("read_goals", json!({ "view": "list" })).ids(), ["first", "second"]);
    assert_eq!(session.finish().1, Vec::<serde_json::Value>::new());
}

#[test]
fn a_closed_output_ends_it_quietly_while_the_input_is_open() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&sandbox.executables().mcp);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = eventually("the server ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    let mut errors = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut errors).unwrap();
    assert_eq!(errors, "");
}

#[test]
fn open_subscriptions_do_not_hold_up_the_end() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.request("resources/subscribe", json!({ "uri": "stepstone://worklist/list" })).unwrap();
    let filter = json!({ "notifications": { "resourceSubscriptions": ["stepstone://worklist/next"] } });
    session.ask("subscriptions/listen", super::modern(filter));
    assert_eq!(
        session.notification(Duration::from_secs(60)).unwrap()["method"],
        "notifications/subscriptions/acknowledged"
    );
    let (status, rest) = session.finish();
    assert_eq!(status.code(), Some(0));
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["resultType"], "complete");
}

#[test]
fn arguments_are_refused_on_standard_error_and_nothing_is_said_on_standard_output() {
    let sandbox = Sandbox::new();
    let run = stepstone_tests::Run::new(sandbox.command(&sandbox.executables().mcp)).arg("list").finish();
    assert_eq!(run.ended(2), "");
    assert!(run.err().contains("takes no arguments"), "{}", run.err());
}

#[test]
fn it_outlives_its_daemon() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.call("add", json!({ "title": "One" })).goal();
    for _ in 0..2 {
        let daemon = sandbox.daemon();
        daemon.kill();
        eventually("the daemon is gone", || (!daemon.is_alive()).then_some(()));
        assert_eq!(session.call("read_goals", json!({ "view": "list" })).ids(), ["one"]);
    }
}
