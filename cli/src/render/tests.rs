use serde_json::{Value, json};
use stepstone_proto::envelope::Envelope;

use super::*;

const NOW: &str = "2026-06-15T12:00:00Z";

fn answered(action: &str, mut result: Value) -> Envelope {
    if let Some(result) = result.as_object_mut() {
        result.insert("scope".to_owned(), "project".into());
        result.insert("action".to_owned(), action.into());
    }
    serde_json::from_value(json!({
        "ok": true, "scope": "project", "action": action, "result": result,
        "meta": {"changed": false, "semanticNoOp": false, "changedFields": []}
    }))
    .unwrap()
}

/// The text at a width, without colours.
fn shown(screen: Screen, known: &Known, envelope: &Envelope, asked: Value) -> Page {
    let Value::Object(asked) = asked else { panic!("an operation is an object") };
    super::envelope(&View::new(screen, NOW.parse().unwrap(), known), envelope, &asked)
}

fn plain(envelope: &Envelope, asked: Value) -> Page {
    shown(Screen { width: None, colour: false }, &Known::default(), envelope, asked)
}

fn goals() -> Value {
    json!([
        {"id": "parser", "title": "Add the parser", "status": "done", "group": "Base", "updatedAt": NOW},
        {"id": "adopt", "title": "Adopt the parser", "status": "open", "group": "Later", "updatedAt": NOW,
            "dependsOn": ["cleanup", "gone"], "blocked": true, "blockedBy": ["cleanup", "gone"]},
        {"id": "cleanup", "title": "Clean up", "status": "open", "group": "Base", "updatedAt": NOW,
            "branch": "feat/clean", "claimedAt": "2026-06-15T10:00:00Z", "claimedBy": "codex", "blocked": false},
        {"id": "names", "title": "Better names", "status": "active", "updatedAt": NOW, "blocked": false},
        {"id": "docs", "title": "Write 文書 for it", "status": "open", "updatedAt": NOW, "blocked": false},
    ])
}

fn summary() -> Value {
    json!({"open": 3, "active": 1, "done": 1, "archived": 0, "ready": 1, "blocked": 1, "claimed": 2})
}

#[test]
fn a_list_has_sections_and_says_who_holds_what_and_what_waits_for_what() {
    let page =
        plain(&answered("list", json!({"goals": goals(), "summary": summary()})), json!({"action": "list"}));
    assert_eq!(
        page.out,
        "Base\n\
         \x20 done     parser   Add the parser\n\
         \x20 claimed  cleanup  Clean up  feat/clean by codex, 2 hours ago\n\
         \n\
         Later\n\
         \x20 blocked  adopt    Adopt the parser  waits for cleanup, gone\n\
         \n\
         No group\n\
         \x20 active   names    Better names\n\
         \x20 open     docs     Write 文書 for it\n"
    );
    assert_eq!(page.err, "");
}

#[test]
fn a_list_without_groups_has_no_headings() {
    let goals = json!([{"id": "a", "title": "A", "status": "open", "updatedAt": NOW}]);
    let page = plain(&answered("list", json!({"goals": goals})), json!({"action": "list"}));
    assert_eq!(page.out, "open  a  A\n");
}

#[test]
fn waves_are_numbered_and_what_never_comes_is_named() {
    let result = json!({
        "waves": [[{"id": "a", "title": "A", "status": "open"}],
            [{"id": "b", "title": "B", "status": "open", "blocked": true, "blockedBy": ["a"]}]],
        "unreachableGoals": [{"id": "c", "title": "C", "status": "open", "blocked": true, "blockedBy": ["gone"]}],
    });
    let page = plain(&answered("waves", result), json!({"action": "waves"}));
    assert_eq!(
        page.out,
        "Wave 1\n\
         \x20 open     a  A\n\
         \n\
         Wave 2\n\
         \x20 blocked  b  B  waits for a\n\
         \n\
         Never: behind a loop or an edge to nothing\n\
         \x20 blocked  c  C  waits for gone\n"
    );
}

