//! What differs between two contents of one file.

use std::collections::HashSet;
use std::sync::Arc;

use super::document::Roadmap;

/// What differs between two contents of one file, by goal id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Only in the new one, in its order.
    pub added: Vec<String>,
    /// Only in the old one, in its order.
    pub removed: Vec<String>,
    /// In both with different text, in the new one's order.
    pub changed: Vec<String>,
    /// The goals in both stand in another order.
    pub order_changed: bool,
}

impl Difference {
    /// Whether all goals are the same. The file's own fields may differ.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty() && !self.order_changed
    }
}

/// Compares two contents.
#[must_use]
pub fn difference(old: &Roadmap, new: &Roadmap) -> Difference {
    let mut difference = Difference::default();
    let mut stayed = HashSet::new();
    let mut last = None;
    for goal in new.goals() {
        let Some(place) = old.names().live(&goal.id) else {
            difference.added.push(goal.id.to_string());
            continue;
        };
        difference.order_changed |= last.is_some_and(|last| place < last);
        last = Some(place);
        stayed.insert(place);
        if old
            .goals()
            .get(place)
            .is_some_and(|before| !Arc::ptr_eq(before, goal) && before.text() != goal.text())
        {
            difference.changed.push(goal.id.to_string());
        }
    }
    let removed = old.goals().iter().enumerate().filter(|(place, _)| !stayed.contains(place));
    difference.removed = removed.map(|(_, goal)| goal.id.to_string()).collect();
    difference
}
