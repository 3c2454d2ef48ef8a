//! Everybody who takes part.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use stepstone_tests::{Answer, Goal, Mcp, Sandbox, worklist};

use super::Soak;
use super::random::Random;

/// A participant's work, until the end of the run.
type Work = fn(&Soak, Random);

/// How many goals a session lets stand before it deletes some.
const ENOUGH: usize = 60;

/// All of them, by name.
pub(super) fn all() -> Vec<(&'static str, Work)> {
    vec![
        ("a session", session),
        ("another session", session),
        ("a session that dies", mortal_session),
        ("a session with an engine of its own", private_session),
        ("a person", person),
        ("a reader", reader),
        ("a foreign writer", foreign_writer),
        ("a branch switcher", branch_switcher),
        ("a killer", killer),
    ]
}

fn session(soak: &Soak, mut random: Random) {
    let mut session = soak.sandbox.mcp();
    while soak.goes_on() {
        one_call(soak, &mut random, &mut session);
    }
}

fn mortal_session(soak: &Soak, mut random: Random) {
    while soak.goes_on() {
        let mut session = soak.sandbox.mcp();
        for _ in 0..random.below(20) {
            one_call(soak, &mut random, &mut session);
        }
        // Sometimes with a call in flight, whose outcome nobody hears.
        if random.below(2) == 0 {
            let title = format!("last words {}", random.next());
            session.ask("tools/call", json!({ "name": "add", "arguments": { "title": title } }));
            soak.ledger.unheard();
        }
        session.kill();
        soak.ledger.killed();
    }
}

fn private_session(soak: &Soak, mut random: Random) {
    let mut session = soak.sandbox.session().env("STEPSTONE_NO_DAEMON", "1").start();
    while soak.goes_on() {
        one_call(soak, &mut random, &mut session);
        soak.pause(Duration::from_millis(random.below(50)));
    }
}

/// One call of a session, of any kind.
fn one_call(soak: &Soak, random: &mut Random, session: &mut Mcp) {
    let ids = {
        let all = json!(["open", "active", "done", "archived"]);
        let list = session.call("read_goals", json!({ "view": "list", "status": all, "limit": 200 }));
        soak.ledger.read();
        list.ids()
    };
    let adds = ids.len() < ENOUGH && random.below(3) == 0;
    let Some(id) = random.one_of(&ids).filter(|_| !adds) else {
        let title = format!("goal {}", random.next());
        let answer = session.call("add", json!({ "title": title }));
        return soak.ledger.change("add", None, &answer);
    };
    let (tool, arguments) = change(random, id, ids.len());
    let answer = session.call(tool, arguments);
    soak.ledger.change(tool, Some(id), &answer);
}

/// A change of a goal.
fn change(random: &mut Random, id: &str, count: usize) -> (&'static str, Value) {
    let text = format!("{:x}", random.next());
    match random.below(if count > ENOUGH { 24 } else { 8 }) {
        0 => ("update", json!({ "id": id, "description": text })),
        1 => ("update", json!({ "id": id, "appendDescription": text })),
        2 => ("move", json!({ "id": id, "direction": "up" })),
        3 => ("start", json!({ "id": id, "branch": format!("branch-{}", random.below(3)) })),
        4 => ("start", json!({ "branch": text })),
        5 => ("set_active", json!({ "id": id })),
        6 => ("complete", json!({ "id": id, "confirm": true })),
        7 => ("reopen", json!({ "id": id, "confirm": true })),
        _ => ("delete", json!({ "id": id, "confirm": true })),
    }
}

fn person(soak: &Soak, mut random: Random) {
    while soak.goes_on() {
        let answer = soak.sandbox.cli(["add", &format!("thought {}", random.next())]).json();
        soak.ledger.change("add", None, &answer);
        let listed = soak.sandbox.cli(["ready"]).json();
        soak.ledger.read();
        if let Some(id) = random.one_of(&listed.ids()) {
            let answer = soak.sandbox.cli(["complete", id, "--confirm"]).json();
            soak.ledger.change("complete", Some(id), &answer);
        }
        soak.pause(Duration::from_millis(random.below(200)));
    }
}

fn reader(soak: &Soak, mut random: Random) {
    let mut last = 0;
    let mut session = soak.sandbox.mcp();
    while soak.goes_on() {
        let view = random.one_of(&["list", "next", "ready", "waves"]).copied().unwrap_or("list");
        let answer = session.read(&format!("stepstone://worklist/{view}"));
        answer.result();
        soak.ledger.read();
        let revision = answer.revision().unwrap_or_default();
        assert!(revision >= last, "the roadmap went back from revision {last} to {revision}");
        last = revision;
        soak.pause(Duration::from_millis(random.below(20)));
    }
}

/// Another program: takes the lock directory by its convention, adds a goal, replaces the file.
fn foreign_writer(soak: &Soak, mut random: Random) {
    let directory = soak.sandbox.path(".worklist");
    let lock = directory.join(".worklist.lock");
    while soak.goes_on() {
        if std::fs::create_dir(&lock).is_err() {
            soak.pause(Duration::from_millis(5 + random.below(20)));
            continue;
        }
        let id = format!("foreign-{:x}", random.next());
        let revision = add_to_file(&soak.sandbox, &directory, &id);
        soak.ledger.foreign(&id, revision);
        std::fs::remove_dir(&lock).expect("our lock is ours");
        soak.pause(Duration::from_millis(random.below(400)));
    }
}

fn add_to_file(sandbox: &Sandbox, directory: &Path, id: &str) -> u64 {
    let mut file: Value = serde_json::from_str(&sandbox.read_worklist()).expect("the file is whole");
    let revision = file["revision"].as_u64().expect("a revision") + 1;
    file["revision"] = revision.into();
    let now = "2026-01-01T00:00:00.000Z";
    let goal = json!({ "id": id, "title": id, "status": "open", "createdAt": now, "updatedAt": now });
    file["goals"].as_array_mut().expect("goals").push(goal);
    let beside = directory.join(".foreign.tmp");
    std::fs::write(&beside, format!("{file:#}\n")).expect("a file beside the goal file");
    std::fs::rename(&beside, sandbox.worklist_path()).expect("a rename");
    revision
}

/// A second repository whose branches are switched all the time.
fn branch_switcher(soak: &Soak, mut random: Random) {
    let place = soak.sandbox.base().join("switched");
    std::fs::create_dir_all(place.join(".worklist")).expect("a directory");
    let git = |arguments: &[&str]| soak.sandbox.git_in(&place, arguments);
    git(&["init", "-q", "-b", "one"]);
    let commit = |name: &str| {
        std::fs::write(place.join(".worklist/worklist.json"), worklist(5, [Goal::open(name)]))
            .expect("a file");
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", name]);
    };
    commit("one");
    git(&["checkout", "-q", "-b", "two"]);
    commit("two");
    let mut session = soak.sandbox.session().within(&place).start();
    while soak.goes_on() {
        let branch = random.one_of(&["one", "two"]).copied().unwrap_or("one");
        git(&["checkout", "-q", branch]);
        let answer: Answer = session.read("stepstone://worklist/list");
        soak.ledger.read();
        assert_eq!(answer.ids(), [branch], "the branch was switched before the question was asked");
    }
}

fn killer(soak: &Soak, mut random: Random) {
    while soak.goes_on() {
        soak.pause(Duration::from_millis(200 + random.below(3000)));
        if soak.calm.load(std::sync::atomic::Ordering::Relaxed) {
            continue;
        }
        for engine in soak.sandbox.daemons() {
            engine.kill();
            soak.ledger.killed();
        }
    }
}
