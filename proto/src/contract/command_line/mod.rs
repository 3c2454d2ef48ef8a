//! The contract as the command line sees it: commands, their forms, flags, notes and examples.
//!
//! Help at every level, man pages, completions, `docs/cli.md` and the agent skill are all rendered from
//! [`commands()`]. Flags come from the table's arguments; what a shell user must know beyond the table (how a title
//! and a description share one line, say) stands in the files beside this one.

mod commands;
mod flags;
mod markdown;
mod skill;
mod texts;

pub use commands::{EVERYWHERE, EXIT_CODES, SPELLINGS, commands, invocations};
pub use flags::{Completes, Flag, GLOBAL, VALUE_FLAGS};
pub use markdown::cli_reference;
pub use skill::{AGENTS_END, AGENTS_START, agents_block, skill};

use super::Action;

/// One thing that can be typed after `stepstone`.
#[derive(Debug)]
pub struct Command {
    /// The words that call it: `list`, `daemon status`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Under which heading it is listed.
    pub section: Section,
    /// What may follow the name, one line per form; `""` for nothing.
    pub forms: &'static [&'static str],
    /// What the forms do not say, one paragraph each.
    pub notes: &'static [&'static str],
    /// Lines that can be typed as they stand.
    pub examples: &'static [Example],
    /// Its own flags, in the order in which they are shown; [`GLOBAL`] holds the others.
    pub flags: Vec<Flag>,
    /// The operation behind it, if it is one.
    pub action: Option<&'static Action>,
}

/// One line to type and what it is for.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// What it is for, without a full stop.
    pub about: &'static str,
    /// The line, without a prompt.
    pub line: &'static str,
}

/// The headings of the overview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Reads.
    Look,
    /// Changes that need no confirmation.
    Change,
    /// Changes that need the user's own word.
    Confirmed,
    /// Migrations and set-up.
    Upkeep,
    /// The engine and this program.
    Tools,
}

impl Section {
    /// All of them, in the order of the overview.
    pub const ALL: [Self; 5] = [Self::Look, Self::Change, Self::Confirmed, Self::Upkeep, Self::Tools];

    /// As it stands above its commands.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Look => "Look",
            Self::Change => "Change",
            Self::Confirmed => "Settle (each needs --confirm)",
            Self::Upkeep => "Set up and migrate",
            Self::Tools => "Daemon and tools",
        }
    }
}

impl Command {
    /// The first word: `daemon` of `daemon status`.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or(self.name)
    }

    /// Each form as a whole line, without the executable's name.
    #[must_use]
    pub fn usage(&self) -> Vec<String> {
        self.forms
            .iter()
            .map(|form| if form.is_empty() { self.name.to_owned() } else { format!("{} {form}", self.name) })
            .collect()
    }
}

/// The command with this name, in any accepted spelling.
#[must_use]
pub fn command(name: &str) -> Option<&'static Command> {
    let wanted = canonical(name);
    commands().iter().find(|command| command.name == wanted)
}

/// The contract's spelling of a command's name: `set-active` is `set_active`.
#[must_use]
pub fn canonical(name: &str) -> &str {
    SPELLINGS.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| *name)
}

/// The names of all commands that take a flag of this name, for "it belongs to …".
#[must_use]
pub fn commands_with(flag: &str) -> Vec<&'static str> {
    commands()
        .iter()
        .filter(|command| command.flags.iter().any(|own| own.long == flag))
        .map(|command| command.name)
        .collect()
}
