//! Every refusal that the roadmap's rules make, in one place.
//!
//! Messages are read by models too: they say what did not happen, why, and the next step, in words that cannot be
//! taken for leave to do something else. None holds a ready-made destructive call.

use serde_json::{Value, json};
use stepstone_proto::envelope::{Conflict, ErrorCode, Failure};

use super::document::{REVISION_LIMIT, Roadmap};
use super::goal::{Flaw, Goal, Key};

/// So many candidates are shown for an ambiguous name.
const CANDIDATES: usize = 10;
/// The longest piece of the caller's text that a message repeats.
const LONGEST_ECHO: usize = 80;
/// So many ids of a loop are written out in a message; `details` has them all.
const LONGEST_LOOP: usize = 12;

/// What a name was to be the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    Goal,
    Anchor,
    Dependency,
}

impl Entity {
    fn word(self) -> &'static str {
        match self {
            Self::Goal => "project-goal",
            Self::Anchor => "project-goal-anchor",
            Self::Dependency => "project-goal-dependency",
        }
    }
}

/// A text of the caller's for a message: quoted, in one line, not too long.
fn echo(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// A stored id or instant for a message: as it is where it looks like one, else like any other text of others.
fn stored(text: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'+');
    let looks_right = !text.is_empty() && text.len() <= LONGEST_ECHO && text.bytes().all(is_plain);
    if looks_right { text.to_owned() } else { echo(text) }
}

/// Nothing has this name. The service adds the path that was searched.
pub(super) fn not_found(entity: Entity, name: &str) -> Failure {
    let what = match entity {
        Entity::Goal => "goal",
        Entity::Anchor => "goal to move beside",
        Entity::Dependency => "goal to depend on",
    };
    Failure::new(
        ErrorCode::NotFound,
        format!(
            "No {what} is named {}, so nothing was done. It may have been deleted, or stand on another branch. Read \
             the roadmap again and use an id that is there.",
            echo(name)
        ),
    )
    .with("entity", entity.word())
    .with("id", name)
    .resolution("refresh-and-select-existing")
}

/// Several goals have this name.
pub(super) fn ambiguous(roadmap: &Roadmap, field: &str, name: &str, places: &[usize]) -> Failure {
    let goals = places.iter().filter_map(|place| roadmap.goals().get(*place)).take(CANDIDATES);
    let (mut ids, mut candidates) = (Vec::new(), Vec::new());
    for goal in goals {
        ids.push(stored(&goal.id));
        candidates.push(json!({"id": &*goal.id, "title": &*goal.title}));
    }
    let count = places.len();
    let more = if count > CANDIDATES { ", …" } else { "" };
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "{} could mean {count} goals ({}{more}), so nothing was done. Use the whole id of the one that is meant.",
            echo(name),
            ids.join(", ")
        ),
    )
    .fields([field])
    .resolution("provide-unambiguous-goal-id")
    .with("candidateCount", count)
    .with("candidates", candidates)
}

/// The goals would wait for themselves. `ids` holds each goal of the loop once.
pub(super) fn cycle(ids: &[&str]) -> Failure {
    let path = ids.iter().chain(ids.first()).copied().collect::<Vec<_>>().join(" -> ");
    let named = |ids: &[&str]| ids.iter().map(|id| stored(id)).collect::<Vec<_>>();
    let shown = match ids.get(..LONGEST_LOOP) {
        Some(head) if ids.len() > LONGEST_LOOP => {
            format!("{} -> … ({} goals)", named(head).join(" -> "), ids.len())
        }
        _ => named(&[ids, ids.get(..1).unwrap_or_default()].concat()).join(" -> "),
    };
    Failure::new(
        ErrorCode::DependencyCycle,
        format!(
            "Nothing was changed: these goals would wait for themselves and could never be started: {shown}. Leave \
             out one of these edges, or first take another one of them away."
        ),
    )
    .fields(["dependsOn"])
    .with("cycle", ids.iter().map(|id| Value::from(*id)).collect::<Vec<_>>())
    .with("cyclePath", path)
    .resolution("remove-an-edge-from-the-cycle")
}

/// The goal changed since the caller read it.
pub(super) fn stale_goal(goal: &Goal, given: &str) -> Failure {
    let mut failure = Failure::new(
        ErrorCode::Conflict,
        format!(
            "Nothing was changed: goal {} is not as you last read it. It was changed at {}, and you sent {}. Do not \
             send this call again as it is. Read the goal again, redo the change on its present text, and pass its \
             new updatedAt. Whatever the user confirmed before has to be asked for again.",
            stored(&goal.id),
            stored(&goal.updated_at),
            echo(given)
        ),
    )
    .retryable();
    failure.conflict = Some(Conflict::GoalUpdatedAt {
        id: goal.id.to_string(),
        expected_updated_at: given.to_owned(),
        actual_updated_at: goal.updated_at.to_string(),
        resolution: "refresh-and-retry".to_owned(),
    });
    failure
}

