//! `set_active`, `complete`, `reopen`, `archive`, `delete`.

use serde_json::json;

use super::*;

fn confirmed(action: &str, id: &str) -> Value {
    json!({"action": action, "id": id, "confirm": true})
}

#[test]
fn one_goal_is_active() {
    let mut bench = Bench::with(five());
    let result = bench.writes(json!({"action": "set_active", "id": "alpha"}), &["alpha", "gamma"]);
    let alpha =
        json!({"id": "alpha", "title": "Alpha", "status": "active", "createdAt": OLD, "updatedAt": NOW});
    assert_eq!(result, json!({"goal": alpha, "deactivated": ["gamma"]}));
    assert_eq!(bench.goal("gamma")["status"], "open");
    assert_eq!(bench.goal("gamma")["updatedAt"], NOW);
    bench.no_op(json!({"action": "set_active", "id": "alpha"}));
}

#[test]
fn several_active_goals_become_one() {
    let active = json!({"status": "active"});
    let mut bench =
        Bench::with(json!([goal("a", active.clone()), goal("b", active.clone()), goal("c", active)]));
    let result = bench.writes(json!({"action": "set_active", "id": "b"}), &["a", "b", "c"]);
    assert_eq!(result["deactivated"], json!(["a", "c"]));
    assert_eq!(result["goal"]["updatedAt"], NOW);
}

#[test]
fn activating_a_blocked_goal_says_what_it_waits_for() {
    let waiting = json!({"dependsOn": ["a", "gone", "d"]});
    let mut bench =
        Bench::with(json!([plain("a"), goal("b", waiting), goal("d", json!({"status": "done"}))]));
    let result = bench.writes(json!({"action": "set_active", "id": "b"}), &["b"]);
    assert_eq!(result["blockedBy"], json!(["a", "gone"]));
    assert_eq!(bench.no_op(json!({"action": "set_active", "id": "b"}))["blockedBy"], json!(["a", "gone"]));
}

#[test]
fn a_settled_goal_is_not_taken_up() {
    let mut bench = Bench::with(five());
    for id in ["delta", "epsilon"] {
        for action in ["set_active", "start"] {
            assert_eq!(
                bench.refused(json!({"action": action, "id": id})),
                json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
                    "confirmation": "confirm=true", "id": id, "resolution": "reopen-project-goal"}})
            );
        }
    }
    let message = bench.try_run(&json!({"action": "set_active", "id": "delta"})).unwrap_err().message;
    assert!(message.contains("user's own confirmation"), "{message}");
}

#[test]
fn completing_stamps_releases_the_claim_and_names_what_became_ready() {
    let claim = json!({"branch": "feat/x", "claimedAt": OLD, "claimedBy": "cli", "status": "active"});
    let mut bench = Bench::with(json!([
        goal("ready-next", json!({"dependsOn": ["a", "d"]})),
        goal("a", claim),
        goal("still-waits", json!({"dependsOn": ["a", "ready-next"]})),
        goal("held", json!({"dependsOn": ["a"], "branch": "b"})),
        goal("settled", json!({"dependsOn": ["a"], "status": "archived"})),
        goal("by-former", json!({"dependsOn": ["was-a", "a"]})),
        goal("dangling", json!({"dependsOn": ["a", "gone"]})),
        goal("d", json!({"status": "done"})),
    ]));
    let mut file = bench.file();
    file["goals"][1]["previousIds"] = json!(["was-a"]);
    bench = Bench::with_file(file);
    let result = bench.writes(confirmed("complete", "a"), &["a"]);
    assert_eq!(result["released"], json!(["ready-next", "by-former"]));
    let expected = json!({"id": "a", "title": "a", "status": "done", "createdAt": OLD, "updatedAt": NOW,
                          "previousIds": ["was-a"], "completedAt": NOW});
    assert_eq!(result["goal"], expected);
    assert_eq!(bench.goal("a"), expected);
}

#[test]
fn completing_again_changes_nothing_but_a_claim_that_is_left() {
    let mut bench = Bench::with(five());
    assert_eq!(bench.no_op(confirmed("complete", "delta"))["goal"], bench.goal("delta"));
    let done =
        json!({"status": "done", "completedAt": OLD, "branch": "x", "claimedAt": OLD, "claimedBy": "cli"});
    let archived = json!({"status": "archived", "completedAt": OLD, "branch": "x"});
    let mut bench = Bench::with(json!([goal("a", done), goal("b", archived)]));
    let result = bench.writes(confirmed("complete", "a"), &["a"]);
    assert_eq!(result["goal"]["completedAt"], OLD);
    assert_eq!(result["goal"].get("branch"), None);
    assert_eq!(result["goal"].get("claimedAt"), None);
    assert_eq!(result["goal"].get("claimedBy"), None);
    bench.no_op(confirmed("complete", "a"));
    let result = bench.writes(confirmed("archive", "b"), &["b"]);
    assert_eq!(result["goal"].get("branch"), None);
    bench.no_op(confirmed("archive", "b"));
}