#[test]
fn each_kind_of_empty_frontier_is_told_apart() {
    let empty = |summary: Value| answered("ready", json!({"goals": [], "summary": summary}));
    let none = json!({"open": 0, "active": 0, "done": 0, "archived": 0});
    let settled = json!({"open": 0, "active": 0, "done": 2, "archived": 1});
    let asked = || json!({"action": "ready"});
    assert!(plain(&empty(none), asked()).out.starts_with("There are no goals yet."));
    assert_eq!(
        plain(&empty(settled), asked()).out,
        "Nothing is left to do: all 3 goals are done or archived.\n"
    );

    let mut known = Known::default();
    known.learn(&answered("list", json!({"goals": goals(), "summary": summary()})));
    let screen = Screen { width: None, colour: false };
    let jammed = shown(screen, &known, &answered("next", json!({})), json!({"action": "next"}));
    assert!(
        jammed.out.starts_with("No goal is ready: all 4 unfinished goals are blocked or claimed.\n"),
        "{}",
        jammed.out
    );
    assert!(jammed.out.contains("adopt    Adopt the parser  waits for cleanup, gone"));
    assert!(jammed.out.contains("feat/clean by codex"));
    assert!(!jammed.out.contains("Add the parser"), "a settled goal holds nothing up");
}

#[test]
fn the_other_empty_answers_say_what_is_empty() {
    let empty = |action: &str| answered(action, json!({"goals": [], "summary": summary()}));
    let find = plain(&empty("find"), json!({"action": "find", "query": "x\u{1b}[0m"}));
    assert_eq!(find.out, "No goal mentions \"x␛[0m\".\n");
    let claimed = plain(&empty("list"), json!({"action": "list", "claimed": true}));
    assert_eq!(claimed.out, "Nobody works on a goal now.\n");
    let filtered = plain(&empty("list"), json!({"action": "list", "group": "X"}));
    assert_eq!(filtered.out, "No goal passes this filter.\n");
}

#[test]
fn a_goal_is_a_readable_page() {
    let goal = json!({
        "id": "adopt", "title": "Adopt the parser", "status": "open", "group": "Later", "description": "One.\n\n- two\n",
        "dependsOn": ["cleanup", "gone"], "links": ["https://example.com/a", "https://example.com/b"],
        "createdAt": "2026-06-01T12:00:00Z", "updatedAt": "2026-06-14T12:00:00Z", "previousIds": ["goal-x-1"],
    });
    let result = json!({"goal": goal, "blocked": true, "blockedBy": ["cleanup", "gone"], "blocks": ["docs"]});
    let mut known = Known::default();
    known.learn(&answered("list", json!({"goals": goals()})));
    let screen = Screen { width: None, colour: false };
    let page = shown(screen, &known, &answered("show", result), json!({"action": "show"}));
    assert_eq!(
        page.out,
        "Adopt the parser\n\
         \x20 Id          adopt\n\
         \x20 Status      open, blocked\n\
         \x20 Group       Later\n\
         \x20 Updated     1 day ago (2026-06-14 12:00 UTC)\n\
         \x20 Created     2 weeks ago (2026-06-01 12:00 UTC)\n\
         \x20 Former ids  goal-x-1\n\
         \x20 Links       https://example.com/a\n\
         \x20             https://example.com/b\n\
         \n\
         Depends on\n\
         \x20 claimed  cleanup  Clean up  feat/clean by codex, 2 hours ago\n\
         \x20 missing  gone\n\
         \n\
         Blocks\n\
         \x20 open  docs  Write 文書 for it\n\
         \n\
         One.\n\
         \n\
         - two\n"
    );
}

