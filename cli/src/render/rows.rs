//! One line per goal: state, id, title, and by what it is held up or by whom it is held.
//!
//! Ids are never cut, so that they can be pasted. On a narrow terminal the title gives way first (an id is made from
//! it), then the mark is shortened.

use super::model::Goal;
use super::style::Tone;
use super::text::{cut, line, pad, width};
use super::{View, time};

/// Below so many columns a title or a mark says nothing any more.
const LEAST: usize = 8;
/// As much of a title is kept before a mark is shortened.
const TITLE: usize = 24;

/// The word for a goal's state, and its tone. Blocked comes from the engine, which derived it.
pub(super) fn state(goal: &Goal) -> (String, Tone) {
    match goal.status.as_str() {
        "active" => ("active".to_owned(), Tone::Active),
        "open" if is_held(goal) => ("claimed".to_owned(), Tone::Claimed),
        "open" if goal.blocked => ("blocked".to_owned(), Tone::Blocked),
        "open" => ("open".to_owned(), Tone::Open),
        settled @ ("done" | "archived") => (settled.to_owned(), Tone::Done),
        other => (line(other), Tone::Faint),
    }
}

fn is_held(goal: &Goal) -> bool {
    goal.branch.as_deref().is_some_and(|branch| !branch.is_empty())
}

impl View<'_> {
    /// Goals as lines. `indent` blanks stand before each; with `groups` the group is named behind the title.
    pub(super) fn rows(&self, goals: &[&Goal], indent: usize, groups: bool) -> Vec<String> {
        // A group is named where there is room for titles besides.
        let groups = groups && self.width.is_none_or(|width| width >= 100);
        let states = goals.iter().map(|goal| width(&state(goal).0)).max().unwrap_or(0);
        let ids = goals.iter().map(|goal| width(&line(&goal.id))).max().unwrap_or(0);
        let before = indent + states + 2;
        // Where aligned ids would leave no room for titles, each line takes what its own id leaves.
        let ids = if self.width.is_none_or(|width| before + ids + 2 + TITLE <= width) { ids } else { 0 };
        goals.iter().map(|goal| self.row(goal, (indent, states, ids), groups)).collect()
    }

    fn row(&self, goal: &Goal, (indent, states, ids): (usize, usize, usize), groups: bool) -> String {
        let (state, tone) = state(goal);
        let id = pad(&line(&goal.id), ids);
        let before = indent + states + 2 + width(&id) + 2;
        let marks = self.marks(goal, groups);
        let (title, mark) = match self.width {
            Some(width) => fit(&line(&goal.title), &marks, width.saturating_sub(before)),
            None => (line(&goal.title), marks.into_iter().next().unwrap_or_default()),
        };
        let settled = tone == Tone::Done;
        let faint = |text: &str| self.brush.paint(Tone::Faint, text);
        let mut row = " ".repeat(indent);
        row.push_str(&self.brush.paint(tone, &state));
        row.push_str(&" ".repeat(states.saturating_sub(width(&state)) + 2));
        row.push_str(&if settled { faint(&id) } else { id });
        if !title.is_empty() {
            row.push_str("  ");
            row.push_str(&if settled { faint(&title) } else { title });
        }
        if !mark.is_empty() {
            row.push_str("  ");
            row.push_str(&if is_held(goal) && tone != Tone::Done {
                self.brush.paint(Tone::Claimed, &mark)
            } else {
                faint(&mark)
            });
        }
        row.truncate(row.trim_end().len());
        row
    }

    /// What stands behind the title, from the fullest to the shortest form; empty when there is nothing to say.
    fn marks(&self, goal: &Goal, groups: bool) -> Vec<String> {
        let group = goal.group.as_deref().filter(|group| groups && !group.is_empty());
        let group = group.map(|group| format!("[{}]", line(group)));
        let (claim, waits) = (self.claim(goal), waits(&goal.blocked_by));
        if claim.is_empty() && waits.is_empty() {
            // A group is worth the room that is left, not a title.
            return group.into_iter().chain([String::new()]).collect();
        }
        let both = |claim: Option<&String>, waits: Option<&String>, group: Option<&String>| {
            let parts: Vec<&str> = claim.into_iter().chain(waits).map(String::as_str).collect();
            let held = parts.join("; ");
            // The group is no part of that sentence.
            group.map_or_else(|| held.clone(), |group| format!("{held}  {group}"))
        };
        vec![
            both(claim.first(), waits.first(), group.as_ref()),
            both(claim.first(), waits.first(), None),
            both(claim.get(1), waits.get(1), None),
            both(claim.last(), if claim.is_empty() { waits.last() } else { None }, None),
        ]
    }

    /// Who holds a goal, in three forms; empty when nobody does.
    fn claim(&self, goal: &Goal) -> Vec<String> {
        let Some(branch) = goal.branch.as_deref().filter(|branch| !branch.is_empty()) else {
            return Vec::new();
        };
        let known = self.known.goal(&goal.id);
        let by = goal.claimed_by.as_deref().or(known.and_then(|known| known.claimed_by.as_deref()));
        let at = goal.claimed_at.as_deref().or(known.and_then(|known| known.claimed_at.as_deref()));
        let branch = line(branch);
        let holder = match by {
            Some(by) => format!("{branch} by {}", line(by)),
            None => branch.clone(),
        };
        let full = match at.and_then(|at| time::ago(at, self.now)) {
            Some(ago) => format!("{holder}, {ago}"),
            None => holder.clone(),
        };
        vec![full, holder, branch]
    }
}

/// What a goal waits for, in full and in short; empty when it waits for nothing.
fn waits(ids: &[String]) -> Vec<String> {
    let Some(first) = ids.first().map(|id| line(id)) else { return Vec::new() };
    let all: Vec<String> = ids.iter().map(|id| line(id)).collect();
    let short = if ids.len() == 1 { first } else { format!("{first} and {} more", ids.len() - 1) };
    vec![format!("waits for {}", all.join(", ")), format!("waits for {short}")]
}

/// A title and the fullest mark that leaves it room. Where there is none, the title goes: the id is made from it, but
/// who holds a goal or what holds it up stands nowhere else.
fn fit(title: &str, marks: &[String], columns: usize) -> (String, String) {
    let cut_title = |columns: usize| if columns < LEAST { String::new() } else { cut(title, columns) };
    let Some(shortest) = marks.last() else { return (cut_title(columns), String::new()) };
    let wanted = width(title).min(TITLE);
    if let Some(mark) = marks.iter().find(|mark| wanted + 2 + width(mark) <= columns) {
        return (cut_title(columns.saturating_sub(width(mark) + 2)), mark.clone());
    }
    if shortest.is_empty() {
        return (cut_title(columns), String::new());
    }
    let mark = marks.iter().find(|mark| width(mark) <= columns).unwrap_or(shortest);
    (String::new(), if columns < LEAST { String::new() } else { cut(mark, columns) })
}
