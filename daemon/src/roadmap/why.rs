//! Why a goal is not ready: each edge followed down to what can be done about it.
//!
//! Everything that the goal waits for is visited once. What a goal comes down to is collected from below, at most
//! [`SHOWN`] of each kind, so that a goal above a whole roadmap still gets an answer of a readable size.

use std::collections::{HashMap, HashSet};

use stepstone_proto::envelope::Failure;

use super::answer::{Answer, in_short, joined, json};
use super::cycle::Components;
use super::document::Roadmap;
use super::goal::{Goal, Key};
use super::graph::is_satisfied;
use super::refusal;
use super::text::quoted;

/// So many goals, loops and edges to nothing are shown below one edge.
const SHOWN: usize = 10;
/// So many reasons are shown.
const REASONS: usize = 50;

/// Adds `goal`, `ready` and `reasons`.
///
/// A reason has a `type`: `settled` (with `status`), `claimed` (with the claim), `dangling` (with the `reference`
/// that names nothing), or `dependency`: the `goal` waited for, and of what it comes down to `startable` goals,
/// goals `inProgress`, `loops` and `dangling` edges that never land, and `more: true` when some are left out. Where
/// reasons are left out themselves, `total` and `more: true` say so.
pub(super) fn why(answer: &mut Answer, roadmap: &Roadmap, place: usize) -> Result<(), Failure> {
    let goal = roadmap.goal_at(place)?;
    answer.raw("goal", &goal.whole(&[]));
    answer.put("ready", &roadmap.is_ready(goal))?;
    let mut reasons = Vec::new();
    if goal.status.is_settled() {
        reasons.push(format!("{{\"type\":\"settled\",\"status\":{}}}", json(&goal.status)?));
    } else {
        if goal.is_claimed() {
            reasons.push(claim(goal)?);
        }
        reasons.extend(edges(roadmap, place, goal)?);
    }
    let total = reasons.len();
    reasons.truncate(REASONS);
    answer.list("reasons", &reasons);
    if total > REASONS {
        answer.put("total", &total)?;
        answer.put("more", &true)?;
    }
    Ok(())
}

fn claim(goal: &Goal) -> Result<String, Failure> {
    let mut reason = format!("{{\"type\":\"claimed\",\"status\":{}", json(&goal.status)?);
    for key in [Key::Branch, Key::ClaimedAt, Key::ClaimedBy] {
        if let Some(value) = goal.decoded(key) {
            reason.push_str(&format!(",\"{}\":{}", key.name(), quoted(&value)));
        }
    }
    reason.push('}');
    Ok(reason)
}

/// One reason for each unsatisfied edge, in the order in which the goal names them.
fn edges(roadmap: &Roadmap, place: usize, goal: &Goal) -> Result<Vec<String>, Failure> {
    let below = Below::of(roadmap, place)?;
    let (mut seen, mut unknown) = (HashSet::new(), HashSet::new());
    let mut reasons = Vec::new();
    for edge in &goal.depends_on {
        match roadmap.names().resolved(edge) {
            Some(target) if is_satisfied(roadmap.goals(), Some(target)) || !seen.insert(target) => {}
            Some(target) => reasons.push(below.reason(target)?),
            None if unknown.insert(edge) => {
                reasons.push(format!("{{\"type\":\"dangling\",\"reference\":{}}}", quoted(edge)));
            }
            None => {}
        }
    }
    Ok(reasons)
}

/// What lies below a goal along edges that are not satisfied.
struct Below<'a> {
    roadmap: &'a Roadmap,
    components: Components,
    /// For each component what it comes down to.
    ends: Vec<Ends>,
    /// For each goal that stands for a loop, the loop's ids as JSON text.
    loops: HashMap<usize, String>,
}

/// What a goal comes down to.
#[derive(Debug, Clone, Default)]
struct Ends {
    /// Goals that wait for nothing.
    free: Vec<usize>,
    /// One goal of each loop.
    loops: Vec<usize>,
    /// Goals with an edge to nothing.
    dangling: Vec<usize>,
    is_cut: bool,
}

impl Ends {
    fn add(&mut self, kind: impl Fn(&mut Self) -> &mut Vec<usize>, place: usize) {
        let list = kind(self);
        if list.contains(&place) {
            return;
        }
        if list.len() < SHOWN {
            list.push(place);
        } else {
            self.is_cut = true;
        }
    }

