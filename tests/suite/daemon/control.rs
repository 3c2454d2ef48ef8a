//! `stepstone daemon status|start|stop|restart|logs`.

use rustix::process::Signal;
use serde_json::json;
use stepstone_tests::Sandbox;

use super::{gone, served_by_the_daemon};

#[test]
fn running_and_not_running_are_both_successes_for_start_and_stop() {
    let sandbox = Sandbox::new();
    let status = sandbox.cli(["daemon", "status"]).json();
    assert_eq!(status.result()["running"], false);
    assert_eq!(sandbox.daemons(), [], "asking starts none");
    assert_eq!(sandbox.cli(["daemon", "stop"]).json().result()["wasRunning"], false);
    let started = sandbox.cli(["daemon", "start"]).json();
    assert_eq!(started.result()["alreadyRunning"], false);
    let daemon = sandbox.daemon();
    assert_eq!(started.result()["pid"], daemon.pid);
    let again = sandbox.cli(["daemon", "start"]).json();
    assert_eq!(again.result()["alreadyRunning"], true);
    assert_eq!(again.result()["pid"], daemon.pid);
    let stopped = sandbox.cli(["daemon", "stop"]).json();
    assert_eq!(
        (&stopped.result()["wasRunning"], &stopped.result()["pid"]),
        (&json!(true), &json!(daemon.pid))
    );
    assert!(!daemon.is_alive(), "stop returns when the process is gone");
    let restarted = sandbox.cli(["daemon", "restart"]).json();
    let next = sandbox.daemon();
    assert_eq!(restarted.result()["pid"], next.pid);
    sandbox.cli(["daemon", "restart"]).json();
    gone(&next);
    served_by_the_daemon(&sandbox);
}

#[test]
fn status_tells_who_is_connected_and_what_is_open() {
    let sandbox = Sandbox::new();
    sandbox.cli(["add", "One"]).json();
    std::fs::create_dir(sandbox.path("below")).unwrap();
    let mut session = sandbox.session().client("some-host").within(sandbox.path("below")).start();
    session.read("stepstone://worklist/list");
    let status = sandbox.cli(["daemon", "status"]).json();
    let result = status.result();
    let daemon = sandbox.daemon();
    assert_eq!(result["pid"], daemon.pid);
    assert_eq!(result["stateDirectory"], json!(sandbox.state_directory()));
    assert_eq!(result["socket"], json!(super::socket(&sandbox)));
    assert!(result["uptimeMs"].is_u64());
    let worklist = json!({"path": sandbox.worklist_path(), "revision": "1", "goals": 1, "queued": 0});
    assert_eq!(result["worklists"], json!([worklist]));
    let [client] = result["clients"].as_array().unwrap().as_slice() else { panic!("{result:#}") };
    assert_eq!((&client["name"], &client["pid"]), (&json!("some-host"), &json!(session.pid())));
    assert_eq!(client["root"], json!(sandbox.root()));
    assert!(client["lastRequestMs"].is_u64());
}

#[test]
fn stop_does_not_claim_that_a_stopped_process_has_left() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    daemon.signal(Signal::STOP);
    let answer = sandbox.cli(["daemon", "stop"]).json();
    let message = answer.refused("UNAVAILABLE")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&daemon.pid.to_string()), "{message}");
    daemon.signal(Signal::CONT);
    // It finds the request in its socket.
    gone(&daemon);
}

#[test]
fn logs_shows_what_the_daemon_wrote() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let shown = sandbox.cli(["daemon", "logs"]).finish().ended(0);
    assert!(shown.contains("ready") && shown.contains(&daemon.pid.to_string()), "{shown}");
}

#[test]
fn a_long_log_is_put_aside_once_when_a_daemon_starts() {
    let sandbox = Sandbox::new();
    served_by_the_daemon(&sandbox);
    sandbox.cli(["daemon", "stop"]).json();
    let state = sandbox.state_directory().unwrap();
    std::fs::write(state.join("daemon.log"), "old line\n".repeat(130_000)).unwrap();
    served_by_the_daemon(&sandbox);
    let length = |name: &str| state.join(name).metadata().unwrap().len();
    assert!(length("daemon.log") < 10_000);
    assert!(length("daemon.log.1") > 1_000_000);
}
