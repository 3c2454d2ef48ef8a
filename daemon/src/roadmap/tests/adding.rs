//! `add`, and how ids are made.

use serde_json::json;

use super::*;
use crate::roadmap::ids::{has_random_shape, mint, slug};

#[test]
fn the_first_goal_makes_the_file() {
    let mut bench = Bench::empty();
    let added = bench.writes(
        json!({"action": "add", "title": "Replace legacy authentication"}),
        &["replace-legacy-authentication"],
    );
    let goal = json!({"id": "replace-legacy-authentication", "title": "Replace legacy authentication",
                      "status": "open", "createdAt": NOW, "updatedAt": NOW});
    assert_eq!(added, json!({"goal": goal}));
    assert_eq!(bench.file(), json!({"version": 1, "revision": 1, "goals": [goal]}));
}

#[test]
fn a_new_goals_fields_stand_in_their_order() {
    let mut bench = Bench::with(json!([plain("base")]));
    bench.writes(
        json!({"action": "add", "dependsOn": ["base"], "links": ["https://example.com/a?b=c#d"],
               "group": "  Foundation ", "description": "Line one\nLine two", "title": "  Adopt the parser  "}),
        &["adopt-the-parser"],
    );
    let text = String::from_utf8(bench.roadmap.print()).unwrap();
    let expected = r#",
    {
      "id": "adopt-the-parser",
      "title": "Adopt the parser",
      "description": "Line one\nLine two",
      "group": "Foundation",
      "links": [
        "https://example.com/a?b=c#d"
      ],
      "dependsOn": [
        "base"
      ],
      "status": "open",
      "createdAt": "2026-05-28T20:26:40.000Z",
      "updatedAt": "2026-05-28T20:26:40.000Z"
    }
  ]
}
"#;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn edges_are_live_ids_each_once_in_the_order_given() {
    let mut bench = Bench::with(json!([plain("alpha-one"), goal("b", json!({"previousIds": ["old"]}))]));
    let edges = json!(["old", "alpha-one", "ALPHA", " b ", "alpha-one"]);
    bench.writes(json!({"action": "add", "title": "Beta", "dependsOn": edges}), &["beta"]);
    assert_eq!(bench.goal("beta")["dependsOn"], json!(["b", "alpha-one"]));
}

#[test]
fn edges_to_nothing_or_to_several_are_refused() {
    let mut bench = Bench::with(json!([goal("alpha-one", json!({"title": "One"})), plain("alpha-two")]));
    assert_eq!(
        bench.refused(json!({"action": "add", "title": "Beta", "dependsOn": ["alpha"]})),
        json!({"code": "VALIDATION_FAILED", "retryable": false, "details": {
            "fields": ["dependsOn"], "resolution": "provide-unambiguous-goal-id", "candidateCount": 2,
            "candidates": [{"id": "alpha-one", "title": "One"}, {"id": "alpha-two", "title": "alpha-two"}]}})
    );
    assert_eq!(
        bench.refused(json!({"action": "add", "title": "Beta", "dependsOn": ["alpha-one", " zeta"]})),
        json!({"code": "NOT_FOUND", "retryable": false, "details": {
            "entity": "project-goal-dependency", "id": " zeta", "resolution": "refresh-and-select-existing"}})
    );
}

#[test]
fn a_new_goal_may_close_a_loop_through_an_edge_to_nothing() {
    let mut bench = Bench::with(json!([goal("a", json!({"dependsOn": ["new"]}))]));
    let refusal = bench.refused(json!({"action": "add", "title": "New", "dependsOn": ["a"]}));
    assert_eq!(refusal["code"], "DEPENDENCY_CYCLE");
    assert_eq!(refusal["details"]["cyclePath"], "new -> a -> new");
    bench.writes(json!({"action": "add", "title": "New"}), &["new"]);
}

#[test]
fn descriptions_are_kept_as_given_and_blank_groups_are_none() {
    let mut bench = Bench::empty();
    bench.writes(json!({"action": "add", "title": "Empty", "description": "", "group": "   "}), &["empty"]);
    let goal = bench.goal("empty");
    assert_eq!(goal["description"], "");
    assert_eq!(goal.get("group"), None);
    bench.writes(json!({"action": "add", "title": "Blank", "description": " \n "}), &["blank"]);
    assert_eq!(bench.goal("blank")["description"], " \n ");
}

