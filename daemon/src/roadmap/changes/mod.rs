//! The changes: each is decided on one content and one instant, and gives an answer, a new content, or a refusal.

mod add;
mod lifecycle;
mod migrate;
mod place;
mod plan;
mod start;
mod update;

use std::sync::Arc;

use serde_json::value::RawValue;
use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::{Change, Target};

use super::answer::Answer;
use super::document::{Changed, Roadmap};
use super::goal::{Goal, Key};
use super::names::Names;
use super::refusal::{self, Entity};
use super::{cycle, instant, text};

/// What a change needs to know beside the content.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// Milliseconds since 1970. One change is one instant.
    pub now_ms: i64,
    /// Who asks, stored as `claimedBy`.
    pub claimed_by: &'a str,
    /// The branch checked out in the caller's own work tree; `None` when none is.
    pub branch: Option<&'a str>,
}

/// What becomes of a change.
#[derive(Debug, Clone)]
pub enum Decision {
    /// Nothing is to be written: a dry run, or it already is what was asked for.
    Answer {
        /// The whole result object.
        result: Box<RawValue>,
        /// It already is so (and this was no dry run).
        no_op: bool,
    },
    /// The next content is to be written.
    Write {
        /// Its revision is one more.
        next: Roadmap,
        /// Every goal that changed, sorted.
        changed_ids: Vec<String>,
        /// The whole result object.
        result: Box<RawValue>,
    },
}

/// Decides a change on one content. The same content and moment always give the same decision, so it may be decided
/// again on fresher content.
///
/// # Errors
/// The change's own refusals (roadmap rules): `NOT_FOUND`, `VALIDATION_FAILED`, `DEPENDENCY_CYCLE`, `CONFLICT`; and
/// `PERSISTENCE_FAILED` when the file's revision is the last one there is.
pub fn decide(roadmap: &Roadmap, change: &Change, moment: &Moment<'_>) -> Result<Decision, Failure> {
    match change {
        Change::Add(goal) => add::add(roadmap, goal, moment),
        Change::ApplyPlan { entries, dry_run, expected_revision } => {
            plan::apply(roadmap, entries, *dry_run, *expected_revision, moment)
        }
        Change::Update { target, edit } => update::update(roadmap, target, edit, moment),
        Change::Move { id, placement } => place::place(roadmap, id, placement),
        Change::Start(start) => start::start(roadmap, start, moment),
        Change::SetActive(target) => lifecycle::set_active(roadmap, target, moment),
        Change::Complete(target) => lifecycle::complete(roadmap, target, moment),
        Change::Reopen(target) => lifecycle::reopen(roadmap, target, moment),
        Change::Archive(target) => lifecycle::archive(roadmap, target, moment),
        Change::Delete(target) => lifecycle::delete(roadmap, target, moment),
        Change::MigrateIds { dry_run } => migrate::migrate_ids(roadmap, *dry_run, moment),
    }
}

/// Changes to fields: a new value as JSON text, or none to take the field out.
type Edits = Vec<(Key, Option<String>)>;

/// The goal that a target means, on the state that the caller read.
fn targeted<'a>(roadmap: &'a Roadmap, target: &Target) -> Result<(usize, &'a Arc<Goal>), Failure> {
    let place = roadmap.goal_named("id", &target.id)?;
    let goal = roadmap.goal_at(place)?;
    if let Some(expected) = &target.expected_updated_at {
        let matches = match instant::nanoseconds(&goal.updated_at) {
            Some(stored) => stored == expected.instant,
            None => *goal.updated_at == *expected.given,
        };
        if !matches {
            return Err(refusal::stale_goal(goal, &expected.given));
        }
    }
    Ok((place, goal))
}

fn goal_at(goals: &[Arc<Goal>], place: usize) -> Result<&Arc<Goal>, Failure> {
    goals.get(place).ok_or_else(|| refusal::impossible("the goal to change does not exist"))
}

/// The live ids that selectors mean, each once, in the order given.
fn edges_named(roadmap: &Roadmap, selectors: &[String]) -> Result<Vec<Arc<str>>, Failure> {
    let mut ids: Vec<Arc<str>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for selector in selectors {
        let place = roadmap.entity_named(Entity::Dependency, "dependsOn", selector)?;
        if seen.insert(place) {
            ids.push(Arc::clone(&roadmap.goal_at(place)?.id));
        }
    }
    Ok(ids)
}

