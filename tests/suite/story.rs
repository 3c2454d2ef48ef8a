//! The job that everything is for: several agents in their own worktrees and a person at a shell share one roadmap.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Barrier;

use serde_json::{Value, json};
use stepstone_tests::{Answer, Goal, Mcp, Sandbox, worklist};

/// How many ask at once, and for how many goals.
const RACERS: usize = 64;
const PRIZES: usize = 10;

fn take(session: &mut Mcp) -> Answer {
    let taken = session.call("start", json!({}));
    taken.goal();
    taken
}

fn show(session: &mut Mcp, id: &str) -> Answer {
    session.call("read_goals", json!({ "view": "show", "id": id }))
}

#[test]
fn three_sessions_in_their_worktrees_and_a_person_share_one_roadmap() {
    let sandbox = Sandbox::new();
    sandbox.commit_all("An empty project");
    let places = ["amber", "birch", "cedar"].map(|branch| sandbox.worktree(branch));
    let plan = json!([
        { "title": "Parse the feed", "description": "All three formats." },
        { "title": "Store the items" },
        { "title": "Render the page" },
        { "title": "Send the digest", "dependsOn": ["parse-the-feed", "store-the-items"] },
    ]);
    let planned = sandbox.cli(["apply-plan", "-", "--json"]).input(plan.to_string()).finish().envelope();
    let mut changes = BTreeSet::from([planned.revision().unwrap()]);
    let mut acknowledge = |answer: &Answer| {
        assert!(answer.changed(), "{:#}", answer.0);
        assert!(changes.insert(answer.revision().unwrap()), "two changes with one revision: {:#}", answer.0);
    };

    // Each session takes work without naming any, and gets its own.
    let start = |name: &str, place: &Path| sandbox.session().client(name).within(place).start();
    let mut amber = start("amber-host", &places[0]);
    let mut birch = start("birch-host", &places[1]);
    let mut cedar = start("cedar-host", &places[2]);
    let mut held = BTreeMap::new();
    for (session, branch) in [(&mut amber, "amber"), (&mut birch, "birch"), (&mut cedar, "cedar")] {
        let taken = take(session);
        acknowledge(&taken);
        assert_eq!(taken.text("branch"), branch);
        assert_eq!(taken.text("claimedBy"), format!("{branch}-host"));
        assert_eq!(held.insert(branch, taken.id().to_owned()), None);
    }
    assert_eq!(held.values().collect::<BTreeSet<_>>().len(), 3, "a goal was given out twice: {held:?}");
    assert_eq!(amber.call("start", json!({ "branch": "amber-too" })).result().get("goal"), None);

    // A person edits a goal under a session that works on it; the session recovers from what it is told.
    let mine = &held["amber"];
    let stale = show(&mut amber, mine).text("updatedAt").to_owned();
    let edit = sandbox.cli(["update", mine, "--append-description", "And the fourth format."]).json();
    acknowledge(&edit);
    let append = |baseline: &str| json!({ "id": mine, "appendDescription": "Errors name the line.", "expectedUpdatedAt": baseline });
    let refused = amber.call("update", append(&stale));
    let error = refused.refused("CONFLICT");
    assert_eq!(error["retryable"], true);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("read") && message.contains("updatedAt"), "{message}");
    let fresh = show(&mut amber, mine).text("updatedAt").to_owned();
    assert_eq!(error["conflict"]["actualUpdatedAt"], fresh);
    let merged = amber.call("update", append(&fresh));
    acknowledge(&merged);
    assert_eq!(
        merged.text("description"),
        "All three formats.\n\nAnd the fourth format.\n\nErrors name the line."
    );

    // A goal is completed only after the user's own yes to exactly that.
    let done = &held["birch"];
    let asked = birch.call("complete", json!({ "id": done }));
    assert_eq!(asked.refused("APPROVAL_REQUIRED")["details"]["goal"]["id"], *done);
    acknowledge(&birch.call("complete", json!({ "id": done, "confirm": true })));

    // A session dies. Its claim is found, refused to others, and taken over when the user says so.
    let orphan = &held["cedar"];
    cedar.kill();
    let claimed = sandbox.cli(["list", "--claimed"]).json();
    assert_eq!(claimed.ids().into_iter().collect::<BTreeSet<_>>(), [mine.clone(), orphan.clone()].into());
    let found = claimed.result()["goals"].as_array().unwrap().iter().find(|goal| goal["id"] == **orphan);
    assert_eq!(found.unwrap()["branch"], "cedar");
    assert_eq!(found.unwrap()["claimedBy"], "cedar-host");
    assert!(found.unwrap()["claimedAt"].is_string());
    let held_by_other = birch.call("start", json!({ "id": orphan }));
    assert_eq!(held_by_other.refused("CONFLICT")["conflict"]["branch"], "cedar");
    let taken_over = birch.call("start", json!({ "id": orphan, "takeOver": true }));
    acknowledge(&taken_over);
    assert_eq!(taken_over.text("branch"), "birch");

    // The rest is done; what waited for it becomes ready.
    let finished = amber.call("complete", json!({ "id": mine, "confirm": true }));
    acknowledge(&finished);
    assert_eq!(finished.result()["released"], json!(["send-the-digest"]));

    // The person sees all of it in one command.
    let seen = sandbox.cli(["list"]).finish().ended(0);
    for id in ["parse-the-feed", "store-the-items", "render-the-page", "send-the-digest", "birch"] {
        assert!(seen.contains(id), "{id} is missing in:\n{seen}");
    }

    // Nothing is lost: every acknowledged change is a revision of the one file.
    let file: Value = serde_json::from_str(&sandbox.read_worklist()).unwrap();
    assert_eq!(changes, (1..=file["revision"].as_u64().unwrap()).collect());
    for place in &places {
        assert!(!place.join(".worklist").exists(), "{} has a roadmap of its own", place.display());
    }
}

#[test]
fn many_racers_for_few_ready_goals_give_each_goal_one_winner() {
    let sandbox = Sandbox::new();
    let goals = (0..PRIZES).map(|index| Goal::open(&format!("goal-{index}")));
    sandbox.write_worklist(worklist(1, goals.chain([Goal::open("blocked").depends_on(&["goal-0"])])));
    let barrier = Barrier::new(RACERS);
    let answers: Vec<(String, Answer)> = std::thread::scope(|scope| {
        let race = |index: usize| {
            let (sandbox, barrier) = (&sandbox, &barrier);
            scope.spawn(move || {
                let branch = format!("racer-{index}");
                // Every fourth one is a session that is ready to ask; the others start a process each.
                let mut session = index.is_multiple_of(4).then(|| sandbox.mcp());
                barrier.wait();
                let answer = match &mut session {
                    Some(session) => session.call("start", json!({ "branch": branch })),
                    None => sandbox.cli(["start", "--branch", &branch]).json(),
                };
                (branch, answer)
            })
        };
        let racers: Vec<_> = (0..RACERS).map(race).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let mut winners = BTreeMap::new();
    for (branch, answer) in &answers {
        if answer.result().get("goal").is_some() {
            let before = winners.insert(answer.id().to_owned(), branch.clone());
            assert_eq!(before, None, "{} was given out twice", answer.id());
        }
    }
    assert_eq!(winners.len(), PRIZES);
    let file: Value = serde_json::from_str(&sandbox.read_worklist()).unwrap();
    assert_eq!(file["revision"], json!(1 + PRIZES));
    for goal in file["goals"].as_array().unwrap() {
        let winner = winners.get(goal["id"].as_str().unwrap());
        assert_eq!(goal.get("branch").and_then(Value::as_str), winner.map(String::as_str));
    }
}
