//! Usage errors: what is wrong, and how it is done. They end with exit code 2 before anything is contacted.

use std::ffi::OsStr;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use stepstone_proto::contract::command_line::{self, Flag, GLOBAL, commands, commands_with};
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure, Scope};

use super::closest::closest;
use super::scan::Scan;
use crate::exit::CORRECT_THE_COMMAND_LINE;

/// A command line that cannot be carried out as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Usage {
    /// The command that was meant, as far as that is known; else as typed.
    pub(crate) command: String,
    /// The flags it is about, without dashes.
    pub(crate) flags: Vec<String>,
    /// What is wrong, and how it is done.
    pub(crate) message: String,
    /// The word is no command at all.
    unknown: bool,
}

impl Usage {
    /// About a command and some of its flags.
    pub(crate) fn new(command: &str, flags: &[&str], message: impl Into<String>) -> Self {
        Self {
            command: command.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            message: message.into(),
            unknown: false,
        }
    }

    /// Nothing was asked for.
    pub(crate) fn no_command() -> Self {
        Self::new(
            "",
            &[],
            "Nothing was asked for: name a command, such as `stepstone list` or `stepstone next`.",
        )
    }

    /// A word that names no command.
    pub(crate) fn unknown_command(typed: &str) -> Self {
        let names = commands().iter().map(|command| command.name).chain(command_line::invocations());
        let hint = match closest(typed, names) {
            Some(name) => format!("Did you mean `{name}`?"),
            None => "`stepstone help` lists them all.".to_owned(),
        };
        Self { unknown: true, ..Self::new(typed, &[], format!("There is no command `{typed}`. {hint}")) }
    }

    /// A word that has to be there is not.
    pub(crate) fn missing(command: &str, what: &str) -> Self {
        Self::new(command, &[], format!("`{command}` needs {what}."))
    }

    /// A value that is no text.
    pub(super) fn not_text(command: &str, id: &str, value: &OsStr) -> Self {
        Self::new(command, &[], format!("{} is no valid UTF-8: {}.", place(id), value.to_string_lossy()))
    }

    /// A value that is no number.
    pub(super) fn not_a_number(command: &str, long: &str, text: &str) -> Self {
        Self::new(command, &[long], format!("--{long} takes a whole number, not `{text}`."))
    }

    /// The same as an envelope.
    pub(crate) fn envelope(&self) -> Envelope {
        let mut failure = Failure::new(ErrorCode::InvalidRequest, self.message.clone())
            .resolution(CORRECT_THE_COMMAND_LINE);
        if !self.flags.is_empty() {
            failure =
                failure.with("flags", self.flags.iter().map(|flag| format!("--{flag}")).collect::<Vec<_>>());
        }
        if self.unknown {
            failure = failure.with("supportedActions", names());
        }
        if let Some(command) = command_line::command(&self.command) {
            failure = failure.with("usage", usage_lines(command));
        }
        let action = match self.command.strip_prefix("daemon ") {
            Some(action) => action,
            None => &self.command,
        };
        let scope = if self.command.starts_with("daemon") || self.command == "doctor" {
            Scope::Daemon
        } else {
            Scope::Project
        };
        Envelope { scope, ..Envelope::failure(action, failure) }
    }
}

/// The names of all actions.
fn names() -> Vec<&'static str> {
    commands().iter().filter(|command| command.action.is_some()).map(|command| command.name).collect()
}

/// How a command is called, one line per form.
pub(crate) fn usage_lines(command: &command_line::Command) -> Vec<String> {
    command.usage().into_iter().map(|line| format!("stepstone {line}")).collect()
}

fn place(id: &str) -> String {
    let is_flag =
        GLOBAL.iter().chain(commands().iter().flat_map(|command| &command.flags)).any(|flag| flag.long == id);
    if is_flag { format!("The value of --{id}") } else { format!("A word of the {id}") }
}

