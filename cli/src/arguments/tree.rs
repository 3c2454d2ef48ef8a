//! The contract as clap's tree of commands. clap splits the words; what is missing or too much is said by us.

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

/// The whole tree.
pub(crate) fn root() -> Command {
    let mut root = bare("stepstone").args(GLOBAL.iter().map(|flag| argument(flag).global(true)));
    let mut project = bare("project");
    for family in command_line::invocations() {
        let node = family_node(family);
        project = project.subcommand(node.clone());
        root = root.subcommand(node);
    }
    root.subcommand(project)
}

/// A command without any of clap's own additions.
fn bare(name: &'static str) -> Command {
    Command::new(name).disable_help_flag(true).disable_help_subcommand(true).disable_version_flag(true)
}

fn family_node(family: &'static str) -> Command {
    match command_line::command(family) {
        Some(command) => node(command, family),
        None => commands()
            .iter()
            .filter(|command| command.family() == family)
            .filter_map(|command| Some(node(command, command.name.split(' ').nth(1)?)))
            .fold(bare(family), Command::subcommand),
    }
}

fn node(command: &'static command_line::Command, name: &'static str) -> Command {
    let mut node = bare(name).args(command.flags.iter().map(argument));
    for (other, own) in command_line::SPELLINGS {
        if *own == name {
            node = node.alias(*other);
        }
    }
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
    #[test]
    fn the_tree_is_consistent() {
        super::root().debug_assert();
    }
}
