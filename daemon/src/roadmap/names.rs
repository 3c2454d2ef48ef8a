//! Which goal a name means: exact ids, former ids, prefixes, and the ids that are reserved for good.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::goal::Goal;

/// Words that programs write when they have no id; never taken for a prefix.
const NO_NAMES: [&str; 2] = ["null", "undefined"];

/// Live, former and retired ids of one content. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    live: Arc<HashMap<Arc<str>, usize>>,
    former: Arc<HashMap<Box<str>, Vec<usize>>>,
    retired: Arc<HashSet<Box<str>>>,
}

/// What a selector means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selected {
    /// The goal at this place.
    One(usize),
    /// More than one, in file order.
    Many(Vec<usize>),
    Nothing,
}

impl Names {
    /// Reads the names of all goals. `Err` holds the places of two goals with one id.
    pub(super) fn of(goals: &[Arc<Goal>], retired: &[Box<str>]) -> Result<Self, (usize, usize)> {
        let mut live = HashMap::with_capacity(goals.len());
        let mut former: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (place, goal) in goals.iter().enumerate() {
            if let Some(first) = live.insert(Arc::clone(&goal.id), place) {
                return Err((first, place));
            }
            remember(&mut former, goal, place);
        }
        Ok(Self {
            live: live.into(),
            former: former.into(),
            retired: Arc::new(retired.iter().cloned().collect()),
        })
    }

    /// The same with one more goal at the end, whose id is not taken.
    ///
    /// The tables are copied when another content shares them, so only for the first of many goals.
    pub(super) fn with(mut self, goal: &Goal, place: usize) -> Self {
        Arc::make_mut(&mut self.live).insert(Arc::clone(&goal.id), place);
        if !goal.previous_ids.is_empty() {
            remember(Arc::make_mut(&mut self.former), goal, place);
        }
        self
    }

    /// Used, or used once: no new goal gets it.
    pub(super) fn is_taken(&self, id: &str) -> bool {
        self.live.contains_key(id) || self.former.contains_key(id) || self.retired.contains(id)
    }

    /// The goal that has this very id.
    pub(super) fn live(&self, id: &str) -> Option<usize> {
        self.live.get(id).copied()
    }

    /// What a stored reference means: a live id, or a former id of one goal. A former id of several names nothing,
    /// since nobody may choose between them.
    pub(super) fn resolved(&self, reference: &str) -> Option<usize> {
        self.live(reference).or_else(|| match self.former.get(reference).map(Vec::as_slice) {
            Some([place]) => Some(*place),
            _ => None,
        })
    }

    /// Every goal that an exact live or former id means.
    pub(super) fn exact(&self, name: &str) -> Selected {
        match (self.live(name), self.former.get(name).map(Vec::as_slice)) {
            (Some(place), _) => Selected::One(place),
            (None, Some([place])) => Selected::One(*place),
            (None, Some(places)) => Selected::Many(places.to_vec()),
            (None, None) => Selected::Nothing,
        }
    }

    /// What a selector means. The first stage with a match decides: exact live id, exact former id, prefix of live
    /// ids without regard to case.
    pub(super) fn selected(&self, goals: &[Arc<Goal>], selector: &str) -> Selected {
        let name = selector.trim();
        if name.is_empty() {
            return Selected::Nothing;
        }
        let exact = self.exact(name);
        if exact != Selected::Nothing || self.is_reserved(name) {
            return exact;
        }
        let places = places_by_prefix(goals, name);
        match places.as_slice() {
            [] => Selected::Nothing,
            [place] => Selected::One(*place),
            _ => Selected::Many(places),
        }
    }

    /// Whether a prefix must not be looked for. The spelling does not matter, as it does not for prefixes: nobody
    /// who names a deleted goal means another one.
    fn is_reserved(&self, name: &str) -> bool {
        NO_NAMES.iter().any(|word| word.eq_ignore_ascii_case(name))
            || self.retired.contains(name)
            || self.retired.iter().any(|retired| retired.eq_ignore_ascii_case(name))
    }
}

fn remember(former: &mut HashMap<Box<str>, Vec<usize>>, goal: &Goal, place: usize) {
    for id in &goal.previous_ids {
        let places = former.entry(id.clone()).or_default();
        if places.last() != Some(&place) {
            places.push(place);
        }
    }
}

/// The goals whose id begins with this text, without regard to case, in file order.
pub(super) fn places_by_prefix(goals: &[Arc<Goal>], prefix: &str) -> Vec<usize> {
    let folded = prefix.to_lowercase();
    let matches = |id: &str| match id.get(..folded.len()) {
        Some(head) if head.is_ascii() => head.eq_ignore_ascii_case(&folded),
        _ => id.to_lowercase().starts_with(&folded),
    };
    goals.iter().enumerate().filter(|(_, goal)| matches(&goal.id)).map(|(place, _)| place).collect()
}