/// The file changed since the caller read it.
pub(super) fn stale_revision(roadmap: &Roadmap, given: u64) -> Failure {
    let actual = roadmap.revision();
    let mut failure = Failure::new(
        ErrorCode::Conflict,
        format!(
            "Nothing was changed: the roadmap is at revision {actual}, and you sent {given}. Read it again, check \
             whether the plan still fits what stands there now, have it approved again if it changes, and pass the \
             new revision."
        ),
    )
    .retryable();
    failure.conflict = Some(Conflict::Revision {
        expected_revision: given.to_string(),
        actual_revision: actual.to_string(),
        resolution: "refresh-and-retry".to_owned(),
    });
    failure
}

/// Another branch holds the goal.
pub(super) fn held(goal: &Goal, clearing: bool) -> Failure {
    let branch = goal.held_by().unwrap_or_default();
    let text = |key| goal.decoded(key).map(std::borrow::Cow::into_owned);
    let (claimed_at, claimed_by) = (text(Key::ClaimedAt), text(Key::ClaimedBy));
    let by = claimed_by.as_ref().map_or(String::new(), |name| format!(", claimed by {}", echo(name)));
    let since = claimed_at.as_ref().map_or(String::new(), |instant| format!(" since {}", stored(instant)));
    let next = if clearing {
        "Only a call from that branch gives the claim back; leave it to its holder."
    } else {
        "Take another goal; start without an id picks a free one."
    };
    let mut failure = Failure::new(
        ErrorCode::Conflict,
        format!(
            "Nothing was changed: branch {} holds goal {}{since}{by}. {next} Only when the user says that this claim \
             may be overruled does the same call with takeOver apply (--take-over on the command line).",
            echo(branch),
            stored(&goal.id)
        ),
    );
    failure.conflict = Some(Conflict::GoalClaimed {
        id: goal.id.to_string(),
        branch: branch.to_owned(),
        claimed_at,
        claimed_by,
        resolution: "choose-another-goal".to_owned(),
    });
    failure
}

/// A done or archived goal cannot be taken up.
pub(super) fn settled(goal: &Goal) -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "Nothing was changed: goal {} is {} and cannot be taken up. Choose another goal. Reopening this one needs \
             the user's own confirmation of exactly that; nothing said so far counts as one.",
            stored(&goal.id),
            goal.status.name()
        ),
    )
    .with("confirmation", "confirm=true")
    .with("id", &*goal.id)
    .resolution("reopen-project-goal")
}

/// No branch was given, and none is checked out.
pub(super) fn branch_needed() -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        "No goal was taken: no branch was given, and no branch is checked out where the call came from. Name the \
         branch that takes the goal, or check one out first.",
    )
    .fields(["branch"])
    .resolution("provide-project-start-branch")
}

/// The goal to go on behind is not part of this collection any more.
pub(super) fn lost_place(name: &str) -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "The answer cannot go on behind {}: that goal is no longer in this view. Read it again from the start, \
             without after.",
            echo(name)
        ),
    )
    .fields(["after"])
    .resolution("restart-from-the-first-page")
}

/// A plan refers to something that is neither in it nor stored.
pub(super) fn unknown_reference(reference: &str) -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "No goal of the plan was added: {} names neither an entry of the plan nor a stored goal. In a plan only \
             whole ids count, and for entries the id that their title gives. Add the missing goal to the plan or \
             correct the reference, and have the changed plan approved.",
            echo(reference)
        ),
    )
    .fields(["dependsOn"])
    .with("reference", reference)
    .resolution("add-batch-goal-or-use-existing-goal-id")
}

/// The file cannot count any further.
pub(super) fn last_revision() -> Failure {
    Failure::new(
        ErrorCode::PersistenceFailed,
        format!(
            "Nothing was changed: the goal file is at revision {REVISION_LIMIT}, the last one there is. Have a person \
             set \"revision\" in the file to a lower number."
        ),
    )
    .resolution("reset-project-revision")
}

/// A state that the rules exclude. Nothing is written.
pub(super) fn impossible(what: &str) -> Failure {
    Failure::new(
        ErrorCode::Unavailable,
        format!(
            "Nothing was changed: {what}. This is a fault in Stepstone; please report it with this message."
        ),
    )
    .resolution("report-this-failure")
}

impl From<Flaw> for Failure {
    /// Goals that the rules themselves make are always readable.
    fn from(flaw: Flaw) -> Self {
        impossible(&format!("a goal could not be made ({} {})", flaw.field.unwrap_or_default(), flaw.problem))
    }
}
