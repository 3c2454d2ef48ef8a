//! One answer, the same on every interface.
//!
//! Success: `{"ok": true, "scope", "action", "result", "meta"}`. Failure: `{"ok": false, "scope", "action",
//! "error", "meta"}`. Keys are only ever added; readers ignore unknown ones.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What the answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The repository's roadmap.
    Project,
    /// The engine itself (`daemon`, `doctor`).
    Daemon,
}

/// One answer. Exactly one of `result` and `error` is there, as `ok` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Envelope {
    /// Whether it was done (or was so already).
    pub ok: bool,
    /// What the answer is about.
    pub scope: Scope,
    /// The action that was asked for.
    pub action: String,
    /// The whole result object (`scope` and `action` again, then the action's own fields), as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Why not, and what to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What changed, and where.
    pub meta: Meta,
}

impl Envelope {
    /// A success with nothing said in `meta` yet.
    #[must_use]
    pub fn success(action: &str, result: Box<RawValue>) -> Self {
        Self {
            ok: true,
            scope: Scope::Project,
            action: action.to_owned(),
            result: Some(result),
            error: None,
            meta: Meta::default(),
        }
    }

    /// A failure with nothing said in `meta` yet.
    #[must_use]
    pub fn failure(action: &str, error: Failure) -> Self {
        Self {
            ok: false,
            scope: Scope::Project,
            action: action.to_owned(),
            result: None,
            error: Some(error),
            meta: Meta::default(),
        }
    }
}

/// The facts beside an answer. Reads, refusals and dry runs leave `changed` and `semanticNoOp` false.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// The file was written.
    pub changed: bool,
    /// It already was what was asked for; nothing was written.
    pub semantic_no_op: bool,
    /// Sorted JSON Pointers: `/goals`, or `/worklistPath` for a path migration.
    pub changed_fields: Vec<String>,
    /// Every goal that changed; there when something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_entities: Option<ChangedEntities>,
    /// The file's revision whenever it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisions: Option<Revisions>,
    /// The legacy file that is passed over because the canonical one exists too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_worklist_path: Option<String>,
    /// The file in use, when it is not the canonical one of the caller's own work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worklist_path: Option<String>,
    /// This answer was given before, for the same idempotency key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// `unsynced`: written and visible, but the system could not confirm that it reached the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
}

/// Ids of the goals that changed, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedEntities {
    /// Sorted, each once.
    pub project_goal_ids: Vec<String>,
}

/// Revisions of the files that were read, as decimal text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revisions {
    /// The goal file's.
    pub project: String,
}

/// Why something was not done. Every failure says what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The stable kind.
    pub code: ErrorCode,
    /// What did not happen, why, and the right next step, for people and models.
    pub message: String,
    /// The same call may succeed later, unchanged or on refreshed state.
    pub retryable: bool,
    /// The two states that differ, or the claim that is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Conflict>,
    /// Machine-readable facts: `fields`, `resolution`, `path` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
}

impl Failure {
    /// A failure that the same call would meet again, with no details yet.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: false, conflict: None, details: None }
    }

    /// The same, saying that a later try may succeed.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The same, with one more fact in `details`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.get_or_insert_default().insert(key.to_owned(), value.into());
        self
    }

    /// The same, with `details.resolution`.
    #[must_use]
    pub fn resolution(self, resolution: &str) -> Self {
        self.with("resolution", resolution)
    }

    /// The same, with `details.fields`, sorted.
    #[must_use]
    pub fn fields<S: Into<String>>(self, fields: impl IntoIterator<Item = S>) -> Self {
        let mut fields: Vec<String> = fields.into_iter().map(Into::into).collect();
        fields.sort_unstable();
        fields.dedup();
        self.with("fields", fields)
    }
}

/// The stable kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// No repository, no Git, no engine.
    Unavailable,
    /// An action nobody knows, or a usage error on the command line.
    InvalidRequest,
    /// A bad, missing, unknown or contradictory input.
    ValidationFailed,
    /// A selector that names nothing.
    NotFound,
    /// The edges asked for would wait for themselves.
    DependencyCycle,
    /// A confirmation is missing.
    ApprovalRequired,
    /// The state is not the one that the caller read, or somebody else holds the goal.
    Conflict,
    /// The file is malformed, or the disk refused.
    PersistenceFailed,
}

impl ErrorCode {
    /// The exit code of the command line for this kind (a usage error ends with 2 instead).
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::ApprovalRequired => 3,
            Self::Conflict => 4,
            Self::Unavailable
            | Self::InvalidRequest
            | Self::ValidationFailed
            | Self::NotFound
            | Self::DependencyCycle
            | Self::PersistenceFailed => 1,
        }
    }
}

/// What stood against the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Conflict {
    /// The goal was changed since the caller read it.
    GoalUpdatedAt {
        /// The goal.
        id: String,
        /// As the caller gave it.
        expected_updated_at: String,
        /// As it is stored.
        actual_updated_at: String,
        /// `refresh-and-retry`.
        resolution: String,
    },
    /// The file was changed since the caller read it.
    Revision {
        /// As the caller gave it.
        expected_revision: String,
        /// The file's.
        actual_revision: String,
        /// `refresh-and-retry`.
        resolution: String,
    },
    /// Another branch holds the goal.
    GoalClaimed {
        /// The goal.
        id: String,
        /// The branch that holds it.
        branch: String,
        /// Since when, if that is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed_at: Option<String>,
        /// By whom, if that is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed_by: Option<String>,
        /// `choose-another-goal`.
        resolution: String,
    },
}
