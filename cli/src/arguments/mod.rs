//! From an argument vector to what is asked for, or to a usage error. Pure: no file, no environment, no terminal.
//!
//! Two types: clap's matches are the raw arguments, [`Invocation`] is what they mean. The tree of commands is made
//! from the contract; what a command's own syntax needs beyond it stands in that command's file.

mod closest;
mod matches;
mod scan;
mod tree;
mod usage;

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};
use stepstone_proto::contract::command_line::{self, Command};

pub(crate) use closest::closest;
pub(crate) use matches::Given;
pub(crate) use usage::{Usage, listed, usage_lines};

use crate::commands;

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invocation {
    /// The flags that every command takes.
    pub(crate) everywhere: Everywhere,
    /// The rest.
    pub(crate) task: Task,
}

/// The flags that every command takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Everywhere {
    /// Envelopes instead of text.
    pub(crate) json: bool,
    /// Where the repository is looked for.
    pub(crate) cwd: Option<PathBuf>,
    /// The goal file, as given.
    pub(crate) file: Option<String>,
    /// Say which engine answered.
    pub(crate) verbose: bool,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Task {
    /// Ask the engine.
    Operation(Asked),
    /// About the daemon itself.
    Daemon(DaemonTask),
    /// Check everything.
    Doctor,
    /// Print a completion script.
    Completions(Shell),
    /// Print a manual page; the overview when empty.
    Man(Topic),
    /// Print help; the overview when empty.
    Help(Topic),
    /// Print the version.
    Version,
    /// Offer completions for a command line: its words, the last being completed.
    Complete(Vec<String>),
}

/// An operation, and the argument whose value still has to be read from a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// `action` and its arguments, as given.
    pub(crate) operation: Map<String, Value>,
    /// What a file holds.
    pub(crate) from_file: Option<FromFile>,
}

/// An argument whose value is a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FromFile {
    /// As given; `-` is standard input.
    pub(crate) path: OsString,
    /// How it is read.
    pub(crate) content: Content,
}

/// How a file's content becomes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// JSON: the argument `plan`.
    Plan,
    /// UTF-8 text: the argument `description`.
    Description,
}

/// What to do with the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DaemonTask {
    /// Ask for its state.
    Status,
    /// Start it, unless it runs.
    Start,
    /// Stop it, unless it does not run.
    Stop,
    /// Stop and start it.
    Restart,
    /// The end of its log: so many lines, 0 for all.
    Logs(usize),
}

/// A shell that completions are printed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// What help or a manual page is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Topic {
    /// All of it.
    Overview,
    /// One command.
    Command(&'static Command),
    /// All commands that begin with this word (`daemon`).
    Family(&'static str),
}

impl PartialEq for Topic {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Overview, Self::Overview) => true,
            (Self::Command(one), Self::Command(other)) => one.name == other.name,
            (Self::Family(one), Self::Family(other)) => one == other,
            (Self::Overview | Self::Command(_) | Self::Family(_), _) => false,
        }
    }
}

/// The name under which a completion script calls this program back.
pub(crate) const COMPLETE: &str = "__complete";

/// Reads an argument vector, the executable's name left out.
///
/// # Errors
/// A [`Usage`] that names what is wrong and how it is done.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Invocation, Usage> {
    let scan = scan::scan(arguments);
    if arguments.first().is_some_and(|word| word == COMPLETE) {
        let words = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        return Ok(Invocation { everywhere: Everywhere::default(), task: Task::Complete(words) });
    }
    if scan.version && scan.words.is_empty() {
        return Ok(Invocation { everywhere: Everywhere::default(), task: Task::Version });
    }
    if scan.help {
        return help(&scan.words);
    }
    let name = scan.command_name();
    if scan.words.is_empty() || (scan.words.len() == 1 && scan.words.iter().any(|word| word == "project")) {
        return Err(Usage::no_command());
    }
    let matches = tree::root(arguments)
        .try_get_matches_from(std::iter::once(OsString::from("stepstone")).chain(arguments.iter().cloned()))
        .map_err(|error| usage::from_clap(&error, &scan))?;
    let (path, given) = matches::leaf(&matches, &scan);
    let everywhere = given.everywhere()?;
    let task = match command_line::command(&path) {
        Some(command) => commands::read(command, &given)?,
        None => return Err(usage::incomplete(&name)),
    };
    Ok(Invocation { everywhere, task })
}

/// Help on what the words name.
fn help(words: &[String]) -> Result<Invocation, Usage> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "project").collect();
    let topic = topic(&words)?;
    Ok(Invocation { everywhere: Everywhere::default(), task: Task::Help(topic) })
}

/// What these words name: nothing the overview, `daemon` its family, others one command.
///
/// # Errors
/// A [`Usage`] when they name nothing.
pub(crate) fn topic(words: &[&str]) -> Result<Topic, Usage> {
    let words: &[&str] = match words {
        ["project", rest @ ..] | rest => rest,
    };
    let Some(first) = words.first() else { return Ok(Topic::Overview) };
    if let Some(second) = words.get(1)
        && let Some(command) = command_line::command(&format!("{first} {second}"))
    {
        return Ok(Topic::Command(command));
    }
    if let Some(command) = command_line::command(first) {
        return Ok(Topic::Command(command));
    }
    match command_line::invocations().into_iter().find(|family| family == first) {
        Some(family) => Ok(Topic::Family(family)),
        None => Err(Usage::unknown_command(first)),
    }
}

#[cfg(test)]
mod tests;
