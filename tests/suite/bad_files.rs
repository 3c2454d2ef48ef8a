//! Goal files that are malformed, foreign or too large: never written, and read again once they are repaired, by the
//! same daemon and the same session.

use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use stepstone_tests::{Answer, Goal, Mcp, Sandbox, worklist};

/// The largest goal file that is read, in bytes.
const LIMIT: u64 = 64 * 1024 * 1024;

fn good() -> String {
    worklist(3, [Goal::open("alpha"), Goal::open("beta").depends_on(&["alpha"])])
}

/// Every way to read and to change that the file's state decides over.
fn all_calls() -> Vec<(&'static str, Value)> {
    let mut calls: Vec<(&str, Value)> = ["list", "next", "ready", "waves"]
        .into_iter()
        .map(|view| ("read_goals", json!({ "view": view })))
        .collect();
    calls.extend([
        ("read_goals", json!({ "view": "show", "id": "alpha" })),
        ("read_goals", json!({ "view": "find", "query": "a" })),
        ("read_goals", json!({ "view": "why", "id": "alpha" })),
        ("add", json!({ "title": "New" })),
        ("apply-plan", json!({ "plan": [{ "title": "New" }] })),
        ("apply-plan", json!({ "plan": [], "dryRun": true })),
        ("update", json!({ "id": "alpha", "title": "New" })),
        ("move", json!({ "id": "alpha", "direction": "down" })),
        ("start", json!({ "branch": "b" })),
        ("set_active", json!({ "id": "alpha" })),
        ("complete", json!({ "id": "alpha", "confirm": true })),
        ("reopen", json!({ "id": "alpha", "confirm": true })),
        ("archive", json!({ "id": "alpha", "confirm": true })),
        ("delete", json!({ "id": "alpha", "confirm": true })),
    ]);
    calls
}

/// Asserts the refusal of one call, and gives its message.
#[track_caller]
fn refused(answer: &Answer, resolution: &str, path: &Path) -> String {
    let details = answer.refused_with("PERSISTENCE_FAILED", resolution);
    assert_eq!(details["path"], json!(path));
    let error = &answer.0["error"];
    assert_eq!(error["retryable"], false);
    error["message"].as_str().unwrap().to_owned()
}

/// Puts the good file back and asserts that the same session, and a new process, go on with it.
#[track_caller]
fn goes_on(sandbox: &Sandbox, session: &mut Mcp) {
    sandbox.write_worklist(good());
    assert_eq!(session.read("stepstone://worklist/list").ids(), ["alpha", "beta"]);
    assert_eq!(sandbox.cli(["ready"]).json().ids(), ["alpha"]);
    let added = session.call("add", json!({ "title": "Gamma" }));
    assert_eq!(added.id(), "gamma");
    assert_eq!(added.revision(), Some(4));
}

