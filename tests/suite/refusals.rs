//! Bad input: every refusal answers as the contract says, and leaves the file's bytes and its directory alone.

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
        problems.extend(
            differences(&answer, code, *resolution, *fields)
                .map(|problem| format!("{tool} {arguments}: {problem}\n  {}", answer.0)),
        );
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
fn arguments_of_the_wrong_shape_are_refused_by_name() {
    let mut rows: Vec<Row> = vec![
        ("add", json!({}), INVALID, None, Some(&["title"])),
        ("add", json!({ "title": null }), INVALID, None, Some(&["title"])),
        ("add", json!({ "title": " \t" }), INVALID, None, Some(&["title"])),
        ("add", json!({ "title": "T", "Title": "T", "extra": 1 }), INVALID, None, Some(&["Title", "extra"])),
        (
            "add",
            json!({ "title": 1, "group": [], "links": {} }),
            INVALID,
            None,
            Some(&["group", "links", "title"]),
        ),
        ("update", json!({ "title": "T" }), INVALID, None, Some(&["id"])),
        ("update", json!({ "id": "  ", "title": "T" }), INVALID, None, Some(&["id"])),
        ("update", json!({ "id": "alpha", "title": " " }), INVALID, None, Some(&["title"])),
        ("move", json!({ "id": "alpha", "direction": "sideways" }), INVALID, None, Some(&["direction"])),
        ("start", json!({ "id": "alpha", "clear": "yes" }), INVALID, None, Some(&["clear"])),
        ("apply-plan", json!({ "plan": [], "dryRun": 1 }), INVALID, None, Some(&["dryRun"])),
        (
            "apply-plan",
            json!({ "plan": [], "expectedRevision": -1 }),
            INVALID,
            None,
            Some(&["expectedRevision"]),
        ),
        ("read_goals", json!({}), INVALID, None, Some(&["view"])),
        ("read_goals", json!({ "view": "everything" }), INVALID, None, Some(&["view"])),
        ("read_goals", json!({ "view": "show" }), INVALID, None, Some(&["id"])),
        ("read_goals", json!({ "view": "next", "id": "alpha" }), INVALID, None, Some(&["id"])),
        ("read_goals", json!({ "view": "list", "limit": 0 }), INVALID, None, Some(&["limit"])),
        ("read_goals", json!({ "view": "list", "limit": 201 }), INVALID, None, Some(&["limit"])),
        ("read_goals", json!({ "view": "list", "status": ["open", "closed"] }), INVALID, None, None),
        (
            "read_goals",
            json!({ "view": "find", "query": " " }),
            INVALID,
            Some("provide-non-blank-search-text"),
            Some(&["query"]),
        ),
    ];
    for tool in ["update", "set_active", "start", "complete", "reopen", "archive", "delete", "move"] {
        rows.push((tool, json!({ "id": 7 }), INVALID, None, Some(&["id"])));
        rows.push((tool, json!({ "id": "alpha", "surprise": true }), INVALID, None, Some(&["surprise"])));
    }
    for tool in ["update", "set_active", "start", "complete", "reopen", "archive", "delete"] {
        let blank = json!({ "id": "alpha", "expectedUpdatedAt": " " });
        rows.push((
            tool,
            blank,
            INVALID,
            Some("provide-non-blank-expected-updated-at"),
            Some(&["expectedUpdatedAt"]),
        ));
    }
    check(&rows);
}

#[test]
fn contradictory_and_meaningless_changes_are_refused() {
    check(&[
        ("update", json!({ "id": "alpha" }), INVALID, Some("provide-a-change"), None),
        (
            "update",
            json!({ "id": "alpha", "description": "a", "appendDescription": "b" }),
            INVALID,
            Some("provide-one-description-change"),
            Some(&["appendDescription", "description"]),
        ),
        (
            "update",
            json!({ "id": "alpha", "title": "a", "appendDescription": "b" }),
            INVALID,
            Some("remove-title-or-replace-description"),
            Some(&["appendDescription", "title"]),
        ),
        (
            "update",
            json!({ "id": "alpha", "appendDescription": " \n" }),
            INVALID,
            Some("provide-non-blank-append-text"),
            Some(&["appendDescription"]),
        ),
        (
            "move",
            json!({ "id": "alpha" }),
            INVALID,
            Some("provide-one-placement"),
            Some(&["afterId", "beforeId", "direction"]),
        ),
        (
            "move",
            json!({ "id": "alpha", "beforeId": "beta", "afterId": "gamma" }),
            INVALID,
            Some("provide-one-placement-anchor"),
            None,
        ),
        (
            "move",
            json!({ "id": "alpha", "direction": "up", "afterId": "gamma" }),
            INVALID,
            Some("provide-one-placement"),
            None,
        ),
        (
            "start",
            json!({ "id": "alpha", "branch": "b", "clear": true }),
            INVALID,
            Some("choose-branch-or-clear"),
            Some(&["branch", "clear"]),
        ),
        ("start", json!({ "clear": true }), INVALID, None, None),
        ("start", json!({ "takeOver": true }), INVALID, None, None),
        ("start", json!({ "expectedUpdatedAt": "2026-01-01T00:00:00.000Z" }), INVALID, None, None),
        ("start", json!({ "id": "alpha", "branch": "two\nlines" }), INVALID, None, Some(&["branch"])),
    ]);
}

