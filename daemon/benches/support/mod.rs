//! Roadmaps of any size, the same ones each time.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use stepstone_daemon::decode;
use stepstone_daemon::roadmap::{self, Decision, Moment, Roadmap};
use stepstone_proto::operation::{Change, Operation, Read};

/// A goal file with `goals` goals; each waits for up to `edges` earlier ones. A tenth is done.
#[must_use]
pub(crate) fn worklist(goals: usize, edges: usize) -> String {
    let description =
        "What has to be true, how to see that it is, and what is left out on purpose. ".repeat(4);
    let mut text = String::from("{\n  \"version\": 1,\n  \"revision\": 1,\n  \"goals\": [");
    for goal in 0..goals {
        let status = if goal % 10 == 0 { "done" } else { "open" };
        let separator = if goal == 0 { "" } else { "," };
        let waits: Vec<String> = (1..=edges)
            .map(|edge| edge * edge * 3)
            .filter(|distance| *distance <= goal)
            .map(|distance| format!("\n        \"goal-{}\"", goal - distance))
            .collect();
        let waits = if waits.is_empty() {
            String::new()
        } else {
            format!("      \"dependsOn\": [{}\n      ],\n", waits.join(","))
        };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{separator}\n    {{\n      \"id\": \"goal-{goal}\",\n      \"title\": \"Goal {goal}\",\n      \
             \"description\": \"{description}\",\n{waits}      \"status\": \"{status}\",\n      \
             \"createdAt\": \"2026-01-01T00:00:00.000Z\",\n      \"updatedAt\": \"2026-01-01T00:00:00.000Z\"\n    }}"
        );
    }
    text.push_str("\n  ]\n}\n");
    text
}

/// The same, parsed.
#[must_use]
pub(crate) fn roadmap(goals: usize, edges: usize) -> Roadmap {
    Roadmap::parse(worklist(goals, edges).as_bytes()).expect("the file is well-formed")
}

/// A chain in which each goal waits for the one before it.
#[must_use]
pub(crate) fn chain(goals: usize) -> Roadmap {
    let mut text = String::from("{\"version\":1,\"goals\":[");
    for goal in 0..goals {
        let separator = if goal == 0 { "" } else { "," };
        let waits = goal.checked_sub(1).map_or_else(String::new, |before| format!("\"g{before}\""));
        let _ = write!(
            text,
            "{separator}{{\"id\":\"g{goal}\",\"title\":\"G\",\"status\":\"open\",\"dependsOn\":[{waits}],\
             \"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:00:00.000Z\"}}"
        );
    }
    text.push_str("]}");
    Roadmap::parse(text.as_bytes()).expect("the file is well-formed")
}

fn operation(operation: Value) -> Operation {
    let Value::Object(operation): Value = operation else { return Operation::Init };
    let operation: Map<String, Value> = operation;
    decode::decode(&operation)
        .ok()
        .and_then(|decoded| decoded.operation.ok())
        .expect("the operation is right")
}

/// Answers one read; gives the answer's length.
pub(crate) fn read(roadmap: &Roadmap, action: &str) -> usize {
    answered(roadmap, json!({ "action": action }))
}

/// The same with one goal shown: what is left is the computing.
pub(crate) fn read_one(roadmap: &Roadmap, view: &str) -> usize {
    answered(roadmap, json!({ "action": "read_goals", "view": view, "limit": 1 }))
}

fn answered(roadmap: &Roadmap, asked: Value) -> usize {
    let Operation::Read(read): Operation = operation(asked) else { return 0 };
    let read: Read = read;
    roadmap::read(roadmap, "read", &read).map_or(0, |result| result.get().len())
}

/// Adds one goal and prints the file, as one write does; gives the file's length.
#[must_use]
pub(crate) fn add(roadmap: &Roadmap) -> usize {
    let Operation::Change(change) =
        operation(json!({"action": "add", "title": "One more", "dependsOn": ["goal-1"]}))
    else {
        return 0;
    };
    written(roadmap, &change)
}

/// Takes the first ready goal and prints the file.
#[must_use]
pub(crate) fn start(roadmap: &Roadmap) -> usize {
    let Operation::Change(change) = operation(json!({"action": "start", "branch": "main"})) else { return 0 };
    written(roadmap, &change)
}

fn written(roadmap: &Roadmap, change: &Change) -> usize {
    let moment = Moment { now_ms: 1_800_000_000_000, claimed_by: "bench", branch: None };
    match roadmap::decide(roadmap, change, &moment) {
        Ok(Decision::Write { next, .. }) => next.print().len(),
        _ => 0,
    }
}