/// Adds the field with a list of texts, if there are any.
fn push_texts<S: AsRef<str>>(fields: &mut Vec<(Key, String)>, key: Key, texts: &[S]) {
    if !texts.is_empty() {
        fields.push((key, text::quoted_all(texts)));
    }
}

/// The result of a change that is about one goal.
fn about(action: &str, goal: &Goal) -> Answer {
    let mut answer = Answer::new(action);
    answer.raw("goal", &goal.whole(&[]));
    answer
}

/// It already is so.
fn no_op(answer: Answer) -> Result<Decision, Failure> {
    Ok(Decision::Answer { result: answer.finish()?, no_op: true })
}

/// A content in the making.
struct Draft<'a> {
    old: &'a Roadmap,
    goals: Vec<Arc<Goal>>,
    /// The names of `goals`, as long as they are known without reading all of them again.
    names: Option<Names>,
    retired: Option<Vec<Box<str>>>,
    changed: Vec<String>,
    now_ms: i64,
}

impl<'a> Draft<'a> {
    fn of(old: &'a Roadmap, now_ms: i64) -> Self {
        Self {
            old,
            goals: old.goals().to_vec(),
            names: Some(old.names().clone()),
            retired: None,
            changed: Vec::new(),
            now_ms,
        }
    }

    /// Edits the goal at a place and stamps it. Its id stays, unless the edits hold another one.
    fn edit(&mut self, place: usize, mut edits: Edits) -> Result<Arc<Goal>, Failure> {
        let goal = goal_at(&self.goals, place)?;
        edits.push((Key::UpdatedAt, Some(text::quoted(&instant::following(&goal.updated_at, self.now_ms)))));
        let edited = Arc::new(goal.with(&edits)?);
        if edited.id != goal.id {
            self.names = None;
        }
        self.changed.push(edited.id.to_string());
        if let Some(goal) = self.goals.get_mut(place) {
            *goal = Arc::clone(&edited);
        }
        Ok(edited)
    }

    /// Appends a new goal.
    fn push(&mut self, goal: Goal) {
        self.names = self.names.take().map(|names| names.with(&goal, self.goals.len()));
        self.changed.push(goal.id.to_string());
        self.goals.push(Arc::new(goal));
    }

    /// Takes a goal out.
    fn remove(&mut self, place: usize) {
        if place < self.goals.len() {
            let goal = self.goals.remove(place);
            self.changed.push(goal.id.to_string());
            self.names = None;
        }
    }

    /// Moves the goal at a place so that it stands at another.
    fn reorder(&mut self, from: usize, to: usize) {
        if from < self.goals.len() && to < self.goals.len() {
            let goal = self.goals.remove(from);
            self.changed.push(goal.id.to_string());
            self.goals.insert(to, goal);
            self.names = None;
        }
    }

    /// The next content.
    fn finish(self) -> Result<Next, Failure> {
        let Self { old, goals, names, retired, mut changed, .. } = self;
        changed.sort_unstable();
        changed.dedup();
        let next = old.followed_by(Changed { goals, names, retired }).ok_or_else(refusal::last_revision)?;
        Ok(Next { roadmap: next, changed_ids: changed })
    }
}

/// A content that a change made, not yet answered.
struct Next {
    roadmap: Roadmap,
    changed_ids: Vec<String>,
}

impl Next {
    /// Refuses when this goal would wait for itself.
    fn without_loop_through(self, place: usize) -> Result<Self, Failure> {
        let cycle = cycle::through(&self.roadmap, &[place]);
        self.without(cycle.as_deref())
    }

    /// Refuses when one of the goals that were added from this place on would wait for itself.
    fn without_new_loops(self, first: usize) -> Result<Self, Failure> {
        let cycle = cycle::through_new(&self.roadmap, first);
        self.without(cycle.as_deref())
    }

    fn without(self, cycle: Option<&[usize]>) -> Result<Self, Failure> {
        let Some(cycle) = cycle else { return Ok(self) };
        let goals = cycle.iter().filter_map(|place| self.roadmap.goals().get(*place));
        Err(refusal::cycle(&goals.map(|goal| &*goal.id).collect::<Vec<_>>()))
    }

    fn write(self, answer: Answer) -> Result<Decision, Failure> {
        Ok(Decision::Write { next: self.roadmap, changed_ids: self.changed_ids, result: answer.finish()? })
    }
}
