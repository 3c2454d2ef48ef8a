//! The edges between goals and what follows from them: blocked, ready, waves. Never stored.
//!
//! Everything takes time linear in goals plus edges, and nothing calls itself: a chain may be as long as the file.
//! What is asked about one goal, or for the first ready one, looks at just the edges that it needs; only what is
//! about all of them at once resolves all of them, once per content.

use std::collections::HashSet;
use std::sync::Arc;

use stepstone_proto::goal::Status;

use super::document::Roadmap;
use super::goal::Goal;

/// The edges of one content, all resolved.
#[derive(Debug)]
pub(super) struct Graph {
    /// For each goal the places of the goals that it waits for, each once; `None` for edges to nothing.
    needs: Lists<Option<usize>>,
    /// For each goal the goals that have an edge to it, in file order, each once.
    dependents: Lists<usize>,
}

/// Many lists in two allocations.
#[derive(Debug)]
struct Lists<T> {
    ends: Vec<usize>,
    items: Vec<T>,
}

impl<T> Lists<T> {
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
        let mut needs = Lists { ends: Vec::with_capacity(goals.len()), items: Vec::new() };
        let mut counts = vec![0_usize; goals.len()];
        for goal in goals {
            let start = needs.items.len();
            needs.items.extend(goal.depends_on.iter().map(|edge| roadmap.names().resolved(edge)));
            keep_first(&mut needs.items, start);
            for target in needs.items.iter().skip(start).flatten() {
                if let Some(count) = counts.get_mut(*target) {
                    *count += 1;
                }
            }
            needs.ends.push(needs.items.len());
        }
        Self { dependents: turned(&needs, &counts), needs }
    }

    /// The places that a goal's edges lead to, each once; `None` for edges to nothing.
    pub(super) fn needs(&self, place: usize) -> &[Option<usize>] {
        self.needs.get(place)
    }
}

/// The same edges the other way round. `counts` says how many lead to each goal.
fn turned(needs: &Lists<Option<usize>>, counts: &[usize]) -> Lists<usize> {
    let mut free = Vec::with_capacity(counts.len());
    let mut total = 0;
    for count in counts {
        free.push(total);
        total += count;
    }
    let mut items = vec![0; total];
    for place in 0..counts.len() {
        for target in needs.get(place).iter().flatten() {
            if let Some(slot) = free.get_mut(*target) {
                if let Some(item) = items.get_mut(*slot) {
                    *item = place;
                }
                *slot += 1;
            }
        }
    }
    // Each list is full now, and what was its first free slot is its end.
    Lists { ends: free, items }
}

/// Takes repetitions out of the items from `start` on.
fn keep_first(items: &mut Vec<Option<usize>>, start: usize) {
    /// Up to here looking through the list beats a table.
    const SHORT: usize = 16;
    let mut kept = start;
    let mut seen: HashSet<Option<usize>> = HashSet::new();
    let is_short = items.len() - start <= SHORT;
    for at in start..items.len() {
        let Some(item) = items.get(at).copied() else { break };
        let before = items.get(start..kept).unwrap_or_default();
        let is_new = if is_short { !before.contains(&item) } else { seen.insert(item) };
        if is_new {
            items.swap(kept, at);
            kept += 1;
        }
    }
    items.truncate(kept);
}

/// Landed or put away. An edge to nothing never is.
pub(super) fn is_satisfied(goals: &[Arc<Goal>], edge: Option<usize>) -> bool {
    edge.and_then(|place| goals.get(place)).is_some_and(|goal| goal.status.is_settled())
}

impl Roadmap {
    /// Whether a stored edge leads to a settled goal.
    pub(super) fn is_edge_satisfied(&self, edge: &str) -> bool {
        is_satisfied(self.goals(), self.names().resolved(edge))
    }

    /// Not settled, and some edge is not satisfied.
    pub(super) fn is_blocked(&self, goal: &Goal) -> bool {
        !goal.status.is_settled() && goal.depends_on.iter().any(|edge| !self.is_edge_satisfied(edge))
    }

    /// Open, held by nobody, and blocked by nothing.
    pub(super) fn is_ready(&self, goal: &Goal) -> bool {
        goal.status == Status::Open && !goal.is_claimed() && !self.is_blocked(goal)
    }

    /// The ready goals in file order.
    pub(super) fn ready(&self) -> impl Iterator<Item = usize> {
        self.goals().iter().enumerate().filter(|(_, goal)| self.is_ready(goal)).map(|(place, _)| place)
    }

    /// What a goal's unsatisfied edges name: live ids where there is a goal, else the stored text. Each once.
    pub(super) fn blocked_by<'a>(&'a self, goal: &'a Goal) -> Vec<&'a str> {
        if goal.status.is_settled() {
            return Vec::new();
        }
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

    /// The goals that have an edge to this one, in file order.
    pub(super) fn dependents(&self, place: usize) -> impl Iterator<Item = (usize, &Arc<Goal>)> {
        let target = self.goals().get(place);
        let leads_there = move |edge: &str| {
            target.is_some_and(|target| {
                let is_former = || target.previous_ids.iter().any(|id| **id == *edge);
                *target.id == *edge || (is_former() && self.names().resolved(edge) == Some(place))
            })
        };
        let goals = self.goals().iter().enumerate();
        goals.filter(move |(_, goal)| goal.depends_on.iter().any(|edge| leads_there(edge)))
    }

    /// The unfinished goals that wait for this one, in file order. Nothing waits for a settled goal.
    pub(super) fn blocks(&self, place: usize) -> Vec<&str> {
        if is_satisfied(self.goals(), Some(place)) {
            return Vec::new();
        }
        let waiting = self.dependents(place).filter(|(_, goal)| !goal.status.is_settled());
        waiting.map(|(_, goal)| &*goal.id).collect()
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
                let dependents = graph.dependents.get(place).iter().copied();
                for dependent in dependents.filter(|place| is_unfinished(*place)) {
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