fn malformed_files() -> Vec<(&'static str, Vec<u8>)> {
    let with = |pointer: &str, value: Value| {
        let mut file: Value = serde_json::from_str(&good()).unwrap();
        match file.pointer_mut(pointer) {
            Some(place) => *place = value,
            None => {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                file.pointer_mut(parent).unwrap()[key] = value;
            }
        }
        (serde_json::to_string_pretty(&file).unwrap() + "\n").into_bytes()
    };
    let without = |pointer: &str| {
        let mut file: Value = serde_json::from_str(&good()).unwrap();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        file.pointer_mut(parent).unwrap().as_object_mut().unwrap().shift_remove(key);
        serde_json::to_vec_pretty(&file).unwrap()
    };
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("blank", b" \n".to_vec()),
        ("no JSON", b"goals: none".to_vec()),
        ("half a file", good().as_bytes()[..good().len() / 2].to_vec()),
        ("trailing text", format!("{}}}", good()).into_bytes()),
        ("an array", b"[]".to_vec()),
        ("null", b"null".to_vec()),
        ("no UTF-8", good().replace("alpha", "alph\u{e9}").chars().map(|char| char as u8).collect()),
        ("NUL bytes", vec![0; 4096]),
        ("a version of zero", with("/version", json!(0))),
        ("a version as text", with("/version", json!("1"))),
        ("no version", without("/version")),
        ("a negative revision", with("/revision", json!(-1))),
        ("a broken revision", with("/revision", json!(1.5))),
        ("a revision too large", with("/revision", json!(9_007_199_254_740_992_u64))),
        ("no goals", without("/goals")),
        ("goals that are none", with("/goals", json!({}))),
        ("a goal that is none", with("/goals/1", json!("beta"))),
        ("a status that is none", with("/goals/1/status", json!("paused"))),
        ("two goals with one id", with("/goals/1/id", json!("alpha"))),
        ("retired ids that are none", with("/retiredIds", json!("old"))),
        ("a retired id that is none", with("/retiredIds", json!(["old", 1]))),
    ];
    files.extend(
        ["/goals/0/id", "/goals/0/title", "/goals/0/status", "/goals/0/createdAt", "/goals/0/updatedAt"]
            .map(|pointer| (pointer, without(pointer))),
    );
    let texts = ["id", "title", "createdAt", "updatedAt", "description", "group", "completedAt", "branch"];
    files.extend(texts.map(|key| (key, with(&format!("/goals/1/{key}"), json!(1)))));
    files.extend(["claimedAt", "claimedBy"].map(|key| (key, with(&format!("/goals/1/{key}"), json!([])))));
    let lists = ["links", "dependsOn", "previousIds"];
    files.extend(lists.map(|key| (key, with(&format!("/goals/1/{key}"), json!("alpha")))));
    files.extend(lists.map(|key| (key, with(&format!("/goals/1/{key}"), json!([null])))));
    files
}

#[test]
fn a_malformed_file_is_never_written_and_read_again_once_repaired() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(good());
    let mut session = sandbox.mcp();
    session.read("stepstone://worklist/list").result();
    let daemon = sandbox.daemon();
    for (what, bytes) in malformed_files() {
        sandbox.write_worklist(&bytes);
        for (tool, arguments) in all_calls() {
            let answer = session.call(tool, arguments);
            refused(&answer, "repair-project-file", &sandbox.worklist_path());
        }
        refused(&session.read("stepstone://worklist/list"), "repair-project-file", &sandbox.worklist_path());
        let ended = sandbox.cli(["list", "--json"]).finish();
        ended.ended(1);
        refused(&ended.envelope(), "repair-project-file", &sandbox.worklist_path());
        assert!(sandbox.read(".worklist/worklist.json") == bytes, "{what}: the file was written");
        goes_on(&sandbox, &mut session);
    }
    assert_eq!(sandbox.daemon(), daemon, "the daemon should have lived through all of it");
}

#[test]
fn the_message_says_where_the_file_is_broken() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let mut message = |content: &str| {
        sandbox.write_worklist(content);
        refused(&session.read("stepstone://worklist/next"), "repair-project-file", &sandbox.worklist_path())
    };
    let syntax = message("{\n  \"version\": 1,\n  \"goals\": oops\n}\n");
    assert!(syntax.contains("line 3"), "{syntax}");
    let field = message(&good().replace("\"status\": \"open\"", "\"status\": 5"));
    assert!(field.contains("alpha") && field.contains("status"), "{field}");
    let conflicted = good().replacen(
        "  \"revision\": 3,\n",
        "<<<<<<< HEAD\n  \"revision\": 3,\n=======\n  \"revision\": 4,\n>>>>>>> other\n",
        1,
    );
    let markers = message(&conflicted);
    assert!(markers.contains("merge") && markers.contains("lines 3, 5 and 7"), "{markers}");
}

