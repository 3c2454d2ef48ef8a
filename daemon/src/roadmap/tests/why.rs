//! `why`.

use serde_json::json;

use super::*;

#[track_caller]
fn why(bench: &mut Bench, id: &str) -> (bool, Value) {
    let result = bench.run(json!({"action": "why", "id": id})).result;
    assert_eq!(result["goal"], bench.goal(id));
    (result["ready"].as_bool().unwrap(), result["reasons"].clone())
}

fn short(id: &str, more: Value) -> Value {
    let mut goal = json!({"id": id, "title": id, "status": "open", "updatedAt": OLD});
    for (key, value) in more.as_object().unwrap() {
        goal[key] = value.clone();
    }
    goal
}

#[test]
fn a_ready_goal_has_no_reasons() {
    let mut bench = Bench::with(five());
    assert_eq!(why(&mut bench, "alpha"), (true, json!([])));
}

#[test]
fn settled_and_claimed_goals_say_so() {
    let mut bench = Bench::with(five());
    assert_eq!(why(&mut bench, "delta"), (false, json!([{"type": "settled", "status": "done"}])));
    assert_eq!(why(&mut bench, "gamma"), (false, json!([{"type": "claimed", "status": "active"}])));
    let claim = json!({"branch": "x", "claimedAt": OLD, "claimedBy": "me"});
    let mut bench = Bench::with(json!([goal("a", claim)]));
    let reason =
        json!({"type": "claimed", "status": "open", "branch": "x", "claimedAt": OLD, "claimedBy": "me"});
    assert_eq!(why(&mut bench, "a"), (false, json!([reason])));
}

#[test]
fn each_edge_is_followed_down_to_what_can_be_done() {
    let mut bench = Bench::with(json!([
        goal("top", json!({"dependsOn": ["left", "done", "was-free", "left", "gone"]})),
        goal("left", json!({"dependsOn": ["held", "middle"]})),
        goal("middle", json!({"dependsOn": ["free", "done"]})),
        goal("free", json!({"previousIds": ["was-free"]})),
        goal("held", json!({"branch": "b", "claimedBy": "me"})),
        goal("done", json!({"status": "done", "dependsOn": ["free"]})),
        goal("unrelated", json!({"dependsOn": ["top"]})),
    ]));
    let free = short("free", json!({}));
    let held = short("held", json!({"branch": "b", "claimedBy": "me"}));
    assert_eq!(
        why(&mut bench, "top"),
        (
            false,
            json!([
                {"type": "dependency", "goal": short("left", json!({"dependsOn": ["held", "middle"]})),
                 "startable": [free], "inProgress": [held]},
                {"type": "dependency", "goal": free, "startable": [free]},
                {"type": "dangling", "reference": "gone"},
            ])
        )
    );
}

#[test]
fn loops_and_edges_to_nothing_below_are_named() {
    let mut bench = Bench::with(json!([
        goal("top", json!({"dependsOn": ["one", "lost"]})),
        goal("one", json!({"dependsOn": ["two"]})),
        goal("two", json!({"dependsOn": ["three"]})),
        goal("three", json!({"dependsOn": ["two", "free"]})),
        plain("free"),
        goal("lost", json!({"dependsOn": ["gone", "nowhere"]})),
        goal("itself", json!({"dependsOn": ["itself"]})),
    ]));
    let (ready, reasons) = why(&mut bench, "top");
    assert!(!ready);
    assert_eq!(reasons[0]["loops"], json!([["two", "three"]]));
    assert_eq!(reasons[0]["startable"], json!([short("free", json!({}))]));
    assert_eq!(
        reasons[1]["dangling"],
        json!([{"id": "lost", "reference": "gone"}, {"id": "lost", "reference": "nowhere"}])
    );
    let (_, reasons) = why(&mut bench, "two");
    assert_eq!(reasons[0]["loops"], json!([["two", "three"]]));
    let (_, reasons) = why(&mut bench, "itself");
    assert_eq!(reasons[0]["loops"], json!([["itself"]]));
}

#[test]
fn a_goal_above_everything_gets_an_answer_of_a_readable_size() {
    let many: Vec<Value> = (0..400).map(|number| plain(&format!("leaf-{number}"))).collect();
    let leaves: Vec<String> = (0..400).map(|number| format!("leaf-{number}")).collect();
    let mut goals = many;
    goals.push(goal("hub", json!({"dependsOn": leaves.clone()})));
    goals.push(goal("top", json!({"dependsOn": ["hub"]})));
    let mut bench = Bench::with(json!(goals));
    let (_, reasons) = why(&mut bench, "top");
    assert_eq!(reasons[0]["startable"].as_array().unwrap().len(), 10);
    assert_eq!(reasons[0]["more"], true);
    let result = bench.run(json!({"action": "why", "id": "hub"})).result;
    assert_eq!(result["reasons"].as_array().unwrap().len(), 50);
    assert_eq!((&result["total"], &result["more"]), (&json!(400), &json!(true)));
}