#[test]
fn why_follows_each_edge_down() {
    let goal = |id: &str| json!({"id": id, "title": id.to_uppercase(), "status": "open"});
    let result = json!({
        "goal": goal("top"), "ready": false,
        "reasons": [
            {"type": "claimed", "status": "open", "branch": "feat/top", "claimedBy": "codex",
                "claimedAt": "2026-06-15T10:00:00Z"},
            {"type": "dependency", "goal": goal("mid"), "startable": [goal("low")], "loops": [["x", "y"]],
                "dangling": [{"id": "z", "reference": "gone"}]},
            {"type": "dependency", "goal": goal("free"), "startable": [goal("free")]},
            {"type": "dangling", "reference": "lost"},
        ],
    });
    let page = plain(&answered("why", result), json!({"action": "why"}));
    assert_eq!(
        page.out,
        "top is not ready: TOP\n\
         Taken for feat/top by codex, 2 hours ago (2026-06-15 10:00 UTC)\n\
         Waits for\n\
         \x20 blocked  mid  MID\n\
         \x20   which comes down to\n\
         \x20     open  low  LOW\n\
         \x20   which never lands, because these wait for each other: x -> y -> x\n\
         \x20   which never lands, because z waits for gone, which names no goal\n\
         Waits for\n\
         \x20 open  free  FREE\n\
         Waits forever for lost, which names no goal: take that edge out with stepstone update\n"
    );
    let ready =
        plain(&answered("why", json!({"goal": goal("top"), "ready": true, "reasons": []})), json!({}));
    assert!(ready.out.starts_with("top is ready: TOP\n"), "{}", ready.out);
    let settled =
        json!({"goal": goal("top"), "ready": false, "reasons": [{"type": "settled", "status": "done"}]});
    assert_eq!(plain(&answered("why", settled), json!({})).out, "top is done: TOP\n");
}

#[test]
fn a_change_is_one_line_and_what_follows_from_it() {
    let goal = json!({"id": "a", "title": "A", "status": "done", "branch": "b"});
    let of = |action: &str, more: Value| {
        let mut result = json!({"goal": goal});
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        answered(action, result)
    };
    let no_op = |mut envelope: Envelope| {
        envelope.meta.semantic_no_op = true;
        envelope
    };
    for (envelope, asked, text) in [
        (of("add", json!({})), json!({}), "Added a: A\n"),
        (of("complete", json!({"released": ["x", "y"]})), json!({}), "Completed a: A\nReady now: x, y\n"),
        (no_op(of("complete", json!({}))), json!({}), "a is done already: A\n"),
        (of("start", json!({})), json!({}), "Took a for b: A\n"),
        (of("start", json!({})), json!({"clear": true}), "Gave back a: A\n"),
        (of("set_active", json!({"deactivated": ["x"]})), json!({}), "Activated a: A\nNo longer active: x\n"),
    ] {
        assert_eq!(plain(&envelope, asked).out, text);
    }
    let blocked = plain(&of("set_active", json!({"blockedBy": ["x", "y"]})), json!({}));
    assert_eq!(blocked.err, "stepstone: a is blocked: x and y have not landed yet.\n");
}

#[test]
fn plans_and_migrations_say_what_they_did_or_would_do() {
    let added = json!([{"id": "a-2", "title": "A", "status": "open"}]);
    let warning = json!([{"code": "BATCH_REFERENCE_SHADOWS_EXISTING", "reference": "a", "existingGoalId": "a",
        "batchGoalId": "a-2"}]);
    let plan = json!({"dryRun": true, "addedGoals": added, "warnings": warning});
    let page = plain(&answered("apply-plan", plan), json!({}));
    assert_eq!(page.out, "Would add 1 goal:\n  open  a-2  A\n");
    assert!(page.err.contains("a means the plan's own goal a-2"), "{}", page.err);
    let migrated = json!({"migrations": [{"from": "goal-x-1", "to": "a", "title": "A"}]});
    let page = plain(&answered("migrate_ids", migrated), json!({}));
    assert_eq!(page.out, "Rewrote 1 id:\n  goal-x-1 -> a  A\n");
    let moved = json!({"dryRun": true, "worklistPath": "/r/n", "previousWorklistPath": "/r/o"});
    assert_eq!(plain(&answered("migrate_path", moved), json!({})).out, "Would move /r/o to /r/n\n");
}

