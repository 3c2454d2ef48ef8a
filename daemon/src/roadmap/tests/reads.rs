//! `list`, `find`, `next`, `ready`, `waves`, `show`, `ids`, and how much of a collection is answered.

use serde_json::json;

use super::*;

fn ids(goals: &Value) -> Vec<&str> {
    goals.as_array().unwrap().iter().map(|goal| goal["id"].as_str().unwrap()).collect()
}

fn compact(id: &str, title: &str, status: &str, more: Value) -> Value {
    let mut goal = json!({"id": id, "title": title, "status": status, "updatedAt": OLD});
    for (key, value) in more.as_object().unwrap() {
        goal[key] = value.clone();
    }
    goal
}

#[test]
fn an_empty_roadmap_has_empty_answers() {
    let mut bench = Bench::empty();
    for (operation, result) in [
        (json!({"action": "list"}), json!({"goals": []})),
        (json!({"action": "ready"}), json!({"goals": []})),
        (json!({"action": "find", "query": "x"}), json!({"goals": []})),
        (json!({"action": "next"}), json!({})),
        (json!({"action": "waves"}), json!({"waves": []})),
        (json!({"action": "ids"}), json!({"ids": [], "total": 0})),
    ] {
        assert_eq!(bench.run(operation).result, result);
    }
}

#[test]
fn many_goals_are_compact_and_one_is_whole() {
    let everything = json!({"description": "d", "group": "G", "links": ["https://x.org/"], "dependsOn": ["a"],
                            "status": "active", "branch": "b", "claimedAt": OLD, "claimedBy": "me",
                            "previousIds": ["was"], "colour": {"r": 1}});
    let mut bench = Bench::with(json!([
        goal("a", json!({"description": "", "group": "", "dependsOn": [], "branch": ""})),
        goal("full", everything.clone()),
    ]));
    let listed = bench.run(json!({"action": "list"})).result;
    assert_eq!(listed["goals"][0], compact("a", "a", "open", json!({})));
    let expected = r#"{"id":"full","title":"full","status":"active","group":"G","dependsOn":["a"],"branch":"b","updatedAt":"2026-01-01T00:00:00.000Z","hasDescription":true}"#;
    assert_eq!(listed["goals"][1].to_string(), expected);
    for operation in
        [json!({"action": "list", "full": true}), json!({"action": "find", "query": "FU", "full": true})]
    {
        let result = bench.run(operation).result;
        assert_eq!(result["goals"].as_array().unwrap().last(), Some(&goal("full", everything.clone())));
    }
    assert_eq!(bench.run(json!({"action": "show", "id": "full"})).result["goal"], goal("full", everything));
}

#[test]
fn a_list_is_filtered_by_status_group_and_claim() {
    let mut bench = Bench::with(json!([
        goal("a", json!({"group": "G"})),
        goal("b", json!({"group": "G", "status": "done"})),
        goal("c", json!({"group": "g", "status": "active"})),
        goal("d", json!({"branch": "x", "claimedAt": OLD, "claimedBy": "me"})),
        goal("e", json!({"branch": " "})),
    ]));
    for (filter, expected) in [
        (json!({}), vec!["a", "b", "c", "d", "e"]),
        (json!({"status": ["done", "active"]}), vec!["b", "c"]),
        (json!({"group": " G "}), vec!["a", "b"]),
        (json!({"group": "G", "status": ["open"]}), vec!["a"]),
        (json!({"claimed": true}), vec!["c", "d"]),
        (json!({"claimed": true, "status": ["open"]}), vec!["d"]),
        (json!({"group": "none"}), vec![]),
    ] {
        let mut operation = filter;
        operation["action"] = json!("list");
        assert_eq!(ids(&bench.run(operation.clone()).result["goals"]), expected, "{operation}");
    }
    let held = bench.run(json!({"action": "list", "claimed": true})).result["goals"][1].clone();
    assert_eq!(held, compact("d", "d", "open", json!({"branch": "x", "claimedAt": OLD, "claimedBy": "me"})));
    assert_eq!(bench.run(json!({"action": "list"})).result["goals"][3].get("claimedBy"), None);
}

