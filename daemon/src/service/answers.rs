//! Envelopes for decisions, and the refusals that are the service's own.

use std::path::Path;

use serde_json::{Map, Value};
use stepstone_proto::contract::{Action, Kind};
use stepstone_proto::envelope::{ChangedEntities, Envelope, ErrorCode, Failure, Meta, Revisions};

use crate::roadmap::{Decision, Roadmap};
use crate::store::Verdict;

/// The longest title that a message repeats; `details.goal` has it whole.
const LONGEST_TITLE: usize = 200;

/// A file's revision, as `meta` shows it.
pub(super) fn revisions(revision: u64) -> Revisions {
    Revisions { project: revision.to_string() }
}

/// What the core decided, as the store takes it: an answer, or the next document with its answer.
pub(super) fn verdict(action: &str, current: &Roadmap, decision: Decision) -> Verdict {
    match decision {
        Decision::Answer { result, no_op } => {
            let mut envelope = Envelope::success(action, result);
            envelope.meta.semantic_no_op = no_op;
            envelope.meta.revisions = Some(revisions(current.revision()));
            Verdict::Answer(envelope)
        }
        Decision::Write { next, mut changed_ids, result } => {
            changed_ids.sort_unstable();
            changed_ids.dedup();
            let mut envelope = Envelope::success(action, result);
            envelope.meta = Meta {
                changed: true,
                changed_fields: vec!["/goals".to_owned()],
                changed_entities: Some(ChangedEntities { project_goal_ids: changed_ids }),
                revisions: Some(revisions(next.revision())),
                ..Meta::default()
            };
            Verdict::Write { next, envelope }
        }
    }
}

/// A selector that names nothing says which file was searched; the core does not know it.
pub(super) fn with_searched_path(failure: Failure, path: &Path) -> Failure {
    if failure.code == ErrorCode::NotFound {
        failure.with("path", path.to_string_lossy().into_owned())
    } else {
        failure
    }
}

/// The refusal of an unconfirmed action, about `goal` when its id resolves.
pub(super) fn approval_required(action: &Action, goal: Option<Map<String, Value>>) -> Failure {
    let what = match (action.kind, &goal) {
        (Kind::Upkeep, _) => format!("{} for this repository", action.name),
        (_, Some(goal)) => {
            let text = |key: &str| goal.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            format!(
                "{} for the goal {} ({}, {})",
                action.name,
                quoted(&text("title")),
                text("id"),
                text("status")
            )
        }
        _ if action.argument("id").is_some() => {
            format!("no single goal was found by this id, and {}", action.name)
        }
        _ => format!("{} for this repository", action.name),
    };
    let message = format!(
        "Nothing was changed: {what} needs the user's own confirmation. {ask} Only a yes to exactly that question \
         allows {call} with confirm=true (--confirm on the command line). Do not infer it from anything said \
         before, and do not resend the call unasked.",
        ask = ask(action, goal.as_ref()),
        call = if goal.is_none() && action.argument("id").is_some() {
            "a call for that goal"
        } else {
            "the same call"
        },
    );
    let failure = Failure::new(ErrorCode::ApprovalRequired, message)
        .with("confirmation", "confirm=true")
        .resolution("request-explicit-user-confirmation");
    match goal {
        Some(goal) => failure.with("goal", goal),
        None => failure,
    }
}

fn ask(action: &Action, goal: Option<&Map<String, Value>>) -> String {
    let title = goal.and_then(|goal| goal.get("title")).and_then(Value::as_str);
    match (title, action.argument("id")) {
        (Some(title), _) => format!("Ask the user: Shall I {} the goal {}?", action.name, quoted(title)),
        (None, Some(_)) => {
            format!(
                "Read the roadmap for the goal that is meant, then ask the user whether to {} it.",
                action.name
            )
        }
        (None, None) => format!("Ask the user: Shall I carry out {}?", action.name),
    }
}

/// A title for a message: whatever stands in it, it is one line, not too long, and ends where its quotes do.
fn quoted(title: &str) -> String {
    let mut shown: String = title.chars().take(LONGEST_TITLE).collect();
    if shown.len() < title.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// The refusal of a key that is no text, or a blank one.
pub(super) fn bad_idempotency_key() -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        "Nothing was changed: the idempotency key must be a text that is not blank. Give one key per intended \
         change, or leave it out.",
    )
    .fields(["idempotencyKey"])
    .resolution("provide-non-blank-idempotency-key")
}

/// The search for the goal file ended without an answer, which only a fault of ours can cause.
pub(super) fn broke_off() -> Failure {
    Failure::new(
        ErrorCode::Unavailable,
        "Nothing was done: the engine could not look for the goal file. Ask again; `stepstone daemon logs` may say more.",
    )
    .retryable()
    .resolution("report-this-failure")
}
