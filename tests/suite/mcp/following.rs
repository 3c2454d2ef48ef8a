//! Subscriptions across processes: whoever changes the roadmap, every subscriber of an affected resource is told
//! once, in both eras.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use stepstone_tests::{Goal, Mcp, Sandbox, eventually, worklist};

use super::modern;

/// A bound against hanging, not a measure.
const LIMIT: Duration = Duration::from_secs(60);
/// What changes with the goal `alpha`.
const AFFECTED: [&str; 6] = [
    "stepstone://worklist/list",
    "stepstone://worklist/next",
    "stepstone://worklist/ready",
    "stepstone://worklist/waves",
    "stepstone://worklist/show/alpha",
    "stepstone://worklist/find/a",
];
/// What does not.
const UNAFFECTED: &str = "stepstone://worklist/show/omega";

/// A session that follows resources, and counts what it is told of each.
struct Follower {
    session: Mcp,
    told: BTreeMap<String, usize>,
}

impl Follower {
    fn older(sandbox: &Sandbox) -> Self {
        let mut session = sandbox.session().protocol("2025-06-18").start();
        for uri in AFFECTED.into_iter().chain([UNAFFECTED]) {
            assert_eq!(session.request("resources/subscribe", json!({ "uri": uri })), Ok(json!({})));
        }
        Self { session, told: BTreeMap::new() }
    }

    fn newer(sandbox: &Sandbox) -> Self {
        let mut session = sandbox.session().start_silent();
        let uris: Vec<&str> = AFFECTED.into_iter().chain([UNAFFECTED]).collect();
        session.ask(
            "subscriptions/listen",
            modern(json!({ "notifications": { "resourceSubscriptions": uris } })),
        );
        let acknowledged = session.notification(LIMIT).expect("the subscription is acknowledged");
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!(uris));
        Self { session, told: BTreeMap::new() }
    }

    /// Takes one notification in.
    fn take(&mut self, message: &Value) {
        count(&mut self.told, message);
    }

    /// Waits until each of these has been told of so many times.
    #[track_caller]
    fn hears(&mut self, uris: &[&str], times: usize) {
        while uris.iter().any(|uri| self.told.get(*uri).copied().unwrap_or_default() < times) {
            let message = self.session.notification(LIMIT);
            self.take(&message.unwrap_or_else(|| panic!("told only {:?} of {uris:?}", self.told)));
        }
    }

    /// Ends the session; what was told until then, with nothing left out.
    fn end(self) -> BTreeMap<String, usize> {
        let Self { session, mut told } = self;
        for message in session.finish().1 {
            if message.get("method").is_some() {
                count(&mut told, &message);
            }
        }
        told
    }
}

fn count(told: &mut BTreeMap<String, usize>, message: &Value) {
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    let uri = message["params"]["uri"].as_str().unwrap();
    *told.entry(uri.to_owned()).or_default() += 1;
}

fn goals() -> [Goal; 3] {
    [Goal::open("alpha"), Goal::open("beta").depends_on(&["alpha"]), Goal::open("omega")]
}

/// Makes the same kind of change three times, each heard by followers of both eras before the next, and checks that
/// nobody was told twice, or of what did not change.
fn each_change_is_told_once(sandbox: &Sandbox, mut change: impl FnMut(usize)) {
    let mut followers = [Follower::older(sandbox), Follower::newer(sandbox)];
    for round in 1..=3 {
        change(round);
        for follower in &mut followers {
            follower.hears(&AFFECTED, round);
        }
    }
    for follower in followers {
        let told = follower.end();
        for uri in AFFECTED {
            assert_eq!(told.get(uri), Some(&3), "{told:?}");
        }
        assert_eq!(told.get(UNAFFECTED), None, "{told:?}");
    }
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, goals()));
    sandbox
}

fn update(session: &mut Mcp, round: usize) {
    let answer = session.call("update", json!({ "id": "alpha", "description": format!("Round {round}") }));
    assert!(answer.changed(), "{}", answer.0);
}

#[test]
fn a_change_by_another_session() {
    let sandbox = sandbox();
    let mut other = sandbox.mcp();
    each_change_is_told_once(&sandbox, |round| update(&mut other, round));
}

#[test]
fn a_change_by_the_command_line() {
    let sandbox = sandbox();
    each_change_is_told_once(&sandbox, |round| {
        let text = format!("Round {round}");
        sandbox.cli(["update", "alpha", "--description", &text]).finish().ended(0);
    });
}