#[test]
fn warnings_go_to_standard_error() {
    let mut envelope = answered("next", json!({}));
    envelope.meta.shadowed_worklist_path = Some("/r/.pi/worklist.json".to_owned());
    envelope.meta.durability = Some("unsynced".to_owned());
    let page = plain(&envelope, json!({}));
    assert!(page.err.contains("/r/.pi/worklist.json is passed over"));
    assert!(page.err.contains("could not confirm"));
}

#[test]
fn a_failure_offers_what_may_have_been_meant() {
    let failed = |error: Value| -> Envelope {
        serde_json::from_value(json!({"ok": false, "scope": "project", "action": "show", "error": error,
            "meta": {"changed": false, "semanticNoOp": false, "changedFields": []}}))
        .unwrap()
    };
    let ambiguous = failed(
        json!({"code": "VALIDATION_FAILED", "message": "Two goals begin so.", "retryable": false,
        "details": {"candidateCount": 3, "candidates": [{"id": "a-1", "title": "A"}, {"id": "a-2", "title": "B"}]}}),
    );
    let page = plain(&ambiguous, json!({}));
    assert_eq!(page.err, "stepstone: Two goals begin so.\n  a-1  A\n  a-2  B\n  and 1 more\n");
    assert_eq!(page.out, "");
    let missing = failed(json!({"code": "NOT_FOUND", "message": "No such goal.", "retryable": false,
        "details": {"entity": "project-goal", "id": "praser"}}));
    let mut known = Known::default();
    known.learn_ids(&answered("ids", json!({"ids": ["names", "parser"]})));
    let page = shown(Screen { width: None, colour: false }, &known, &missing, json!({}));
    assert_eq!(page.err, "stepstone: No such goal.\nDid you mean parser?\n");
}

/// Every view, made of goals whose every text is hostile or awkward.
fn every_view() -> Vec<Envelope> {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\n\u{202e}evil\u{2066} \u{9b}31m 路线图 e\u{301} 🧑\u{200d}🚀 and much more";
    let goal = |id: &str, status: &str| {
        json!({
            "id": id, "title": hostile, "status": status, "group": hostile, "branch": hostile, "claimedBy": hostile,
            "claimedAt": hostile, "description": format!("{hostile}\n\t- {hostile}"), "links": [hostile],
            "dependsOn": [hostile, "b"], "previousIds": [hostile], "createdAt": hostile, "updatedAt": NOW,
            "completedAt": hostile, "blocked": true, "blockedBy": [hostile, "b"],
        })
    };
    let long = "an-id-of-exactly-forty-characters-long-x";
    let goals = json!([goal("a", "open"), goal(long, "active"), goal(hostile, hostile), goal("d", "done")]);
    let one = goal(long, "open");
    vec![
        answered("list", json!({"goals": goals, "summary": summary(), "more": true, "total": 9})),
        answered("find", json!({"goals": goals})),
        answered("ready", json!({"goals": goals})),
        answered("waves", json!({"waves": [goals, goals], "unreachableGoals": goals})),
        answered("next", json!({"goal": one})),
        answered(
            "show",
            json!({"goal": one, "blocked": true, "blockedBy": [hostile], "blocks": ["a", hostile]}),
        ),
        answered(
            "why",
            json!({"goal": one, "ready": false, "reasons": [
            {"type": "claimed", "branch": hostile, "claimedBy": hostile, "claimedAt": hostile},
            {"type": "dangling", "reference": hostile},
            {"type": "dependency", "goal": one, "startable": goals, "inProgress": goals, "loops": [[hostile, "a"]],
                "dangling": [{"id": hostile, "reference": hostile}]}]}),
        ),
        answered("start", json!({"goal": one, "blockedBy": [hostile]})),
        answered("complete", json!({"goal": one, "released": [hostile]})),
        answered(
            "apply-plan",
            json!({"addedGoals": goals, "warnings": [{"code": hostile, "reference": hostile}]}),
        ),
        answered("migrate_ids", json!({"migrations": [{"from": hostile, "to": hostile, "title": hostile}]})),
        answered("migrate_path", json!({"worklistPath": hostile, "previousWorklistPath": hostile})),
        answered(
            "init",
            json!({"agentsPath": hostile, "integrations": [
            {"name": hostile, "command": hostile, "note": hostile, "file": {"path": hostile, "content": hostile}}]}),
        ),
    ]
}

