//! What a model is told when it is refused, word for word: a change of these texts is a change of behaviour.

use std::fmt::Write;

use serde_json::{Value, json};
use stepstone_tests::{Goal, Sandbox, worklist};

const INSTANT: &str = "2026-01-02T00:00:00.000Z";
const LATER: &str = "2026-05-05T00:00:00.000Z";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(
        7,
        [
            Goal::open("alpha").field("description", "First."),
            Goal::open("beta").depends_on(&["alpha"]),
            Goal::with_status("done-goal", "done").field("completedAt", INSTANT),
            Goal::open("held")
                .field("branch", "elsewhere")
                .field("claimedAt", INSTANT)
                .field("claimedBy", "other"),
            Goal::open("twin-one"),
            Goal::open("twin-two"),
        ],
    ));
    sandbox
}

/// Every kind of refusal of every tool.
fn refused_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("add", json!({})),
        ("add", json!({ "title": " " })),
        ("add", json!({ "title": "T", "dependsOn": ["nowhere"] })),
        ("add", json!({ "title": "T", "dependsOn": [""] })),
        ("add", json!({ "title": "T", "links": ["example.com"] })),
        ("add", json!({ "title": "T", "priority": 1 })),
        ("add", json!({ "title": 5 })),
        ("add", json!("{\"title\": \"T\"}")),
        ("add", json!({ "title": "T", "action": "delete" })),
        ("apply-plan", json!({ "plan": {} })),
        ("apply-plan", json!({ "plan": ["T"] })),
        ("apply-plan", json!({ "plan": [{ "title": "T", "status": "done" }] })),
        ("apply-plan", json!({ "plan": [{ "title": "T" }, { "title": "t!" }] })),
        ("apply-plan", json!({ "plan": [{ "title": "T", "dependsOn": ["nowhere"] }] })),
        ("apply-plan", json!({ "plan": [{ "title": "T", "dependsOn": [" t"] }] })),
        (
            "apply-plan",
            json!({ "plan": [{ "title": "A", "dependsOn": ["b"] }, { "title": "B", "dependsOn": ["a"] }] }),
        ),
        ("apply-plan", json!({ "plan": [], "expectedRevision": 3 })),
        ("apply-plan", json!({ "plan": [{ "title": "T" }], "expectedRevision": 3 })),
        ("update", json!({ "id": "alpha" })),
        ("update", json!({ "id": "nowhere", "title": "T" })),
        ("update", json!({ "id": "twin", "title": "T" })),
        ("update", json!({ "id": "alpha", "title": "T", "expectedUpdatedAt": LATER })),
        ("update", json!({ "id": "alpha", "title": "T", "expectedUpdatedAt": "" })),
        ("update", json!({ "id": "alpha", "title": "T", "expectedUpdatedAt": "yesterday" })),
        ("update", json!({ "id": "alpha", "dependsOn": ["beta"] })),
        ("update", json!({ "id": "alpha", "description": "D", "appendDescription": "A" })),
        ("update", json!({ "id": "alpha", "title": "T", "appendDescription": "A" })),
        ("move", json!({ "id": "alpha" })),
        ("move", json!({ "id": "alpha", "direction": "up", "beforeId": "beta" })),
        ("move", json!({ "id": "alpha", "beforeId": "beta", "afterId": "held" })),
        ("move", json!({ "id": "alpha", "beforeId": "nowhere" })),
        ("set_active", json!({ "id": "done-goal" })),
        ("set_active", json!({ "id": "nowhere" })),
        ("complete", json!({ "id": "alpha" })),
        ("complete", json!({ "id": "nowhere", "confirm": true })),
        ("complete", json!({ "id": "alpha", "confirm": true, "expectedUpdatedAt": LATER })),
        ("reopen", json!({ "id": "done-goal", "confirm": "true" })),
        ("archive", json!({ "id": "alpha", "confirm": false })),
        ("delete", json!({ "id": "alpha", "confirm": 1 })),
        ("delete", json!({ "id": "nowhere" })),
        ("start", json!({ "id": "held", "branch": "mine" })),
        ("start", json!({ "id": "held", "clear": true })),
        ("start", json!({ "id": "done-goal" })),
        ("start", json!({ "clear": true })),
        ("start", json!({ "id": "alpha", "clear": true, "branch": "b" })),
        ("read_goals", json!({})),
        ("read_goals", json!({ "view": "everything" })),
        ("read_goals", json!({ "view": "next", "query": "x" })),
        ("read_goals", json!({ "view": "show", "id": "nowhere" })),
        ("read_goals", json!({ "view": "find" })),
        ("read_goals", json!({ "view": "list", "limit": 1000 })),
    ]
}

#[test]
fn refusals_say_what_did_not_happen_why_and_what_to_do() {
    let sandbox = sandbox();
    let mut session = sandbox.mcp();
    let before = sandbox.read_worklist();
    let mut transcript = String::new();
    for (tool, arguments) in refused_calls() {
        let answer = session.call(tool, arguments.clone());
        assert_eq!(answer.0["ok"], false, "{tool} {arguments}");
        let error = serde_json::to_string_pretty(&answer.0["error"]).unwrap();
        writeln!(transcript, "> {tool} {arguments}\n{error}\n").unwrap();
    }
    assert_eq!(sandbox.read_worklist(), before);
    let root = sandbox.root().display().to_string();
    insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("refusals", transcript.replace(&root, "<root>"));
    });
}
