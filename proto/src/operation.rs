//! One request: as it crosses the socket ([`Request`]) and as the engine understands it ([`Operation`]).
//!
//! Clients pass arguments on as they were given. The one decoder from the first form to the second stands at the
//! engine's door, so that every refusal is the same on every interface.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::goal::Status;

/// The body of `POST /v1/operations`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// Who asks, and from where.
    pub context: Context,
    /// `action`, and its arguments beside it, as they were given.
    pub operation: Map<String, Value>,
}

/// Who asks, and from where. Unknown fields are ignored, so that newer clients may say more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The caller's directory, absolute. The repository is the one around it.
    pub cwd: String,
    /// An explicit goal file, as given (`--file` or `$STEPSTONE_WORKLIST`), when there is one. Blank is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worklist: Option<String>,
    /// Where a relative `worklist` starts, absolute; `cwd` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worklist_base: Option<String>,
    /// What `git` must see of the caller's environment: `PATH`, `HOME`, `XDG_CONFIG_HOME`.
    #[serde(default)]
    pub git_env: BTreeMap<String, String>,
    /// Who asks: the MCP host by its own name, or `cli`.
    #[serde(default)]
    pub client: ClientInfo,
    /// One key, one change: a repeated key is answered with the first envelope. As given; the engine refuses what
    /// is no text or blank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<Value>,
    /// The key was derived from the host's own call id, which is unique for a while only: honoured for 10 minutes
    /// instead of 24 hours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotency_key_derived: bool,
}

/// The asking program, as shown by `daemon status` and stored as `claimedBy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// `cli`, or the MCP host's own name.
    #[serde(default)]
    pub name: String,
    /// Its version, as it calls it.
    #[serde(default)]
    pub version: String,
    /// The process that holds the connection.
    #[serde(default)]
    pub pid: u32,
}

/// A decoded operation: shapes are right, blank and absent are told apart, names are not looked up yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Answers from committed content; writes nothing.
    Read(Read),
    /// Changes goals.
    Change(Change),
    /// Moves the legacy file to the canonical path.
    MigratePath {
        /// Say what would move; move nothing.
        dry_run: bool,
    },
    /// Writes or refreshes the block in `AGENTS.md`.
    Init,
}

/// The reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// Every goal in file order that passes the filter.
    List {
        /// Which goals.
        filter: Filter,
        /// How they are shown, and how many.
        view: View,
    },
    /// Goals whose title or description holds the text, without regard to case.
    Find {
        /// Not blank.
        query: String,
        /// How they are shown, and how many.
        view: View,
    },
    /// One goal with what it waits for and what waits for it.
    Show {
        /// A selector.
        id: String,
    },
    /// The first ready goal.
    Next,
    /// All ready goals.
    Ready(View),
    /// Unfinished goals by earliest wave.
    Waves(View),
    /// Why a goal is not ready, followed down to what can be started.
    Why {
        /// A selector.
        id: String,
    },
    /// Live ids by prefix, for completion in shells and hosts.
    Ids {
        /// Compared without regard to case; empty names all.
        prefix: String,
        /// At most so many.
        limit: usize,
    },
}

/// Which goals a list holds. The default holds all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Empty: every status.
    pub status: Vec<Status>,
    /// Exactly this group.
    pub group: Option<String>,
    /// Only goals that are active or carry a branch; each answered with its claim.
    pub claimed: bool,
}

/// How a collection is shown, and how much of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// Whole goals instead of compact ones.
    pub full: bool,
    /// Adds derived `blocked`, `blockedBy`, and `summary`.
    pub explain: bool,
    /// At most so many goals.
    pub limit: Option<usize>,
    /// Goes on behind the goal with this id.
    pub after: Option<String>,
    /// At most about so many characters of JSON, at a whole goal and at least one.
    pub characters: Option<usize>,
}

/// The changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Appends one goal.
    Add(NewGoal),
    /// Appends many goals by one write.
    ApplyPlan {
        /// In order.
        entries: Vec<PlanEntry>,
        /// Do everything but write.
        dry_run: bool,
        /// The file's revision that the caller read.
        expected_revision: Option<u64>,
    },
    /// Edits one goal.
    Update {
        /// Which, and on which state.
        target: Target,
        /// What becomes of it.
        edit: Edit,
    },
    /// Moves one goal in file order.
    Move {
        /// A selector.
        id: String,
        /// Where to.
        placement: Placement,
    },
    /// Takes a goal for a branch.
    Start(Start),
    /// Makes a goal the one active goal.
    SetActive(Target),
    /// Marks a goal done.
    Complete(Target),
    /// Opens a settled or active goal.
    Reopen(Target),
    /// Puts a goal away.
    Archive(Target),
    /// Removes a goal for good.
    Delete(Target),
    /// Rewrites ids of the old random shape.
    MigrateIds {
        /// Say what would change; change nothing.
        dry_run: bool,
    },
}

/// One goal, and the state of it that the caller read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// A selector.
    pub id: String,
    /// Refuse with a conflict when the goal's `updatedAt` is another instant.
    pub expected_updated_at: Option<Baseline>,
}

/// An instant as the caller spelled it, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// As given.
    pub given: String,
    /// Nanoseconds since 1970 (UTC).
    pub instant: i128,
}

/// What `add` appends. Texts are trimmed where the rules trim them; links are canonical.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewGoal {
    /// Trimmed, not blank.
    pub title: String,
    /// As given; may be empty.
    pub description: Option<String>,
    /// Trimmed, not blank.
    pub group: Option<String>,
    /// Selectors, none blank.
    pub depends_on: Vec<String>,
    /// WHATWG spelling, each once.
    pub links: Vec<String>,
}

/// One entry of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanEntry {
    /// Trimmed, not blank.
    pub title: String,
    /// As given; may be empty.
    pub description: Option<String>,
    /// Trimmed, not blank.
    pub group: Option<String>,
    /// References: neither blank nor padded.
    pub depends_on: Vec<String>,
}

/// What `update` changes; at least one part is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Trimmed, not blank.
    pub title: Option<String>,
    /// Replace or append.
    pub description: Option<DescriptionEdit>,
    /// `Some(None)` clears.
    pub group: Option<Option<String>>,
    /// The whole new set of selectors; empty clears.
    pub depends_on: Option<Vec<String>>,
    /// The whole new set; empty clears.
    pub links: Option<Vec<String>>,
}

/// The two ways to change a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescriptionEdit {
    /// The new text, as given.
    Replace(String),
    /// Trimmed, not blank; joined by a blank line.
    Append(String),
}

/// Where `move` puts a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// One place earlier.
    Up,
    /// One place later.
    Down,
    /// Directly before the goal that this selector names.
    Before(String),
    /// Directly behind it.
    After(String),
}

/// What `start` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The first ready goal.
    Next {
        /// One line, not blank; absent: the caller's own branch.
        branch: Option<String>,
    },
    /// This goal.
    Take {
        /// Which, and on which state.
        target: Target,
        /// One line, not blank; absent: the caller's own branch.
        branch: Option<String>,
        /// Also from another branch, because the user said so.
        take_over: bool,
    },
    /// Give the claim back.
    Clear {
        /// Which, and on which state.
        target: Target,
        /// Also another branch's claim, because the user said so.
        take_over: bool,
    },
}
