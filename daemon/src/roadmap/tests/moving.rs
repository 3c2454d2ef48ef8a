//! `move`.

use serde_json::json;

use super::*;

fn order(bench: &Bench) -> String {
    let goals = bench.goals();
    let ids: Vec<&str> = goals.as_array().unwrap().iter().map(|goal| goal["id"].as_str().unwrap()).collect();
    ids.join(" ")
}

#[test]
fn a_goal_goes_where_it_is_told() {
    for (id, placement, expected) in [
        ("beta", ("direction", "up"), "beta alpha gamma delta epsilon"),
        ("beta", ("direction", "down"), "alpha gamma beta delta epsilon"),
        ("beta", ("beforeId", "alpha"), "beta alpha gamma delta epsilon"),
        ("beta", ("beforeId", "epsilon"), "alpha gamma delta beta epsilon"),
        ("beta", ("afterId", "epsilon"), "alpha gamma delta epsilon beta"),
        ("delta", ("afterId", "alpha"), "alpha delta beta gamma epsilon"),
        ("delta", ("beforeId", "alpha"), "delta alpha beta gamma epsilon"),
        ("EPS", ("beforeId", " alp "), "epsilon alpha beta gamma delta"),
    ] {
        let mut bench = Bench::with(five());
        let mut operation = json!({"action": "move", "id": id});
        operation[placement.0] = json!(placement.1);
        let before = bench.goals();
        let outcome = bench.run(operation);
        assert_eq!(order(&bench), expected, "{id} {placement:?}");
        let moved = outcome.changed.unwrap();
        assert_eq!(moved.len(), 1);
        // Nothing is stamped, the goal itself neither.
        for goal in before.as_array().unwrap() {
            assert_eq!(&bench.goal(goal["id"].as_str().unwrap()), goal);
        }
        assert_eq!(outcome.result["goal"], bench.goal(&moved[0]));
    }
}

#[test]
fn a_goal_that_is_there_already_stays() {
    let mut bench = Bench::with(five());
    for (id, name, value) in [
        ("alpha", "direction", "up"),
        ("epsilon", "direction", "down"),
        ("alpha", "beforeId", "beta"),
        ("beta", "afterId", "alpha"),
        ("beta", "beforeId", "beta"),
        ("beta", "afterId", "beta"),
    ] {
        let mut operation = json!({"action": "move", "id": id});
        operation[name] = json!(value);
        assert_eq!(bench.no_op(operation)["goal"]["id"], id);
    }
    let mut alone = Bench::with(json!([plain("a")]));
    alone.no_op(json!({"action": "move", "id": "a", "direction": "up"}));
    alone.no_op(json!({"action": "move", "id": "a", "direction": "down"}));
}

#[test]
fn goals_and_anchors_that_are_not_there_are_named() {
    let mut bench = Bench::with(five());
    for (operation, entity, id) in [
        (json!({"action": "move", "id": "zeta", "direction": "up"}), "project-goal", "zeta"),
        (json!({"action": "move", "id": "beta", "beforeId": "zeta"}), "project-goal-anchor", "zeta"),
        (json!({"action": "move", "id": "beta", "afterId": "null"}), "project-goal-anchor", "null"),
        // The goal is looked up before its anchor.
        (json!({"action": "move", "id": "zeta", "afterId": "eta"}), "project-goal", "zeta"),
    ] {
        assert_eq!(
            bench.refused(operation),
            json!({"code": "NOT_FOUND", "retryable": false, "details": {
                "entity": entity, "id": id, "resolution": "refresh-and-select-existing"}})
        );
    }
    let mut bench = Bench::with(json!([plain("a1"), plain("a2"), plain("b")]));
    let refusal = bench.refused(json!({"action": "move", "id": "b", "beforeId": "a"}));
    assert_eq!(refusal["details"]["fields"], json!(["beforeId"]));
    assert_eq!(refusal["details"]["resolution"], "provide-unambiguous-goal-id");
}
