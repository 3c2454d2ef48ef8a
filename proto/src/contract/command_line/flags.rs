//! Flags: those that the table's arguments name, and those that only a shell needs.

use crate::contract::{Action, Cli};

/// One flag of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// Without the two dashes.
    pub long: &'static str,
    /// The one-letter form, if there is one.
    pub short: Option<char>,
    /// The value's name in help; empty for a switch.
    pub value: &'static str,
    /// May be given again for a further value.
    pub repeated: bool,
    /// The next word is the value whatever it looks like.
    pub free: bool,
    /// What it does, one or two sentences.
    pub help: &'static str,
    /// The operation's argument that it fills, if it fills exactly one as given.
    pub argument: Option<&'static str>,
    /// What a shell offers as its value.
    pub completes: Completes,
}

/// What a shell offers as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing.
    Nothing,
    /// The ids of the repository's goals.
    Ids,
    /// The four statuses.
    Statuses,
    /// Files.
    Files,
    /// Directories.
    Directories,
}

impl Flag {
    /// As it stands in help: `--group G`, `-v, --verbose`.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut shown = String::new();
        if let Some(short) = self.short {
            shown.push('-');
            shown.push(short);
            shown.push_str(", ");
        }
        shown.push_str("--");
        shown.push_str(self.long);
        if !self.value.is_empty() {
            shown.push(' ');
            shown.push_str(self.value);
        }
        if self.repeated {
            shown.push_str("...");
        }
        shown
    }
}

const SWITCH: Flag = Flag {
    long: "",
    short: None,
    value: "",
    repeated: false,
    free: false,
    help: "",
    argument: None,
    completes: Completes::Nothing,
};

/// Accepted by every command.
pub const GLOBAL: &[Flag] = &[
    Flag {
        long: "json",
        help: "Print one JSON envelope: on standard output when it is ok, on standard error when not.",
        ..SWITCH
    },
    Flag {
        long: "cwd",
        value: "DIR",
        help: "Work on the repository around this directory instead of the working directory.",
        completes: Completes::Directories,
        ..SWITCH
    },
    Flag {
        long: "file",
        value: "PATH",
        help: "Use this goal file. A relative path starts at the working directory. Beats $STEPSTONE_WORKLIST.",
        completes: Completes::Files,
        ..SWITCH
    },
    Flag {
        long: "verbose",
        short: Some('v'),
        help: "Also say which engine answered, and why it was not the daemon.",
        ..SWITCH
    },
    Flag { long: "help", short: Some('h'), help: "Say how the command is used.", ..SWITCH },
];

/// Every flag that takes a value. The word behind one of these is never read as anything else.
pub const VALUE_FLAGS: &[&str] = &[
    "cwd",
    "file",
    "status",
    "group",
    "limit",
    "after",
    "title",
    "description",
    "description-file",
    "append-description",
    "depends-on",
    "link",
    "expect-updated-at",
    "expect-revision",
    "branch",
    "lines",
];

const TITLE: Flag = Flag {
    long: "title",
    value: "T",
    free: true,
    help: "The title as one argument, for titles that begin with a dash.",
    ..SWITCH
};

const DESCRIPTION_FILE: Flag = Flag {
    long: "description-file",
    value: "F",
    help: "Take the description from a UTF-8 file, or from standard input with -. One line end at its end is dropped.",
    completes: Completes::Files,
    ..SWITCH
};

const APPEND: Flag = Flag {
    long: "append",
    help: "Add the words after -- to the description instead of replacing it.",
    ..SWITCH
};

/// The flags of an action, in the order of its arguments, with the shell's own beside those they belong to.
pub(super) fn of_action(action: &'static Action) -> Vec<Flag> {
    let mut flags = Vec::new();
    for argument in action.arguments {
        let (long, value, repeated) = match argument.cli {
            Cli::Flag(long, value) => (long, value, false),
            Cli::Repeated(long, value) => (long, value, true),
            Cli::Words("title") => {
                flags.push(TITLE);
                continue;
            }
            Cli::No | Cli::Own | Cli::Word(_) | Cli::Words(_) => continue,
        };
        flags.push(Flag {
            long,
            value,
            repeated,
            free: matches!(long, "description" | "append-description"),
            help: help(action.name, argument.name),
            argument: Some(argument.name),
            completes: completes(long),
            ..SWITCH
        });
        match long {
            "description" => flags.push(DESCRIPTION_FILE),
            "append-description" => flags.push(APPEND),
            _ => {}
        }
    }
    flags
}

