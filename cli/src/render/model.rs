//! Results as far as people are shown them. Lenient: what a newer engine adds is ignored, what an older one lacks is
//! absent.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use stepstone_proto::envelope::Envelope;

/// A goal, whole or compact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Goal {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: String,
    pub(crate) description: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) links: Vec<String>,
    pub(crate) depends_on: Vec<String>,
    pub(crate) branch: Option<String>,
    pub(crate) claimed_at: Option<String>,
    pub(crate) claimed_by: Option<String>,
    pub(crate) previous_ids: Vec<String>,
    pub(crate) created_at: Option<String>,
    pub(crate) updated_at: Option<String>,
    pub(crate) completed_at: Option<String>,
    /// Derived by the engine.
    pub(crate) blocked: bool,
    /// Derived by the engine.
    pub(crate) blocked_by: Vec<String>,
}

/// How many goals are in which state, as the engine counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Summary {
    pub(crate) open: usize,
    pub(crate) active: usize,
    pub(crate) done: usize,
    pub(crate) archived: usize,
    pub(crate) ready: usize,
    pub(crate) blocked: usize,
    pub(crate) claimed: usize,
}

/// Everything that a result may hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Answer {
    pub(crate) goal: Option<Goal>,
    pub(crate) goals: Option<Vec<Goal>>,
    pub(crate) waves: Option<Vec<Vec<Goal>>>,
    pub(crate) unreachable_goals: Vec<Goal>,
    pub(crate) total: Option<usize>,
    pub(crate) more: bool,
    pub(crate) summary: Option<Summary>,
    pub(crate) blocked: bool,
    pub(crate) blocks: Vec<String>,
    pub(crate) blocked_by: Vec<String>,
    pub(crate) released: Vec<String>,
    pub(crate) deactivated: Vec<String>,
    pub(crate) dry_run: bool,
    pub(crate) added_goals: Vec<Goal>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) migrations: Vec<Migration>,
    pub(crate) worklist_path: Option<String>,
    pub(crate) previous_worklist_path: Option<String>,
    pub(crate) ids: Vec<String>,
}

impl Answer {
    /// Whether the one goal that it is about waits for others.
    pub(crate) fn depends(&self) -> bool {
        self.goal.as_ref().is_some_and(|goal| !goal.depends_on.is_empty())
    }

    /// Whether a goal of a collection is held by somebody.
    pub(crate) fn mentions_claims(&self) -> bool {
        let collected = self.goals.iter().flatten().chain(self.waves.iter().flatten().flatten());
        collected
            .chain(&self.unreachable_goals)
            .any(|goal| goal.branch.is_some() && goal.claimed_by.is_none())
    }
}

/// A warning of `apply-plan`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Warning {
    pub(crate) code: String,
    pub(crate) reference: String,
    pub(crate) existing_goal_id: String,
    pub(crate) batch_goal_id: String,
}

/// One rewritten id.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Migration {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) title: String,
}

/// What an answer's result holds; empty when there is none, or it is of a shape that nobody knows.
pub(crate) fn answer(envelope: &Envelope) -> Answer {
    read(envelope.result.as_deref())
}

/// Any result, read leniently.
pub(crate) fn read<T: Default + for<'a> Deserialize<'a>>(result: Option<&RawValue>) -> T {
    result.and_then(|result| serde_json::from_str(result.get()).ok()).unwrap_or_default()
}

/// What is known of goals beside the answer itself: from further reads, for marks and names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    goals: HashMap<String, Goal>,
    /// The roadmap's counts.
    pub(crate) summary: Option<Summary>,
    /// The ids in the order of the file.
    pub(crate) order: Vec<String>,
}

impl Known {
    /// Adds what an answer's goals say.
    pub(crate) fn learn(&mut self, envelope: &Envelope) {
        let answer = answer(envelope);
        self.summary = answer.summary.or(self.summary);
        for goal in answer.goals.unwrap_or_default() {
            if !self.goals.contains_key(&goal.id) {
                self.order.push(goal.id.clone());
            }
            let known = self.goals.entry(goal.id.clone()).or_default();
            // A later answer may be about fewer facts: what is known stays.
            let claim = (known.claimed_at.take(), known.claimed_by.take());
            *known = goal;
            known.claimed_at = known.claimed_at.take().or(claim.0);
            known.claimed_by = known.claimed_by.take().or(claim.1);
        }
    }

    /// The unfinished goals that are known, in the order of the file.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Goal> {
        self.order
            .iter()
            .filter_map(|id| self.goals.get(id))
            .filter(|goal| matches!(goal.status.as_str(), "open" | "active"))
    }

    /// Adds ids of which nothing else is known.
    pub(crate) fn learn_ids(&mut self, envelope: &Envelope) {
        self.order.extend(answer(envelope).ids);
    }

    /// What is known of a goal.
    pub(crate) fn goal(&self, id: &str) -> Option<&Goal> {
        self.goals.get(id)
    }
}