/// What clap refused, in our words.
pub(super) fn from_clap(error: &Error, scan: &Scan) -> Usage {
    let name = scan.command_name();
    let argument = context(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_word(&name, &context(error, ContextKind::InvalidSubcommand)),
        ErrorKind::UnknownArgument => unknown_argument(&name, &argument),
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            missing_value(&name, &argument)
        }
        ErrorKind::TooManyValues => {
            let long = long_of(&argument);
            Usage::new(&name, &[&long], format!("--{long} takes no value."))
        }
        ErrorKind::ArgumentConflict => {
            let long = long_of(&argument);
            Usage::new(
                &name,
                &[&long],
                format!("--{long} stands there twice. It takes one value: give it once."),
            )
        }
        _ => Usage::new(&name, &[], error.to_string().trim_start_matches("error: ").trim().to_owned()),
    }
}

/// A word in a command's place that is none.
fn unknown_word(name: &str, typed: &str) -> Usage {
    let family: Vec<&str> = commands()
        .iter()
        .filter(|command| command.family() == name && command.name != name)
        .map(|command| command.name)
        .collect();
    if family.is_empty() {
        return Usage::unknown_command(typed);
    }
    let verbs = family.iter().filter_map(|name| name.split(' ').nth(1));
    let hint = match closest(typed, verbs.clone()) {
        Some(verb) => format!("Did you mean `{name} {verb}`?"),
        None => format!("It takes one of {}.", listed(&verbs.collect::<Vec<_>>())),
    };
    Usage::new(name, &[], format!("`{name}` knows no `{typed}`. {hint}"))
}

/// A family without its verb.
pub(super) fn incomplete(name: &str) -> Usage {
    let verbs: Vec<&str> = commands()
        .iter()
        .filter(|command| command.family() == name)
        .filter_map(|command| command.name.split(' ').nth(1))
        .collect();
    if verbs.is_empty() {
        return Usage::unknown_command(name);
    }
    Usage::new(name, &[], format!("`{name}` needs one of {}.", listed(&verbs)))
}

/// A flag or word that the command does not take.
fn unknown_argument(name: &str, argument: &str) -> Usage {
    let Some(long) = argument.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest)) else {
        return match command_line::command(name) {
            Some(command) if !argument.starts_with('-') => Usage::new(
                name,
                &[],
                format!(
                    "`{argument}` is one word too many. `{name}` is used as: {}",
                    usage_lines(command).join(" or ")
                ),
            ),
            _ => Usage::new(
                name,
                &[],
                format!(
                    "`{argument}` is no flag. A title or text that begins with a dash is given after -- or as a flag's value (--title=T)."
                ),
            ),
        };
    };
    let owners = commands_with(long);
    if owners.contains(&name) || (name.is_empty() && !owners.is_empty()) {
        return Usage::new(
            name,
            &[long],
            format!(
                "--{long} belongs behind the command: stepstone {} --{long}",
                owners.first().unwrap_or(&"list")
            ),
        );
    }
    if !owners.is_empty() {
        return Usage::new(
            name,
            &[long],
            format!("`{name}` would ignore --{long}: it is for {}. Leave it out here.", listed(&owners)),
        );
    }
    let known = flags_of(name);
    let hint = match closest(long, known.iter().map(|flag| flag.long)) {
        Some(flag) => format!("Did you mean --{flag}?"),
        None if known.is_empty() => "`stepstone help` says what there is.".to_owned(),
        None => format!(
            "`{name}` takes {}.",
            listed(&known.iter().map(|flag| format!("--{}", flag.long)).collect::<Vec<_>>())
        ),
    };
    Usage::new(name, &[long], format!("There is no flag --{long}. {hint}"))
}

fn missing_value(name: &str, argument: &str) -> Usage {
    let long = long_of(argument);
    let known = flags_of(name);
    let Some(flag) = known.iter().find(|flag| flag.long == long) else {
        return Usage::new(name, &[&long], format!("{argument} needs a value."));
    };
    let dash = if flag.free {
        String::new()
    } else {
        format!(" A value that begins with a dash is given as --{long}={}.", flag.value)
    };
    Usage::new(name, &[&long], format!("--{long} needs a value: --{long} {}.{dash}", flag.value))
}

/// The flags that a command takes, its own first.
fn flags_of(name: &str) -> Vec<&'static Flag> {
    let own = command_line::command(name).map(|command| command.flags.as_slice()).unwrap_or_default();
    own.iter().chain(GLOBAL).collect()
}

fn context(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    }
}

/// `group` of `--group <G>`.
fn long_of(argument: &str) -> String {
    argument.split([' ', '=']).next().unwrap_or_default().trim_start_matches('-').to_owned()
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}
