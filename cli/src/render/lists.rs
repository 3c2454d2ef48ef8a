//! `list`, `find`, `ready`, `waves`, `next`, and the kinds of empty.

use serde_json::{Map, Value};

use super::model::{Answer, Goal, Summary};
use super::style::Tone;
use super::text::{line, wrap};
use super::{View, goal};

/// Unfinished goals that are named when nothing is ready.
const NAMED: usize = 10;

/// Every goal, with a heading for each group. Groups stand in the order in which they first appear.
pub(super) fn list(view: &View<'_>, answer: &Answer, asked: &Map<String, Value>) -> String {
    let goals = answer.goals.as_deref().unwrap_or_default();
    if goals.is_empty() {
        let filtered =
            ["status", "group", "claimed", "after"].iter().any(|filter| asked.contains_key(*filter));
        return match (answer.summary, filtered) {
            (_, true) if asked.contains_key("claimed") => "Nobody works on a goal now.\n".to_owned(),
            (Some(summary), true) if total(&summary) > 0 => "No goal passes this filter.\n".to_owned(),
            _ => no_goals(),
        };
    }
    if is_full(asked) {
        return whole(view, goals, answer);
    }
    let mut sections: Vec<(Option<&str>, Vec<&Goal>)> = Vec::new();
    for goal in goals {
        let group = goal.group.as_deref().filter(|group| !group.is_empty());
        match sections.iter_mut().find(|(other, _)| *other == group) {
            Some((_, goals)) => goals.push(goal),
            None => sections.push((group, vec![goal])),
        }
    }
    // One alignment for the whole list, whatever the section.
    let ordered: Vec<&Goal> = sections.iter().flat_map(|(_, goals)| goals.iter().copied()).collect();
    let headed = sections.iter().any(|(group, _)| group.is_some());
    let mut rows = view.rows(&ordered, if headed { 2 } else { 0 }, false).into_iter();
    let mut out = String::new();
    for (group, goals) in &sections {
        if headed {
            if !out.is_empty() {
                out.push('\n');
            }
            let heading = group.map_or_else(|| "No group".to_owned(), line);
            out.push_str(&view.brush.paint(Tone::Strong, &heading));
            out.push('\n');
        }
        for row in rows.by_ref().take(goals.len()) {
            out.push_str(&row);
            out.push('\n');
        }
    }
    out.push_str(&footer(view, answer));
    out
}

/// Goals that mention a text.
pub(super) fn find(view: &View<'_>, answer: &Answer, asked: &Map<String, Value>) -> String {
    let goals = answer.goals.as_deref().unwrap_or_default();
    if goals.is_empty() {
        let query = asked.get("query").and_then(Value::as_str).unwrap_or_default();
        return format!("No goal mentions \"{}\".\n", line(query));
    }
    flat(view, goals, answer, asked)
}

/// What can be started now.
pub(super) fn ready(view: &View<'_>, answer: &Answer, asked: &Map<String, Value>) -> String {
    let goals = answer.goals.as_deref().unwrap_or_default();
    if goals.is_empty() {
        return nothing_ready(view, answer.summary);
    }
    flat(view, goals, answer, asked)
}

/// The goal to take up.
pub(super) fn next(view: &View<'_>, answer: &Answer) -> String {
    match &answer.goal {
        Some(goal) => lines(&view.rows(&[goal], 0, true)),
        None => nothing_ready(view, None),
    }
}

/// Unfinished goals by wave.
pub(super) fn waves(view: &View<'_>, answer: &Answer, asked: &Map<String, Value>) -> String {
    let waves = answer.waves.as_deref().unwrap_or_default();
    if waves.iter().all(Vec::is_empty) && answer.unreachable_goals.is_empty() {
        return nothing_waits(answer.summary);
    }
    let all: Vec<&Goal> = waves.iter().flatten().chain(&answer.unreachable_goals).collect();
    let full = is_full(asked);
    let mut rows = if full { Vec::new() } else { view.rows(&all, 2, true) }.into_iter();
    let mut out = String::new();
    let named = waves.iter().enumerate().map(|(at, goals)| (format!("Wave {}", at + 1), goals));
    let unreachable = (!answer.unreachable_goals.is_empty())
        .then(|| ("Never: behind a loop or an edge to nothing".to_owned(), &answer.unreachable_goals));
    for (heading, goals) in named.chain(unreachable) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&view.brush.paint(Tone::Strong, &heading));
        out.push('\n');
        if full {
            out.push_str(&pages(view, goals));
        } else {
            out.push_str(&lines(&rows.by_ref().take(goals.len()).collect::<Vec<_>>()));
        }
    }
    out.push_str(&footer(view, answer));
    out
}

