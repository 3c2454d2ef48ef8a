//! What a change did, in one line, and what follows from it.

use serde_json::{Map, Value};
use stepstone_proto::envelope::Envelope;

use super::model::{Answer, Goal};
use super::text::line;
use super::{Page, View, lists};
use crate::arguments::listed;

/// An action that is about one goal.
pub(super) fn one(view: &View<'_>, envelope: &Envelope, answer: &Answer, asked: &Map<String, Value>) -> Page {
    let Some(goal) = &answer.goal else {
        // `start` without an id, and nothing to take.
        return Page { out: lists::nothing_ready(view, None), err: String::new() };
    };
    let mut out = format!("{}: {}\n", said(envelope, goal, asked), line(&goal.title));
    let mut more = |label: &str, ids: &[String]| {
        if !ids.is_empty() {
            out.push_str(&format!(
                "{label}: {}\n",
                ids.iter().map(|id| line(id)).collect::<Vec<_>>().join(", ")
            ));
        }
    };
    more("No longer active", &answer.deactivated);
    more("Ready now", &answer.released);
    let others = others(envelope, goal);
    if envelope.action == "delete" {
        more("No longer wait for it", &others);
    }
    let mut err = String::new();
    if !answer.blocked_by.is_empty() && matches!(envelope.action.as_str(), "set_active" | "start") {
        let ids: Vec<String> = answer.blocked_by.iter().map(|id| line(id)).collect();
        let verb = if ids.len() == 1 { "has" } else { "have" };
        err = format!("stepstone: {} is blocked: {} {verb} not landed yet.\n", line(&goal.id), listed(&ids));
    }
    Page { out, err }
}

/// Goals that changed beside the one it is about.
fn others(envelope: &Envelope, goal: &Goal) -> Vec<String> {
    let changed = envelope.meta.changed_entities.as_ref().map(|changed| changed.project_goal_ids.as_slice());
    changed.unwrap_or_default().iter().filter(|id| **id != goal.id).cloned().collect()
}

/// What was done to which goal, or that it was so already.
fn said(envelope: &Envelope, goal: &Goal, asked: &Map<String, Value>) -> String {
    let id = line(&goal.id);
    let branch = line(goal.branch.as_deref().unwrap_or_default());
    let clear = asked.get("clear") == Some(&Value::Bool(true));
    if envelope.meta.semantic_no_op {
        return match envelope.action.as_str() {
            "start" if clear => format!("Nobody held {id}"),
            "start" => format!("{id} is taken for {branch} already"),
            "move" => format!("{id} is there already"),
            "set_active" => format!("{id} is active already"),
            "complete" => format!("{id} is done already"),
            "reopen" => format!("{id} is open already"),
            "archive" => format!("{id} is archived already"),
            _ => format!("{id} is so already"),
        };
    }
    match envelope.action.as_str() {
        "start" if clear => format!("Gave back {id}"),
        "start" => format!("Took {id} for {branch}"),
        "add" => format!("Added {id}"),
        "move" => format!("Moved {id}"),
        "set_active" => format!("Activated {id}"),
        "complete" => format!("Completed {id}"),
        "reopen" => format!("Reopened {id}"),
        "archive" => format!("Archived {id}"),
        "delete" => format!("Deleted {id}"),
        _ => format!("Updated {id}"),
    }
}

/// `apply-plan`.
pub(super) fn plan(view: &View<'_>, answer: &Answer) -> Page {
    let goals: Vec<&Goal> = answer.added_goals.iter().collect();
    let would = if answer.dry_run { "Would add" } else { "Added" };
    let mut out = match goals.len() {
        0 => "The plan is empty: nothing to add.\n".to_owned(),
        1 => format!("{would} 1 goal:\n"),
        count => format!("{would} {count} goals:\n"),
    };
    for row in view.rows(&goals, 2, true) {
        out.push_str(&row);
        out.push('\n');
    }
    let mut err = String::new();
    for warning in &answer.warnings {
        err.push_str(&match warning.code.as_str() {
            "BATCH_REFERENCE_SHADOWS_EXISTING" => format!(
                "stepstone: {} means the plan's own goal {}, not the goal {} that is there already.\n",
                line(&warning.reference),
                line(&warning.batch_goal_id),
                line(&warning.existing_goal_id)
            ),
            other => format!("stepstone: the plan has a warning: {}\n", line(other)),
        });
    }
    Page { out, err }
}

/// `migrate_ids`.
pub(super) fn migrate_ids(answer: &Answer) -> String {
    let would = if answer.dry_run { "Would rewrite" } else { "Rewrote" };
    let mut out = match answer.migrations.len() {
        0 => "No id has the old random shape: nothing to rewrite.\n".to_owned(),
        1 => format!("{would} 1 id:\n"),
        count => format!("{would} {count} ids:\n"),
    };
    for migration in &answer.migrations {
        out.push_str(&format!(
            "  {} -> {}  {}\n",
            line(&migration.from),
            line(&migration.to),
            line(&migration.title)
        ));
    }
    out
}

/// `migrate_path`.
pub(super) fn migrate_path(answer: &Answer) -> String {
    let to = line(answer.worklist_path.as_deref().unwrap_or_default());
    match &answer.previous_worklist_path {
        Some(from) => {
            let moved = if answer.dry_run { "Would move" } else { "Moved" };
            format!("{moved} {} to {to}\n", line(from))
        }
        None => format!("The goal file is at {to} already.\n"),
    }
}
