//! The table itself.

use super::{Action, Argument, Blank, Cli, Kind, Shape, Surfaces};
use crate::goal::Status;

const CLI_ONLY: Surfaces = Surfaces { cli: true, tool: false, resource: None, view: false };
const TOOL: Surfaces = Surfaces { cli: true, tool: true, resource: None, view: false };

const fn read(resource: Option<&'static str>) -> Surfaces {
    Surfaces { cli: true, tool: false, resource, view: true }
}

const ID: Argument = Argument {
    name: "id",
    shape: Shape::Text,
    required: true,
    blank: Blank::Refused("provide-a-goal-id"),
    description: "The goal: its id, a former id or a unique prefix.",
    cli: Cli::Word("id"),
};

const CONFIRM: Argument = Argument {
    name: "confirm",
    shape: Shape::Confirmation,
    required: false,
    blank: Blank::Value,
    description: "true only after the user asked for exactly this.",
    cli: Cli::Flag("confirm", ""),
};

const EXPECTED_UPDATED_AT: Argument = Argument {
    name: "expectedUpdatedAt",
    shape: Shape::Text,
    required: false,
    blank: Blank::Refused("provide-non-blank-expected-updated-at"),
    description: "The goal's updatedAt as you last read it. CONFLICT if it has changed since.",
    cli: Cli::Flag("expect-updated-at", "T"),
};

const FULL: Argument = Argument {
    name: "full",
    shape: Shape::Flag,
    required: false,
    blank: Blank::Absent,
    description: "true for whole goals, with descriptions and links, instead of compact ones.",
    cli: Cli::Flag("full", ""),
};

const EXPLAIN: Argument = Argument {
    name: "explain",
    shape: Shape::Flag,
    required: false,
    blank: Blank::Absent,
    description: "true adds blocked and blockedBy to each unfinished goal, and a summary of counts.",
    cli: Cli::No,
};

/// The most that one answer may be asked to hold.
const LIMIT_MAX: u64 = 1_000_000;

const LIMIT: Argument = Argument {
    name: "limit",
    shape: Shape::Count(1, LIMIT_MAX),
    required: false,
    blank: Blank::Absent,
    description: "At most so many goals; the answer says total, and more: true when some were left out.",
    cli: Cli::No,
};

const AFTER: Argument = Argument {
    name: "after",
    shape: Shape::Text,
    required: false,
    blank: Blank::Absent,
    description: "Go on behind the goal with this id, the last one of the answer before.",
    cli: Cli::No,
};

const QUERY: Argument = Argument {
    name: "query",
    shape: Shape::Text,
    required: true,
    blank: Blank::Refused("provide-non-blank-search-text"),
    description: "Text to look for in titles and descriptions, without regard to case.",
    cli: Cli::Words("text"),
};

const STATUS: Argument = Argument {
    name: "status",
    shape: Shape::Choices(&Status::NAMES),
    required: false,
    blank: Blank::Absent,
    description: "Only goals with one of these: open, active, done, archived.",
    cli: Cli::Repeated("status", "S"),
};

const GROUP_FILTER: Argument = Argument {
    name: "group",
    shape: Shape::Text,
    required: false,
    blank: Blank::Absent,
    description: "Only goals of exactly this group.",
    cli: Cli::Flag("group", "G"),
};

const CLAIMED: Argument = Argument {
    name: "claimed",
    shape: Shape::Flag,
    required: false,
    blank: Blank::Absent,
    description: "true for only the goals that somebody works on, each with branch, claimedAt and claimedBy.",
    cli: Cli::Flag("claimed", ""),
};

const TITLE: Argument = Argument {
    name: "title",
    shape: Shape::Text,
    required: true,
    blank: Blank::Refused("provide-non-blank-title"),
    description: "What will be true when the goal has landed, in one line. Not blank.",
    cli: Cli::Words("title"),
};

