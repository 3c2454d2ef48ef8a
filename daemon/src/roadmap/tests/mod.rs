//! The rules as tables. Operations are written as they cross the socket, so that the decoder stands in the way here
//! as it does for everyone.

#![expect(clippy::needless_pass_by_value, reason = "literals read better without a reference before each")]

mod adding;
mod lifecycle;
mod migrating;
mod moving;
mod parsing;
mod plans;
mod printing;
mod properties;
mod reads;
mod scale;
mod selectors;
mod starting;
mod updating;
mod why;

use serde_json::{Value, json};
use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::Operation;

use super::{Decision, Moment, Roadmap, decide, read};
use crate::decode::decode;

/// The instant of goals that the tests begin with.
const OLD: &str = "2026-01-01T00:00:00.000Z";
/// The first instant of the bench's clock, in milliseconds and as text.
const NOW_MS: i64 = 1_780_000_000_000;
const NOW: &str = "2026-05-28T20:26:40.000Z";

/// A roadmap, a clock that stands still unless told, and the surroundings of a caller.
struct Bench {
    roadmap: Roadmap,
    now_ms: i64,
    branch: Option<&'static str>,
    claimed_by: &'static str,
}

/// What an operation came to.
#[derive(Debug)]
struct Outcome {
    /// The result object without `scope` and `action`.
    result: Value,
    /// Written, with the changed ids.
    changed: Option<Vec<String>>,
    no_op: bool,
}

impl Bench {
    fn empty() -> Self {
        Self::of(Roadmap::empty())
    }

    fn of(roadmap: Roadmap) -> Self {
        Self { roadmap, now_ms: NOW_MS, branch: Some("main"), claimed_by: "tester" }
    }

    /// A file with these goals at revision 7.
    fn with(goals: Value) -> Self {
        Self::with_file(json!({"version": 1, "revision": 7, "goals": goals}))
    }

    fn with_file(file: Value) -> Self {
        Self::of(
            Roadmap::parse(file.to_string().as_bytes()).unwrap_or_else(|defect| panic!("{file}: {defect:?}")),
        )
    }

    fn try_run(&mut self, operation: &Value) -> Result<Outcome, Failure> {
        let decoded = decode(operation.as_object().unwrap())?;
        let action = decoded.view_action;
        let outcome = match decoded.operation? {
            Operation::Read(asked) => Outcome {
                result: stripped(action, read(&self.roadmap, action, &asked)?.get()),
                changed: None,
                no_op: false,
            },
            Operation::Change(change) => {
                let moment = Moment { now_ms: self.now_ms, claimed_by: self.claimed_by, branch: self.branch };
                let before = self.roadmap.revision();
                match decide(&self.roadmap, &change, &moment)? {
                    Decision::Answer { result, no_op } => {
                        Outcome { result: stripped(action, result.get()), changed: None, no_op }
                    }
                    Decision::Write { next, changed_ids, result } => {
                        assert_eq!(next.revision(), before + 1, "{operation}");
                        // What is kept in memory is what a reader of the file gets.
                        if next.len() < 1_000 {
                            assert_eq!(Roadmap::parse(&next.print()).unwrap().print(), next.print());
                        }
                        self.roadmap = next;
                        Outcome {
                            result: stripped(action, result.get()),
                            changed: Some(changed_ids),
                            no_op: false,
                        }
                    }
                }
            }
            other => panic!("not the roadmap's: {other:?}"),
        };
        Ok(outcome)
    }

    #[track_caller]
    fn run(&mut self, operation: Value) -> Outcome {
        self.try_run(&operation).unwrap_or_else(|failure| panic!("{operation}: {failure:?}"))
    }

    #[track_caller]
    fn refused(&mut self, operation: Value) -> Value {
        let failure = self.try_run(&operation).expect_err(&operation.to_string());
        check_message(&failure);
        let mut failure = serde_json::to_value(failure).unwrap();
        failure.as_object_mut().unwrap().remove("message");
        failure
    }

    /// The operation is answered, and nothing is to be written.
    #[track_caller]
    fn no_op(&mut self, operation: Value) -> Value {
        let outcome = self.run(operation.clone());
        assert!(outcome.no_op, "{operation}: {outcome:?}");
        assert_eq!(outcome.changed, None, "{operation}");
        outcome.result
    }

    /// The operation is written, and these goals changed.
    #[track_caller]
    fn writes(&mut self, operation: Value, changed: &[&str]) -> Value {
        let outcome = self.run(operation.clone());
        assert_eq!(outcome.changed.as_deref(), Some(&*owned(changed)), "{operation}: {outcome:?}");
        outcome.result
    }

    fn file(&self) -> Value {
        serde_json::from_slice(&self.roadmap.print()).unwrap()
    }

    fn goals(&self) -> Value {
        self.file()["goals"].clone()
    }

    /// A goal of the file as it stands there.
    #[track_caller]
    fn goal(&self, id: &str) -> Value {
        let goals = self.goals();
        let found = goals.as_array().unwrap().iter().find(|goal| goal["id"] == id);
        found.unwrap_or_else(|| panic!("no goal {id}")).clone()
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn stripped(action: &str, result: &str) -> Value {
    let mut result: Value = serde_json::from_str(result).unwrap();
    let fields = result.as_object_mut().unwrap();
    assert_eq!(fields.shift_remove("scope"), Some(json!("project")));
    assert_eq!(fields.shift_remove("action"), Some(json!(action)));
    result
}

/// What every message keeps to, whatever it is about.
#[track_caller]
fn check_message(failure: &Failure) {
    use stepstone_proto::contract::resolutions::RESOLUTIONS;
    use stepstone_proto::envelope::{Conflict, ErrorCode};
    let words = failure.details.iter().filter_map(|details| details.get("resolution")?.as_str());
    let conflict = failure.conflict.as_ref().map(|conflict| match conflict {
        Conflict::GoalUpdatedAt { resolution, .. }
        | Conflict::Revision { resolution, .. }
        | Conflict::GoalClaimed { resolution, .. } => resolution.as_str(),
    });
    let words: Vec<&str> = words.chain(conflict).collect();
    assert!(!words.is_empty(), "no resolution: {failure:?}");
    for word in words {
        assert!(RESOLUTIONS.iter().any(|known| known.word == word), "{word} is not listed");
    }
    let message = &failure.message;
    assert!(message.len() > 40 && message.len() < 2_000, "{message}");
    assert!(message.ends_with('.') || message.ends_with(')'), "{message}");
    assert!(!message.contains("--confirm") && !message.contains("delete "), "{message}");
    if failure.code == ErrorCode::Conflict {
        assert!(message.starts_with("Nothing was changed"), "{message}");
    }
}

/// A goal with nothing but what every goal has.
fn plain(id: &str) -> Value {
    goal(id, json!({}))
}

/// A goal with more fields, or other ones.
fn goal(id: &str, more: Value) -> Value {
    let mut goal = json!({"id": id, "title": id, "status": "open", "createdAt": OLD, "updatedAt": OLD});
    for (key, value) in more.as_object().unwrap() {
        goal[key] = value.clone();
    }
    goal
}

/// Five goals in every state, one of them waiting.
fn five() -> Value {
    json!([
        goal("alpha", json!({"title": "Alpha"})),
        goal("beta", json!({"title": "Beta", "dependsOn": ["alpha"]})),
        goal("gamma", json!({"title": "Gamma", "status": "active"})),
        goal("delta", json!({"title": "Delta", "status": "done", "completedAt": OLD})),
        goal("epsilon", json!({"title": "Epsilon", "status": "archived"})),
    ])
}
