//! The contract as clap's tree of commands. clap splits the words; what is missing or too much is said by us.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, builder::OsStringValueParser};
use stepstone_proto::contract::command_line::{self, Flag, GLOBAL, commands};
use stepstone_proto::contract::{Cli, Shape};

/// The words behind `--`.
pub(crate) const BEHIND: &str = "--";

/// The name by which clap knows an argument that is given as words; flags are known by their own.
pub(crate) fn words_id(argument: &'static str) -> &'static str {
    match argument {
        "title" => "<title>",
        other => other,
    }
}

/// The tree for this argument vector: of the commands only those that it could mean, and what they take is only made out
/// when their name was read. Each command that clap knows costs it room for every flag that all commands take.
pub(crate) fn root(arguments: &[OsString]) -> Command {
    let mut families = command_line::invocations();
    let is_named = |family: &&str| arguments.iter().any(|word| spellings(family).any(|name| word == name));
    // When none is, the tree must be able to say so.
    if families.iter().any(is_named) {
        families.retain(is_named);
    }
    let root = bare("stepstone").args(GLOBAL.iter().map(|flag| argument(flag).global(true)));
    with(root, &families).subcommand(with(bare("project"), &families))
}

fn with(parent: Command, families: &[&'static str]) -> Command {
    parent.subcommands(families.iter().map(|family| named(family).defer(family_node)))
}

fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let others = command_line::SPELLINGS.iter().filter(move |(_, own)| *own == name);
    std::iter::once(name).chain(others.map(|(other, _)| *other))
}

/// A command without any of clap's own additions.
fn bare(name: &'static str) -> Command {
    Command::new(name).disable_help_flag(true).disable_help_subcommand(true).disable_version_flag(true)
}

/// The same, known by its other spellings too.
fn named(name: &'static str) -> Command {
    bare(name).aliases(spellings(name).skip(1))
}

/// Fills in the command, or the commands, of a family.
fn family_node(family: Command) -> Command {
    if let Some(command) = command_line::command(family.get_name()) {
        return filled(family, command);
    }
    let name = family.get_name().to_owned();
    let own = commands().iter().filter(|command| command.family() == name);
    own.filter_map(|command| Some(filled(named(command.name.split(' ').nth(1)?), command)))
        .fold(family, Command::subcommand)
}

fn filled(node: Command, command: &'static command_line::Command) -> Command {
    let mut node = node.args(command.flags.iter().map(argument));
    let arguments = command.action.map(|action| action.arguments).unwrap_or_default();
    for given in arguments {
        node = match (given.cli, given.name) {
            (Cli::Word(_), name) => node.arg(word(name)),
            (Cli::Words(_), name) => node.arg(words(words_id(name))),
            _ => node,
        };
    }
    match command.name {
        "add" | "update" => node.arg(words(BEHIND).last(true)),
        "move" => node.arg(word("placement")).arg(word("anchor")),
        "apply-plan" => node.arg(word("plan")),
        "completions" => node.arg(word("shell")),
        "man" | "help" => node.arg(words("topic")),
        _ => node,
    }
}

/// A word at its place. Whether it may be left out is checked by the command, in words that say what is missing.
fn word(name: &'static str) -> Arg {
    Arg::new(name).value_parser(OsStringValueParser::new())
}

/// All free words from here on, also when flags stand between them.
fn words(name: &'static str) -> Arg {
    Arg::new(name).num_args(0..).action(ArgAction::Append).value_parser(OsStringValueParser::new())
}

fn argument(flag: &Flag) -> Arg {
    let mut arg = Arg::new(flag.long).long(flag.long);
    if let Some(short) = flag.short {
        arg = arg.short(short);
    }
    if flag.value.is_empty() {
        // Said twice is said: only values can contradict each other.
        return arg.action(ArgAction::Count);
    }
    arg.value_name(flag.value)
        .num_args(1)
        .action(if flag.repeated { ArgAction::Append } else { ArgAction::Set })
        .allow_hyphen_values(flag.free)
        .value_parser(OsStringValueParser::new())
}

/// Whether an argument is a number in the operation.
pub(crate) const fn is_count(shape: Shape) -> bool {
    matches!(shape, Shape::Count(_, _))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_consistent() {
        root(&[]).debug_assert();
    }

    #[test]
    fn a_tree_holds_what_its_words_could_mean_and_everything_when_they_mean_nothing() {
        let names = |words: &[&str]| -> Vec<String> {
            let root = root(&words.iter().map(OsString::from).collect::<Vec<_>>());
            let project = root.find_subcommand("project").unwrap();
            let below: Vec<String> =
                project.get_subcommands().map(|node| node.get_name().to_owned()).collect();
            let above = root.get_subcommands().map(Command::get_name).filter(|name| *name != "project");
            assert_eq!(above.collect::<Vec<_>>(), below);
            below
        };
        for family in command_line::invocations() {
            for spelling in spellings(family) {
                assert_eq!(names(&["--json", spelling]), [family], "{spelling}");
                assert_eq!(names(&["project", spelling, "--", "word"]), [family], "{spelling}");
            }
        }
        assert_eq!(names(&["add", "list"]).len(), 2);
        for nothing in [&[][..], &["lst"], &["project"], &["project", "lst"]] {
            assert_eq!(names(nothing).len(), command_line::invocations().len(), "{nothing:?}");
        }
    }
}
