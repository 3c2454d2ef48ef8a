//! What neither the table nor the flags say of a command.

use super::Example;

/// Everything about a command that neither the table nor its flags say.
pub(super) struct Text {
    /// The command's name.
    pub(super) name: &'static str,
    /// What may follow the name, one line per form.
    pub(super) forms: &'static [&'static str],
    /// One paragraph each.
    pub(super) notes: &'static [&'static str],
    /// Lines that can be typed.
    pub(super) examples: &'static [Example],
}

const fn example(about: &'static str, line: &'static str) -> Example {
    Example { about, line }
}

/// The texts of a command; a command without any takes no argument.
pub(super) fn of(name: &str) -> &'static Text {
    TEXTS.iter().find(|text| text.name == name).unwrap_or(&NONE)
}

const NONE: Text = Text { name: "", forms: &[""], notes: &[], examples: &[] };

const TEXTS: &[Text] = &[
    Text {
        name: "list",
        forms: &["[--full] [--status S]... [--group G] [--claimed] [--limit N] [--after ID]"],
        notes: &[],
        examples: &[
            example("Everything, by group", "stepstone list"),
            example("Who works on what", "stepstone list --claimed"),
            example("What is left", "stepstone list --status open --status active"),
        ],
    },
    Text {
        name: "show",
        forms: &["<id>"],
        notes: &[],
        examples: &[example("One goal as a page", "stepstone show replace-legacy-auth")],
    },
    Text {
        name: "find",
        forms: &["<text...> [--full]"],
        notes: &["The words are one text, joined by blanks; it is looked for as it stands."],
        examples: &[example("Goals that mention a word", "stepstone find login")],
    },
    Text {
        name: "next",
        forms: &[""],
        notes: &[],
        examples: &[example("The goal to take up", "stepstone next")],
    },
    Text {
        name: "ready",
        forms: &["[--full]"],
        notes: &[],
        examples: &[example("What can be started now, by several people at once", "stepstone ready")],
    },
    Text {
        name: "waves",
        forms: &["[--full]"],
        notes: &[
            "Wave 1 holds what waits for nothing, claimed goals included; each further wave is what the one before releases.",
        ],
        examples: &[example("The order of the remaining work", "stepstone waves")],
    },
    Text {
        name: "why",
        forms: &["<id>"],
        notes: &[],
        examples: &[example("What has to land first", "stepstone why ship-sso")],
    },
    Text {
        name: "add",
        forms: &[
            "<title...> [--description T | --description-file F | -- words...] [--group G] [--depends-on ID]... [--link URL]...",
        ],
        notes: &[
            "The words are one title. Words after -- are the description; without a title before it, they are the title.",
            "A title that begins with a dash is given as --title=T or after --.",
        ],
        examples: &[
            example(
                "A goal",
                "stepstone add Replace legacy auth --description 'Clients first' --group Foundation",
            ),
            example(
                "One that waits for another",
                "stepstone add Ship single sign-on --depends-on replace-legacy-auth",
            ),
            example(
                "A long description from standard input",
                "stepstone add Write the guide --description-file - < guide.md",
            ),
        ],
    },
    Text {
        name: "apply-plan",
        forms: &["<file | -> [--dry-run] [--expect-revision N]"],
        notes: &[
            "The file is a JSON array of {title, description?, group?, dependsOn?}; - reads it from standard input.",
            "A reference in dependsOn is the id that another entry of the plan will get, or the exact id of a goal that is there.",
        ],
        examples: &[
            example("See what it would add", "stepstone apply-plan plan.json --dry-run"),
            example("Add it all by one write", "stepstone apply-plan plan.json"),
        ],
    },
    Text {
        name: "update",
        forms: &[
            "<id> [title...] [--description T | --description-file F | -- words...] [--group G] [--depends-on ID]... [--link URL]... [--expect-updated-at T]",
            "<id> [--append-description T | --append -- words...] [--group G] [--depends-on ID]... [--link URL]... [--expect-updated-at T]",
        ],
        notes: &[
            "Words between the id and the first flag are the new title. The id stays what it is.",
            "A new title goes before --description. Words behind its value are refused: they look like the rest of an unquoted text.",
        ],
        examples: &[
            example("Rename", "stepstone update ship-sso Ship single sign-on everywhere"),
            example(
                "Add a paragraph",
                "stepstone update ship-sso --append-description 'Waits for the new certificates.'",
            ),
            example("Drop all edges", "stepstone update ship-sso --depends-on ''"),
        ],
    },
    Text {
        name: "move",
        forms: &["<id> up", "<id> down", "<id> before <id>", "<id> after <id>"],
        notes: &[],
        examples: &[
            example("One place up", "stepstone move ship-sso up"),
            example("To a place beside another", "stepstone move ship-sso before write-the-guide"),
        ],
    },
    Text {
        name: "start",
        forms: &["[--branch B]", "<id> [--branch B | --clear] [--take-over] [--expect-updated-at T]"],
        notes: &[
            "Without an id the first ready goal is taken, so that several people and agents never take the same one.",
            "A goal that another branch holds is refused (exit 4). --take-over takes it all the same: ask its holder first.",
        ],
        examples: &[
            example("Take the first ready goal for the branch that is checked out", "stepstone start"),
            example("Take one for a branch", "stepstone start ship-sso --branch feat/sso"),
            example("Give it back", "stepstone start ship-sso --clear"),
        ],
    },
    Text {
        name: "set_active",
        forms: &["<id> [--expect-updated-at T]"],
        notes: &["Any other active goal becomes open. A blocked goal is made active with a warning."],
        examples: &[example("The one goal that is being worked on", "stepstone set_active ship-sso")],
    },
    Text {
        name: "complete",
        forms: &["<id> --confirm [--expect-updated-at T]"],
        notes: &[],
        examples: &[example("It has landed", "stepstone complete ship-sso --confirm")],
    },
    Text {
        name: "reopen",
        forms: &["<id> --confirm [--expect-updated-at T]"],
        notes: &[],
        examples: &[example("It has not landed after all", "stepstone reopen ship-sso --confirm")],
    },
    Text {
        name: "archive",
        forms: &["<id> --confirm [--expect-updated-at T]"],
        notes: &["What waits for it no longer does."],
        examples: &[example(
            "It will not be done, and should stay readable",
            "stepstone archive ship-sso --confirm",
        )],
    },
    Text {
        name: "delete",
        forms: &["<id> --confirm [--expect-updated-at T]"],
        notes: &["Edges to it are removed. Its id is never given to another goal."],
        examples: &[example("It should not have been added", "stepstone delete ship-sso --confirm")],
    },
    Text {
        name: "migrate_ids",
        forms: &["--dry-run", "--confirm"],
        notes: &["Former ids keep naming their goals."],
        examples: &[example("See which ids would change", "stepstone migrate_ids --dry-run")],
    },
    Text {
        name: "migrate_path",
        forms: &["--dry-run", "--confirm"],
        notes: &["It is about the repository's own files: --file and $STEPSTONE_WORKLIST do not go with it."],
        examples: &[example("See what would move", "stepstone migrate_path --dry-run")],
    },
    Text {
        name: "init",
        forms: &[""],
        notes: &[
            "It writes one marked block in AGENTS.md and nothing else. How to install the skill and to configure each MCP host is printed, never done.",
        ],
        examples: &[
            example("Write the block and see the configurations", "stepstone init"),
            example("The same as data", "stepstone init --json"),
        ],
    },
    Text {
        name: "daemon logs",
        forms: &["[--lines N]"],
        notes: &[],
        examples: &[example("The last lines", "stepstone daemon logs --lines 20")],
    },
    Text {
        name: "daemon status",
        forms: &[""],
        notes: &[],
        examples: &[example("Does it run, and for whom", "stepstone daemon status")],
    },
    Text {
        name: "daemon start",
        forms: &[""],
        notes: &[
            "The daemon is started when it is needed and leaves when it is not; there is seldom a reason to call this.",
        ],
        examples: &[],
    },
    Text {
        name: "daemon stop",
        forms: &[""],
        notes: &[
            "The daemon is started when it is needed and leaves when it is not; there is seldom a reason to call this.",
        ],
        examples: &[],
    },
    Text {
        name: "daemon restart",
        forms: &[""],
        notes: &[
            "The daemon is started when it is needed and leaves when it is not; there is seldom a reason to call this.",
        ],
        examples: &[],
    },
    Text {
        name: "doctor",
        forms: &[""],
        notes: &["Exit code 1 when something needs doing."],
        examples: &[example("What is wrong, and what to do", "stepstone doctor")],
    },
    Text {
        name: "completions",
        forms: &["bash", "zsh", "fish"],
        notes: &["Goal ids are completed from the repository; no daemon is started for it."],
        examples: &[
            example("bash: in ~/.bashrc", "eval \"$(stepstone completions bash)\""),
            example("zsh: in ~/.zshrc, after compinit", "eval \"$(stepstone completions zsh)\""),
            example("fish", "stepstone completions fish > ~/.config/fish/completions/stepstone.fish"),
        ],
    },
    Text {
        name: "man",
        forms: &["[command]"],
        notes: &[],
        examples: &[
            example("Read it", "stepstone man | man -l -"),
            example("One command's page", "stepstone man update | man -l -"),
        ],
    },
    Text {
        name: "help",
        forms: &["[command]"],
        notes: &[],
        examples: &[example("About one command", "stepstone help update")],
    },
];
