//! `start`: a goal's claim.

use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::{Start, Target};

use super::{Decision, Draft, Edits, Moment, about, no_op, targeted};
use crate::roadmap::answer::Answer;
use crate::roadmap::document::Roadmap;
use crate::roadmap::goal::{Goal, Key};
use crate::roadmap::{instant, refusal, text};

/// The fields of a claim.
pub(super) const CLAIM: [Key; 3] = [Key::Branch, Key::ClaimedAt, Key::ClaimedBy];

pub(super) fn start(roadmap: &Roadmap, start: &Start, moment: &Moment<'_>) -> Result<Decision, Failure> {
    match start {
        Start::Next { branch } => next(roadmap, branch.as_deref(), moment),
        Start::Take { target, branch, take_over } => {
            take(roadmap, target, branch.as_deref(), *take_over, moment)
        }
        Start::Clear { target, take_over } => clear(roadmap, target, *take_over, moment),
    }
}

/// The edits that give a claim back; none when there is none.
pub(super) fn release(goal: &Goal) -> Edits {
    CLAIM.into_iter().filter(|key| goal.has(*key)).map(|key| (key, None)).collect()
}

fn branch_for<'a>(given: Option<&'a str>, moment: &Moment<'a>) -> Result<&'a str, Failure> {
    let own = moment.branch.map(str::trim).filter(|branch| !branch.is_empty());
    given.or(own).ok_or_else(refusal::branch_needed)
}

fn next(roadmap: &Roadmap, branch: Option<&str>, moment: &Moment<'_>) -> Result<Decision, Failure> {
    let Some(place) = roadmap.ready().next() else {
        return no_op(Answer::new("start"));
    };
    claim(roadmap, place, branch_for(branch, moment)?, moment)
}

fn take(
    roadmap: &Roadmap,
    target: &Target,
    branch: Option<&str>,
    take_over: bool,
    moment: &Moment<'_>,
) -> Result<Decision, Failure> {
    let (place, goal) = targeted(roadmap, target)?;
    if goal.status.is_settled() {
        return Err(refusal::settled(goal));
    }
    let branch = branch_for(branch, moment)?;
    match goal.held_by() {
        Some(holder) if holder == branch => no_op(answer(roadmap, place, goal)?),
        Some(_) if !take_over => Err(refusal::held(goal, false)),
        _ => claim(roadmap, place, branch, moment),
    }
}

fn claim(roadmap: &Roadmap, place: usize, branch: &str, moment: &Moment<'_>) -> Result<Decision, Failure> {
    let edits = vec![
        (Key::Branch, Some(text::quoted(branch))),
        (Key::ClaimedAt, Some(text::quoted(&instant::written(moment.now_ms)))),
        (Key::ClaimedBy, Some(text::quoted(moment.claimed_by))),
    ];
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let goal = draft.edit(place, edits)?;
    draft.finish()?.write(answer(roadmap, place, &goal)?)
}

/// A claim changes no edge, so what the goal waits for can be read from the old content.
fn answer(roadmap: &Roadmap, place: usize, goal: &Goal) -> Result<Answer, Failure> {
    let mut answer = about("start", goal);
    let blocked_by = roadmap.blocked_by(roadmap.goal_at(place)?);
    if !blocked_by.is_empty() {
        answer.put("blockedBy", &blocked_by)?;
    }
    Ok(answer)
}

fn clear(
    roadmap: &Roadmap,
    target: &Target,
    take_over: bool,
    moment: &Moment<'_>,
) -> Result<Decision, Failure> {
    let (place, goal) = targeted(roadmap, target)?;
    let edits = release(goal);
    if edits.is_empty() {
        return no_op(about("start", goal));
    }
    let own = moment.branch.map(str::trim);
    if goal.held_by().is_some_and(|holder| Some(holder) != own) && !take_over {
        return Err(refusal::held(goal, true));
    }
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let goal = draft.edit(place, edits)?;
    draft.finish()?.write(about("start", &goal))
}
