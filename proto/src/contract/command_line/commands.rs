//! Every command: its forms, what they do not say, and lines to type.

use std::sync::LazyLock;

use super::{Command, Section, flags, texts};
use crate::contract::{self, Kind};

/// What holds for every command; shown once, not with each.
pub const EVERYWHERE: &[&str] = &[
    "The word project may be left out: stepstone ready is stepstone project ready.",
    "A goal is named by its id, a former id, or a prefix that only one goal's id has.",
    "Exit codes: 0 done (an empty answer too), 1 error, 2 usage, 3 confirmation needed, 4 conflict.",
];

/// Exit codes and when they are used.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (0, "Done. An empty answer is one."),
    (1, "An error; the message says what to do."),
    (2, "The command line cannot be carried out as it stands. Nothing was contacted."),
    (3, "The user has not confirmed. Nothing was changed."),
    (
        4,
        "A conflict: the state is not the one that was read, or another branch holds the goal. Nothing was changed.",
    ),
];

/// Other spellings of names: hyphens and underscores are interchangeable.
pub const SPELLINGS: &[(&str, &str)] = &[
    ("set-active", "set_active"),
    ("migrate-ids", "migrate_ids"),
    ("migrate-path", "migrate_path"),
    ("apply_plan", "apply-plan"),
];

static COMMANDS: LazyLock<Vec<Command>> = LazyLock::new(build);

/// All commands, in the order of the overview.
#[must_use]
pub fn commands() -> &'static [Command] {
    &COMMANDS
}

/// The words that may follow `stepstone`: the first word of every command, each once.
#[must_use]
pub fn invocations() -> Vec<&'static str> {
    let mut words: Vec<&'static str> = commands().iter().map(Command::family).collect();
    words.dedup();
    words
}

fn build() -> Vec<Command> {
    let mut all = Vec::new();
    for action in contract::ACTIONS.iter().filter(|action| action.surfaces.cli) {
        let section = match (action.kind, action.confirm) {
            (Kind::Read, _) => Section::Look,
            (Kind::Change, true) if action.argument("dryRun").is_none() => Section::Confirmed,
            (Kind::Change, false) => Section::Change,
            (Kind::Change | Kind::Upkeep, _) => Section::Upkeep,
        };
        let text = texts::of(action.name);
        all.push(Command {
            name: action.name,
            summary: action.summary,
            section,
            forms: text.forms,
            notes: text.notes,
            examples: text.examples,
            flags: flags::of_action(action),
            action: Some(action),
        });
    }
    for (name, summary) in TOOLS {
        let text = texts::of(name);
        all.push(Command {
            name,
            summary,
            section: Section::Tools,
            forms: text.forms,
            notes: text.notes,
            examples: text.examples,
            flags: if *name == "daemon logs" { flags::of_logs() } else { Vec::new() },
            action: None,
        });
    }
    // Stable: inside a section the table's order stays.
    all.sort_by_key(|command| Section::ALL.iter().position(|section| *section == command.section));
    all
}

const TOOLS: &[(&str, &str)] = &[
    ("daemon status", "Say whether the daemon runs, and what it has open."),
    ("daemon start", "Start the daemon, if it does not run."),
    ("daemon stop", "Stop the daemon, and return when its process is gone."),
    ("daemon restart", "Stop the daemon and start it again."),
    ("daemon logs", "Print the end of the daemon's log."),
    ("doctor", "Check the installation, the daemon and this repository; say what to do."),
    ("completions", "Print the completion script for a shell."),
    ("man", "Print a manual page."),
    ("help", "Say how stepstone, or one of its commands, is used."),
];

#[cfg(test)]
mod tests {
    use super::super::{GLOBAL, canonical, command, commands_with};
    use super::*;

    /// The long flags that a line names.
    fn named(line: &str) -> Vec<&str> {
        line.split([' ', '[', ']', '|', '.'])
            .filter_map(|word| word.strip_prefix("--"))
            .filter(|word| !word.is_empty())
            .map(|word| word.split('=').next().unwrap_or(word))
            .collect()
    }

    #[test]
    fn forms_and_flags_name_the_same_flags() {
        for command in commands() {
            let mut shown: Vec<&str> = command.forms.iter().flat_map(|form| named(form)).collect();
            let mut own: Vec<&str> =
                command.flags.iter().map(|flag| flag.long).filter(|long| *long != "title").collect();
            shown.sort_unstable();
            shown.dedup();
            own.sort_unstable();
            assert_eq!(shown, own, "{}", command.name);
        }
    }

    #[test]
    fn examples_use_only_flags_that_are_there() {
        for command in commands() {
            for example in command.examples {
                for flag in named(example.line) {
                    assert!(
                        command.flags.iter().chain(GLOBAL).any(|own| own.long == flag),
                        "{}: {}",
                        command.name,
                        example.line
                    );
                }
            }
        }
    }

    #[test]
    fn every_action_of_the_command_line_is_a_command_with_an_example() {
        for action in contract::ACTIONS.iter().filter(|action| action.surfaces.cli) {
            let command = command(action.name).expect("a command");
            assert!(!command.examples.is_empty(), "{}", action.name);
            assert_eq!(command.summary, action.summary);
        }
    }

    #[test]
    fn other_spellings_name_the_same_command() {
        for (other, name) in SPELLINGS {
            assert_eq!(canonical(other), *name);
            assert!(command(other).is_some());
        }
    }

    #[test]
    fn a_flag_is_traced_to_its_commands() {
        assert_eq!(commands_with("depends-on"), ["add", "update"]);
        assert!(commands_with("colour").is_empty());
    }
}
