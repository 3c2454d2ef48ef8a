//! `update`.

use serde_json::json;

use super::*;

#[test]
fn texts_change_in_their_places_and_the_id_stays() {
    let mut bench = Bench::with(five());
    let result = bench.writes(
        json!({"action": "update", "id": "alpha", "title": " Alpha renamed ", "description": "New"}),
        &["alpha"],
    );
    let expected = json!({"id": "alpha", "title": "Alpha renamed", "status": "open", "createdAt": OLD,
                          "updatedAt": NOW, "description": "New"});
    assert_eq!(result, json!({"goal": expected}));
    assert_eq!(bench.goal("alpha").to_string(), expected.to_string());
}

#[test]
fn a_goal_is_named_by_its_former_id_or_a_prefix_of_its_own() {
    let mut bench = Bench::with(json!([goal("alpha", json!({"previousIds": ["old-name"]}))]));
    bench.writes(json!({"action": "update", "id": "old-name", "description": "x"}), &["alpha"]);
    bench.writes(json!({"action": "update", "id": "ALP", "description": "y"}), &["alpha"]);
}

#[test]
fn an_append_follows_the_stored_text_after_a_blank_line() {
    for (stored, expected) in [
        (None, "More"),
        (Some(""), "More"),
        (Some(" \n\t "), "More"),
        (Some("First"), "First\n\nMore"),
        (Some("  First \n\n"), "  First\n\nMore"),
    ] {
        let more = stored.map_or(json!({}), |text| json!({"description": text}));
        let mut bench = Bench::with(json!([goal("a", more)]));
        bench.writes(json!({"action": "update", "id": "a", "appendDescription": "\n More  "}), &["a"]);
        assert_eq!(bench.goal("a")["description"], expected, "{stored:?}");
    }
}

#[test]
fn what_is_cleared_is_taken_out() {
    let full = goal(
        "a",
        json!({"description": "d", "group": "G", "links": ["https://x.org/"], "dependsOn": ["b"],
                                "colour": "red"}),
    );
    let mut bench = Bench::with(json!([full, plain("b")]));
    bench.writes(
        json!({"action": "update", "id": "a", "group": "  ", "links": [], "dependsOn": [], "description": ""}),
        &["a"],
    );
    let expected = json!({"id": "a", "title": "a", "status": "open", "createdAt": OLD, "updatedAt": NOW,
                          "description": "", "colour": "red"});
    assert_eq!(bench.goal("a").to_string(), expected.to_string());
}

#[test]
fn whole_sets_are_replaced() {
    let mut bench = Bench::with(json!([plain("a"), plain("b"), plain("c")]));
    bench.writes(
        json!({"action": "update", "id": "a", "dependsOn": ["b"], "links": ["https://x.org/1"]}),
        &["a"],
    );
    bench.writes(
        json!({"action": "update", "id": "a", "dependsOn": ["c"], "links": ["https://x.org/2"]}),
        &["a"],
    );
    let goal = bench.goal("a");
    assert_eq!((&goal["dependsOn"], &goal["links"]), (&json!(["c"]), &json!(["https://x.org/2"])));
}

#[test]
fn what_holds_already_is_not_written() {
    let stored = goal(
        "a",
        json!({"title": "A", "description": "d", "group": "G", "links": ["https://x.org/"],
                                  "dependsOn": ["old", "c"]}),
    );
    let mut bench =
        Bench::with(json!([stored, goal("b", json!({"previousIds": ["old"]})), plain("c"), plain("d")]));
    for same in [
        json!({"title": " A "}),
        json!({"description": "d"}),
        json!({"group": " G "}),
        json!({"links": ["https://x.org", "HTTPS://X.org/"]}),
        // The edge is stored by a former id; it means the same goal.
        json!({"dependsOn": ["b", "c", "b"]}),
        json!({"title": "A", "description": "d", "group": "G", "links": ["https://x.org/"], "dependsOn": ["b", "c"]}),
    ] {
        let mut operation = same;
        operation["action"] = json!("update");
        operation["id"] = json!("a");
        assert_eq!(bench.no_op(operation)["goal"], bench.goal("a"));
    }
    for nothing in [json!({"group": ""}), json!({"links": []}), json!({"dependsOn": []})] {
        let mut operation = nothing;
        operation["action"] = json!("update");
        operation["id"] = json!("d");
        bench.no_op(operation);
    }
    // The order of edges counts.
    bench.writes(json!({"action": "update", "id": "a", "dependsOn": ["c", "b"]}), &["a"]);
    assert_eq!(bench.goal("a")["dependsOn"], json!(["c", "b"]));
    // A description that becomes empty is a change, and so is one that was not there.
    bench.writes(json!({"action": "update", "id": "d", "description": ""}), &["d"]);
}

