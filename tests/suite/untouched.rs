//! No change touches a byte of a goal that it is not about.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stepstone_tests::{Mcp, Sandbox};

/// How many goals the file has.
const GOALS: usize = 40;

/// A goal file in the engine's layout whose goals are full of things that a careless rewrite would change: numbers in
/// their own spelling, unknown fields, key orders of their own, empty containers, escapes.
fn file() -> String {
    let goal = |index: usize| {
        let edge = if index.is_multiple_of(3) && index > 0 {
            format!(",\n      \"dependsOn\": [\n        \"goal-{}\"\n      ]", index - 1)
        } else {
            String::new()
        };
        let description = "Długi opis – \\\"quoted\\\", \\\\ and \\n a line.".repeat(index % 5 + 1);
        format!(
            r#"    {{
      "x-first": {index}.0,
      "title": "Goal {index} / número",
      "id": "goal-{index}",
      "x-big": 12345678901234567890,
      "x-exponent": 1e{index},
      "status": "open",
      "description": "{description}",
      "x-nested": {{
        "empty": {{}},
        "list": [],
        "deep": [
          null,
          -0.0
        ]
      }},
      "updatedAt": "2026-01-01T00:00:00.000Z",
      "createdAt": "2025-12-{:02}T00:00:00Z"{edge}
    }}"#,
            index % 28 + 1
        )
    };
    let goals: Vec<String> = (0..GOALS).map(goal).collect();
    format!(
        "{{\n  \"x-tool\": \"kept\",\n  \"version\": 1,\n  \"goals\": [\n{}\n  ],\n  \"revision\": 11,\n  \"x-last\": 0.10\n}}\n",
        goals.join(",\n")
    )
}

/// Each goal's own text by its id, and the text around the goals.
fn parts(file: &str) -> (BTreeMap<String, String>, String) {
    let (mut goals, mut around, mut open) = (BTreeMap::new(), String::new(), None::<String>);
    for line in file.lines() {
        if line == "    {" {
            open = Some(String::new());
        } else if line == "    }" || line == "    }," {
            let text = open.take().unwrap();
            let value: Value = serde_json::from_str(&format!("{{{text}}}")).unwrap();
            goals.insert(value["id"].as_str().unwrap().to_owned(), text);
        } else {
            let part = open.as_mut().unwrap_or(&mut around);
            part.push_str(line);
            part.push('\n');
        }
    }
    (goals, around)
}

/// One change: the call, and the ids of the goals whose text may differ after it.
fn changes() -> Vec<(&'static str, Value, &'static [&'static str])> {
    vec![
        ("add", json!({ "title": "Brand new", "dependsOn": ["goal-7"] }), &["brand-new"]),
        (
            "apply-plan",
            json!({ "plan": [{ "title": "P1" }, { "title": "P2", "dependsOn": ["p1"] }] }),
            &["p1", "p2"],
        ),
        ("update", json!({ "id": "goal-3", "title": "Renamed" }), &["goal-3"]),
        ("update", json!({ "id": "goal-4", "appendDescription": "More." }), &["goal-4"]),
        ("update", json!({ "id": "goal-5", "group": "G", "links": ["https://example.com"] }), &["goal-5"]),
        ("update", json!({ "id": "goal-6", "dependsOn": [] }), &["goal-6"]),
        ("move", json!({ "id": "goal-8", "direction": "up" }), &[]),
        ("move", json!({ "id": "goal-39", "beforeId": "goal-0" }), &[]),
        ("start", json!({ "id": "goal-10", "branch": "b" }), &["goal-10"]),
        ("start", json!({ "id": "goal-10", "clear": true, "takeOver": true }), &["goal-10"]),
        ("set_active", json!({ "id": "goal-11" }), &["goal-11"]),
        ("set_active", json!({ "id": "goal-13" }), &["goal-11", "goal-13"]),
        ("complete", json!({ "id": "goal-14", "confirm": true }), &["goal-14"]),
        ("reopen", json!({ "id": "goal-14", "confirm": true }), &["goal-14"]),
        ("archive", json!({ "id": "goal-16", "confirm": true }), &["goal-16"]),
        ("delete", json!({ "id": "goal-17", "confirm": true }), &["goal-17", "goal-18"]),
    ]
}

#[test]
fn every_kind_of_change_leaves_all_other_goals_byte_for_byte() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(file());
    let mut session = sandbox.mcp();
    for (tool, arguments, touched) in changes() {
        one_change(&sandbox, &mut session, tool, &arguments, touched);
    }
}

