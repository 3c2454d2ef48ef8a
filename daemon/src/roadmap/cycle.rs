//! Loops in the edges.

use std::collections::{HashSet, VecDeque};

use super::document::Roadmap;

/// Stands for "not yet" where a number is kept for every goal.
const NONE: usize = usize::MAX;

/// The first of these goals that waits for itself, as the shortest loop through it: places, each once, beginning
/// with that goal. Loops that hold none of these goals are somebody else's and not looked at.
///
/// Only what the goals lead to is visited, once each.
pub(super) fn through(roadmap: &Roadmap, starts: &[usize]) -> Option<Vec<usize>> {
    search(roadmap, starts, |_| true)
}

/// The same for the goals from `first` on, all of them just added. Hardly ever does an older goal wait for one of
/// them already (by an edge that led to nothing so far); if none does, only the new goals need to be looked at.
pub(super) fn through_new(roadmap: &Roadmap, first: usize) -> Option<Vec<usize>> {
    let (old, new) = roadmap.goals().split_at_checked(first)?;
    if new.iter().all(|goal| goal.depends_on.is_empty()) {
        return None;
    }
    let ids: HashSet<&str> = new.iter().map(|goal| &*goal.id).collect();
    let is_awaited = old.iter().any(|goal| goal.depends_on.iter().any(|edge| ids.contains(&**edge)));
    let starts: Vec<usize> = (first..roadmap.len()).collect();
    search(roadmap, &starts, |target| is_awaited || target >= first)
}

fn search(roadmap: &Roadmap, starts: &[usize], counts: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
    // Resolved here and now, so that a small change on a large roadmap does not resolve every edge there is.
    let edges = |place: usize| {
        let edges = roadmap.goals().get(place).map(|goal| &*goal.depends_on).unwrap_or_default();
        edges.iter().filter_map(|edge| roadmap.names().resolved(edge)).filter(|target| counts(*target))
    };
    let components = Components::along(roadmap.len(), starts, edges);
    let start = starts.iter().copied().find(|place| components.is_looping(*place, edges))?;
    Some(components.shortest_loop(start, edges))
}

/// Goals that lead to each other belong to one component (Tarjan's algorithm, without recursion).
pub(super) struct Components {
    /// The component of each visited goal. Numbers grow in the order in which components are finished: a component
    /// leads only to itself and to smaller numbers.
    of: Vec<usize>,
    /// The members of each component.
    pub(super) members: Vec<Vec<usize>>,
}

impl Components {
    /// Of everything among `goals` goals that `starts` lead to along `edges`.
    pub(super) fn along<I: Iterator<Item = usize>>(
        goals: usize,
        starts: &[usize],
        edges: impl Fn(usize) -> I,
    ) -> Self {
        let mut search = Search::new(goals);
        for start in starts {
            search.run(*start, &edges);
        }
        Self { of: search.component, members: search.members }
    }

    /// The component of a goal that was visited.
    pub(super) fn of(&self, place: usize) -> Option<usize> {
        self.of.get(place).copied().filter(|component| *component != NONE)
    }

    /// Whether a goal leads back to itself.
    pub(super) fn is_looping<I: Iterator<Item = usize>>(
        &self,
        place: usize,
        edges: impl Fn(usize) -> I,
    ) -> bool {
        let members = self.of(place).and_then(|component| self.members.get(component));
        members.is_some_and(|members| members.len() > 1) || edges(place).any(|target| target == place)
    }

    /// The shortest loop through a goal that leads back to itself, beginning with it; else nothing but the goal.
    pub(super) fn shortest_loop<I: Iterator<Item = usize>>(
        &self,
        start: usize,
        edges: impl Fn(usize) -> I,
    ) -> Vec<usize> {
        let mut came_from = vec![NONE; self.of.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(place) = queue.pop_front() {
            for target in edges(place).filter(|target| self.of(*target) == self.of(start)) {
                if target == start {
                    return path(&came_from, start, place);
                }
                if let Some(from) = came_from.get_mut(target).filter(|from| **from == NONE) {
                    *from = place;
                    queue.push_back(target);
                }
            }
        }
        vec![start]
    }
}

fn path(came_from: &[usize], start: usize, end: usize) -> Vec<usize> {
    let mut path = vec![end];
    let mut place = end;
    while place != start {
        let Some(before) = came_from.get(place).filter(|before| **before != NONE) else { break };
        place = *before;
        path.push(place);
    }
    path.reverse();
    path
}

/// What is known of each goal while components are looked for.
struct Search {
    /// When each goal was first met.
    met: Vec<usize>,
    /// The earliest goal on the stack that it leads to, by when that was met.
    lowest: Vec<usize>,
    component: Vec<usize>,
    /// Goals that were met and belong to no component yet.
    waiting: Vec<usize>,
    members: Vec<Vec<usize>>,
    count: usize,
}

impl Search {
    fn new(goals: usize) -> Self {
        let none = || vec![NONE; goals];
        Self {
            met: none(),
            lowest: none(),
            component: none(),
            waiting: Vec::new(),
            members: Vec::new(),
            count: 0,
        }
    }

    fn run<I: Iterator<Item = usize>>(&mut self, start: usize, edges: &impl Fn(usize) -> I) {
        if !self.meet(start) {
            return;
        }
        let mut path = vec![(start, edges(start))];
        while let Some((place, rest)) = path.last_mut() {
            let place = *place;
            match rest.next() {
                Some(target) if self.meet(target) => path.push((target, edges(target))),
                // Met before. Only what is still waiting can lead back here.
                Some(target) if at(&self.component, target) == NONE => {
                    self.lower(place, at(&self.met, target));
                }
                Some(_) => {}
                None => {
                    path.pop();
                    let lowest = at(&self.lowest, place);
                    if let Some((before, _)) = path.last() {
                        self.lower(*before, lowest);
                    }
                    if lowest == at(&self.met, place) {
                        self.finish(place);
                    }
                }
            }
        }
    }

    /// Notes a goal; false when it was met before.
    fn meet(&mut self, place: usize) -> bool {
        let (Some(met), Some(lowest)) = (self.met.get_mut(place), self.lowest.get_mut(place)) else {
            return false;
        };
        if *met != NONE {
            return false;
        }
        (*met, *lowest) = (self.count, self.count);
        self.count += 1;
        self.waiting.push(place);
        true
    }

    fn lower(&mut self, place: usize, to: usize) {
        if let Some(lowest) = self.lowest.get_mut(place) {
            *lowest = (*lowest).min(to);
        }
    }

    /// Everything above `place` on the stack leads back to it.
    fn finish(&mut self, place: usize) {
        let number = self.members.len();
        let mut members = Vec::new();
        while let Some(member) = self.waiting.pop() {
            if let Some(component) = self.component.get_mut(member) {
                *component = number;
            }
            members.push(member);
            if member == place {
                break;
            }
        }
        self.members.push(members);
    }
}

fn at(numbers: &[usize], place: usize) -> usize {
    numbers.get(place).copied().unwrap_or(NONE)
}
