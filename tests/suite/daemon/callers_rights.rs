//! What the caller alone may do is done by the caller's own engine; the daemon writes in the work tree only.

use std::path::Path;

use serde_json::{Value, json};
use stepstone_tests::{Goal, Run, Sandbox, skipped, worklist};

use super::{ask, operation, served_by_the_daemon};

/// The goal files that the daemon has open.
fn open(sandbox: &Sandbox) -> Vec<String> {
    let status = sandbox.cli(["daemon", "status"]).json();
    let worklists = status.result()["worklists"].as_array().unwrap();
    worklists.iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_goal_file_outside_the_work_tree_is_the_callers_own_business() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let outside = sandbox.base().join("outside.json");
    for action in ["list", "next", "start", "migrate_ids"] {
        let body = json!({
            "context": {"cwd": sandbox.root(), "worklist": outside, "gitEnv": {"PATH": std::env::var("PATH").unwrap()}},
            "operation": {"action": action},
        });
        let (status, answer) = ask(&sandbox, "POST", "/v1/operations", "", &body.to_string());
        assert_eq!(status, 421, "{action}: {answer}");
        assert!(answer["callerMust"]["reason"].is_string(), "{answer}");
    }
    assert!(!outside.exists());

    let file = outside.to_str().unwrap();
    let added = sandbox.cli(["add", "One", "--file", file]).json();
    assert_eq!(added.id(), "one");
    assert_eq!(added.meta()["worklistPath"], json!(outside));
    assert_eq!(sandbox.cli(["list", "--file", "../outside.json"]).json().ids(), ["one"]);
    let mut session = sandbox.session().env("STEPSTONE_WORKLIST", file).start();
    assert_eq!(session.call("add", json!({"title": "Two"})).id(), "two");
    assert_eq!(session.read("stepstone://worklist/list").ids(), ["one", "two"]);
    assert!(open(&sandbox).iter().all(|path| !path.contains("outside")), "{:?}", open(&sandbox));
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn a_link_out_of_the_work_tree_is_not_followed_by_the_daemon() {
    for whole_directory in [false, true] {
        let sandbox = Sandbox::new();
        served_by_the_daemon(&sandbox);
        let elsewhere = sandbox.base().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let target = elsewhere.join("worklist.json");
        if whole_directory {
            std::os::unix::fs::symlink(&elsewhere, sandbox.path(".worklist")).unwrap();
        } else {
            std::fs::write(&target, worklist(1, [])).unwrap();
            std::fs::create_dir(sandbox.path(".worklist")).unwrap();
            std::os::unix::fs::symlink(&target, sandbox.worklist_path()).unwrap();
        }
        let body = operation(&sandbox.root(), &json!({"action": "add", "title": "By the daemon"}));
        assert_eq!(ask(&sandbox, "POST", "/v1/operations", "", &body).0, 421);
        assert_eq!(sandbox.cli(["add", "By the caller"]).json().id(), "by-the-caller");
        let text = std::fs::read_to_string(&target).unwrap();
        assert!(text.contains("by-the-caller") && !text.contains("by-the-daemon"), "{text}");
    }
}

#[test]
fn nothing_that_a_client_sends_makes_the_daemon_write_outside_the_work_tree() {
    let sandbox = Sandbox::new();
    served_by_the_daemon(&sandbox);
    let (outside, sentinel) = (sandbox.base().join("outside"), sandbox.base().join("outside/sentinel"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(&sentinel, "untouched").unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.path("way-out")).unwrap();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let files = [
        "../outside/a.json".to_owned(),
        text(&outside.join("a.json")),
        "way-out/a.json".to_owned(),
        "way-out/new/a.json".to_owned(),
        "deep/../../outside/a.json".to_owned(),
        "../outside/sentinel".to_owned(),
        "/tmp/stepstone-outside-test.json".to_owned(),
    ];
    for file in &files {
        for base in [None, Some(text(&outside)), Some("/".to_owned())] {
            for action in ["add", "apply-plan", "migrate_path", "migrate_ids", "init"] {
                let body = json!({
                    "context": {"cwd": sandbox.root(), "worklist": file, "worklistBase": base,
                                "gitEnv": {"PATH": std::env::var("PATH").unwrap(), "GIT_DIR": outside,
                                           "GIT_WORK_TREE": outside}},
                    "operation": {"action": action, "title": "x", "plan": [{"title": "x"}], "confirm": true},
                });
                let (status, answer) = ask(&sandbox, "POST", "/v1/operations", "", &body.to_string());
                assert!(
                    status == 421 || answer["ok"] == false || action == "init",
                    "{file} {action}: {answer}"
                );
            }
        }
    }
    let left: Vec<_> =
        std::fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["sentinel"]);
    assert_eq!(std::fs::read(&sentinel).unwrap(), b"untouched");
    assert!(!Path::new("/tmp/stepstone-outside-test.json").exists());
}

/// Starts the daemon in a mount namespace of its own, after these mounts: as if in some host's sandbox. `false`: the
/// system does not let this test do so.
fn confined_daemon(sandbox: &Sandbox, mounts: &str) -> bool {
    let mut command = sandbox.command("unshare");
    command.args(["--mount", "sh", "-ec", &format!("{mounts}\nexec \"$CLI\" daemon start --json")]);
    command.env("CLI", &sandbox.executables().cli).env("ROOT", sandbox.root());
    let run = Run::new(command).finish();
    if run.code != Some(0) {
        skipped("a daemon in a sandbox of its own", &run.err());
    }
    run.code == Some(0)
}

#[track_caller]
fn left_to_the_caller(sandbox: &Sandbox, body: &Value) {
    let (status, answer) = ask(sandbox, "POST", "/v1/operations", "", &body.to_string());
    assert_eq!(status, 421, "{answer}");
    assert!(answer["callerMust"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{answer}");
}

#[test]
fn a_daemon_whose_file_system_is_read_only_leaves_changes_to_the_caller() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let mounts = "mount --bind \"$ROOT\" \"$ROOT\"\nmount -o remount,ro,bind \"$ROOT\"";
    if !confined_daemon(&sandbox, mounts) {
        return;
    }
    let daemon = sandbox.daemon();
    let body = operation(&sandbox.root(), &json!({"action": "add", "title": "Two"}));
    left_to_the_caller(&sandbox, &serde_json::from_str(&body).unwrap());
    assert_eq!(sandbox.cli(["add", "Two"]).json().id(), "two");
    let mut session = sandbox.mcp();
    assert_eq!(session.call("add", json!({"title": "Three"})).id(), "three");
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one", "two", "three"]);
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn a_daemon_that_may_not_run_git_leaves_everything_to_the_caller() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let mounts = "IFS=:\nfor place in $PATH; do\n  if [ -e \"$place/git\" ]; then mount --bind /dev/null \"$place/git\"; fi\n\
                  done\nunset IFS";
    if !confined_daemon(&sandbox, mounts) {
        return;
    }
    let daemon = sandbox.daemon();
    let body = operation(&sandbox.root(), &json!({"action": "list"}));
    left_to_the_caller(&sandbox, &serde_json::from_str(&body).unwrap());
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one"]);
    assert_eq!(sandbox.cli(["add", "Two"]).json().id(), "two");
    assert_eq!(sandbox.daemons(), [daemon]);
}

#[test]
fn a_caller_without_the_right_is_told_by_its_own_engine() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("sh");
    // Without Git anywhere the daemon says 421, and the caller's own engine says why.
    command.args(["-c", "PATH=/nowhere \"$CLI\" list --json"]).env("CLI", &sandbox.executables().cli);
    let answer = Run::new(command).finish().envelope();
    answer.refused_with("UNAVAILABLE", "repair-git-availability");
}
