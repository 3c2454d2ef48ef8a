//! `migrate_ids`: ids of the old random shape become ids made from titles.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use stepstone_proto::envelope::Failure;

use super::{Decision, Draft, Edits, Moment, no_op};
use crate::roadmap::answer::Answer;
use crate::roadmap::document::Roadmap;
use crate::roadmap::goal::{Goal, Key};
use crate::roadmap::{ids, text};

#[derive(Debug, Serialize)]
struct Migration<'a> {
    from: &'a str,
    to: String,
    title: &'a str,
}

pub(super) fn migrate_ids(
    roadmap: &Roadmap,
    dry_run: bool,
    moment: &Moment<'_>,
) -> Result<Decision, Failure> {
    let migrations = planned(roadmap);
    let mut answer = Answer::new("migrate_ids");
    let list: Vec<&Migration<'_>> = migrations.iter().map(|(_, migration)| migration).collect();
    if dry_run {
        answer.put("dryRun", &true)?;
    }
    answer.put("migrations", &list)?;
    if dry_run {
        return Ok(Decision::Answer { result: answer.finish()?, no_op: false });
    }
    if migrations.is_empty() {
        return no_op(answer);
    }
    let new_ids: HashMap<usize, &str> = migrations.iter().map(|(place, new)| (*place, &*new.to)).collect();
    let mut draft = Draft::of(roadmap, moment.now_ms);
    for (place, goal) in roadmap.goals().iter().enumerate() {
        let mut edits = Edits::new();
        if let Some(id) = new_ids.get(&place) {
            let mut former: Vec<&str> = goal.previous_ids.iter().map(|id| &**id).collect();
            former.push(&goal.id);
            edits.push((Key::Id, Some(text::quoted(id))));
            edits.push((Key::PreviousIds, Some(text::quoted_all(&former))));
        }
        edits.extend(edges(roadmap, goal, &new_ids));
        if !edits.is_empty() {
            draft.edit(place, edits)?;
        }
    }
    draft.finish()?.write(answer)
}

/// The goals with an id of the random shape and the ids that they get, in file order.
fn planned(roadmap: &Roadmap) -> Vec<(usize, Migration<'_>)> {
    let mut minted = HashSet::new();
    let mut migrations = Vec::new();
    for (place, goal) in
        roadmap.goals().iter().enumerate().filter(|(_, goal)| ids::has_random_shape(&goal.id))
    {
        let to = ids::mint(&goal.title, |id| roadmap.names().is_taken(id) || minted.contains(id));
        minted.insert(to.clone());
        migrations.push((place, Migration { from: &goal.id, to, title: &goal.title }));
    }
    migrations
}

/// The edges with every mention of a migrated goal rewritten to its new id, if there is one.
fn edges(roadmap: &Roadmap, goal: &Goal, new_ids: &HashMap<usize, &str>) -> Option<(Key, Option<String>)> {
    let new_id = |edge: &str| roadmap.names().resolved(edge).and_then(|place| new_ids.get(&place)).copied();
    if !goal.depends_on.iter().any(|edge| new_id(edge).is_some()) {
        return None;
    }
    let mut seen = HashSet::new();
    let rewritten: Vec<&str> = goal
        .depends_on
        .iter()
        .map(|edge| new_id(edge).unwrap_or(edge))
        .filter(|edge| seen.insert(*edge))
        .collect();
    Some((Key::DependsOn, Some(text::quoted_all(&rewritten))))
}
