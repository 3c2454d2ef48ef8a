//! Bad input: every refusal answers as the contract says, and leaves the file's bytes and its directory alone.

mod rows;

use serde_json::{Value, json};
use stepstone_tests::{Answer, Goal, Mcp, Sandbox, worklist};

/// One refused call: tool, arguments, code, resolution and fields (either may be left to the wording).
type Row = (&'static str, Value, &'static str, Option<&'static str>, Option<&'static [&'static str]>);

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let goals = [
        Goal::open("alpha").field("description", "First.").field("x-unknown", json!({ "kept": 1.0 })),
        Goal::open("beta").depends_on(&["alpha"]),
        Goal::with_status("gamma", "active"),
        Goal::with_status("delta", "done").field("completedAt", "2026-01-02T00:00:00.000Z"),
        Goal::with_status("epsilon", "archived"),
        Goal::open("zeta-one").field("branch", "elsewhere").field("claimedAt", "2026-01-02T00:00:00.000Z"),
        Goal::open("zeta-two"),
    ];
    sandbox.write_worklist(worklist(7, goals));
    sandbox
}

/// What must stay as it is: the file's bytes, and what lies beside it.
fn state(sandbox: &Sandbox) -> (String, Vec<String>) {
    let entries = std::fs::read_dir(sandbox.path(".worklist")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    (sandbox.read_worklist(), names)
}

/// Calls every row and collects what is not as it should be.
fn check(rows: &[Row]) {
    let sandbox = sandbox();
    let mut session = sandbox.mcp();
    let before = state(&sandbox);
    let mut problems = Vec::new();
    for (tool, arguments, code, resolution, fields) in rows {
        let answer = session.call(tool, arguments.clone());
        let found: Vec<String> = differences(&answer, code, *resolution, *fields).collect();
        if !found.is_empty() {
            problems.push(format!("{tool} {arguments}: {}\n  {}", found.join(", "), answer.0));
        }
        if state(&sandbox) != before {
            problems.push(format!("{tool} {arguments}: the file or its directory changed"));
            sandbox.write_worklist(&before.0);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn differences(
    answer: &Answer,
    code: &str,
    resolution: Option<&str>,
    fields: Option<&[&str]>,
) -> impl Iterator<Item = String> {
    let error = &answer.0["error"];
    let mut found = Vec::new();
    if error["code"] != code {
        found.push(format!("expected {code}"));
    }
    if error["message"].as_str().is_none_or(|message| message.trim().is_empty()) {
        found.push("no message".to_owned());
    }
    if resolution.is_some_and(|resolution| error["details"]["resolution"] != resolution) {
        found.push(format!("expected resolution {resolution:?}"));
    }
    if fields.is_some_and(|fields| error["details"]["fields"] != json!(fields)) {
        found.push(format!("expected fields {fields:?}"));
    }
    let says_next = error["details"]["resolution"].is_string() || error["conflict"]["resolution"].is_string();
    if code != "INVALID_REQUEST" && !says_next {
        found.push("no resolution at all".to_owned());
    }
    if answer.meta()["changed"] != false || answer.meta()["semanticNoOp"] != false {
        found.push("meta says that something happened".to_owned());
    }
    found.into_iter()
}

const INVALID: &str = "VALIDATION_FAILED";

#[test]
fn a_loop_is_named_whole() {
    let sandbox = sandbox();
    let refused = sandbox.mcp().call("update", json!({ "id": "alpha", "dependsOn": ["beta"] }));
    let details = &refused.refused("DEPENDENCY_CYCLE")["details"];
    assert_eq!(details["cycle"].as_array().unwrap().len(), 2);
    let path = details["cyclePath"].as_str().unwrap();
    assert!(["alpha -> beta -> alpha", "beta -> alpha -> beta"].contains(&path), "{path}");
}

#[test]
fn selectors_that_name_nothing_or_too_much_are_refused_everywhere() {
    let calls: [(&str, Value); 9] = [
        ("read_goals", json!({ "view": "show" })),
        ("read_goals", json!({ "view": "why" })),
        ("update", json!({ "title": "T" })),
        ("move", json!({ "direction": "up" })),
        ("start", json!({})),
        ("set_active", json!({})),
        ("complete", json!({ "confirm": true })),
        ("archive", json!({ "confirm": true })),
        ("delete", json!({ "confirm": true })),
    ];
    let sandbox = sandbox();
    let mut session = sandbox.mcp();
    let before = state(&sandbox);
    for (tool, arguments) in &calls {
        for missing in ["nowhere", "alphabet", "null", "undefined"] {
            let answer = with_id(&mut session, tool, arguments, missing);
            let details = answer.refused_with("NOT_FOUND", "refresh-and-select-existing");
            assert_eq!(details["entity"], "project-goal");
            assert_eq!(details["id"], missing);
            assert_eq!(details["path"], json!(sandbox.worklist_path()));
        }
        let answer = with_id(&mut session, tool, arguments, "ZETA");
        let details = answer.refused_with(INVALID, "provide-unambiguous-goal-id");
        assert_eq!(details["candidateCount"], 2);
        assert_eq!(
            details["candidates"],
            json!([{ "id": "zeta-one", "title": "zeta-one" }, { "id": "zeta-two", "title": "zeta-two" }])
        );
    }
    let anchor = session.call("move", json!({ "id": "alpha", "afterId": "nowhere" }));
    assert_eq!(anchor.refused("NOT_FOUND")["details"]["entity"], "project-goal-anchor");
    let edge = session.call("add", json!({ "title": "T", "dependsOn": ["nowhere"] }));
    assert_eq!(edge.refused("NOT_FOUND")["details"]["entity"], "project-goal-dependency");
    assert_eq!(state(&sandbox), before);
}

fn with_id(session: &mut Mcp, tool: &str, arguments: &Value, id: &str) -> Answer {
    let mut arguments = arguments.clone();
    arguments["id"] = id.into();
    session.call(tool, arguments)
}

#[test]
fn only_literal_true_confirms() {
    let sandbox = sandbox();
    let mut session = sandbox.mcp();
    let before = state(&sandbox);
    let anything_else = [
        json!(false),
        json!(null),
        json!("true"),
        json!(1),
        json!([true]),
        json!({ "confirm": true }),
        json!(""),
    ];
    for tool in ["complete", "reopen", "archive", "delete"] {
        let mut calls = vec![json!({ "id": "alpha" })];
        calls.extend(anything_else.iter().map(|value| json!({ "id": "alpha", "confirm": value })));
        for arguments in calls {
            let answer = session.call(tool, arguments.clone());
            let details = answer.refused_with("APPROVAL_REQUIRED", "request-explicit-user-confirmation");
            assert_eq!(details["confirmation"], "confirm=true", "{tool} {arguments}");
            assert_eq!(details["goal"]["id"], "alpha");
            assert_eq!(details["goal"]["status"], "open");
        }
        let ended = sandbox.cli([tool, "alpha", "--json"]).finish();
        ended.ended(3);
        ended.envelope().refused_with("APPROVAL_REQUIRED", "request-explicit-user-confirmation");
    }
    assert_eq!(state(&sandbox), before);
}

#[test]
fn conflicts_say_what_differs() {
    let sandbox = sandbox();
    let mut session = sandbox.mcp();
    let before = state(&sandbox);
    let old = "2025-12-31T23:59:59.000Z";
    let calls = [
        ("update", json!({ "title": "T" })),
        ("set_active", json!({})),
        ("start", json!({ "branch": "b" })),
        ("complete", json!({ "confirm": true })),
        ("archive", json!({ "confirm": true })),
        ("delete", json!({ "confirm": true })),
    ];
    for (tool, mut arguments) in calls {
        arguments["id"] = "alpha".into();
        arguments["expectedUpdatedAt"] = old.into();
        let answer = session.call(tool, arguments);
        let error = answer.refused("CONFLICT");
        assert_eq!(error["retryable"], true);
        let expected = json!({ "type": "goal-updated-at", "id": "alpha", "expectedUpdatedAt": old,
            "actualUpdatedAt": "2026-01-01T00:00:00.000Z", "resolution": "refresh-and-retry" });
        assert_eq!(error["conflict"], expected);
    }
    let plan = session.call("apply-plan", json!({ "plan": [{ "title": "T" }], "expectedRevision": 6 }));
    assert_eq!(
        plan.refused("CONFLICT")["conflict"],
        json!({ "type": "revision", "expectedRevision": "6", "actualRevision": "7", "resolution": "refresh-and-retry" })
    );
    for arguments in [json!({ "id": "zeta-one", "branch": "b" }), json!({ "id": "zeta-one", "clear": true })]
    {
        let answer = session.call("start", arguments);
        let error = answer.refused("CONFLICT");
        assert_eq!(error["retryable"], false);
        assert_eq!(
            error["conflict"],
            json!({ "type": "goal-claimed", "id": "zeta-one", "branch": "elsewhere",
                "claimedAt": "2026-01-02T00:00:00.000Z", "resolution": "choose-another-goal" })
        );
    }
    assert_eq!(state(&sandbox), before);
}

#[test]
fn a_plan_file_that_is_none_is_refused_with_its_path() {
    let sandbox = sandbox();
    let before = state(&sandbox);
    let absent = sandbox.cli(["apply-plan", "no-such.json"]).json();
    let details = absent.refused_with(INVALID, "provide-readable-json-plan");
    assert!(details["path"].as_str().unwrap().ends_with("no-such.json"));
    sandbox.write("plan.json", "[{ \"title\": ");
    let broken = sandbox.cli(["apply-plan", "plan.json"]).json();
    broken.refused_with(INVALID, "fix-json-plan");
    assert_eq!(state(&sandbox), before);
}

#[test]
fn a_detached_head_has_no_branch_to_take_a_goal_for() {
    let sandbox = sandbox();
    sandbox.commit_all("one");
    sandbox.git(["checkout", "-q", "--detach"]);
    let before = state(&sandbox);
    let answer = sandbox.mcp().call("start", json!({ "id": "alpha" }));
    let details = answer.refused_with(INVALID, "provide-project-start-branch");
    assert_eq!(details["fields"], json!(["branch"]));
    assert_eq!(state(&sandbox), before);
}

#[test]
fn migrations_ask_for_confirmation_and_pick_no_winner() {
    let sandbox = sandbox();
    let before = state(&sandbox);
    for action in ["migrate_ids", "migrate-ids", "migrate_path"] {
        let ended = sandbox.cli([action, "--json"]).finish();
        ended.ended(3);
        ended.envelope().refused_with("APPROVAL_REQUIRED", "request-explicit-user-confirmation");
    }
    let legacy = worklist(1, [Goal::open("old")]);
    sandbox.write(".pi/worklist.json", &legacy);
    let both = sandbox.cli(["migrate_path", "--confirm"]).json();
    let details = both.refused_with(INVALID, "merge-worklists-by-hand");
    assert_eq!(details["path"], json!(sandbox.worklist_path()));
    assert_eq!(details["conflictingPath"], json!(sandbox.path(".pi/worklist.json")));
    assert_eq!(sandbox.read(".pi/worklist.json"), legacy.as_bytes());
    assert_eq!(state(&sandbox), before);
}

#[test]
fn a_refusal_in_an_empty_repository_creates_nothing() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.call("add", json!({ "title": " " })).refused(INVALID);
    session.call("complete", json!({ "id": "a", "confirm": true })).refused("NOT_FOUND");
    session.call("apply-plan", json!({ "plan": [{ "title": "T" }], "dryRun": true })).result();
    session.call("apply-plan", json!({ "plan": [] })).result();
    session.call("start", json!({})).result();
    let names: Vec<_> =
        std::fs::read_dir(sandbox.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [".git"]);
}
