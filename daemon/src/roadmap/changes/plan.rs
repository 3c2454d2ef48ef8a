//! `apply-plan`: many goals at the end, by one write.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::PlanEntry;

use super::add::Parts;
use super::{Decision, Draft, Moment, no_op};
use crate::roadmap::answer::Answer;
use crate::roadmap::document::Roadmap;
use crate::roadmap::names::Selected;
use crate::roadmap::{ids, refusal};

/// A reference could have meant a stored goal, but means an entry of the plan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Warning<'a> {
    code: &'static str,
    reference: &'a str,
    existing_goal_id: String,
    batch_goal_id: &'a str,
}

pub(super) fn apply(
    roadmap: &Roadmap,
    entries: &[PlanEntry],
    dry_run: bool,
    expected_revision: Option<u64>,
    moment: &Moment<'_>,
) -> Result<Decision, Failure> {
    if let Some(given) = expected_revision.filter(|given| *given != roadmap.revision()) {
        return Err(refusal::stale_revision(roadmap, given));
    }
    let batch = Batch::of(roadmap, entries);
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let first = draft.goals.len();
    let mut warnings = Warnings::default();
    for (entry, id) in entries.iter().zip(&batch.ids) {
        let depends_on = batch.edges(roadmap, entry, &mut warnings)?;
        let parts = Parts {
            title: &entry.title,
            description: entry.description.as_deref(),
            group: entry.group.as_deref(),
            links: &[],
            depends_on: &depends_on,
        };
        draft.push(parts.goal(id, moment.now_ms)?);
    }
    let added: Vec<String> = draft.goals.iter().skip(first).map(|goal| goal.whole(&[])).collect();
    let mut answer = Answer::new("apply-plan");
    answer.put("dryRun", &dry_run)?;
    answer.list("addedGoals", &added);
    answer.put("warnings", &warnings.list)?;
    if entries.is_empty() && !dry_run {
        return no_op(answer);
    }
    let next = draft.finish()?.without_new_loops(first)?;
    if dry_run {
        return Ok(Decision::Answer { result: answer.finish()?, no_op: false });
    }
    next.write(answer)
}

/// The entries' names: what they are called inside the plan, and the ids that they get.
struct Batch {
    /// From the slug that a title gives to the entry's number.
    slugs: HashMap<String, usize>,
    ids: Vec<String>,
}

impl Batch {
    fn of(roadmap: &Roadmap, entries: &[PlanEntry]) -> Self {
        let mut slugs = HashMap::with_capacity(entries.len());
        let mut minted = HashSet::with_capacity(entries.len());
        let mut all = Vec::with_capacity(entries.len());
        for (number, entry) in entries.iter().enumerate() {
            slugs.entry(ids::slug(&entry.title)).or_insert(number);
            let id = ids::mint(&entry.title, |id| roadmap.names().is_taken(id) || minted.contains(id));
            minted.insert(id.clone());
            all.push(id);
        }
        Self { slugs, ids: all }
    }

    /// The ids that an entry's references mean, each once: entries of the plan first, then stored goals.
    fn edges<'a>(
        &'a self,
        roadmap: &Roadmap,
        entry: &'a PlanEntry,
        warnings: &mut Warnings<'a>,
    ) -> Result<Vec<String>, Failure> {
        let mut edges = Vec::with_capacity(entry.depends_on.len());
        let mut seen = HashSet::new();
        for reference in &entry.depends_on {
            let existing = roadmap.names().exact(reference);
            let in_plan = self.slugs.get(reference).and_then(|number| self.ids.get(*number));
            let id = match (in_plan, existing) {
                (Some(id), existing) => {
                    warnings.shadowed(roadmap, reference, &existing, id)?;
                    id.clone()
                }
                (None, Selected::One(place)) => roadmap.goal_at(place)?.id.to_string(),
                (None, Selected::Many(places)) => {
                    return Err(refusal::ambiguous(roadmap, "dependsOn", reference, &places));
                }
                (None, Selected::Nothing) => return Err(refusal::unknown_reference(reference)),
            };
            if seen.insert(id.clone()) {
                edges.push(id);
            }
        }
        Ok(edges)
    }
}

#[derive(Default)]
struct Warnings<'a> {
    list: Vec<Warning<'a>>,
    seen: HashSet<&'a str>,
}

impl<'a> Warnings<'a> {
    /// Warns once for each reference that a stored goal would have answered to as well.
    fn shadowed(
        &mut self,
        roadmap: &Roadmap,
        reference: &'a str,
        existing: &Selected,
        id: &'a str,
    ) -> Result<(), Failure> {
        let place = match existing {
            Selected::One(place) => *place,
            Selected::Many(places) => places.first().copied().unwrap_or_default(),
            Selected::Nothing => return Ok(()),
        };
        if self.seen.insert(reference) {
            self.list.push(Warning {
                code: "BATCH_REFERENCE_SHADOWS_EXISTING",
                reference,
                existing_goal_id: roadmap.goal_at(place)?.id.to_string(),
                batch_goal_id: id,
            });
        }
        Ok(())
    }
}
