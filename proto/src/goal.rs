//! The words that every side uses for a goal's state.

use serde::{Deserialize, Serialize};

/// Where a goal stands. Settled means `done` or `archived`; unfinished means `open` or `active`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not begun, or given back.
    Open,
    /// The goal that somebody marked as the one being worked on.
    Active,
    /// Landed.
    Done,
    /// Settled without landing, or put away.
    Archived,
}

impl Status {
    /// All states, in the order in which people list them.
    pub const ALL: [Self; 4] = [Self::Open, Self::Active, Self::Done, Self::Archived];
    /// The same, as they are written.
    pub const NAMES: [&'static str; 4] = ["open", "active", "done", "archived"];

    /// As it is written in the goal file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Active => "active",
            Self::Done => "done",
            Self::Archived => "archived",
        }
    }

    /// The state with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Done or archived: nothing waits for it any more.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Archived)
    }
}