#[test]
fn loops_are_refused_and_named_whole() {
    for (goals, id, edges, cycle) in [
        (json!([plain("a")]), "a", json!(["a"]), vec!["a"]),
        (json!([plain("a"), goal("b", json!({"dependsOn": ["a"]}))]), "a", json!(["b"]), vec!["a", "b"]),
        (
            json!([
                plain("a"),
                goal("b", json!({"dependsOn": ["x", "a"], "status": "done"})),
                goal("c", json!({"dependsOn": ["was-b"]})),
                plain("x"),
                goal("d", json!({"dependsOn": ["c"], "previousIds": ["was-d"]})),
            ])
            .as_array()
            .map(|goals| {
                let mut goals = goals.clone();
                goals[1]["previousIds"] = json!(["was-b"]);
                Value::from(goals)
            })
            .unwrap(),
            "a",
            json!(["x", "was-d"]),
            vec!["a", "d", "c", "b"],
        ),
        // The shortest of two loops.
        (
            json!([
                plain("a"),
                goal("b", json!({"dependsOn": ["c"]})),
                goal("c", json!({"dependsOn": ["a"]})),
                goal("d", json!({"dependsOn": ["a"]})),
            ]),
            "a",
            json!(["b", "d"]),
            vec!["a", "d"],
        ),
    ] {
        let mut bench = Bench::with(goals);
        let path = format!("{} -> {}", cycle.join(" -> "), cycle[0]);
        assert_eq!(
            bench.refused(json!({"action": "update", "id": id, "dependsOn": edges})),
            json!({"code": "DEPENDENCY_CYCLE", "retryable": false, "details": {
                "fields": ["dependsOn"], "cycle": cycle, "cyclePath": path,
                "resolution": "remove-an-edge-from-the-cycle"}})
        );
    }
}

#[test]
fn a_loop_that_was_made_by_hand_hinders_only_changes_of_its_own() {
    let mut bench = Bench::with(json!([
        goal("a", json!({"dependsOn": ["b"]})),
        goal("b", json!({"dependsOn": ["a"]})),
        plain("c"),
        goal("d", json!({"dependsOn": ["d"]})),
    ]));
    bench.writes(json!({"action": "update", "id": "c", "dependsOn": ["a"]}), &["c"]);
    bench.writes(json!({"action": "update", "id": "a", "title": "A"}), &["a"]);
    assert_eq!(
        bench.refused(json!({"action": "update", "id": "a", "dependsOn": ["b", "d"]}))["details"]["cycle"],
        json!(["a", "b"])
    );
    bench.writes(json!({"action": "update", "id": "a", "dependsOn": []}), &["a"]);
    bench.writes(json!({"action": "update", "id": "d", "dependsOn": []}), &["d"]);
}

#[test]
fn edges_must_name_goals() {
    let mut bench = Bench::with(five());
    assert_eq!(
        bench.refused(json!({"action": "update", "id": "alpha", "dependsOn": ["gamma", "zeta"]})),
        json!({"code": "NOT_FOUND", "retryable": false, "details": {
            "entity": "project-goal-dependency", "id": "zeta", "resolution": "refresh-and-select-existing"}})
    );
    assert_eq!(
        bench.refused(json!({"action": "update", "id": "zeta", "title": "x"}))["details"]["id"],
        "zeta"
    );
}

