//! `apply-plan`.

use serde_json::json;

use super::*;

fn plan(plan: Value) -> Value {
    json!({"action": "apply-plan", "plan": plan})
}

fn added(id: &str, title: &str, more: Value) -> Value {
    let mut goal = json!({"id": id, "title": title});
    for (key, value) in more.as_object().unwrap() {
        goal[key] = value.clone();
    }
    for (key, value) in [("status", "open"), ("createdAt", NOW), ("updatedAt", NOW)] {
        goal[key] = json!(value);
    }
    goal
}

#[test]
fn entries_are_appended_in_order_by_one_revision() {
    let mut bench = Bench::with(five());
    let result = bench.writes(
        plan(json!([
            {"title": "Adopt parser", "dependsOn": ["parser", "alpha", "parser"]},
            {"title": " Parser ", "description": "d", "group": " Foundation "},
        ])),
        &["adopt-parser", "parser"],
    );
    let first = added("adopt-parser", "Adopt parser", json!({"dependsOn": ["parser", "alpha"]}));
    let second = added("parser", "Parser", json!({"description": "d", "group": "Foundation"}));
    assert_eq!(result, json!({"dryRun": false, "addedGoals": [first, second], "warnings": []}));
    assert_eq!(result["addedGoals"][0].to_string(), first.to_string());
    assert_eq!(bench.goals().as_array().unwrap()[5..], [first, second]);
    assert_eq!(bench.file()["revision"], 8);
}

#[test]
fn former_ids_are_references_and_prefixes_are_not() {
    let mut bench = Bench::with(json!([goal("alpha", json!({"previousIds": ["old-name"]}))]));
    bench.writes(plan(json!([{"title": "New", "dependsOn": ["old-name"]}])), &["new"]);
    assert_eq!(bench.goal("new")["dependsOn"], json!(["alpha"]));
    for reference in ["alp", "ALPHA", "Parser One", "zeta", "null"] {
        assert_eq!(
            bench.refused(plan(
                json!([{"title": "Parser one"}, {"title": "Other", "dependsOn": [reference]}])
            )),
            json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
                "fields": ["dependsOn"], "reference": reference,
                "resolution": "add-batch-goal-or-use-existing-goal-id"}})
        );
    }
}

#[test]
fn loops_inside_a_plan_are_refused() {
    let mut bench = Bench::with(five());
    assert_eq!(
        bench.refused(plan(json!([
            {"title": "Before", "dependsOn": ["a-one"]},
            {"title": "A one", "dependsOn": ["b-one"]},
            {"title": "B one", "dependsOn": ["a-one"]},
        ]))),
        json!({"code": "DEPENDENCY_CYCLE", "retryable": false, "details": {
            "fields": ["dependsOn"], "cycle": ["a-one", "b-one"], "cyclePath": "a-one -> b-one -> a-one",
            "resolution": "remove-an-edge-from-the-cycle"}})
    );
    let refusal = bench.refused(plan(json!([{"title": "Self", "dependsOn": ["self"]}])));
    assert_eq!(refusal["details"]["cyclePath"], "self -> self");
}

#[test]
fn two_entries_with_one_slug_are_refused() {
    let mut bench = Bench::empty();
    let entries = json!([{"title": "Same"}, {"title": "Other"}, {"title": "same!"}, {"title": "SAME"}]);
    assert_eq!(
        bench.refused(plan(entries)),
        json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
            "fields": ["plan/0/title", "plan/2/title", "plan/3/title"], "preCollisionSlug": "same",
            "resolution": "rename-one-batch-goal"}})
    );
}

#[test]
fn a_plans_own_entry_wins_over_a_stored_goal_and_says_so() {
    let mut bench = Bench::with(json!([goal("parser", json!({"previousIds": ["lexer"]})), plain("unused")]));
    let result = bench.writes(
        plan(json!([
            {"title": "Lexer"},
            {"title": "Parser", "dependsOn": ["lexer"]},
            {"title": "Adopt", "dependsOn": ["parser", "lexer"]},
            {"title": "Unused"},
        ])),
        &["adopt", "lexer-2", "parser-2", "unused-2"],
    );
    assert_eq!(
        result["warnings"],
        json!([
            {"code": "BATCH_REFERENCE_SHADOWS_EXISTING", "reference": "lexer", "existingGoalId": "parser",
             "batchGoalId": "lexer-2"},
            {"code": "BATCH_REFERENCE_SHADOWS_EXISTING", "reference": "parser", "existingGoalId": "parser",
             "batchGoalId": "parser-2"},
        ])
    );
    assert_eq!(bench.goal("adopt")["dependsOn"], json!(["parser-2", "lexer-2"]));
}

#[test]
fn an_empty_plan_is_a_no_op_and_a_dry_run_writes_nothing() {
    let mut bench = Bench::with(five());
    let nothing = json!({"dryRun": false, "addedGoals": [], "warnings": []});
    assert_eq!(bench.no_op(plan(json!([]))), nothing);
    let mut operation = plan(json!([{"title": "Parser"}]));
    operation["dryRun"] = json!(true);
    let outcome = bench.run(operation);
    assert!(outcome.changed.is_none() && !outcome.no_op);
    let parser = added("parser", "Parser", json!({}));
    assert_eq!(outcome.result, json!({"dryRun": true, "addedGoals": [parser], "warnings": []}));
    let outcome = bench.run(json!({"action": "apply-plan", "plan": [], "dryRun": true}));
    assert!(outcome.changed.is_none() && !outcome.no_op);
    // A dry run is refused like the plan itself.
    let mut operation = plan(json!([{"title": "A", "dependsOn": ["a"]}]));
    operation["dryRun"] = json!(true);
    assert_eq!(bench.refused(operation)["code"], "DEPENDENCY_CYCLE");
}

#[test]
fn a_plan_for_another_revision_is_refused() {
    let mut bench = Bench::with(five());
    let with_revision = |revision: Value| {
        let mut operation = plan(json!([{"title": "Parser"}]));
        operation["expectedRevision"] = revision;
        operation
    };
    assert_eq!(
        bench.refused(with_revision(json!(6))),
        json!({"code": "CONFLICT", "retryable": true, "conflict": {
            "type": "revision", "expectedRevision": "6", "actualRevision": "7",
            "resolution": "refresh-and-retry"}})
    );
    bench.writes(with_revision(json!(7)), &["parser"]);
    // As answers spell it.
    let mut bench = Bench::with(five());
    bench.writes(with_revision(json!("7")), &["parser"]);
}
