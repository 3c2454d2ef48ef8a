//! Loops in the edges.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use super::document::Roadmap;

/// The first of these goals that waits for itself, as the shortest loop through it: places, each once, beginning
/// with that goal. Loops that hold none of these goals are somebody else's and not looked at.
///
/// Only what the goals lead to is visited, once each.
pub(super) fn through(roadmap: &Roadmap, starts: &[usize]) -> Option<Vec<usize>> {
    let edges = |place: usize| targets(roadmap, place);
    let components = Components::along(starts, edges);
    let start = starts.iter().copied().find(|place| components.is_looping(*place, edges))?;
    Some(components.shortest_loop(start, edges))
}

fn path(came_from: &HashMap<usize, usize>, start: usize, end: usize) -> Vec<usize> {
    let mut path = vec![end];
    while let Some(before) =
        path.last().filter(|place| **place != start).and_then(|place| came_from.get(place))
    {
        path.push(*before);
    }
    path.reverse();
    path
}

/// The goals that a goal's edges lead to. Resolved here and now, so that a small change on a large roadmap does not
/// resolve every edge there is.
fn targets(roadmap: &Roadmap, place: usize) -> impl Iterator<Item = usize> {
    let edges = roadmap.goals().get(place).map(|goal| &*goal.depends_on).unwrap_or_default();
    edges.iter().filter_map(|edge| roadmap.names().resolved(edge))
}

/// Goals that lead to each other belong to one component (Tarjan's algorithm, without recursion).
pub(super) struct Components {
    /// The component of each visited goal. Numbers grow in the order in which components are finished: a component
    /// leads only to itself and to smaller numbers.
    pub(super) of: HashMap<usize, usize>,
    /// The members of each component.
    pub(super) members: Vec<Vec<usize>>,
}

impl Components {
    /// Of everything that `starts` lead to along `edges`.
    pub(super) fn along<I: Iterator<Item = usize>>(starts: &[usize], edges: impl Fn(usize) -> I) -> Self {
        let mut search = Search::default();
        for start in starts {
            search.run(*start, &edges);
        }
        Self { of: search.component, members: search.members }
    }

    /// Whether a goal leads back to itself.
    pub(super) fn is_looping<I: Iterator<Item = usize>>(
        &self,
        place: usize,
        edges: impl Fn(usize) -> I,
    ) -> bool {
        let members = self.of.get(&place).and_then(|component| self.members.get(*component));
        members.is_some_and(|members| members.len() > 1) || edges(place).any(|target| target == place)
    }

    /// The shortest loop through a goal that leads back to itself, beginning with it; else nothing but the goal.
    pub(super) fn shortest_loop<I: Iterator<Item = usize>>(
        &self,
        start: usize,
        edges: impl Fn(usize) -> I,
    ) -> Vec<usize> {
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(place) = queue.pop_front() {
            for target in edges(place).filter(|target| self.of.get(target) == self.of.get(&start)) {
                if target == start {
                    return path(&came_from, start, place);
                }
                if let Entry::Vacant(vacant) = came_from.entry(target) {
                    vacant.insert(place);
                    queue.push_back(target);
                }
            }
        }
        vec![start]
    }
}

#[derive(Default)]
struct Search {
    /// When each goal was first met, and the earliest goal on the stack that it leads to.
    met: HashMap<usize, usize>,
    lowest: HashMap<usize, usize>,
    waiting: Vec<usize>,
    is_waiting: HashSet<usize>,
    component: HashMap<usize, usize>,
    members: Vec<Vec<usize>>,
}

impl Search {
    fn run<I: Iterator<Item = usize>>(&mut self, start: usize, edges: &impl Fn(usize) -> I) {
        if self.met.contains_key(&start) {
            return;
        }
        let mut path = vec![(start, self.meet(start, edges))];
        while let Some((place, rest)) = path.last_mut() {
            let place = *place;
            match rest.next() {
                Some(target) if !self.met.contains_key(&target) => {
                    let rest = self.meet(target, edges);
                    path.push((target, rest));
                }
                Some(target) => {
                    if self.is_waiting.contains(&target) {
                        let met = self.met.get(&target).copied();
                        self.lower(place, met);
                    }
                }
                None => {
                    path.pop();
                    let lowest = self.lowest.get(&place).copied();
                    if let Some((before, _)) = path.last() {
                        self.lower(*before, lowest);
                    }
                    if lowest == self.met.get(&place).copied() {
                        self.finish(place);
                    }
                }
            }
        }
    }

    fn meet<I: Iterator<Item = usize>>(&mut self, place: usize, edges: &impl Fn(usize) -> I) -> I {
        let number = self.met.len();
        self.met.insert(place, number);
        self.lowest.insert(place, number);
        self.waiting.push(place);
        self.is_waiting.insert(place);
        edges(place)
    }

    fn lower(&mut self, place: usize, to: Option<usize>) {
        if let (Some(lowest), Some(to)) = (self.lowest.get_mut(&place), to) {
            *lowest = (*lowest).min(to);
        }
    }

    /// Everything above `place` on the stack leads back to it.
    fn finish(&mut self, place: usize) {
        let number = self.members.len();
        let mut members = Vec::new();
        while let Some(member) = self.waiting.pop() {
            self.is_waiting.remove(&member);
            self.component.insert(member, number);
            members.push(member);
            if member == place {
                break;
            }
        }
        self.members.push(members);
    }
}
