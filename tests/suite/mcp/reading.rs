//! `read_goals` on roadmaps of every size: bounded answers that lead on to the rest.

use serde_json::{Value, json};
use stepstone_tests::{Goal, Mcp, Sandbox, worklist};

/// What an answer may hold beside the goals that its bound is about.
const BESIDE: usize = 1500;

/// Goals of which every seventh is settled; each depends on the one before in its group of ten.
fn sandbox(count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let goals = (0..count).map(|number| {
        let id = format!("goal-number-{number}");
        let goal = if number % 7 == 6 { Goal::with_status(&id, "done") } else { Goal::open(&id) };
        let goal =
            goal.field("description", format!("What number {number} is about. {}", "More. ".repeat(40)));
        if number % 10 == 0 { goal } else { goal.depends_on(&[&format!("goal-number-{}", number - 1)]) }
    });
    sandbox.write_worklist(worklist(1, goals));
    sandbox
}

/// All pages of a view: the ids in order, after checking each page's bounds.
fn walk(session: &mut Mcp, arguments: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    let mut total = None;
    let mut after = Value::Null;
    loop {
        let mut page = arguments.clone();
        page["after"] = after;
        let answer = session.call("read_goals", page.clone());
        let result = answer.result();
        let size = answer.0.to_string().len();
        let got = answer.ids();
        let limit = arguments["limit"].as_u64().unwrap_or(50);
        assert!(u64::try_from(got.len()).unwrap() <= limit, "{page}: {} goals", got.len());
        assert!(
            size <= 10_000 + BESIDE || got.len() == 1,
            "{page}: {size} characters for {} goals",
            got.len()
        );
        if let Some(said) = result.get("total") {
            assert_eq!(*total.get_or_insert_with(|| said.clone()), *said, "{page}");
        }
        ids.extend(got);
        if result.get("more") != Some(&json!(true)) {
            break;
        }
        after = json!(ids.last().expect("a page that leads on holds a goal"));
    }
    if let Some(total) = total {
        assert_eq!(total, json!(ids.len()), "{arguments}");
    }
    ids
}

#[test]
fn every_collection_is_bounded_and_goes_on_to_the_end_on_70_500_and_5000_goals() {
    for count in [70, 500, 5000] {
        let sandbox = sandbox(count);
        let mut session = sandbox.mcp();
        let id = |number: usize| format!("goal-number-{number}");
        let unfinished: Vec<String> = (0..count).filter(|number| number % 7 != 6).map(id).collect();
        let all: Vec<String> = (0..count).map(id).collect();
        assert_eq!(walk(&mut session, &json!({ "view": "list" })), unfinished);
        assert_eq!(walk(&mut session, &json!({ "view": "list", "limit": 200 })), unfinished);
        assert_eq!(walk(&mut session, &json!({ "view": "list", "full": true })), unfinished);
        assert_eq!(walk(&mut session, &json!({ "view": "list", "explain": true })), unfinished);
        let statuses = json!(["open", "active", "done", "archived"]);
        assert_eq!(walk(&mut session, &json!({ "view": "list", "status": statuses })), all);
        assert_eq!(walk(&mut session, &json!({ "view": "find", "query": "IS ABOUT" })), all);
        let ready = walk(&mut session, &json!({ "view": "ready", "limit": 7 }));
        assert!(ready.len() >= count / 10, "{}", ready.len());
    }
}

#[test]
fn waves_are_bounded_too_and_lead_on_until_every_goal_was_seen() {
    for count in [70, 500, 5000] {
        let sandbox = sandbox(count);
        let mut session = sandbox.mcp();
        let mut seen = 0;
        let mut after = Value::Null;
        loop {
            let answer = session.call("read_goals", json!({ "view": "waves", "after": after }));
            let ids: Vec<String> = answer.waves().into_iter().flatten().collect();
            assert!(ids.len() <= 50);
            assert!(answer.0.to_string().len() <= 10_000 + BESIDE);
            seen += ids.len();
            if answer.result().get("more") != Some(&json!(true)) {
                break;
            }
            after = json!(ids.last().expect("a page that leads on holds a goal"));
        }
        assert_eq!(seen, (0..count).filter(|number| number % 7 != 6).count());
    }
}

#[test]
fn who_works_on_what_is_one_read() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.session().client("some-host").start();
    session.call("add", json!({ "title": "One" }));
    session.call("add", json!({ "title": "Two" }));
    session.call("start", json!({ "branch": "feature" }));
    let claimed = session.call("read_goals", json!({ "view": "list", "claimed": true }));
    let [goal] = claimed.result()["goals"].as_array().unwrap().as_slice() else { panic!("{}", claimed.0) };
    assert_eq!(
        (&goal["id"], &goal["branch"], &goal["claimedBy"]),
        (&json!("one"), &json!("feature"), &json!("some-host"))
    );
}

#[test]
fn ids_complete_by_prefix() {
    let sandbox = sandbox(500);
    let mut session = sandbox.mcp();
    let mut complete = |value: &str| {
        let reference = json!({ "type": "ref/resource", "uri": "stepstone://worklist/show/{id}" });
        let params = json!({ "ref": reference, "argument": { "name": "id", "value": value } });
        session.request("completion/complete", params).unwrap()["completion"].take()
    };
    let many = complete("goal");
    assert_eq!(many["values"].as_array().unwrap().len(), 100);
    assert_eq!((&many["total"], &many["hasMore"]), (&json!(500), &json!(true)));
    let few = complete("GOAL-number-49");
    assert_eq!((&few["total"], &few["hasMore"]), (&json!(11), &json!(false)));
    assert_eq!(complete("nothing")["values"], json!([]));
}
