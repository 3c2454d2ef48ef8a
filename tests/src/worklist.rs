//! Goal files for tests, in the layout that the engine writes.

use serde_json::{Map, Value, json};

/// When the goals of tests were made.
const MADE: &str = "2026-01-01T00:00:00.000Z";

/// A goal for a goal file.
#[derive(Debug, Clone)]
#[must_use]
pub struct Goal(Map<String, Value>);

impl Goal {
    /// An open goal whose title is its id.
    pub fn open(id: &str) -> Self {
        Self::with_status(id, "open")
    }

    /// A goal with this status.
    pub fn with_status(id: &str, status: &str) -> Self {
        let mut fields = Map::new();
        for (key, value) in
            [("id", id), ("title", id), ("status", status), ("createdAt", MADE), ("updatedAt", MADE)]
        {
            fields.insert(key.to_owned(), value.into());
        }
        Self(fields)
    }

    /// With this title.
    pub fn title(self, title: &str) -> Self {
        self.field("title", title)
    }

    /// Behind these goals.
    pub fn depends_on(self, ids: &[&str]) -> Self {
        self.field("dependsOn", json!(ids))
    }

    /// With this field too, known to Stepstone or not.
    pub fn field(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

/// The text of a goal file with these goals.
///
/// # Panics
/// Never for values that JSON can hold.
pub fn worklist(revision: u64, goals: impl IntoIterator<Item = Goal>) -> String {
    let goals: Vec<Value> = goals.into_iter().map(|goal| Value::Object(goal.0)).collect();
    let file = json!({ "version": 1, "revision": revision, "goals": goals });
    serde_json::to_string_pretty(&file).expect("JSON values print") + "\n"
}