const DESCRIPTION: Argument = Argument {
    name: "description",
    shape: Shape::Text,
    required: false,
    blank: Blank::Value,
    description: "Context, scope and acceptance criteria, as plain text or Markdown. Kept as given.",
    cli: Cli::Flag("description", "T"),
};

const GROUP: Argument = Argument {
    name: "group",
    shape: Shape::Text,
    required: false,
    blank: Blank::Absent,
    description: "A heading under which related goals are shown.",
    cli: Cli::Flag("group", "G"),
};

const DEPENDS_ON: Argument = Argument {
    name: "dependsOn",
    shape: Shape::Texts,
    required: false,
    blank: Blank::Refused("provide-non-blank-goal-ids"),
    description: "The goals that must land first: ids or unique prefixes, none blank.",
    cli: Cli::Repeated("depends-on", "ID"),
};

const LINKS: Argument = Argument {
    name: "links",
    shape: Shape::Texts,
    required: false,
    blank: Blank::Refused("provide-absolute-http-or-https-urls"),
    description: "Absolute http or https URLs for a reader.",
    cli: Cli::Repeated("link", "URL"),
};

const DRY_RUN: Argument = Argument {
    name: "dryRun",
    shape: Shape::Flag,
    required: false,
    blank: Blank::Absent,
    description: "true does everything but write.",
    cli: Cli::Flag("dry-run", ""),
};

const CONFIRM_MIGRATION: Argument = Argument {
    description: "Carry it out. Without it, and without a dry run, nothing is changed.",
    ..CONFIRM
};

const BRANCH: Argument = Argument {
    name: "branch",
    shape: Shape::Text,
    required: false,
    blank: Blank::Absent,
    description: "The branch that takes the goal, in one line. Left out: the branch checked out where you work.",
    cli: Cli::Flag("branch", "B"),
};