#[test]
fn texts_are_found_without_regard_to_case() {
    let mut bench = Bench::with(json!([
        goal("alpha", json!({"title": "Alpha 100%"})),
        goal("b", json!({"description": "A Needle In a\nhaystack"})),
        goal("c", json!({"title": "Größe", "description": "\u{00c4}rger"})),
        goal("needle", json!({"title": "x"})),
    ]));
    for (query, expected) in [
        ("ALPHA", vec!["alpha"]),
        ("needle in", vec!["b"]),
        ("100%", vec!["alpha"]),
        ("a\nhay", vec!["b"]),
        ("grÖSSE", vec![]),
        ("GRÖßE", vec!["c"]),
        ("ärger", vec!["c"]),
        ("zzz", vec![]),
    ] {
        let result = bench.run(json!({"action": "find", "query": query})).result;
        assert_eq!(ids(&result["goals"]), expected, "{query}");
    }
}

#[test]
fn ready_is_open_free_and_unblocked_in_file_order() {
    let mut bench = Bench::with(json!([
        goal("a", json!({"dependsOn": ["z"]})),
        goal("b", json!({"status": "active"})),
        goal("c", json!({"branch": "x"})),
        goal("d", json!({"dependsOn": ["e", "f"]})),
        goal("e", json!({"status": "done"})),
        goal("f", json!({"status": "archived"})),
        plain("g"),
        plain("z"),
        goal("dangling", json!({"dependsOn": ["e", "nothing"]})),
        goal("itself", json!({"dependsOn": ["itself"]})),
    ]));
    assert_eq!(bench.run(json!({"action": "next"})).result, json!({"goal": bench.goal("d")}));
    let ready = bench.run(json!({"action": "ready"})).result;
    let expected = json!({"goals": [
        compact("d", "d", "open", json!({"dependsOn": ["e", "f"]})),
        compact("g", "g", "open", json!({})),
        compact("z", "z", "open", json!({})),
    ]});
    assert_eq!(ready, expected);
}

#[test]
fn waves_hold_every_unfinished_goal_as_early_as_can_be() {
    let mut bench = Bench::with(json!([
        plain("a"),
        goal("b", json!({"dependsOn": ["a"]})),
        goal("c", json!({"dependsOn": ["a", "b", "a"]})),
        goal("d", json!({"status": "active"})),
        goal("e", json!({"dependsOn": ["x"]})),
        goal("x", json!({"status": "done", "dependsOn": ["a", "gone"]})),
        goal("f", json!({"branch": "w"})),
        goal("late", json!({"dependsOn": ["d"]})),
        goal("loop-1", json!({"dependsOn": ["loop-2"]})),
        goal("loop-2", json!({"dependsOn": ["loop-1"]})),
        goal("behind", json!({"dependsOn": ["loop-1", "a"]})),
        goal("dangling", json!({"dependsOn": ["gone"]})),
    ]));
    let result = bench.run(json!({"action": "waves"})).result;
    let waves: Vec<Vec<&str>> = result["waves"].as_array().unwrap().iter().map(ids).collect();
    assert_eq!(waves, [vec!["a", "d", "e", "f"], vec!["b", "late"], vec!["c"]]);
    assert_eq!(ids(&result["unreachableGoals"]), ["loop-1", "loop-2", "behind", "dangling"]);
    assert_eq!(result["waves"][0][3], compact("f", "f", "open", json!({"branch": "w"})));
    let mut bench = Bench::with(json!([plain("a")]));
    assert_eq!(bench.run(json!({"action": "waves"})).result.get("unreachableGoals"), None);
}

#[test]
fn an_edge_to_a_retired_id_stays_unsatisfied() {
    let waiting = goal("a", json!({"dependsOn": ["gone"]}));
    let mut bench = Bench::with_file(json!({"version": 1, "goals": [waiting], "retiredIds": ["gone"]}));
    let stuck = compact("a", "a", "open", json!({"dependsOn": ["gone"]}));
    assert_eq!(
        bench.run(json!({"action": "waves"})).result,
        json!({"waves": [], "unreachableGoals": [stuck]})
    );
    assert_eq!(bench.run(json!({"action": "ready"})).result, json!({"goals": []}));
}