/// The flags of `daemon logs`.
pub(super) fn of_logs() -> Vec<Flag> {
    vec![Flag {
        long: "lines",
        value: "N",
        help: "How many lines from the end; 0 for all. Without it: 50.",
        ..SWITCH
    }]
}

const fn completes(long: &str) -> Completes {
    match long.as_bytes() {
        b"depends-on" | b"after" => Completes::Ids,
        b"status" => Completes::Statuses,
        _ => Completes::Nothing,
    }
}

/// What a flag does, in the words of a shell user.
fn help(action: &str, argument: &str) -> &'static str {
    match (action, argument) {
        (_, "full") => "Whole goals, with descriptions and links.",
        (_, "status") => {
            "Only goals with this status: open, active, done or archived. Again for a further one."
        }
        ("list", "group") => "Only goals of exactly this group.",
        ("update", "group") => "The new group; '' clears it.",
        (_, "group") => "The heading under which it is listed.",
        (_, "claimed") => "Only goals that somebody works on, with branch, since when and by whom.",
        (_, "limit") => "At most so many goals.",
        (_, "after") => "Go on behind the goal with this id.",
        ("update", "description") => "The new description, as one argument. '' empties it.",
        (_, "description") => "The description, as one argument. It may look like a flag.",
        (_, "appendDescription") => "Add one argument to the stored description, after a blank line.",
        ("update", "dependsOn") => {
            "A goal that must land first; again for each further one. They replace the whole set; '' alone clears it."
        }
        (_, "dependsOn") => {
            "A goal that must land first: an id or a unique prefix. Again for each further one."
        }
        ("update", "links") => {
            "An http or https URL; again for each further one. They replace the whole set; '' alone clears it."
        }
        (_, "links") => "An http or https URL for a reader. Again for each further one.",
        (_, "expectedUpdatedAt") => "Refuse (exit 4) unless the goal's updatedAt is still this instant.",
        (_, "expectedRevision") => "Refuse (exit 4) unless the file's revision is still this number.",
        (_, "dryRun") => "Say what would happen, and change nothing.",
        ("migrate_ids" | "migrate_path", "confirm") => {
            "Carry it out. Only when the user asked for exactly this."
        }
        (_, "confirm") => "Carry it out. Only when the user asked for exactly this on exactly this goal.",
        (_, "branch") => "The branch that takes it. Without it: the branch checked out here.",
        (_, "clear") => "Give the claim on this goal back.",
        (_, "takeOver") => "Also when another branch holds it, because the user said so.",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands;
    use super::*;

    #[test]
    fn every_flag_says_what_it_does() {
        for command in commands() {
            for flag in command.flags.iter().chain(GLOBAL) {
                assert!(!flag.help.is_empty(), "{} --{} has no help", command.name, flag.long);
            }
        }
    }

    #[test]
    fn the_list_of_flags_with_a_value_is_complete() {
        for command in commands() {
            for flag in command.flags.iter().chain(GLOBAL) {
                assert_eq!(VALUE_FLAGS.contains(&flag.long), !flag.value.is_empty(), "--{}", flag.long);
            }
        }
    }

    #[test]
    fn a_flag_takes_a_value_in_every_command_or_in_none() {
        let mut seen: Vec<Flag> = Vec::new();
        for command in commands() {
            for flag in &command.flags {
                match seen.iter().find(|other| other.long == flag.long) {
                    Some(other) => {
                        assert_eq!((flag.value, flag.free), (other.value, other.free), "--{}", flag.long);
                    }
                    None => seen.push(*flag),
                }
            }
        }
    }
}
