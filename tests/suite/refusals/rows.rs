//! Refusals that are the same kind of row: a call, and what it must answer.

use serde_json::{Value, json};

use super::{INVALID, Row, check};

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