#[test]
fn a_change_by_an_editor() {
    let sandbox = sandbox();
    each_change_is_told_once(&sandbox, |round| {
        let [alpha, beta, omega] = goals();
        let text = worklist(1, [alpha.field("description", format!("Round {round}")), beta, omega]);
        // As editors do: beside it, and over it.
        sandbox.write(".worklist/.worklist.json.swp", text);
        std::fs::rename(sandbox.path(".worklist/.worklist.json.swp"), sandbox.worklist_path()).unwrap();
    });
}

#[test]
fn a_change_by_git_checkout() {
    let sandbox = sandbox();
    sandbox.commit_all("One");
    sandbox.git(["checkout", "-q", "-b", "other"]);
    let [alpha, beta, omega] = goals();
    sandbox.write_worklist(worklist(2, [alpha.title("Alpha of the other branch"), beta, omega]));
    sandbox.commit_all("Two");
    each_change_is_told_once(&sandbox, |round| {
        sandbox.git(["checkout", "-q", if round % 2 == 1 { "main" } else { "other" }]);
    });
}

#[test]
fn a_change_by_a_private_engine() {
    let sandbox = sandbox();
    let mut other = sandbox.session().env("STEPSTONE_NO_DAEMON", "1").start();
    each_change_is_told_once(&sandbox, |round| update(&mut other, round));
}

#[test]
fn followers_without_a_daemon_are_told_too() {
    let mut sandbox = sandbox();
    sandbox.set_env("STEPSTONE_NO_DAEMON", "1");
    let mut other = sandbox.mcp();
    each_change_is_told_once(&sandbox, |round| update(&mut other, round));
    assert_eq!(sandbox.daemons().len(), 0);
}

#[test]
fn a_change_by_the_follower_itself_through_a_linked_worktree() {
    let sandbox = sandbox();
    sandbox.commit_all("One");
    let place = sandbox.worktree("side");
    let mut session = sandbox.session().within(place).start();
    session.request("resources/subscribe", json!({ "uri": AFFECTED[0] })).unwrap();
    let mut follower = Follower { session, told: BTreeMap::new() };
    for round in 1..=3 {
        update(&mut follower.session, round);
        follower.hears(&AFFECTED[..1], round);
    }
    assert_eq!(follower.end(), BTreeMap::from([(AFFECTED[0].to_owned(), 3)]));
}

#[test]
fn after_a_lost_daemon_followers_read_again_and_are_told_of_later_changes() {
    let sandbox = sandbox();
    let mut followers = [Follower::older(&sandbox), Follower::newer(&sandbox)];
    let daemon = sandbox.daemon();
    daemon.kill();
    eventually("the daemon is gone", || (!daemon.is_alive()).then_some(()));
    let all: Vec<&str> = AFFECTED.into_iter().chain([UNAFFECTED]).collect();
    for follower in &mut followers {
        follower.hears(&all, 1);
        follower.told.clear();
    }
    update(&mut sandbox.mcp(), 1);
    for mut follower in followers {
        follower.hears(&AFFECTED, 1);
    }
}

#[test]
fn a_damaged_and_a_repaired_file_are_told() {
    let sandbox = sandbox();
    let mut follower = Follower::older(&sandbox);
    let whole = sandbox.read_worklist();
    sandbox.write_worklist("<<<<<<< HEAD\n");
    follower.hears(&AFFECTED, 1);
    sandbox.write_worklist(whole);
    follower.hears(&AFFECTED, 2);
}

#[test]
fn nothing_is_told_after_unsubscribing_and_after_a_cancelled_subscription() {
    let sandbox = sandbox();
    let mut older = sandbox.mcp();
    let mut newer = sandbox.session().start_silent();
    let uri = AFFECTED[0];
    older.request("resources/subscribe", json!({ "uri": uri })).unwrap();
    older.request("resources/unsubscribe", json!({ "uri": uri })).unwrap();
    let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let listening = newer.ask("subscriptions/listen", modern(filter));
    assert!(newer.notification(LIMIT).is_some());
    newer.notify("notifications/cancelled", json!({ "requestId": listening }));
    let mut witness = Follower::older(&sandbox);
    update(&mut sandbox.mcp(), 1);
    witness.hears(&AFFECTED, 1);
    assert_eq!(older.finish().1, Vec::<Value>::new());
    assert_eq!(newer.finish().1, Vec::<Value>::new());
}

#[test]
fn the_first_goal_of_a_repository_without_a_file_is_told() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.request("resources/subscribe", json!({ "uri": AFFECTED[0] })).unwrap();
    let mut follower = Follower { session, told: BTreeMap::new() };
    sandbox.mcp().call("add", json!({ "title": "Alpha" })).goal();
    follower.hears(&AFFECTED[..1], 1);
}