/// Why nothing is ready: no goals, all settled, or all blocked or claimed, and by what.
pub(super) fn nothing_ready(view: &View<'_>, summary: Option<Summary>) -> String {
    let Some(summary) = summary.or(view.known.summary) else { return "No goal is ready.\n".to_owned() };
    let unfinished = summary.open + summary.active;
    if total(&summary) == 0 {
        return no_goals();
    }
    if unfinished == 0 {
        return settled(&summary);
    }
    let goals: Vec<&Goal> = view.known.unfinished().collect();
    let mut out = match unfinished {
        1 => "No goal is ready: the one that is unfinished is blocked or claimed.\n".to_owned(),
        count => format!("No goal is ready: all {count} unfinished goals are blocked or claimed.\n"),
    };
    let shown = goals.get(..NAMED.min(goals.len())).unwrap_or_default();
    out.push_str(&lines(&view.rows(shown, 2, false)));
    if goals.len() > shown.len() {
        out.push_str(&format!("  and {} more: stepstone waves\n", goals.len() - shown.len()));
    }
    out
}

fn nothing_waits(summary: Option<Summary>) -> String {
    match summary {
        Some(summary) if total(&summary) > 0 => settled(&summary),
        _ => no_goals(),
    }
}

fn settled(summary: &Summary) -> String {
    match total(summary) {
        1 => "Nothing is left to do: the one goal is done or archived.\n".to_owned(),
        count => format!("Nothing is left to do: all {count} goals are done or archived.\n"),
    }
}

fn no_goals() -> String {
    "There are no goals yet. The first: stepstone add <title...>\n".to_owned()
}

fn total(summary: &Summary) -> usize {
    summary.open + summary.active + summary.done + summary.archived
}

fn is_full(asked: &Map<String, Value>) -> bool {
    asked.get("full") == Some(&Value::Bool(true))
}

fn flat(view: &View<'_>, goals: &[Goal], answer: &Answer, asked: &Map<String, Value>) -> String {
    if is_full(asked) {
        return whole(view, goals, answer);
    }
    let goals: Vec<&Goal> = goals.iter().collect();
    let mut out = lines(&view.rows(&goals, 0, true));
    out.push_str(&footer(view, answer));
    out
}

/// Goals as pages, one under the other.
fn whole(view: &View<'_>, goals: &[Goal], answer: &Answer) -> String {
    let mut out = pages(view, goals);
    out.push_str(&footer(view, answer));
    out
}

fn pages(view: &View<'_>, goals: &[Goal]) -> String {
    goals.iter().map(|goal| goal::page(view, goal)).collect::<Vec<_>>().join("\n")
}

fn lines(rows: &[String]) -> String {
    rows.iter().fold(String::new(), |mut out, row| {
        out.push_str(row);
        out.push('\n');
        out
    })
}

/// What was left out, wherever it goes; and the counts, where somebody looks.
fn footer(view: &View<'_>, answer: &Answer) -> String {
    let mut out = String::new();
    if answer.more {
        let last = answer.goals.as_deref().and_then(<[Goal]>::last).map(|goal| line(&goal.id));
        let on = last.map(|id| format!("; go on with --after {id}")).unwrap_or_default();
        let of = answer.total.map(|total| format!(" of {total}")).unwrap_or_default();
        out.push_str(&view.brush.paint(Tone::Faint, &format!("There are more{of}{on}.")));
        out.push('\n');
    }
    if let (Some(columns), Some(summary)) = (view.width, answer.summary) {
        let counts = [
            (summary.ready, "ready"),
            (summary.blocked, "blocked"),
            (summary.claimed, "claimed"),
            (summary.done, "done"),
            (summary.archived, "archived"),
        ];
        let said: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let goals = match total(&summary) {
            1 => "1 goal".to_owned(),
            count => format!("{count} goals"),
        };
        out.push('\n');
        for part in wrap(&format!("{goals}: {}", said.join(", ")), columns) {
            out.push_str(&view.brush.paint(Tone::Faint, &part));
            out.push('\n');
        }
    }
    out
}