#[test]
fn slugs_come_from_titles() {
    let cases = [
        ("Replace legacy authentication", "replace-legacy-authentication"),
        ("???", "goal"),
        ("", "goal"),
        ("日本語 roadmap 計画", "roadmap"),
        ("Привет", "goal"),
        ("ﬁne ½ Ⅷ ①", "fine-1-2-viii-1"),
        ("Crème brûlée à l'İstanbul", "creme-brulee-a-l-istanbul"),
        ("  --Trim__me--  ", "trim-me"),
        ("ẞß", "goal"),
        ("K\u{212a}elvin", "kkelvin"),
        ("a\u{301}b", "ab"),
        // Forty characters stay as they are.
        ("abcdefghi abcdefghi abcdefghi abcdefghij", "abcdefghi-abcdefghi-abcdefghi-abcdefghij"),
        // One more, and the cut goes back to a hyphen, even when it fell on the end of a word.
        ("abcdefghi abcdefghi abcdefghi abcdefghij k", "abcdefghi-abcdefghi-abcdefghi"),
        ("abcdefghi abcdefghi abcdefghi abcdefghijk", "abcdefghi-abcdefghi-abcdefghi"),
        // Going back must leave twenty characters.
        ("abcdefghijklmnopqrst abcdefghijklmnopqrstuv", "abcdefghijklmnopqrst"),
        ("abcdefghijklmnopqrs abcdefghijklmnopqrstuv", "abcdefghijklmnopqrs-abcdefghijklmnopqrst"),
        (
            "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk",
            "donaudampfschifffahrtselektrizitaetenhau",
        ),
    ];
    for (title, expected) in cases {
        assert_eq!(slug(title), expected, "{title}");
    }
}

#[test]
fn taken_ids_are_numbered() {
    let file = json!({"version": 1, "goals": [
        goal("same-title", json!({"previousIds": ["same-title-3"]})),
        plain("goal"),
    ], "retiredIds": ["same-title-2", "gone"]});
    let mut bench = Bench::with_file(file);
    for (title, id) in [
        ("Same title", "same-title-4"),
        ("Same-Title!", "same-title-5"),
        ("Gone", "gone-2"),
        ("!!!", "goal-2"),
        ("...", "goal-3"),
    ] {
        bench.writes(json!({"action": "add", "title": title}), &[id]);
    }
    let long = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk";
    bench.writes(json!({"action": "add", "title": long}), &["donaudampfschifffahrtselektrizitaetenhau"]);
    bench.writes(json!({"action": "add", "title": long}), &["donaudampfschifffahrtselektrizitaetenhau-2"]);
}

#[test]
fn ids_of_the_old_random_shape_are_never_minted() {
    for shaped in ["goal-mryb1h5b-f5473d74", "goal-0-00000000", "goal-a-0123abcd"] {
        assert!(has_random_shape(shaped), "{shaped}");
        assert_eq!(mint(shaped, |_| false), format!("{shaped}-2"));
    }
    for other in [
        "goal",
        "goal-2",
        "goal-a-0123abc",
        "goal-a-0123abcg",
        "goal-a-b-0123abcd",
        "goal--0123abcd",
        "Goal-a-0123abcd",
        "goal-a-0123ABCD",
        "xgoal-a-0123abcd",
    ] {
        assert!(!has_random_shape(other), "{other}");
    }
}

#[test]
fn the_last_revision_stays_the_last() {
    let mut bench =
        Bench::with_file(json!({"version": 1, "revision": 9_007_199_254_740_991_u64, "goals": []}));
    let refusal = bench.refused(json!({"action": "add", "title": "x"}));
    assert_eq!(refusal["code"], "PERSISTENCE_FAILED");
    assert_eq!(refusal["retryable"], false);
    let mut bench =
        Bench::with_file(json!({"version": 1, "revision": 9_007_199_254_740_990_u64, "goals": []}));
    bench.writes(json!({"action": "add", "title": "x"}), &["x"]);
}