#[test]
fn archiving_keeps_when_it_was_completed() {
    let mut bench = Bench::with(five());
    let result = bench.writes(confirmed("archive", "delta"), &["delta"]);
    assert_eq!(result["goal"]["status"], "archived");
    assert_eq!(result["goal"]["completedAt"], OLD);
    assert_eq!(result.get("released"), None);
    let result = bench.writes(confirmed("archive", "alpha"), &["alpha"]);
    assert_eq!(result["released"], json!(["beta"]));
    assert_eq!(result["goal"].get("completedAt"), None);
    // From archived to done is a completion.
    let result = bench.writes(confirmed("complete", "delta"), &["delta"]);
    assert_eq!(result["goal"]["completedAt"], NOW);
}

#[test]
fn reopening_takes_the_completion_back() {
    let mut bench = Bench::with(five());
    let result = bench.writes(confirmed("reopen", "delta"), &["delta"]);
    let delta =
        json!({"id": "delta", "title": "Delta", "status": "open", "createdAt": OLD, "updatedAt": NOW});
    assert_eq!(result, json!({"goal": delta}));
    bench.writes(confirmed("reopen", "epsilon"), &["epsilon"]);
    bench.writes(confirmed("reopen", "gamma"), &["gamma"]);
    assert_eq!(bench.goal("gamma")["status"], "open");
    assert_eq!(bench.no_op(confirmed("reopen", "alpha"))["goal"], bench.goal("alpha"));
}

#[test]
fn deleting_takes_edges_along_and_reserves_ids_for_good() {
    let mut bench = Bench::with(json!([
        goal("alpha", json!({"title": "Alpha", "previousIds": ["goal-abc-0123abcd"]})),
        goal("beta", json!({"dependsOn": ["alpha", "gamma", "goal-abc-0123abcd"]})),
        goal("gamma", json!({"dependsOn": ["goal-abc-0123abcd"]})),
        goal("omega", json!({"dependsOn": ["gamma", "nothing"]})),
    ]));
    let before = bench.goal("alpha");
    let untouched = bench.goal("omega");
    let result = bench.writes(confirmed("delete", "alpha"), &["alpha", "beta", "gamma"]);
    assert_eq!(result, json!({"goal": before}));
    assert_eq!(
        bench.file(),
        json!({"version": 1, "revision": 8, "goals": [
            goal("beta", json!({"updatedAt": NOW, "dependsOn": ["gamma"]})),
            goal("gamma", json!({"updatedAt": NOW})),
            untouched,
        ], "retiredIds": ["alpha", "goal-abc-0123abcd"]})
    );
    bench.writes(json!({"action": "add", "title": "Alpha"}), &["alpha-2"]);
    for name in ["alpha", "ALPHA", "goal-abc-0123abcd"] {
        let refusal = bench.refused(json!({"action": "show", "id": name}));
        assert_eq!(
            refusal["details"],
            json!({"entity": "project-goal", "id": name,
                                              "resolution": "refresh-and-select-existing"})
        );
    }
    bench.writes(confirmed("delete", "beta"), &["beta"]);
    assert_eq!(bench.file()["retiredIds"], json!(["alpha", "goal-abc-0123abcd", "beta"]));
}

#[test]
fn unknown_and_ambiguous_goals_are_refused_by_every_change() {
    let mut bench = Bench::with(json!([plain("goal-one"), plain("goal-two")]));
    for action in ["set_active", "complete", "reopen", "archive", "delete", "start"] {
        let mut operation = json!({"action": action, "id": "zeta"});
        if !matches!(action, "set_active" | "start") {
            operation["confirm"] = json!(true);
        }
        let details = bench.refused(operation.clone())["details"].clone();
        assert_eq!(
            details,
            json!({"entity": "project-goal", "id": "zeta",
                                   "resolution": "refresh-and-select-existing"})
        );
        operation["id"] = json!("goal");
        let details = bench.refused(operation)["details"].clone();
        assert_eq!(details["fields"], json!(["id"]));
        assert_eq!(details["candidateCount"], 2);
    }
}
