//! Other software on the same goal file: npm's `proper-lockfile` as a real counterpart, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use stepstone_tests::{Goal, Run, Sandbox, eventually, skipped, worklist, workspace_root};

/// How old a lock directory must be before anybody takes it over.
const STALE: Duration = Duration::from_secs(10);

/// Whether the Node programs can be run here.
fn node_is_here(test: &str) -> bool {
    let package = workspace_root().join("tests/interop");
    if !package.join("node_modules/proper-lockfile").exists() {
        skipped(test, "run `npm ci --prefix tests/interop` first (needs Node and npm)");
        return false;
    }
    true
}

/// The counterpart with these arguments, on the sandbox's goal file.
fn counterpart(sandbox: &Sandbox, mode: &str, arguments: &[&str]) -> Run {
    let script = workspace_root().join("tests/interop/counterpart.mjs");
    Run::new(sandbox.command("node")).arg(script).arg(mode).arg(sandbox.worklist_path()).args(arguments)
}

/// A counterpart that holds the lock until its input ends or it is killed.
fn holder(sandbox: &Sandbox) -> Child {
    let mut run = counterpart(sandbox, "hold", &[]);
    let mut child = run.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "held");
    child
}

/// Who adds what: each acknowledged id with the revision that it was told.
type Acknowledged = BTreeMap<String, u64>;

fn node_adds(sandbox: &Sandbox, name: &str, count: usize) -> Acknowledged {
    let printed = counterpart(sandbox, "add", &[name, &count.to_string()]).finish().ended(0);
    let added = |line: &str| {
        let (id, revision) = line.split_once(' ')?;
        Some((id.to_owned(), revision.parse().unwrap()))
    };
    printed.lines().filter_map(added).collect()
}

fn session_adds(sandbox: &Sandbox, name: &str, count: usize, private: bool) -> Acknowledged {
    let session = sandbox.session();
    let mut session = if private { session.env("STEPSTONE_NO_DAEMON", "1") } else { session }.start();
    let mut added = Acknowledged::new();
    for index in 0..count {
        let answer = session.call("add", json!({ "title": format!("{name}-{index}") }));
        if answer.0["ok"] == true {
            added.insert(answer.id().to_owned(), answer.revision().unwrap());
        } else {
            assert_eq!(answer.refused("PERSISTENCE_FAILED")["retryable"], true);
        }
    }
    added
}

fn shell_adds(sandbox: &Sandbox, name: &str, count: usize) -> Acknowledged {
    let add = |index| {
        let answer = sandbox.cli(["add", &format!("{name}-{index}")]).json();
        (answer.0["ok"] == true).then(|| (answer.id().to_owned(), answer.revision().unwrap()))
    };
    (0..count).filter_map(add).collect()
}

#[test]
fn programs_of_both_kinds_add_goals_together_and_nothing_acknowledged_is_lost() {
    if !node_is_here("interop") {
        return;
    }
    // Thousands in the long run, hundreds in the plain one.
    let each = if std::env::var_os("STEPSTONE_TESTS_FULL").is_some() { 500 } else { 60 };
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(0, []));
    let acknowledged: Vec<Acknowledged> = std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let writers = [
            scope.spawn(move || node_adds(sandbox, "node-a", each)),
            scope.spawn(move || node_adds(sandbox, "node-b", each)),
            scope.spawn(move || session_adds(sandbox, "session-a", each, false)),
            scope.spawn(move || session_adds(sandbox, "session-b", each, false)),
            scope.spawn(move || session_adds(sandbox, "private", each, true)),
            scope.spawn(move || shell_adds(sandbox, "shell", each)),
        ];
        writers.map(|writer| writer.join().unwrap()).into()
    });
    for writer in &acknowledged {
        assert!(!writer.is_empty(), "a writer never got its turn: {acknowledged:?}");
    }
    let file: Value = serde_json::from_str(&sandbox.read_worklist()).unwrap();
    let ids: Vec<&str> =
        file["goals"].as_array().unwrap().iter().map(|goal| goal["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "an id is there twice");
    let all: Vec<(&String, &u64)> = acknowledged.iter().flatten().collect();
    let told: BTreeSet<&str> = all.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(told, ids.into_iter().collect(), "acknowledged and present are not the same");
    let revisions: BTreeSet<u64> = all.iter().map(|(_, revision)| **revision).collect();
    assert_eq!(revisions.len(), all.len(), "a revision was given twice");
    assert_eq!(revisions, (1..=file["revision"].as_u64().unwrap()).collect(), "revisions have a gap");
    sandbox.becomes_clean();
}

#[test]
fn a_live_foreign_lock_is_waited_for() {
    if !node_is_here("interop") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(0, [Goal::open("alpha")]));
    sandbox.cli(["list"]).json().result();
    let mut held = holder(&sandbox);
    let writer = std::thread::scope(|scope| {
        let writer = scope.spawn(|| sandbox.cli(["add", "Patient"]).json());
        // Readers and callers who change nothing are not held up meanwhile.
        assert_eq!(sandbox.cli(["list"]).json().ids(), ["alpha"]);
        sandbox.cli(["show", "nowhere"]).json().refused("NOT_FOUND");
        let no_op = sandbox.cli(["reopen", "alpha", "--confirm"]).json();
        assert_eq!(no_op.meta()["semanticNoOp"], true);
        eventually("the writer in the queue", || {
            let status = sandbox.cli(["daemon", "status"]).json();
            let lists = status.result()["worklists"].as_array()?.clone();
            lists.iter().any(|list| list["queued"].as_u64() > Some(0)).then_some(())
        });
        assert_eq!(sandbox.cli(["list"]).json().ids(), ["alpha"], "the lock did not keep the writer out");
        drop(held.stdin.take());
        writer.join().unwrap()
    });
    assert_eq!(writer.id(), "patient");
    assert!(held.wait().unwrap().success(), "the counterpart found its lock taken away");
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["alpha", "patient"]);
}

#[test]
fn a_foreign_lock_that_stays_is_named_in_the_refusal() {
    if !node_is_here("interop") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(0, [Goal::open("alpha")]));
    let before = sandbox.read_worklist();
    let mut held = holder(&sandbox);
    let refused = sandbox.cli(["add", "Never"]).json();
    let error = refused.refused("PERSISTENCE_FAILED");
    assert_eq!(error["retryable"], true);
    assert!(error["message"].as_str().unwrap().contains(".worklist.lock"), "{error}");
    assert_eq!(sandbox.read_worklist(), before);
    drop(held.stdin.take());
    assert!(held.wait().unwrap().success(), "the counterpart found its lock taken away");
    sandbox.cli(["add", "Now"]).json().goal();
}

#[test]
fn a_dead_foreign_holder_is_taken_over_once_its_lock_is_old_and_never_before() {
    if !node_is_here("interop") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(0, [Goal::open("alpha")]));
    let mut held = holder(&sandbox);
    held.kill().unwrap();
    held.wait().unwrap();
    let touched = std::fs::metadata(sandbox.path(".worklist/.worklist.lock")).unwrap().modified().unwrap();
    sandbox.cli(["add", "Heir"]).json().goal();
    let written = std::fs::metadata(sandbox.worklist_path()).unwrap().modified().unwrap();
    assert!(written.duration_since(touched).unwrap() >= STALE, "a lock was taken over too early");
    sandbox.becomes_clean();
}