#[test]
fn the_callers_baseline_is_compared_as_an_instant() {
    for spelling in [
        OLD,
        "2026-01-01T01:00:00+01:00",
        "2026-01-01T00:00:00Z",
        "2025-12-31 19:00:00-05",
        " 2026-01-01T00:00:00.000000Z",
    ] {
        let mut bench = Bench::with(five());
        bench.writes(
            json!({"action": "update", "id": "alpha", "title": "A2", "expectedUpdatedAt": spelling}),
            &["alpha"],
        );
    }
    let mut bench = Bench::with(five());
    for stale in ["2025-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.0001Z"] {
        assert_eq!(
            bench.refused(
                json!({"action": "update", "id": "alpha", "title": "A2", "expectedUpdatedAt": stale})
            ),
            json!({"code": "CONFLICT", "retryable": true, "conflict": {
                "type": "goal-updated-at", "id": "alpha", "expectedUpdatedAt": stale, "actualUpdatedAt": OLD,
                "resolution": "refresh-and-retry"}})
        );
    }
    // The goal comes before its baseline, the baseline before the change itself.
    let stale = "2025-01-01T00:00:00.000Z";
    let gone =
        bench.refused(json!({"action": "update", "id": "zeta", "title": "x", "expectedUpdatedAt": stale}));
    assert_eq!(gone["code"], "NOT_FOUND");
    for operation in [
        json!({"action": "update", "id": "alpha", "title": "Alpha", "expectedUpdatedAt": stale}),
        json!({"action": "update", "id": "alpha", "dependsOn": ["zeta"], "expectedUpdatedAt": stale}),
        json!({"action": "set_active", "id": "delta", "expectedUpdatedAt": stale}),
        json!({"action": "complete", "id": "delta", "confirm": true, "expectedUpdatedAt": stale}),
        json!({"action": "start", "id": "delta", "expectedUpdatedAt": stale}),
    ] {
        assert_eq!(bench.refused(operation)["code"], "CONFLICT");
    }
}

#[test]
fn a_conflict_says_to_read_again_and_not_to_resend() {
    let mut bench = Bench::with(five());
    let stale =
        json!({"action": "update", "id": "alpha", "title": "x", "expectedUpdatedAt": "2025-01-01T00:00:00Z"});
    let message = bench.try_run(&stale).unwrap_err().message;
    for part in ["Nothing was changed", "Do not send this call again", "Read the goal again", "new updatedAt"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn updated_at_always_moves_forward() {
    for (stored, expected) in [
        (OLD, NOW),
        (NOW, "2026-05-28T20:26:40.001Z"),
        ("2030-01-01T00:00:00.999Z", "2030-01-01T00:00:01.000Z"),
        ("2030-01-01T01:00:00.9995+01:00", "2030-01-01T00:00:01.000Z"),
        ("yesterday", NOW),
        ("", NOW),
    ] {
        let mut bench = Bench::with(json!([goal("a", json!({"updatedAt": stored}))]));
        bench.writes(json!({"action": "update", "id": "a", "title": "new"}), &["a"]);
        assert_eq!(bench.goal("a")["updatedAt"], expected, "{stored}");
    }
    let mut bench = Bench::with(json!([plain("a")]));
    for (step, expected) in [NOW, "2026-05-28T20:26:40.001Z", "2026-05-28T20:26:40.002Z"].iter().enumerate() {
        bench.now_ms -= 1_000;
        bench.now_ms += if step == 0 { 1_000 } else { 0 };
        bench.writes(json!({"action": "update", "id": "a", "title": format!("t{step}")}), &["a"]);
        assert_eq!(bench.goal("a")["updatedAt"], *expected);
    }
}

#[test]
fn messages_stay_short_and_in_one_line_whatever_ids_stand_in_the_file() {
    let odd = format!("odd\n{}", "x".repeat(5_000));
    let mut bench = Bench::with(json!([
        goal(&odd, json!({"updatedAt": "never\nmind", "branch": odd, "claimedAt": odd, "claimedBy": odd})),
        goal("odd-2", json!({"status": "done"})),
    ]));
    for operation in [
        json!({"action": "update", "id": odd, "title": "t", "expectedUpdatedAt": "2025-01-01T00:00:00Z"}),
        json!({"action": "update", "id": odd, "dependsOn": [odd]}),
        json!({"action": "start", "id": odd}),
        json!({"action": "show", "id": "odd"}),
        json!({"action": "show", "id": format!("{odd}{odd}")}),
    ] {
        let message = bench.try_run(&operation).unwrap_err().message;
        assert!(message.len() < 1_000 && !message.contains('\n'), "{message}");
    }
}