#[track_caller]
fn one_change(sandbox: &Sandbox, session: &mut Mcp, tool: &str, arguments: &Value, touched: &[&str]) {
    let (before, around) = parts(&sandbox.read_worklist());
    let answer = session.call(tool, arguments.clone());
    assert!(answer.changed(), "{tool} {arguments}: {:#}", answer.0);
    let (after, around_after) = parts(&sandbox.read_worklist());
    let ids: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing: Vec<&str> =
        ids.into_iter().filter(|id| before.get(*id) != after.get(*id)).map(String::as_str).collect();
    assert_eq!(differing, touched, "{tool} {arguments}");
    let revision = answer.revision().unwrap();
    let expected =
        around.replace(&format!("\"revision\": {}", revision - 1), &format!("\"revision\": {revision}"));
    if tool != "delete" {
        assert_eq!(around_after, expected, "{tool} {arguments}");
    }
    let said = &answer.meta()["changedEntities"]["projectGoalIds"];
    if tool != "move" {
        assert_eq!(*said, json!(touched), "{tool} {arguments}");
    }
}

#[test]
fn a_field_that_changes_stays_at_its_place_and_the_rest_of_its_goal_keeps_its_spelling() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(file());
    let answer = sandbox.mcp().call("update", json!({ "id": "goal-12", "title": "Renamed", "group": "G" }));
    let (before, _) = parts(&file());
    let (after, _) = parts(&sandbox.read_worklist());
    let updated_at = answer.text("updatedAt");
    let expected = before["goal-12"]
        .replace("Goal 12 / número", "Renamed")
        .replace("2026-01-01T00:00:00.000Z", updated_at);
    let expected = format!("{},\n      \"group\": \"G\"\n", expected.trim_end());
    assert_eq!(after["goal-12"], expected);
}

#[test]
fn what_already_holds_is_not_written_at_all() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(file());
    let mut session = sandbox.mcp();
    session.call("start", json!({ "id": "goal-1", "branch": "b" })).goal();
    session.call("set_active", json!({ "id": "goal-2" })).goal();
    session.call("complete", json!({ "id": "goal-4", "confirm": true })).goal();
    let before = sandbox.read_worklist();
    let written = std::fs::metadata(sandbox.worklist_path()).unwrap();
    let calls = [
        ("apply-plan", json!({ "plan": [] })),
        ("update", json!({ "id": "goal-3", "title": "Goal 3 / número" })),
        ("update", json!({ "id": "goal-3", "group": "", "links": [] })),
        ("update", json!({ "id": "goal-3", "dependsOn": ["goal-2", "goal-2"] })),
        ("move", json!({ "id": "goal-0", "direction": "up" })),
        ("move", json!({ "id": "goal-39", "direction": "down" })),
        ("move", json!({ "id": "goal-5", "afterId": "goal-4" })),
        ("move", json!({ "id": "goal-5", "beforeId": "goal-5" })),
        ("start", json!({ "id": "goal-1", "branch": "b" })),
        ("set_active", json!({ "id": "goal-2" })),
        ("complete", json!({ "id": "goal-4", "confirm": true })),
        ("reopen", json!({ "id": "goal-5", "confirm": true })),
    ];
    for (tool, arguments) in calls {
        let answer = session.call(tool, arguments.clone());
        answer.result();
        assert_eq!(answer.meta()["semanticNoOp"], true, "{tool} {arguments}");
        assert!(!answer.changed(), "{tool} {arguments}");
        assert_eq!(sandbox.read_worklist(), before, "{tool} {arguments}");
    }
    let now = std::fs::metadata(sandbox.worklist_path()).unwrap();
    assert_eq!(now.modified().unwrap(), written.modified().unwrap());
}
