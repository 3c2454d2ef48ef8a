//! Files as large as they may get: nothing calls itself, and nothing takes a square of the size.

use std::fmt::Write as _;

use serde_json::json;

use super::*;
use crate::roadmap::{Difference, difference};

const LONG: usize = 100_000;

/// A file of goals that each wait for the one that `edge` names.
fn chain(edge: impl Fn(usize) -> Option<usize>) -> Bench {
    let mut file = "{\"version\":1,\"goals\":[".to_owned();
    for number in 0..LONG {
        let comma = if number == 0 { "" } else { "," };
        write!(file, "{comma}{{\"id\":\"g{number}\",\"title\":\"t\",\"status\":\"open\",\"createdAt\":\"\",\"updatedAt\":\"\"")
            .unwrap();
        if let Some(edge) = edge(number) {
            write!(file, ",\"dependsOn\":[\"g{edge}\"]").unwrap();
        }
        file.push('}');
    }
    file.push_str("]}");
    Bench::of(Roadmap::parse(file.as_bytes()).unwrap())
}

#[test]
fn a_long_chain_is_followed_to_its_end() {
    let mut bench = chain(|number| (number + 1 < LONG).then_some(number + 1));
    let last = format!("g{}", LONG - 1);
    assert_eq!(bench.run(json!({"action": "next"})).result["goal"]["id"], last.as_str());
    let waves = bench.run(json!({"action": "waves"})).result;
    assert_eq!(waves["waves"].as_array().unwrap().len(), LONG);
    assert_eq!(waves["waves"][0][0]["id"], last.as_str());
    let why = bench.run(json!({"action": "why", "id": "g0"})).result;
    assert_eq!(why["reasons"][0]["startable"][0]["id"], last.as_str());
    // Closing the chain makes a loop of all of them.
    let refusal = bench.refused(json!({"action": "update", "id": last, "dependsOn": ["g0"]}));
    assert_eq!(refusal["details"]["cycle"].as_array().unwrap().len(), LONG);
    bench.writes(json!({"action": "add", "title": "Top", "dependsOn": ["g0"]}), &["top"]);
    let result = bench.writes(json!({"action": "complete", "id": last, "confirm": true}), &[&last]);
    assert_eq!(result["released"], json!([format!("g{}", LONG - 2)]));
}

#[test]
fn a_long_loop_is_unreachable_and_explained() {
    let mut bench = chain(|number| Some((number + 1) % LONG));
    let waves = bench.run(json!({"action": "waves"})).result;
    assert_eq!(waves["waves"], json!([]));
    assert_eq!(waves["unreachableGoals"].as_array().unwrap().len(), LONG);
    let why = bench.run(json!({"action": "why", "id": "g5"})).result;
    assert_eq!(why["reasons"][0]["loops"][0].as_array().unwrap().len(), LONG);
}

#[test]
fn everything_waiting_for_one_goal_is_released_by_it() {
    let mut bench = chain(|number| (number > 0).then_some(0));
    assert_eq!(
        bench.run(json!({"action": "show", "id": "g0"})).result["blocks"].as_array().unwrap().len(),
        LONG - 1
    );
    let result = bench.writes(json!({"action": "complete", "id": "g0", "confirm": true}), &["g0"]);
    assert_eq!(result["released"].as_array().unwrap().len(), LONG - 1);
    let outcome = bench.run(json!({"action": "delete", "id": "g0", "confirm": true}));
    assert_eq!(outcome.changed.unwrap().len(), LONG);
}

#[test]
fn differences_are_told_by_id() {
    let old = Bench::with(json!([plain("a"), plain("b"), plain("c"), plain("d")]));
    let same = Bench::with_file(json!({"version": 1, "revision": 9, "goals": old.goals()}));
    assert_eq!(difference(&old.roadmap, &same.roadmap), Difference::default());
    assert!(difference(&old.roadmap, &old.roadmap).is_empty());
    let new = Bench::with(json!([plain("c"), goal("b", json!({"title": "B"})), plain("e"), plain("d")]));
    assert_eq!(
        difference(&old.roadmap, &new.roadmap),
        Difference {
            added: owned(&["e"]),
            removed: owned(&["a"]),
            changed: owned(&["b"]),
            order_changed: true
        }
    );
    let fewer = Bench::with(json!([plain("b"), plain("d")]));
    let difference = difference(&old.roadmap, &fewer.roadmap);
    assert_eq!((difference.removed, difference.order_changed), (owned(&["a", "c"]), false));
}
