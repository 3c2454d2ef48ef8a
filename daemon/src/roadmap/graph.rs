//! The edges between goals and what follows from them: blocked, ready, waves. Never stored.
//!
//! Everything takes time linear in goals plus edges, and nothing calls itself: a chain may be as long as the file.

use std::collections::HashSet;
use std::sync::Arc;

use stepstone_proto::goal::Status;

use super::document::Roadmap;
use super::goal::Goal;

/// The edges of one content, resolved.
#[derive(Debug)]
pub(super) struct Graph {
    /// For each goal the places of the goals that it waits for, each once; `None` for edges to nothing.
    needs: Lists<Option<usize>>,
    /// For each goal the goals that have an edge to it, in file order, each once.
    dependents: Lists<usize>,
    /// For each goal: not settled, and some edge is not satisfied.
    blocked: Vec<bool>,
}

/// Many lists in two allocations.
#[derive(Debug)]
struct Lists<T> {
    ends: Vec<usize>,
    items: Vec<T>,
}

impl<T> Lists<T> {
    fn of(lists: impl Iterator<Item = Vec<T>>) -> Self {
        let (mut ends, mut items) = (Vec::new(), Vec::new());
        for list in lists {
            items.extend(list);
            ends.push(items.len());
        }
        Self { ends, items }
    }

    fn get(&self, place: usize) -> &[T] {
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(place).and_then(|end| self.items.get(start..*end)).unwrap_or_default()
    }
}

/// Unfinished goals by the earliest wave that can hold them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Waves {
    /// Places, in file order within a wave.
    pub(super) waves: Vec<Vec<usize>>,
    /// Unfinished goals that no wave can hold: a loop, an edge to nothing, or behind one of these.
    pub(super) unreachable: Vec<usize>,
}

impl Graph {
    pub(super) fn of(roadmap: &Roadmap) -> Self {
        let goals = roadmap.goals();
        let needs = Lists::of(goals.iter().map(|goal| {
            let mut seen = HashSet::new();
            let edges = goal.depends_on.iter().map(|edge| roadmap.names().resolved(edge));
            edges.filter(|edge| seen.insert(*edge)).collect()
        }));
        let mut dependents = vec![Vec::new(); goals.len()];
        let mut blocked = Vec::with_capacity(goals.len());
        for (place, goal) in goals.iter().enumerate() {
            let edges = needs.get(place);
            for target in edges.iter().flatten() {
                if let Some(list) = dependents.get_mut(*target) {
                    list.push(place);
                }
            }
            blocked.push(!goal.status.is_settled() && edges.iter().any(|edge| !is_satisfied(goals, *edge)));
        }
        Self { needs, dependents: Lists::of(dependents.into_iter()), blocked }
    }

    /// The places that a goal's edges lead to, each once; `None` for edges to nothing.
    pub(super) fn needs(&self, place: usize) -> &[Option<usize>] {
        self.needs.get(place)
    }

    /// The goals that have an edge to this one, in file order.
    pub(super) fn dependents(&self, place: usize) -> &[usize] {
        self.dependents.get(place)
    }

    /// Not settled, and some edge is not satisfied.
    pub(super) fn is_blocked(&self, place: usize) -> bool {
        self.blocked.get(place).copied().unwrap_or(false)
    }
}

/// Landed or put away. An edge to nothing never is.
pub(super) fn is_satisfied(goals: &[Arc<Goal>], edge: Option<usize>) -> bool {
    edge.and_then(|place| goals.get(place)).is_some_and(|goal| goal.status.is_settled())
}

impl Roadmap {
    /// Open, held by nobody, and blocked by nothing.
    pub(super) fn is_ready(&self, place: usize) -> bool {
        let Some(goal) = self.goals().get(place) else { return false };
        goal.status == Status::Open && !goal.is_claimed() && !self.graph().is_blocked(place)
    }

    /// The ready goals in file order.
    pub(super) fn ready(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|place| self.is_ready(*place))
    }

    /// What a goal's unsatisfied edges name: live ids where there is a goal, else the stored text. Each once.
    pub(super) fn blocked_by(&self, place: usize) -> Vec<&str> {
        let Some(goal) = self.goals().get(place).filter(|goal| !goal.status.is_settled()) else {
            return Vec::new();
        };
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for edge in &goal.depends_on {
            let target = self.names().resolved(edge);
            let name: &str = match target.and_then(|place| self.goals().get(place)) {
                Some(target) if target.status.is_settled() => continue,
                Some(target) => &target.id,
                None => edge,
            };
            if seen.insert(name) {
                names.push(name);
            }
        }
        names
    }

    /// The unfinished goals that wait for this one, in file order. Nothing waits for a settled goal.
    pub(super) fn blocks(&self, place: usize) -> Vec<&str> {
        if is_satisfied(self.goals(), Some(place)) {
            return Vec::new();
        }
        let dependents =
            self.graph().dependents(place).iter().filter_map(|dependent| self.goals().get(*dependent));
        dependents.filter(|goal| !goal.status.is_settled()).map(|goal| &*goal.id).collect()
    }

    /// The unfinished goals by wave. Wave 1 has no unsatisfied edge; each further wave is what the one before it
    /// releases.
    pub(super) fn waves(&self) -> Waves {
        let (goals, graph) = (self.goals(), self.graph());
        let is_unfinished = |place: usize| !is_satisfied(goals, Some(place));
        // How many goals each unfinished goal still waits for; an edge to nothing never goes away.
        let mut waits: Vec<usize> = (0..goals.len())
            .map(|place| graph.needs(place).iter().filter(|edge| !is_satisfied(goals, **edge)).count())
            .collect();
        let mut current: Vec<usize> =
            (0..goals.len()).filter(|place| is_unfinished(*place) && waits.get(*place) == Some(&0)).collect();
        let mut level = vec![None; goals.len()];
        let mut count = 0;
        while !current.is_empty() {
            let mut next = Vec::new();
            for place in current {
                if let Some(level) = level.get_mut(place) {
                    *level = Some(count);
                }
                for dependent in graph.dependents(place).iter().copied().filter(|place| is_unfinished(*place))
                {
                    if let Some(left) = waits.get_mut(dependent) {
                        *left = left.saturating_sub(1);
                        if *left == 0 {
                            next.push(dependent);
                        }
                    }
                }
            }
            count += 1;
            current = next;
        }
        let mut found = Waves { waves: vec![Vec::new(); count], unreachable: Vec::new() };
        for (place, level) in level.into_iter().enumerate().filter(|(place, _)| is_unfinished(*place)) {
            match level.and_then(|level: usize| found.waves.get_mut(level)) {
                Some(wave) => wave.push(place),
                None => found.unreachable.push(place),
            }
        }
        found
    }
}
