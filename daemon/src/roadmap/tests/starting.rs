//! `start`.

use serde_json::json;

use super::*;

fn held(branch: &str) -> Value {
    json!({"branch": branch, "claimedAt": OLD, "claimedBy": "somebody"})
}

fn claim_of(goal: &Value) -> [&Value; 3] {
    ["branch", "claimedAt", "claimedBy"].map(|key| goal.get(key).unwrap_or(&Value::Null))
}

#[test]
fn a_goal_is_taken_for_a_branch() {
    let mut bench = Bench::with(five());
    let result = bench.writes(json!({"action": "start", "id": "alpha", "branch": " feat/x "}), &["alpha"]);
    let expected = json!({"id": "alpha", "title": "Alpha", "status": "open", "createdAt": OLD, "updatedAt": NOW,
                          "branch": "feat/x", "claimedAt": NOW, "claimedBy": "tester"});
    assert_eq!(result, json!({"goal": expected}));
    assert_eq!(bench.goal("alpha").to_string(), expected.to_string());
    // Held under this branch already.
    bench.now_ms += 5;
    assert_eq!(bench.no_op(json!({"action": "start", "id": "alpha", "branch": "feat/x"}))["goal"], expected);
}

#[test]
fn without_a_branch_it_is_the_one_checked_out() {
    let mut bench = Bench::with(five());
    bench.branch = Some("topic");
    bench.writes(json!({"action": "start", "id": "alpha"}), &["alpha"]);
    assert_eq!(bench.goal("alpha")["branch"], "topic");
    bench.branch = None;
    for operation in [json!({"action": "start", "id": "beta"}), json!({"action": "start"})] {
        let mut bench = Bench::with(five());
        bench.branch = None;
        assert_eq!(
            bench.refused(operation),
            json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
                "fields": ["branch"], "resolution": "provide-project-start-branch"}})
        );
    }
}

#[test]
fn without_an_id_the_first_ready_goal_is_taken_until_none_is_left() {
    let mut bench = Bench::with(json!([
        goal("waits", json!({"dependsOn": ["free"]})),
        goal("active", json!({"status": "active"})),
        goal("held", held("b")),
        plain("free"),
        plain("later"),
    ]));
    for (branch, id) in [("one", "free"), ("two", "later")] {
        let result = bench.writes(json!({"action": "start", "branch": branch}), &[id]);
        assert_eq!(result["goal"]["branch"], branch);
    }
    assert_eq!(bench.no_op(json!({"action": "start", "branch": "three"})), json!({}));
    // Nobody needs a branch for nothing.
    bench.branch = None;
    assert_eq!(bench.no_op(json!({"action": "start"})), json!({}));
}

#[test]
fn what_another_branch_holds_is_left_to_it_unless_taken_over() {
    let mut bench = Bench::with(json!([goal("a", held("theirs"))]));
    let conflict = json!({"code": "CONFLICT", "retryable": false, "conflict": {
        "type": "goal-claimed", "id": "a", "branch": "theirs", "claimedAt": OLD, "claimedBy": "somebody",
        "resolution": "choose-another-goal"}});
    for operation in [
        json!({"action": "start", "id": "a"}),
        json!({"action": "start", "id": "a", "branch": "mine"}),
        json!({"action": "start", "id": "a", "clear": true}),
    ] {
        assert_eq!(bench.refused(operation), conflict);
    }
    bench.branch = None;
    assert_eq!(bench.refused(json!({"action": "start", "id": "a", "clear": true})), conflict);
    bench.branch = Some("main");
    bench.writes(json!({"action": "start", "id": "a", "branch": "mine", "takeOver": true}), &["a"]);
    assert_eq!(claim_of(&bench.goal("a")), [&json!("mine"), &json!(NOW), &json!("tester")]);
    // Only the branch is stored in files of others.
    let mut bench = Bench::with(json!([goal("a", json!({"branch": "theirs"}))]));
    let refusal = bench.refused(json!({"action": "start", "id": "a"}));
    assert_eq!(
        refusal["conflict"],
        json!({"type": "goal-claimed", "id": "a", "branch": "theirs",
                                           "resolution": "choose-another-goal"})
    );
    bench.writes(json!({"action": "start", "id": "a", "clear": true, "takeOver": true}), &["a"]);
    assert_eq!(bench.goal("a").get("branch"), None);
}

#[test]
fn a_claim_is_given_back() {
    let mut bench = Bench::with(json!([goal("a", held("main")), plain("b")]));
    let result = bench.writes(json!({"action": "start", "id": "a", "clear": true}), &["a"]);
    assert_eq!(result, json!({"goal": goal("a", json!({"updatedAt": NOW}))}));
    bench.no_op(json!({"action": "start", "id": "a", "clear": true}));
    bench.no_op(json!({"action": "start", "id": "b", "clear": true}));
}

#[test]
fn a_settled_goal_can_be_cleared() {
    let mut claim = held("main");
    claim["status"] = json!("done");
    let mut bench = Bench::with(json!([goal("a", claim)]));
    bench.refused(json!({"action": "start", "id": "a"}));
    bench.writes(json!({"action": "start", "id": "a", "clear": true}), &["a"]);
    assert_eq!(claim_of(&bench.goal("a")), [&Value::Null; 3]);
}

#[test]
fn a_blank_branch_in_the_file_holds_nothing() {
    let mut bench = Bench::with(json!([goal("a", json!({"branch": " "}))]));
    let result = bench.writes(json!({"action": "start"}), &["a"]);
    assert_eq!(result["goal"]["branch"], "main");
}

#[test]
fn taking_a_blocked_goal_says_what_it_waits_for() {
    let mut bench = Bench::with(five());
    let result = bench.writes(json!({"action": "start", "id": "beta"}), &["beta"]);
    assert_eq!(result["blockedBy"], json!(["alpha"]));
    let again = bench.no_op(json!({"action": "start", "id": "beta"}));
    assert_eq!(again["blockedBy"], json!(["alpha"]));
}