#[test]
fn links_and_edges_that_cannot_be_stored_are_refused() {
    let mut rows: Vec<Row> = Vec::new();
    for link in ["", " ", "example.com", "/path", "ftp://example.com", "javascript:alert(1)", "https://"] {
        let resolution = Some("provide-absolute-http-or-https-urls");
        rows.push(("add", json!({ "title": "T", "links": [link] }), INVALID, resolution, Some(&["links"])));
        rows.push((
            "update",
            json!({ "id": "alpha", "links": [link] }),
            INVALID,
            resolution,
            Some(&["links"]),
        ));
    }
    let blank = Some("provide-non-blank-goal-ids");
    let cycle = Some("remove-an-edge-from-the-cycle");
    let ambiguous = Some("provide-unambiguous-goal-id");
    let missing = Some("refresh-and-select-existing");
    rows.extend([
        (
            "add",
            json!({ "title": "T", "dependsOn": ["alpha", " "] }),
            INVALID,
            blank,
            Some(&["dependsOn"][..]),
        ),
        ("update", json!({ "id": "alpha", "dependsOn": [""] }), INVALID, blank, Some(&["dependsOn"])),
        (
            "update",
            json!({ "id": "alpha", "dependsOn": ["alpha"] }),
            "DEPENDENCY_CYCLE",
            cycle,
            Some(&["dependsOn"]),
        ),
        (
            "update",
            json!({ "id": "alpha", "dependsOn": ["beta"] }),
            "DEPENDENCY_CYCLE",
            cycle,
            Some(&["dependsOn"]),
        ),
        ("add", json!({ "title": "T", "dependsOn": ["zeta"] }), INVALID, ambiguous, Some(&["dependsOn"])),
        ("add", json!({ "title": "T", "dependsOn": ["nowhere"] }), "NOT_FOUND", missing, None),
        ("update", json!({ "id": "beta", "dependsOn": ["nowhere"] }), "NOT_FOUND", missing, None),
    ]);
    check(&rows);
}

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
fn settled_goals_are_not_taken_up() {
    let resolution = Some("reopen-project-goal");
    let mut rows: Vec<Row> = Vec::new();
    for id in ["delta", "epsilon"] {
        rows.push(("set_active", json!({ "id": id }), INVALID, resolution, None));
        rows.push(("start", json!({ "id": id, "branch": "b" }), INVALID, resolution, None));
    }
    check(&rows);
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
fn plans_are_refused_as_a_whole() {
    let plan = |plan: Value| json!({ "plan": plan });
    let good = json!({ "title": "Fine" });
    check(&[
        ("apply-plan", json!({}), INVALID, Some("provide-json-goal-array"), Some(&["plan"])),
        (
            "apply-plan",
            plan(json!({ "title": "T" })),
            INVALID,
            Some("provide-json-goal-array"),
            Some(&["plan"]),
        ),
        ("apply-plan", plan(json!("[]")), INVALID, Some("provide-json-goal-array"), Some(&["plan"])),
        ("apply-plan", plan(json!([good, "T"])), INVALID, None, Some(&["plan/1"])),
        ("apply-plan", plan(json!([good, null])), INVALID, None, Some(&["plan/1"])),
        (
            "apply-plan",
            plan(json!([good, { "title": "T", "status": "done" }])),
            INVALID,
            None,
            Some(&["plan/1/status"]),
        ),
        ("apply-plan", plan(json!([good, { "title": " " }])), INVALID, None, Some(&["plan/1/title"])),
        ("apply-plan", plan(json!([good, {}])), INVALID, None, Some(&["plan/1/title"])),
        ("apply-plan", plan(json!([good, { "title": 1 }])), INVALID, None, Some(&["plan/1/title"])),
        (
            "apply-plan",
            plan(json!([good, { "title": "T", "dependsOn": [" fine"] }])),
            INVALID,
            Some("remove-surrounding-reference-whitespace"),
            Some(&["plan/1/dependsOn"]),
        ),
        (
            "apply-plan",
            plan(json!([good, { "title": "T", "dependsOn": [""] }])),
            INVALID,
            None,
            Some(&["plan/1/dependsOn"]),
        ),
        (
            "apply-plan",
            plan(json!([good, { "title": "FINE!" }])),
            INVALID,
            Some("rename-one-batch-goal"),
            Some(&["plan/0/title", "plan/1/title"]),
        ),
        (
            "apply-plan",
            plan(json!([good, { "title": "T", "dependsOn": ["alp"] }])),
            INVALID,
            Some("add-batch-goal-or-use-existing-goal-id"),
            Some(&["dependsOn"]),
        ),
        (
            "apply-plan",
            plan(json!([{ "title": "A", "dependsOn": ["b"] }, { "title": "B", "dependsOn": ["a"] }])),
            "DEPENDENCY_CYCLE",
            Some("remove-an-edge-from-the-cycle"),
            Some(&["dependsOn"]),
        ),
    ]);
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