#[test]
fn a_file_of_a_newer_version_is_left_to_the_newer_one() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let newer = good().replace("\"version\": 1", "\"version\": 2");
    sandbox.write_worklist(&newer);
    for (tool, arguments) in all_calls() {
        let answer = session.call(tool, arguments);
        refused(&answer, "upgrade-stepstone", &sandbox.worklist_path());
        assert_eq!(answer.0["error"]["details"]["found"], 2);
    }
    assert_eq!(sandbox.read_worklist(), newer);
    goes_on(&sandbox, &mut session);
}

#[test]
fn an_oversized_file_is_refused_and_read_again_once_it_is_smaller() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(good());
    let mut session = sandbox.mcp();
    let path = sandbox.worklist_path();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(LIMIT + 1).unwrap();
    for (tool, arguments) in all_calls() {
        let answer = session.call(tool, arguments);
        answer.refused("PERSISTENCE_FAILED");
        assert_eq!(answer.0["error"]["details"]["path"], json!(path));
    }
    assert_eq!(path.metadata().unwrap().len(), LIMIT + 1);
    goes_on(&sandbox, &mut session);
}

#[test]
fn only_regular_files_are_read() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let path = sandbox.worklist_path();
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    let kinds: [(&str, &dyn Fn()); 3] = [
        ("a directory", &|| std::fs::create_dir(&path).unwrap()),
        ("a FIFO", &|| mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap()),
        ("a link to a device", &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap()),
    ];
    for (what, make) in kinds {
        make();
        let kind = path.symlink_metadata().unwrap().file_type();
        for (tool, arguments) in all_calls() {
            let answer = session.call(tool, arguments);
            answer.refused("PERSISTENCE_FAILED");
        }
        assert_eq!(path.symlink_metadata().unwrap().file_type(), kind, "{what} was replaced");
        if kind.is_dir() {
            std::fs::remove_dir(&path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        goes_on(&sandbox, &mut session);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_byte_order_mark_and_a_link_are_no_defects() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/roadmap.json", format!("\u{feff}{}", good()));
    std::fs::create_dir(sandbox.path(".worklist")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/roadmap.json", sandbox.worklist_path()).unwrap();
    let mut session = sandbox.mcp();
    assert_eq!(session.read("stepstone://worklist/list").ids(), ["alpha", "beta"]);
    session.call("add", json!({ "title": "Gamma" })).goal();
    assert!(sandbox.worklist_path().is_symlink(), "the link was replaced by a file");
    let written = String::from_utf8(sandbox.read("elsewhere/roadmap.json")).unwrap();
    assert!(written.starts_with("{\n") && written.contains("\"gamma\""), "{written}");
}

#[test]
fn a_file_at_the_last_revision_is_read_but_takes_no_change() {
    let sandbox = Sandbox::new();
    let last = 9_007_199_254_740_991;
    sandbox.write_worklist(worklist(last, [Goal::open("alpha"), Goal::with_status("beta", "done")]));
    let before = sandbox.read_worklist();
    let mut session = sandbox.mcp();
    assert_eq!(session.read("stepstone://worklist/list").revision(), Some(last));
    let changes = [
        ("add", json!({ "title": "New" })),
        ("apply-plan", json!({ "plan": [{ "title": "New" }] })),
        ("update", json!({ "id": "alpha", "title": "New" })),
        ("move", json!({ "id": "alpha", "direction": "down" })),
        ("start", json!({ "branch": "b" })),
        ("complete", json!({ "id": "alpha", "confirm": true })),
        ("delete", json!({ "id": "alpha", "confirm": true })),
    ];
    for (tool, arguments) in changes {
        session.call(tool, arguments).refused("PERSISTENCE_FAILED");
    }
    // What changes nothing is answered as ever.
    let no_op = session.call("reopen", json!({ "id": "alpha", "confirm": true }));
    assert_eq!(no_op.meta()["semanticNoOp"], true);
    assert_eq!(sandbox.read_worklist(), before);
}