    fn add_all(&mut self, other: &Self) {
        other.free.iter().for_each(|place| self.add(|ends| &mut ends.free, *place));
        other.loops.iter().for_each(|place| self.add(|ends| &mut ends.loops, *place));
        other.dangling.iter().for_each(|place| self.add(|ends| &mut ends.dangling, *place));
        self.is_cut |= other.is_cut;
    }
}

/// The unfinished goals that a goal waits for.
fn unsatisfied(roadmap: &Roadmap, place: usize) -> impl Iterator<Item = usize> {
    let edges = roadmap.graph().needs(place).iter().copied().flatten();
    edges.filter(|target| !is_satisfied(roadmap.goals(), Some(*target)))
}

impl<'a> Below<'a> {
    fn of(roadmap: &'a Roadmap, place: usize) -> Result<Self, Failure> {
        let components = Components::along(roadmap.len(), &[place], |place| unsatisfied(roadmap, place));
        let mut below = Self { roadmap, components, ends: Vec::new(), loops: HashMap::new() };
        // A component leads only to those before it, so what lies below it is known already.
        for number in 0..below.components.members.len() {
            let ends = below.ends_of(number)?;
            below.ends.push(ends);
        }
        Ok(below)
    }

    fn ends_of(&mut self, number: usize) -> Result<Ends, Failure> {
        let mut ends = Ends::default();
        let members = self.components.members.get(number).map(Vec::as_slice).unwrap_or_default();
        let edges = |place| unsatisfied(self.roadmap, place);
        if let Some(first) = members.iter().min().filter(|place| self.components.is_looping(**place, edges)) {
            let places = self.components.shortest_loop(*first, edges);
            let ids: Vec<&str> =
                places.iter().filter_map(|place| self.goal(*place)).map(|goal| &*goal.id).collect();
            ends.add(|ends| &mut ends.loops, *first);
            self.loops.insert(*first, json(&ids)?);
        }
        for member in members {
            let names_nothing = self.roadmap.graph().needs(*member).contains(&None);
            if names_nothing {
                ends.add(|ends| &mut ends.dangling, *member);
            }
            let mut waits = names_nothing;
            for target in edges(*member) {
                waits = true;
                if let Some(below) = self.components.of(target).and_then(|below| self.ends.get(below)) {
                    ends.add_all(below);
                }
            }
            if !waits {
                ends.add(|ends| &mut ends.free, *member);
            }
        }
        Ok(ends)
    }

    fn goal(&self, place: usize) -> Option<&Goal> {
        self.roadmap.goals().get(place).map(AsRef::as_ref)
    }

    fn reason(&self, target: usize) -> Result<String, Failure> {
        let goal = self.roadmap.goal_at(target)?;
        let mut reason = format!("{{\"type\":\"dependency\",\"goal\":{}", in_short(goal, true)?);
        let Some(ends) = self.components.of(target).and_then(|component| self.ends.get(component)) else {
            return Err(refusal::impossible("a goal that is waited for was not looked at"));
        };
        let free = ends.free.iter().filter_map(|place| self.goal(*place));
        let (claimed, startable): (Vec<&Goal>, Vec<&Goal>) = free.partition(|goal| goal.is_claimed());
        for (key, goals) in [("startable", startable), ("inProgress", claimed)] {
            let goals = goals.into_iter().map(|goal| in_short(goal, true)).collect::<Result<Vec<_>, _>>()?;
            push_list(&mut reason, key, &goals);
        }
        let loops: Vec<String> =
            ends.loops.iter().filter_map(|start| self.loops.get(start)).cloned().collect();
        push_list(&mut reason, "loops", &loops);
        push_list(&mut reason, "dangling", &self.dangling(ends));
        if ends.is_cut {
            reason.push_str(",\"more\":true");
        }
        reason.push('}');
        Ok(reason)
    }

    fn dangling(&self, ends: &Ends) -> Vec<String> {
        let mut edges = Vec::new();
        for goal in ends.dangling.iter().filter_map(|place| self.goal(*place)) {
            for edge in goal.depends_on.iter().filter(|edge| self.roadmap.names().resolved(edge).is_none()) {
                edges.push(format!("{{\"id\":{},\"reference\":{}}}", quoted(&goal.id), quoted(edge)));
            }
        }
        edges
    }
}

fn push_list(reason: &mut String, key: &str, items: &[String]) {
    if !items.is_empty() {
        reason.push_str(&format!(",\"{key}\":{}", joined(items)));
    }
}
