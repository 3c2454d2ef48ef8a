//! The reads.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use stepstone_proto::envelope::Failure;
use stepstone_proto::goal::Status;
use stepstone_proto::operation::{Filter, Read, View};

use super::answer::{Answer, Style};
use super::document::Roadmap;
use super::goal::{Goal, Key};
use super::names::{Selected, places_by_prefix};
use super::refusal::{self, Entity};
use super::why;

/// Answers a read: the whole result object. `action` is the name that the answer carries.
///
/// # Errors
/// `NOT_FOUND` or `VALIDATION_FAILED` where a selector names no goal or several.
pub fn read(roadmap: &Roadmap, action: &str, read: &Read) -> Result<Box<RawValue>, Failure> {
    let mut answer = Answer::new(action);
    match read {
        Read::List { filter, view } => {
            let style = Style { claim: filter.claimed, ..style(view) };
            collection(&mut answer, roadmap, listed(roadmap, filter), view, style)?;
        }
        Read::Find { query, view } => {
            collection(&mut answer, roadmap, found(roadmap, query), view, style(view))?;
        }
        Read::Ready(view) => collection(&mut answer, roadmap, roadmap.ready().collect(), view, style(view))?,
        Read::Waves(view) => waves(&mut answer, roadmap, view)?,
        Read::Show { id } => show(&mut answer, roadmap, id)?,
        Read::Why { id } => why::why(&mut answer, roadmap, roadmap.goal_named("id", id)?)?,
        Read::Next => {
            if let Some(place) = roadmap.ready().next() {
                answer.raw("goal", &roadmap.goal_at(place)?.whole(&[]));
            }
        }
        Read::Ids { prefix, limit } => ids(&mut answer, roadmap, prefix, *limit)?,
    }
    answer.finish()
}

impl Roadmap {
    /// The goal at a place that was found before.
    pub(super) fn goal_at(&self, place: usize) -> Result<&Arc<Goal>, Failure> {
        self.goals().get(place).ok_or_else(|| refusal::impossible("a goal that was found is not there"))
    }

    /// The place of the goal that a selector means.
    pub(super) fn goal_named(&self, field: &str, selector: &str) -> Result<usize, Failure> {
        self.entity_named(Entity::Goal, field, selector)
    }

    pub(super) fn entity_named(&self, entity: Entity, field: &str, selector: &str) -> Result<usize, Failure> {
        match self.selected(selector) {
            Selected::One(place) => Ok(place),
            Selected::Many(places) => Err(refusal::ambiguous(self, field, selector, &places)),
            Selected::Nothing => Err(refusal::not_found(entity, selector)),
        }
    }
}

fn style(view: &View) -> Style {
    Style { full: view.full, explain: view.explain, claim: false }
}

fn listed(roadmap: &Roadmap, filter: &Filter) -> Vec<usize> {
    let passes = |goal: &Goal| {
        (filter.status.is_empty() || filter.status.contains(&goal.status))
            && filter.group.as_ref().is_none_or(|group| goal.group.as_deref() == Some(group))
            && (!filter.claimed || goal.is_claimed())
    };
    places(roadmap, passes)
}

fn found(roadmap: &Roadmap, query: &str) -> Vec<usize> {
    let query = query.to_lowercase();
    let holds = |text: &str| text.to_lowercase().contains(&query);
    places(roadmap, |goal| {
        holds(&goal.title) || goal.decoded(Key::Description).is_some_and(|text| holds(&text))
    })
}

fn places(roadmap: &Roadmap, passes: impl Fn(&Goal) -> bool) -> Vec<usize> {
    roadmap.goals().iter().enumerate().filter(|(_, goal)| passes(goal)).map(|(place, _)| place).collect()
}

/// How much of a collection has been shown, and how much may be.
struct Page<'a> {
    view: &'a View,
    goals: usize,
    characters: usize,
    is_cut: bool,
}

impl<'a> Page<'a> {
    fn new(view: &'a View) -> Self {
        Self { view, goals: 0, characters: 0, is_cut: false }
    }

    /// Whether this goal still belongs on the page. The first one always does.
    fn takes(&mut self, json: &str) -> bool {
        self.goals += 1;
        self.characters += json.chars().count();
        let is_over = self.view.limit.is_some_and(|limit| self.goals > limit)
            || self.view.characters.is_some_and(|limit| self.characters > limit && self.goals > 1);
        self.is_cut |= is_over;
        !self.is_cut
    }

    /// Shows goals until one does not belong on the page any more, as one array behind `text`. How many there are.
    fn show(
        &mut self,
        roadmap: &Roadmap,
        places: &[usize],
        style: Style,
        text: &mut String,
    ) -> Result<usize, Failure> {
        let mut shown = 0;
        text.push('[');
        for place in places {
            let json = roadmap.shown(*place, style)?;
            if !self.takes(&json) {
                break;
            }
            if shown > 0 {
                text.push(',');
            }
            text.push_str(&json);
            shown += 1;
        }
        text.push(']');
        Ok(shown)
    }

