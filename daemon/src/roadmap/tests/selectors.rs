//! Which goal a name means.

use serde_json::json;

use super::*;

fn names() -> Bench {
    Bench::with_file(json!({"version": 1, "goals": [
        goal("goal", json!({"previousIds": ["first", "shared"]})),
        goal("goal-2", json!({"previousIds": ["goal-1", "shared"]})),
        goal("Mixed-Case", json!({"previousIds": ["goal"]})),
        plain("null-handling"),
        plain("undefined-behaviour"),
        plain("old-one-again"),
        plain("back"),
        plain("äther"),
    ], "retiredIds": ["old-one", "back"]}))
}

#[test]
fn the_first_stage_with_a_match_decides() {
    let mut bench = names();
    for (selector, id) in [
        ("goal", "goal"),
        (" goal\n", "goal"),
        ("goal-2", "goal-2"),
        ("goal-1", "goal-2"),
        ("first", "goal"),
        ("GOAL-2", "goal-2"),
        ("mixed", "Mixed-Case"),
        ("MIXED-case", "Mixed-Case"),
        ("null-", "null-handling"),
        ("nul", "null-handling"),
        ("undefined-b", "undefined-behaviour"),
        ("old-one-", "old-one-again"),
        ("back", "back"),
        ("ÄTH", "äther"),
    ] {
        assert_eq!(
            bench.run(json!({"action": "show", "id": selector})).result["goal"]["id"],
            id,
            "{selector}"
        );
        assert_eq!(bench.roadmap.brief(selector).unwrap()["id"], id);
    }
}

#[test]
fn some_names_name_nothing() {
    let mut bench = names();
    for selector in
        ["null", "undefined", "NULL", "Undefined", "old-one", "Old-One", "zeta", "firs", "goal-3", "oal"]
    {
        let refusal = bench.refused(json!({"action": "show", "id": selector}));
        assert_eq!(refusal["code"], "NOT_FOUND", "{selector}");
        assert_eq!(refusal["details"]["id"], selector);
        assert_eq!(bench.roadmap.brief(selector), None);
    }
    assert_eq!(bench.roadmap.brief("  "), None);
    let mut bench = Bench::with(json!([plain("null")]));
    assert_eq!(bench.run(json!({"action": "show", "id": "null"})).result["goal"]["id"], "null");
}

#[test]
fn several_matches_are_refused_with_at_most_ten_of_them() {
    let mut bench = names();
    for (selector, count, first) in [("shared", 2, "goal"), ("GOAL", 2, "goal"), ("goa", 2, "goal")] {
        let details = bench.refused(json!({"action": "why", "id": selector}))["details"].clone();
        assert_eq!(details["candidateCount"], count, "{selector}");
        assert_eq!(details["candidates"][0], json!({"id": first, "title": first}));
        assert_eq!(bench.roadmap.brief(selector), None);
    }
    let many: Vec<Value> = (0..13).map(|number| plain(&format!("g-{number:02}"))).collect();
    let mut bench = Bench::with(json!(many));
    let candidates: Vec<Value> = (0..10)
        .map(|number| json!({"id": format!("g-{number:02}"), "title": format!("g-{number:02}")}))
        .collect();
    assert_eq!(
        bench.refused(json!({"action": "update", "id": "g", "title": "x"})),
        json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
            "fields": ["id"], "resolution": "provide-unambiguous-goal-id", "candidateCount": 13,
            "candidates": candidates}})
    );
}

#[test]
fn stored_references_are_exact() {
    let waiting = json!({"dependsOn": ["done-on", "DONE-ONE"]});
    let mut bench = Bench::with(json!([
        goal("done-one", json!({"status": "done", "previousIds": ["was-done"]})),
        goal("prefix", waiting),
        goal("former", json!({"dependsOn": ["was-done"]})),
        goal("twice-a", json!({"status": "done", "previousIds": ["twice"]})),
        goal("twice-b", json!({"status": "done", "previousIds": ["twice"]})),
        goal("unclear", json!({"dependsOn": ["twice"]})),
    ]));
    let ready = bench.run(json!({"action": "ready"})).result;
    assert_eq!(ready["goals"].as_array().unwrap().len(), 1);
    assert_eq!(ready["goals"][0]["id"], "former");
    let shown = bench.run(json!({"action": "show", "id": "prefix"})).result;
    assert_eq!(shown["blockedBy"], json!(["done-on", "DONE-ONE"]));
    // Nobody may choose between two goals with one former id.
    let shown = bench.run(json!({"action": "show", "id": "unclear"})).result;
    assert_eq!(shown["blockedBy"], json!(["twice"]));
}

#[test]
fn a_brief_says_what_a_confirmation_is_about() {
    let bench = Bench::with(five());
    let brief = Value::from(bench.roadmap.brief("del").unwrap());
    assert_eq!(brief, json!({"id": "delta", "title": "Delta", "status": "done", "updatedAt": OLD}));
}
