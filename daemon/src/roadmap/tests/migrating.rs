//! `migrate_ids`.

use serde_json::json;

use super::*;

fn old_ids() -> Bench {
    Bench::with_file(json!({"version": 1, "revision": 3, "goals": [
        goal("goal-mryb1h5b-f5473d74", json!({"title": "Ship it", "previousIds": ["older"]})),
        goal("plain", json!({"dependsOn": ["goal-mryb1h5b-f5473d74", "older", "nothing", "goal-mryb1h5d-8654f513"]})),
        goal("goal-mryb1h5d-8654f513", json!({"title": "Ship it!"})),
        goal("untouched", json!({"dependsOn": ["plain"]})),
        goal("goal-1-0000000a", json!({"title": "goal 2 0000000b"})),
    ], "retiredIds": ["ship-it"]}))
}

fn expected() -> Value {
    json!([
        {"from": "goal-mryb1h5b-f5473d74", "to": "ship-it-2", "title": "Ship it"},
        {"from": "goal-mryb1h5d-8654f513", "to": "ship-it-3", "title": "Ship it!"},
        {"from": "goal-1-0000000a", "to": "goal-2-0000000b-2", "title": "goal 2 0000000b"},
    ])
}

#[test]
fn random_ids_become_readable_ones_and_are_remembered() {
    let mut bench = old_ids();
    let untouched = bench.goal("untouched");
    let changed = ["goal-2-0000000b-2", "plain", "ship-it-2", "ship-it-3"];
    let result = bench.writes(json!({"action": "migrate_ids", "confirm": true}), &changed);
    assert_eq!(result, json!({"migrations": expected()}));
    assert_eq!(bench.goal("ship-it-2")["previousIds"], json!(["older", "goal-mryb1h5b-f5473d74"]));
    assert_eq!(bench.goal("ship-it-3")["previousIds"], json!(["goal-mryb1h5d-8654f513"]));
    assert_eq!(bench.goal("plain")["dependsOn"], json!(["ship-it-2", "nothing", "ship-it-3"]));
    assert_eq!(bench.goal("plain")["updatedAt"], NOW);
    assert_eq!(bench.goal("untouched"), untouched);
    for name in ["goal-mryb1h5b-f5473d74", "older"] {
        assert_eq!(bench.run(json!({"action": "show", "id": name})).result["goal"]["id"], "ship-it-2");
    }
    assert_eq!(bench.no_op(json!({"action": "migrate_ids", "confirm": true})), json!({"migrations": []}));
}

#[test]
fn a_dry_run_says_what_would_change() {
    let mut bench = old_ids();
    let outcome = bench.run(json!({"action": "migrate_ids", "dryRun": true}));
    assert_eq!(outcome.result, json!({"dryRun": true, "migrations": expected()}));
    assert!(outcome.changed.is_none() && !outcome.no_op);
    let outcome = Bench::empty().run(json!({"action": "migrate_ids", "dryRun": true}));
    assert!(!outcome.no_op);
}