/// Every action, in the order in which they are shown. Tools keep the order of this table, but for `start` and
/// `read_goals`, which come last.
pub const ACTIONS: &[Action] = &[
    Action {
        name: "list",
        title: "List goals",
        summary: "Every goal in file order.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(Some("list")),
        arguments: &[
            Argument { cli: Cli::Flag("full", ""), ..FULL },
            EXPLAIN,
            STATUS,
            GROUP_FILTER,
            CLAIMED,
            Argument { cli: Cli::Flag("limit", "N"), ..LIMIT },
            Argument { cli: Cli::Flag("after", "ID"), ..AFTER },
        ],
    },
    Action {
        name: "show",
        title: "Show a goal",
        summary: "One goal whole, whether it is blocked, and what waits for it.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(Some("show/{id}")),
        arguments: &[ID],
    },
    Action {
        name: "find",
        title: "Find goals",
        summary: "Goals whose title or description contains a text.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(Some("find/{query}")),
        arguments: &[QUERY, FULL, EXPLAIN, LIMIT, AFTER],
    },
    Action {
        name: "next",
        title: "Next goal",
        summary: "The first ready goal.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(Some("next")),
        arguments: &[],
    },
    Action {
        name: "ready",
        title: "Ready goals",
        summary: "Every open goal that nobody holds and nothing blocks: what can be worked on in parallel now.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(Some("ready")),
        arguments: &[FULL, EXPLAIN, LIMIT, AFTER],
    },
    Action {
        name: "waves",
        title: "Dependency waves",
        summary: "Unfinished goals by the earliest wave in which they can be worked on.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(Some("waves")),
        arguments: &[FULL, EXPLAIN, LIMIT, AFTER],
    },
    Action {
        name: "why",
        title: "Why a goal waits",
        summary: "Why a goal is not ready, followed down to the goals that can be started now.",
        kind: Kind::Read,
        confirm: false,
        surfaces: read(None),
        arguments: &[ID],
    },
    Action {
        name: "add",
        title: "Add a goal",
        summary: "Add one open goal at the end of the roadmap.",
        kind: Kind::Change,
        confirm: false,
        surfaces: TOOL,
        arguments: &[TITLE, DESCRIPTION, GROUP, DEPENDS_ON, LINKS],
    },
    Action {
        name: "apply-plan",
        title: "Apply a plan",
        summary: "Add many goals, with the edges between them, by one atomic write.",
        kind: Kind::Change,
        confirm: false,
        surfaces: TOOL,
        arguments: &[
            Argument {
                name: "plan",
                shape: Shape::Plan,
                required: true,
                blank: Blank::Value,
                description: "The approved JSON array of plan entries, in order.",
                cli: Cli::Own,
            },
            DRY_RUN,
            Argument {
                name: "expectedRevision",
                shape: Shape::Count(0, 9_007_199_254_740_991),
                required: false,
                blank: Blank::Absent,
                description: "The file's revision as you last read it (meta.revisions.project), as a number. CONFLICT if it has changed since.",
                cli: Cli::Flag("expect-revision", "N"),
            },
        ],
    },
    Action {
        name: "update",
        title: "Update a goal",
        summary: "Edit a goal's title, description, group, edges or links.",
        kind: Kind::Change,
        confirm: false,
        surfaces: TOOL,
        arguments: &[
            ID,
            Argument { required: false, description: "The new title. Not blank; the id stays.", ..TITLE },
            Argument { description: "The new description. An empty text clears it.", ..DESCRIPTION },
            Argument {
                name: "appendDescription",
                shape: Shape::Text,
                required: false,
                blank: Blank::Refused("provide-non-blank-append-text"),
                description: "Text to add after the stored description. Not blank, not with description or title.",
                cli: Cli::Flag("append-description", "T"),
            },
            Argument {
                blank: Blank::Clears,
                description: "The new group. An empty text clears it.",
                ..GROUP
            },
            Argument {
                description: "The whole new set of goals that must land first. An empty array clears it.",
                ..DEPENDS_ON
            },
            Argument { description: "The whole new set of URLs. An empty array clears it.", ..LINKS },
            EXPECTED_UPDATED_AT,
        ],
    },
    Action {
        name: "move",
        title: "Move a goal",
        summary: "Move a goal in file order.",
        kind: Kind::Change,
        confirm: false,
        surfaces: TOOL,
        arguments: &[
            ID,
            Argument {
                name: "direction",
                shape: Shape::Choice(&["up", "down"]),
                required: false,
                blank: Blank::Absent,
                description: "up or down, by one place. Exactly one of direction, beforeId and afterId.",
                cli: Cli::Own,
            },
            Argument {
                name: "beforeId",
                shape: Shape::Text,
                required: false,
                blank: Blank::Absent,
                description: "Put it directly before this goal.",
                cli: Cli::Own,
            },
            Argument {
                name: "afterId",
                shape: Shape::Text,
                required: false,
                blank: Blank::Absent,
                description: "Put it directly behind this goal.",
                cli: Cli::Own,
            },
        ],
    },
    Action {
        name: "start",
        title: "Take a goal",
        summary: "Take a goal for a branch; without an id, the first ready one.",
        kind: Kind::Change,
        confirm: false,
        surfaces: TOOL,
        arguments: &[
            Argument {
                required: false,
                description: "The goal to take: id, former id or unique prefix. Left out: the first ready goal.",
                ..ID
            },
            BRANCH,
            Argument {
                name: "clear",
                shape: Shape::Flag,
                required: false,
                blank: Blank::Absent,
                description: "true gives the claim on this goal back. Needs id; not together with branch.",
                cli: Cli::Flag("clear", ""),
            },
            Argument {
                name: "takeOver",
                shape: Shape::Flag,
                required: false,
                blank: Blank::Absent,
                description: "true also when another branch holds the goal, only because the user said so. Needs id.",
                cli: Cli::Flag("take-over", ""),
            },
            EXPECTED_UPDATED_AT,
        ],
    },
    Action {
        name: "set_active",
        title: "Make a goal active",
        summary: "Make a goal the one active goal.",
        kind: Kind::Change,
        confirm: false,
        surfaces: TOOL,
        arguments: &[ID, EXPECTED_UPDATED_AT],
    },
    Action {
        name: "complete",
        title: "Complete a goal",
        summary: "Mark a goal done, after the user confirmed exactly that.",
        kind: Kind::Change,
        confirm: true,
        surfaces: TOOL,
        arguments: &[ID, CONFIRM, EXPECTED_UPDATED_AT],
    },
    Action {
        name: "reopen",
        title: "Reopen a goal",
        summary: "Open a done or archived goal again, after the user confirmed exactly that.",
        kind: Kind::Change,
        confirm: true,
        surfaces: TOOL,
        arguments: &[ID, CONFIRM, EXPECTED_UPDATED_AT],
    },
    Action {
        name: "archive",
        title: "Archive a goal",
        summary: "Put a goal away without deleting it, after the user confirmed exactly that.",
        kind: Kind::Change,
        confirm: true,
        surfaces: TOOL,
        arguments: &[ID, CONFIRM, EXPECTED_UPDATED_AT],
    },
    Action {
        name: "delete",
        title: "Delete a goal",
        summary: "Remove a goal for good, after the user confirmed exactly that.",
        kind: Kind::Change,
        confirm: true,
        surfaces: TOOL,
        arguments: &[ID, CONFIRM, EXPECTED_UPDATED_AT],
    },
    Action {
        name: "read_goals",
        title: "Read the roadmap",
        summary: "Read goals: list, show, find, next, ready, waves or why.",
        kind: Kind::Read,
        confirm: false,
        surfaces: Surfaces { cli: false, tool: true, resource: None, view: false },
        arguments: &[
            Argument {
                name: "view",
                shape: Shape::Choice(&["list", "show", "find", "next", "ready", "waves", "why"]),
                required: true,
                blank: Blank::Refused("provide-a-view"),
                description: "list, show, find, next, ready, waves or why.",
                cli: Cli::No,
            },
            Argument { required: false, blank: Blank::Absent, ..ID },
            Argument { required: false, blank: Blank::Absent, ..QUERY },
            STATUS,
            GROUP_FILTER,
            CLAIMED,
            Argument {
                shape: Shape::Count(1, 200),
                description: "At most so many goals: 1 to 200, 50 when left out.",
                ..LIMIT
            },
            AFTER,
            FULL,
            EXPLAIN,
        ],
    },
    Action {
        name: "migrate_ids",
        title: "Migrate ids",
        summary: "Rewrite ids of the old random shape after their titles.",
        kind: Kind::Change,
        confirm: true,
        surfaces: CLI_ONLY,
        arguments: &[CONFIRM_MIGRATION, DRY_RUN],
    },
    Action {
        name: "migrate_path",
        title: "Migrate the file's place",
        summary: "Move the legacy .pi/worklist.json to .worklist/worklist.json.",
        kind: Kind::Upkeep,
        confirm: true,
        surfaces: CLI_ONLY,
        arguments: &[CONFIRM_MIGRATION, DRY_RUN],
    },
    Action {
        name: "init",
        title: "Set up a repository",
        summary: "Write or refresh Stepstone's block in AGENTS.md; say how to configure each MCP host.",
        kind: Kind::Upkeep,
        confirm: false,
        surfaces: CLI_ONLY,
        arguments: &[],
    },
    Action {
        name: "ids",
        title: "Goal ids",
        summary: "Live ids by prefix, for completion.",
        kind: Kind::Read,
        confirm: false,
        surfaces: Surfaces { cli: false, tool: false, resource: None, view: false },
        arguments: &[
            Argument {
                name: "prefix",
                shape: Shape::Text,
                required: false,
                blank: Blank::Absent,
                description: "Only ids that begin so, without regard to case.",
                cli: Cli::No,
            },
            LIMIT,
        ],
    },
];