#[test]
fn show_says_what_a_goal_waits_for_and_what_waits_for_it() {
    let mut bench = Bench::with(json!([
        goal("later", json!({"dependsOn": ["old", "gone", "gone", "done"]})),
        goal("settled", json!({"dependsOn": ["alpha"], "status": "done"})),
        goal("alpha", json!({"previousIds": ["old"]})),
        goal("b", json!({"dependsOn": ["alpha", "old"]})),
        goal("done", json!({"status": "done", "dependsOn": ["gone"]})),
    ]));
    let mut show = |id: &str| {
        let mut result = bench.run(json!({"action": "show", "id": id})).result;
        assert_eq!(result.as_object_mut().unwrap().shift_remove("goal"), Some(bench.goal(id)));
        result
    };
    assert_eq!(show("alpha"), json!({"blocked": false, "blocks": ["later", "b"]}));
    assert_eq!(show("later"), json!({"blocked": true, "blocks": [], "blockedBy": ["alpha", "gone"]}));
    assert_eq!(show("done"), json!({"blocked": false, "blocks": []}));
    assert_eq!(show("settled"), json!({"blocked": false, "blocks": []}));
}

#[test]
fn explained_answers_say_what_is_blocked_and_count() {
    let mut bench = Bench::with(five());
    for full in [false, true] {
        let result = bench.run(json!({"action": "list", "explain": true, "full": full})).result;
        assert_eq!(
            result["summary"],
            json!({"open": 2, "active": 1, "done": 1, "archived": 1, "ready": 1, "blocked": 1, "claimed": 1})
        );
        let blocked: Vec<&Value> = result["goals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|goal| goal.get("blocked").unwrap_or(&Value::Null))
            .collect();
        assert_eq!(blocked, [&json!(false), &json!(true), &json!(false), &Value::Null, &Value::Null]);
        assert_eq!(result["goals"][1]["blockedBy"], json!(["alpha"]));
        assert_eq!(result["goals"][0].get("blockedBy"), None);
    }
    for action in ["ready", "waves", "find"] {
        let mut operation = json!({"action": action, "explain": true});
        if action == "find" {
            operation["query"] = json!("a");
        }
        let result = bench.run(operation).result;
        assert_eq!(result["summary"]["open"], 2);
    }
    // A field of the file's own that is called like a derived one gives way to it.
    let mut bench = Bench::with(json!([goal("a", json!({"blocked": "maybe", "blockedBy": 3}))]));
    let result = bench.run(json!({"action": "list", "explain": true, "full": true})).result;
    assert_eq!(result["goals"][0]["blocked"], false);
    let result = bench.run(json!({"action": "list", "full": true})).result;
    assert_eq!(result["goals"][0]["blocked"], "maybe");
}

#[test]
fn a_limit_cuts_and_after_goes_on() {
    let many: Vec<Value> = (0..7).map(|number| plain(&format!("g{number}"))).collect();
    let mut bench = Bench::with(json!(many));
    for action in ["list", "ready", "find"] {
        let mut seen = Vec::new();
        let mut operation = json!({"action": action, "limit": 3});
        if action == "find" {
            operation["query"] = json!("g");
        }
        for page in 0..3 {
            let result = bench.run(operation.clone()).result;
            let page_ids: Vec<String> = ids(&result["goals"]).into_iter().map(str::to_owned).collect();
            let cut = json!([result.get("total"), result.get("more")]);
            let is_last = page == 2;
            assert_eq!(cut, if is_last { json!([null, null]) } else { json!([7, true]) });
            operation["after"] = json!(page_ids.last().unwrap());
            seen.extend(page_ids);
        }
        assert_eq!(seen, ["g0", "g1", "g2", "g3", "g4", "g5", "g6"]);
        operation["after"] = json!("g6");
        assert_eq!(bench.run(operation).result, json!({"goals": []}));
    }
    let exact = bench.run(json!({"action": "list", "limit": 7})).result;
    assert_eq!(exact.get("more"), None);
}

#[test]
fn after_counts_in_the_file_even_when_the_goal_has_left_the_answer() {
    let mut bench = Bench::with(five());
    let result = bench.run(json!({"action": "list", "status": ["done"], "after": "alpha"})).result;
    assert_eq!(ids(&result["goals"]), ["delta"]);
    let refusal = bench.refused(json!({"action": "list", "after": "zeta"}));
    assert_eq!(refusal["code"], "NOT_FOUND");
    assert_eq!(refusal["details"]["entity"], "project-goal");
}

#[test]
fn a_cut_wave_keeps_its_place() {
    let mut bench = Bench::with(json!([
        plain("a1"),
        goal("b1", json!({"dependsOn": ["a1"]})),
        plain("a2"),
        goal("b2", json!({"dependsOn": ["a1"]})),
        goal("c1", json!({"dependsOn": ["b1"]})),
        goal("stuck", json!({"dependsOn": ["gone"]})),
        goal("done", json!({"status": "done"})),
    ]));
    let mut page = |limit: usize, after: &str| {
        let operation = json!({"action": "waves", "limit": limit, "after": after});
        let result = bench.run(operation).result;
        let waves: Vec<Vec<String>> = result["waves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|wave| ids(wave).into_iter().map(str::to_owned).collect())
            .collect();
        let stuck = result.get("unreachableGoals").map(|goals| ids(goals).len());
        (waves, stuck, result.get("total").cloned(), result.get("more").is_some())
    };
    let strings = |waves: &[&[&str]]| -> Vec<Vec<String>> { waves.iter().map(|wave| owned(wave)).collect() };
    let total = Some(json!(6));
    assert_eq!(page(3, ""), (strings(&[&["a1", "a2"], &["b1"]]), None, total.clone(), true));
    assert_eq!(page(2, "b1"), (strings(&[&[], &["b2"], &["c1"]]), None, total.clone(), true));
    assert_eq!(page(2, "c1"), (strings(&[&[], &[], &[]]), Some(1), None, false));
    assert_eq!(page(2, ""), (strings(&[&["a1", "a2"]]), None, total, true));
    assert_eq!(page(9, "stuck"), (strings(&[&[], &[], &[]]), None, None, false));
    assert_eq!(
        bench.refused(json!({"action": "waves", "after": "done"})),
        json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
            "fields": ["after"], "resolution": "restart-from-the-first-page"}})
    );
}

