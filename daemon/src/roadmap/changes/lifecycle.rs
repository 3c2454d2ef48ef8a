//! A goal's state: active, done, open, archived, gone.

use std::collections::HashSet;

use stepstone_proto::envelope::Failure;
use stepstone_proto::goal::Status;
use stepstone_proto::operation::Target;

use super::{Decision, Draft, Moment, about, no_op, start, targeted};
use crate::roadmap::document::Roadmap;
use crate::roadmap::goal::{Goal, Key};
use crate::roadmap::{instant, refusal, text};

fn status(status: Status) -> (Key, Option<String>) {
    (Key::Status, Some(text::quoted(status.name())))
}

pub(super) fn set_active(
    roadmap: &Roadmap,
    target: &Target,
    moment: &Moment<'_>,
) -> Result<Decision, Failure> {
    let (place, goal) = targeted(roadmap, target)?;
    if goal.status.is_settled() {
        return Err(refusal::settled(goal));
    }
    let active = roadmap.goals().iter().enumerate().filter(|(_, goal)| goal.status == Status::Active);
    let others: Vec<usize> = active.map(|(other, _)| other).filter(|other| *other != place).collect();
    let blocked_by = roadmap.blocked_by(goal);
    let mut deactivated = Vec::new();
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let is_no_op = goal.status == Status::Active && others.is_empty();
    let mut answer = if is_no_op {
        about("set_active", goal)
    } else {
        for other in others {
            deactivated.push(draft.edit(other, vec![status(Status::Open)])?.id.to_string());
        }
        about("set_active", &*draft.edit(place, vec![status(Status::Active)])?)
    };
    if !blocked_by.is_empty() {
        answer.put("blockedBy", &blocked_by)?;
    }
    if !deactivated.is_empty() {
        answer.put("deactivated", &deactivated)?;
    }
    if is_no_op { no_op(answer) } else { draft.finish()?.write(answer) }
}

pub(super) fn complete(roadmap: &Roadmap, target: &Target, moment: &Moment<'_>) -> Result<Decision, Failure> {
    settle(roadmap, target, Status::Done, moment)
}

pub(super) fn archive(roadmap: &Roadmap, target: &Target, moment: &Moment<'_>) -> Result<Decision, Failure> {
    settle(roadmap, target, Status::Archived, moment)
}

/// Settles a goal and gives its claim back. A goal that is settled in this way already only loses a claim that it
/// still holds; when it was completed stays as it is.
fn settle(roadmap: &Roadmap, target: &Target, to: Status, moment: &Moment<'_>) -> Result<Decision, Failure> {
    let action = if to == Status::Done { "complete" } else { "archive" };
    let (place, goal) = targeted(roadmap, target)?;
    let mut edits = start::release(goal);
    if goal.status != to {
        edits.push(status(to));
        if to == Status::Done {
            edits.push((Key::CompletedAt, Some(text::quoted(&instant::written(moment.now_ms)))));
        }
    }
    if edits.is_empty() {
        return no_op(about(action, goal));
    }
    let released = if goal.status.is_settled() { Vec::new() } else { released_by(roadmap, place) };
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let mut answer = about(action, &*draft.edit(place, edits)?);
    if !released.is_empty() {
        answer.put("released", &released)?;
    }
    draft.finish()?.write(answer)
}

/// The goals that become ready when this one settles, in file order: open, held by nobody, and waiting for nothing
/// else.
fn released_by(roadmap: &Roadmap, place: usize) -> Vec<&str> {
    let is_satisfied =
        |edge: &str| roadmap.names().resolved(edge) == Some(place) || roadmap.is_edge_satisfied(edge);
    let is_released = |goal: &Goal| {
        goal.status == Status::Open
            && !goal.is_claimed()
            && goal.depends_on.iter().all(|edge| is_satisfied(edge))
    };
    let dependents = roadmap.dependents(place).filter(|(dependent, _)| *dependent != place);
    dependents.filter(|(_, goal)| is_released(goal)).map(|(_, goal)| &*goal.id).collect()
}

pub(super) fn reopen(roadmap: &Roadmap, target: &Target, moment: &Moment<'_>) -> Result<Decision, Failure> {
    let (place, goal) = targeted(roadmap, target)?;
    if goal.status == Status::Open {
        return no_op(about("reopen", goal));
    }
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let reopened = draft.edit(place, vec![status(Status::Open), (Key::CompletedAt, None)])?;
    draft.finish()?.write(about("reopen", &reopened))
}

/// Removes a goal with every edge to it, and reserves its ids for good.
pub(super) fn delete(roadmap: &Roadmap, target: &Target, moment: &Moment<'_>) -> Result<Decision, Failure> {
    let (place, goal) = targeted(roadmap, target)?;
    let mut draft = Draft::of(roadmap, moment.now_ms);
    for (dependent, waiting) in roadmap.dependents(place).filter(|(dependent, _)| *dependent != place) {
        let edges = waiting.depends_on.iter().map(|edge| &**edge);
        let left: Vec<&str> = edges.filter(|edge| roadmap.names().resolved(edge) != Some(place)).collect();
        draft.edit(dependent, vec![(Key::DependsOn, (!left.is_empty()).then(|| text::quoted_all(&left)))])?;
    }
    draft.remove(place);
    let own = std::iter::once(&*goal.id).chain(goal.previous_ids.iter().map(|id| &**id));
    let mut seen = HashSet::new();
    let all = roadmap.retired().iter().map(|id| &**id).chain(own).filter(|id| seen.insert(*id));
    draft.retired = Some(all.map(Box::from).collect());
    draft.finish()?.write(about("delete", goal))
}