    /// `total` and `more`, when something was left out behind; `summary`, when it was asked for.
    fn close(&self, answer: &mut Answer, roadmap: &Roadmap, total: usize) -> Result<(), Failure> {
        if self.is_cut {
            answer.put("total", &total)?;
            answer.put("more", &true)?;
        }
        if self.view.explain {
            answer.put("summary", &Summary::of(roadmap))?;
        }
        Ok(())
    }
}

fn collection(
    answer: &mut Answer,
    roadmap: &Roadmap,
    places: Vec<usize>,
    view: &View,
    style: Style,
) -> Result<(), Failure> {
    let total = places.len();
    // The goal to go on behind may have left the collection since; its place in the file still counts.
    let rest = match &view.after {
        None => places,
        Some(after) => {
            let behind = roadmap.goal_named("after", after)?;
            places.into_iter().filter(|place| *place > behind).collect()
        }
    };
    let mut page = Page::new(view);
    page.show(roadmap, &rest, style, answer.begin("goals"))?;
    page.close(answer, roadmap, total)
}

fn waves(answer: &mut Answer, roadmap: &Roadmap, view: &View) -> Result<(), Failure> {
    let mut found = roadmap.waves();
    let total = found.waves.iter().map(Vec::len).sum::<usize>() + found.unreachable.len();
    if let Some(after) = &view.after {
        let behind = roadmap.goal_named("after", after)?;
        let mut is_behind = false;
        for wave in found.waves.iter_mut().chain([&mut found.unreachable]) {
            wave.retain(|place| {
                let keep = is_behind;
                is_behind |= *place == behind;
                keep
            });
        }
        if !is_behind {
            return Err(refusal::lost_place(after));
        }
    }
    let mut page = Page::new(view);
    let text = answer.begin("waves");
    text.push('[');
    for (number, wave) in found.waves.iter().enumerate() {
        if page.is_cut {
            break;
        }
        let before = text.len();
        if number > 0 {
            text.push(',');
        }
        let shown = page.show(roadmap, wave, style(view), text)?;
        // A wave that an earlier page has shown stays as an empty one, so that each keeps its number. One of which
        // nothing fits any more is left for the next page.
        if page.is_cut && shown == 0 {
            text.truncate(before);
        }
    }
    text.push(']');
    if !page.is_cut && !found.unreachable.is_empty() {
        let mut goals = String::new();
        if page.show(roadmap, &found.unreachable, style(view), &mut goals)? > 0 {
            answer.raw("unreachableGoals", &goals);
        }
    }
    page.close(answer, roadmap, total)
}

fn show(answer: &mut Answer, roadmap: &Roadmap, id: &str) -> Result<(), Failure> {
    let place = roadmap.goal_named("id", id)?;
    let goal = roadmap.goal_at(place)?;
    answer.raw("goal", &goal.whole(&[]));
    let blocked_by = roadmap.blocked_by(goal);
    answer.put("blocked", &!blocked_by.is_empty())?;
    answer.put("blocks", &roadmap.blocks(place))?;
    if !blocked_by.is_empty() {
        answer.put("blockedBy", &blocked_by)?;
    }
    Ok(())
}

fn ids(answer: &mut Answer, roadmap: &Roadmap, prefix: &str, limit: usize) -> Result<(), Failure> {
    let places = places_by_prefix(roadmap.goals(), prefix);
    let ids: Vec<&str> = places
        .iter()
        .take(limit)
        .filter_map(|place| roadmap.goals().get(*place))
        .map(|goal| &*goal.id)
        .collect();
    answer.put("ids", &ids)?;
    answer.put("total", &places.len())?;
    if ids.len() < places.len() {
        answer.put("more", &true)?;
    }
    Ok(())
}

/// How many goals are in which state, over the whole roadmap.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Summary {
    open: usize,
    active: usize,
    done: usize,
    archived: usize,
    ready: usize,
    blocked: usize,
    claimed: usize,
}

impl Summary {
    fn of(roadmap: &Roadmap) -> Self {
        let mut summary = Self::default();
        for goal in roadmap.goals() {
            match goal.status {
                Status::Open => summary.open += 1,
                Status::Active => summary.active += 1,
                Status::Done => summary.done += 1,
                Status::Archived => summary.archived += 1,
            }
            summary.ready += usize::from(roadmap.is_ready(goal));
            summary.blocked += usize::from(roadmap.is_blocked(goal));
            summary.claimed += usize::from(goal.is_claimed());
        }
        summary
    }
}