#[test]
fn answers_stop_at_a_whole_goal_near_their_size() {
    let long = "x".repeat(3_000);
    let many: Vec<Value> = (0..9).map(|number| goal(&format!("g{number}"), json!({"title": long}))).collect();
    let mut bench = Bench::with(json!(many));
    let result = bench.run(json!({"action": "read_goals", "view": "list"})).result;
    assert_eq!((result["goals"].as_array().unwrap().len(), &result["total"]), (3, &json!(9)));
    assert_eq!(result["more"], true);
    // One goal is always answered, and characters are no bytes.
    let huge = "ä".repeat(20_000);
    let mut bench = Bench::with(json!([goal("a", json!({"title": huge})), plain("b")]));
    let result = bench.run(json!({"action": "read_goals", "view": "ready"})).result;
    assert_eq!(ids(&result["goals"]), ["a"]);
    let result = bench.run(json!({"action": "read_goals", "view": "ready", "after": "a"})).result;
    assert_eq!(ids(&result["goals"]), ["b"]);
    let close = "ä".repeat(9_000);
    let mut bench = Bench::with(json!([goal("a", json!({"title": close})), plain("b")]));
    assert_eq!(bench.run(json!({"action": "read_goals", "view": "list"})).result.get("more"), None);
}

#[test]
fn read_goals_lists_what_is_unfinished() {
    let mut bench = Bench::with(five());
    let result = bench.run(json!({"action": "read_goals", "view": "list"})).result;
    assert_eq!(ids(&result["goals"]), ["alpha", "beta", "gamma"]);
    let result = bench.run(json!({"action": "read_goals", "view": "list", "status": ["archived"]})).result;
    assert_eq!(ids(&result["goals"]), ["epsilon"]);
}

#[test]
fn ids_are_completed_by_prefix() {
    let mut bench =
        Bench::with(json!([plain("alpha"), plain("Alps"), goal("b", json!({"previousIds": ["alt"]}))]));
    for (operation, result) in [
        (json!({"action": "ids"}), json!({"ids": ["alpha", "Alps", "b"], "total": 3})),
        (json!({"action": "ids", "prefix": "AL"}), json!({"ids": ["alpha", "Alps"], "total": 2})),
        (
            json!({"action": "ids", "prefix": "al", "limit": 1}),
            json!({"ids": ["alpha"], "total": 2, "more": true}),
        ),
        (json!({"action": "ids", "prefix": "zeta"}), json!({"ids": [], "total": 0})),
    ] {
        assert_eq!(bench.run(operation).result, result);
    }
}
