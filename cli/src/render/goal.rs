//! One goal as a page.

use super::model::{Answer, Goal};
use super::rows::state;
use super::style::Tone;
use super::text::{line, lines, pad, wrap};
use super::{View, time};

/// The widest that running text is set, however wide the terminal is.
const MEASURE: usize = 100;
/// Labels and the blanks behind them.
const LABEL: usize = 11;

/// `show`: the goal, what it waits for and what waits for it.
pub(super) fn show(view: &View<'_>, answer: &Answer) -> String {
    let Some(goal) = &answer.goal else { return String::new() };
    let goal = Goal { blocked: answer.blocked, blocked_by: answer.blocked_by.clone(), ..goal.clone() };
    let mut out = head(view, &goal);
    out.push_str(&named(view, "Depends on", &goal.depends_on));
    out.push_str(&named(view, "Blocks", &answer.blocks));
    out.push_str(&description(view, &goal));
    out
}

/// A goal of a collection, whole.
pub(super) fn page(view: &View<'_>, goal: &Goal) -> String {
    let mut out = head(view, goal);
    if !goal.depends_on.is_empty() {
        out.push_str(&field(
            view,
            "Depends on",
            &goal.depends_on.iter().map(|id| line(id)).collect::<Vec<_>>().join(", "),
        ));
    }
    out.push_str(&description(view, goal));
    out
}

fn head(view: &View<'_>, goal: &Goal) -> String {
    let measure = view.width.unwrap_or(usize::MAX).min(MEASURE);
    let title =
        if view.width.is_some() { wrap(&line(&goal.title), measure) } else { vec![line(&goal.title)] };
    let mut out = String::new();
    for part in title {
        out.push_str(&view.brush.paint(Tone::Strong, &part));
        out.push('\n');
    }
    out.push_str(&field(view, "Id", &line(&goal.id)));
    let (word, tone) = state(goal);
    // The stored status, and beside it what is derived from it.
    let status = match word.as_str() {
        "blocked" => format!("open, {}", view.brush.paint(tone, "blocked")),
        "claimed" => format!("open, {}", view.brush.paint(tone, "claimed")),
        "active" if goal.blocked => {
            format!("{}, {}", view.brush.paint(tone, "active"), view.brush.paint(Tone::Blocked, "blocked"))
        }
        word => view.brush.paint(tone, word),
    };
    out.push_str(&field(view, "Status", &status));
    let mut plain = |label: &str, text: Option<String>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.push_str(&field(view, label, &text));
        }
    };
    plain("Group", goal.group.as_deref().map(line));
    plain("Claim", claim(view, goal));
    plain("Updated", goal.updated_at.as_deref().map(|at| time::both(at, view.now)));
    plain("Created", goal.created_at.as_deref().map(|at| time::both(at, view.now)));
    plain("Completed", goal.completed_at.as_deref().map(|at| time::both(at, view.now)));
    let former: Vec<String> = goal.previous_ids.iter().map(|id| line(id)).collect();
    plain("Former ids", Some(former.join(", ")));
    for (at, link) in goal.links.iter().enumerate() {
        plain(if at == 0 { "Links" } else { "" }, Some(line(link)));
    }
    out
}

/// The branch that holds it, by whom and since when.
fn claim(view: &View<'_>, goal: &Goal) -> Option<String> {
    let branch = line(goal.branch.as_deref().filter(|branch| !branch.is_empty())?);
    let by = goal.claimed_by.as_deref().map(|by| format!(" by {}", line(by))).unwrap_or_default();
    let at =
        goal.claimed_at.as_deref().map(|at| format!(", {}", time::both(at, view.now))).unwrap_or_default();
    Some(view.brush.paint(Tone::Claimed, &format!("{branch}{by}")) + &at)
}

fn field(view: &View<'_>, label: &str, text: &str) -> String {
    format!("  {} {text}\n", view.brush.paint(Tone::Faint, &pad(label, LABEL)))
}

/// Goals that are known by their ids: as rows where more is known, else the id alone.
fn named(view: &View<'_>, heading: &str, ids: &[String]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let goals: Vec<Goal> = ids
        .iter()
        .map(|id| {
            view.known.goal(id).cloned().unwrap_or_else(|| Goal {
                id: id.clone(),
                status: if view.known.order.is_empty() { String::new() } else { "missing".to_owned() },
                ..Goal::default()
            })
        })
        .collect();
    let mut out = format!("\n{}\n", view.brush.paint(Tone::Strong, heading));
    for row in view.rows(&goals.iter().collect::<Vec<_>>(), 2, false) {
        out.push_str(&row);
        out.push('\n');
    }
    out
}

/// The description in its own lines, each wrapped where somebody looks at it.
fn description(view: &View<'_>, goal: &Goal) -> String {
    let Some(text) = goal.description.as_deref().filter(|text| !text.trim().is_empty()) else {
        return String::new();
    };
    let measure = view.width.map(|width| width.min(MEASURE));
    let mut out = String::from("\n");
    for part in lines(text).iter().flat_map(|line| match measure {
        Some(columns) => wrap(line, columns),
        None => vec![line.clone()],
    }) {
        out.push_str(&part);
        out.push('\n');
    }
    out
}
