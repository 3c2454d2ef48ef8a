//! `why`: what a goal waits for, followed down to what can be started now, or to what never lands.

use serde::Deserialize;
use stepstone_proto::envelope::Envelope;

use super::model::{self, Goal};
use super::style::Tone;
use super::text::{cut, line, width};
use super::{View, time};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Why {
    goal: Goal,
    ready: bool,
    reasons: Vec<Reason>,
    total: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Reason {
    r#type: String,
    status: String,
    branch: Option<String>,
    claimed_at: Option<String>,
    claimed_by: Option<String>,
    reference: String,
    goal: Option<Goal>,
    startable: Vec<Goal>,
    in_progress: Vec<Goal>,
    loops: Vec<Vec<String>>,
    dangling: Vec<Dangling>,
    more: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dangling {
    id: String,
    reference: String,
}

/// The goal, and one line for each reason with what it comes down to below it.
pub(super) fn page(view: &View<'_>, envelope: &Envelope) -> String {
    let why: Why = model::read(envelope.result.as_deref());
    let id = line(&why.goal.id);
    let mut out = String::new();
    let is_settled = why.reasons.iter().any(|reason| reason.r#type == "settled");
    let verdict = match (why.ready, is_settled) {
        (true, _) => view.brush.paint(Tone::Open, "ready"),
        (false, true) => {
            let status = why.reasons.first().map(|reason| line(&reason.status)).unwrap_or_default();
            view.brush.paint(Tone::Done, &status)
        }
        (false, false) => view.brush.paint(Tone::Blocked, "not ready"),
    };
    out.push_str(&fitted(view, &format!("{id} is "), &verdict, &format!(": {}", line(&why.goal.title))));
    if why.ready {
        out.push_str("Nothing holds it up and nobody has taken it. To take it: stepstone start ");
        out.push_str(&id);
        out.push('\n');
    }
    for reason in &why.reasons {
        out.push_str(&explain(view, reason));
    }
    if let Some(left) =
        why.total.and_then(|total| total.checked_sub(why.reasons.len())).filter(|left| *left > 0)
    {
        out.push_str(&format!("and {left} more\n"));
    }
    out
}

/// A line with something painted in its middle, cut to the width at its end.
fn fitted(view: &View<'_>, before: &str, painted: &str, behind: &str) -> String {
    let Some(columns) = view.width else { return format!("{before}{painted}{behind}\n") };
    // The longest verdict takes nine columns.
    let room = columns.saturating_sub(width(before) + 9);
    format!("{before}{painted}{}\n", cut(behind, room))
}

fn explain(view: &View<'_>, reason: &Reason) -> String {
    match reason.r#type.as_str() {
        "claimed" => format!("{}\n", claimed(view, reason)),
        "dangling" => format!(
            "{} {}, which names no goal: take that edge out with stepstone update\n",
            view.brush.paint(Tone::Alarm, "Waits forever for"),
            line(&reason.reference)
        ),
        "dependency" => dependency(view, reason),
        _ => String::new(),
    }
}

fn claimed(view: &View<'_>, reason: &Reason) -> String {
    let Some(branch) = reason.branch.as_deref().filter(|branch| !branch.is_empty()) else {
        return view.brush.paint(Tone::Active, "It is the active goal");
    };
    let by = reason.claimed_by.as_deref().map(|by| format!(" by {}", line(by))).unwrap_or_default();
    let at =
        reason.claimed_at.as_deref().map(|at| format!(", {}", time::both(at, view.now))).unwrap_or_default();
    format!("Taken for {}{at}", view.brush.paint(Tone::Claimed, &format!("{}{by}", line(branch))))
}

fn dependency(view: &View<'_>, reason: &Reason) -> String {
    let Some(goal) = &reason.goal else { return String::new() };
    let mut out = String::from("Waits for\n");
    let goal = Goal {
        blocked: !is_itself(&reason.startable, goal) && !is_itself(&reason.in_progress, goal),
        ..goal.clone()
    };
    out.push_str(&rows(view, &[&goal], 2));
    let mut below = |heading: &str, goals: &[Goal]| {
        let others: Vec<&Goal> = goals.iter().filter(|other| other.id != goal.id).collect();
        if !others.is_empty() {
            out.push_str(&format!("    {heading}\n"));
            out.push_str(&rows(view, &others, 6));
        }
    };
    below("which comes down to", &reason.startable);
    below("which comes down to what is being worked on", &reason.in_progress);
    for ids in &reason.loops {
        let mut ids: Vec<String> = ids.iter().map(|id| line(id)).collect();
        ids.extend(ids.first().cloned());
        out.push_str(&format!(
            "    {} {}\n",
            view.brush.paint(Tone::Alarm, "which never lands, because these wait for each other:"),
            ids.join(" -> ")
        ));
    }
    for edge in &reason.dangling {
        out.push_str(&format!(
            "    {} {} waits for {}, which names no goal\n",
            view.brush.paint(Tone::Alarm, "which never lands, because"),
            line(&edge.id),
            line(&edge.reference)
        ));
    }
    if reason.more {
        out.push_str("    and more\n");
    }
    out
}

fn is_itself(goals: &[Goal], goal: &Goal) -> bool {
    goals.iter().any(|other| other.id == goal.id)
}

fn rows(view: &View<'_>, goals: &[&Goal], indent: usize) -> String {
    view.rows(goals, indent, false).iter().map(|row| format!("{row}\n")).collect()
}