#[test]
fn nothing_that_acts_on_a_terminal_is_ever_printed() {
    for width in [None, Some(60), Some(80), Some(200)] {
        for envelope in every_view() {
            let page = shown(Screen { width, colour: false }, &Known::default(), &envelope, json!({}));
            for character in page.out.chars().chain(page.err.chars()) {
                let harmless = character == '\n' || !character.is_control();
                let direction = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
                assert!(harmless && !direction, "{}: U+{:04X}", envelope.action, u32::from(character));
            }
        }
    }
}

#[test]
fn colours_add_nothing_but_colours() {
    for envelope in every_view() {
        let page =
            |colour| shown(Screen { width: Some(100), colour }, &Known::default(), &envelope, json!({}));
        let (plain, painted) = (page(false).out, page(true).out);
        let mut stripped = String::new();
        let mut rest = painted.as_str();
        while let Some((before, behind)) = rest.split_once("\u{1b}[") {
            stripped.push_str(before);
            let (code, behind) = behind.split_once('m').unwrap();
            assert!(code.chars().all(|digit| digit.is_ascii_digit() || digit == ';'), "{code}");
            rest = behind;
        }
        stripped.push_str(rest);
        assert_eq!(stripped, plain, "{}", envelope.action);
    }
}

#[test]
fn rows_fit_the_terminal_and_ids_stay_whole() {
    let envelope = answered("list", json!({"goals": goals(), "summary": summary()}));
    let mut known = Known::default();
    known.learn(&envelope);
    for width in [40, 60, 80, 200] {
        let page =
            shown(Screen { width: Some(width), colour: false }, &known, &envelope, json!({"action": "list"}));
        for line in page.out.lines() {
            assert!(text::width(line) <= width, "{width}: {line}");
        }
        for id in ["parser", "adopt", "cleanup", "names", "docs"] {
            assert!(page.out.contains(id), "{width}: {id}");
        }
        let words: Vec<&str> = page.out.split_whitespace().collect();
        assert!(words.join(" ").ends_with("5 goals: 1 ready, 1 blocked, 2 claimed, 1 done"), "{}", page.out);
    }
}

#[test]
fn on_a_narrow_terminal_who_and_what_outlast_the_title() {
    let id = "a-rather-long-id-made-from-a-title";
    let goal = json!({"id": id, "title": "A rather long title that is cut", "status": "open", "updatedAt": NOW,
        "blocked": true, "blockedBy": ["what-it-waits-for"]});
    let envelope = answered("ready", json!({"goals": [goal]}));
    let at = |width| {
        shown(Screen { width: Some(width), colour: false }, &Known::default(), &envelope, json!({})).out
    };
    assert_eq!(
        at(120).lines().next().unwrap(),
        format!("blocked  {id}  A rather long title that is cut  waits for what-it-waits-for")
    );
    assert_eq!(at(80).lines().next().unwrap(), format!("blocked  {id}  waits for what-it-waits-for"));
    assert_eq!(at(60).lines().next().unwrap(), format!("blocked  {id}  waits for what…"));
}

#[test]
fn a_usage_error_shows_how_it_is_called() {
    let usage = crate::arguments::parse(&["ready".into(), "--group".into(), "x".into()]).unwrap_err();
    let page = super::usage(&usage);
    assert_eq!(page.out, "");
    assert!(page.err.starts_with("stepstone: `ready` would ignore --group"), "{}", page.err);
    assert!(page.err.contains("usage: stepstone ready [--full]\n"));
    assert!(page.err.ends_with("More: stepstone help ready\n"));
}

#[test]
fn messages_are_broken_to_the_terminal_and_set_in() {
    let text = broken("stepstone: one two three four five six\n  a-1  A title of some length\nshort\n", 24);
    assert_eq!(
        text,
        "stepstone: one two\n  three four five six\n  a-1  A title of some\n    length\nshort\n"
    );
}
