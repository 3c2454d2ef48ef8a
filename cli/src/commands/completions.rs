//! `completions bash|zsh|fish`: the scripts, and the answers that they ask this program for.
//!
//! The scripts know nothing themselves: they hand the words over and print what comes back, so that they never lag
//! behind the commands.

use std::time::Duration;

use serde_json::{Map, Value};
use stepstone_client::Surroundings;
use stepstone_proto::contract::command_line::{
    Command, Completes, Flag, GLOBAL, VALUE_FLAGS, canonical, command, commands, invocations,
};
use stepstone_proto::contract::{Action, Cli};
use stepstone_proto::goal::Status;

use crate::arguments::{Everywhere, Given, Shell, Task, Usage};
use crate::render::answer;
use crate::session::{Engine, Session};

/// A person is waiting with a finger on the key: better nothing than late.
const PATIENCE: Duration = Duration::from_millis(900);
/// More than anybody reads.
const IDS: u64 = 500;

pub(super) fn read(given: &Given<'_>) -> Result<Task, Usage> {
    match given.text("shell")?.as_deref() {
        Some("bash") => Ok(Task::Completions(Shell::Bash)),
        Some("zsh") => Ok(Task::Completions(Shell::Zsh)),
        Some("fish") => Ok(Task::Completions(Shell::Fish)),
        Some(other) => Err(Usage::new(
            "completions",
            &[],
            format!("There are completions for bash, zsh and fish, not for `{other}`."),
        )),
        None => Err(Usage::missing("completions", "a shell: bash, zsh or fish")),
    }
}

/// The script for a shell.
pub(crate) fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("completions/stepstone.bash"),
        Shell::Zsh => include_str!("completions/_stepstone"),
        Shell::Fish => include_str!("completions/stepstone.fish"),
    }
}

/// What can stand in the place of the last word.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// These, each with a few words about it.
    Words(Vec<(String, String)>),
    /// Ids of goals; each stands behind this.
    Ids(&'static str),
    /// File names.
    Files,
    /// Directory names.
    Directories,
    /// Anything, or nothing more.
    Nothing,
}

/// The lines that a script reads: `value<TAB>about`, or `:files` or `:dirs`.
pub(crate) fn complete(words: &[String]) -> String {
    let current = words.last().map(String::as_str).unwrap_or_default();
    let begins = |value: &str| value.starts_with(current);
    match wanted(words) {
        Wanted::Words(words) => words
            .iter()
            .filter(|(word, _)| begins(word))
            .map(|(word, about)| format!("{word}\t{about}\n"))
            .collect(),
        Wanted::Ids(before) => ids(words, current.strip_prefix(before).unwrap_or(current))
            .iter()
            .map(|id| format!("{before}{id}\t\n"))
            .collect(),
        Wanted::Files => ":files\n".to_owned(),
        Wanted::Directories => ":dirs\n".to_owned(),
        Wanted::Nothing => String::new(),
    }
}

/// Ids of the repository's goals; none when the answer is late. An engine that runs is asked, none is started for it.
fn ids(words: &[String], prefix: &str) -> Vec<String> {
    let value_of = |flag: &str| {
        let place = words.iter().position(|word| word == flag)?;
        words.get(place + 1).cloned()
    };
    let everywhere = Everywhere {
        cwd: value_of("--cwd").map(Into::into),
        file: value_of("--file"),
        ..Everywhere::default()
    };
    let surroundings = Surroundings { sandbox: Some("completion"), ..Surroundings::from_env() };
    let mut operation = Map::new();
    operation.insert("action".to_owned(), "ids".into());
    operation.insert("limit".to_owned(), IDS.into());
    if !prefix.is_empty() {
        operation.insert("prefix".to_owned(), Value::from(prefix));
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    runtime.block_on(async {
        let session = Session::new(surroundings, &everywhere);
        match tokio::time::timeout(PATIENCE, session.ask(operation)).await {
            // An id that a shell would have to quote was made by hand; nobody completes it.
            Ok(envelope) => answer(&envelope).ids.into_iter().filter(|id| is_plain(id)).collect(),
            Err(_) => Vec::new(),
        }
    })
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// What the last of these words can be.
fn wanted(words: &[String]) -> Wanted {
    let Some((current, before)) = words.split_last() else { return Wanted::Nothing };
    let mut free: Vec<&str> = Vec::new();
    let mut value_of: Option<&str> = None;
    for word in before {
        if value_of.take().is_some() {
            continue;
        }
        match word.strip_prefix("--") {
            Some("") => return Wanted::Nothing,
            Some(long) if VALUE_FLAGS.contains(&long) => value_of = Some(long),
            Some(_) => {}
            None if word.len() > 1 && word.starts_with('-') => {}
            None => free.push(word),
        }
    }
    if free.first() == Some(&"project") {
        free.remove(0);
    }
    let named = called(&free);
    let flags: Vec<&Flag> = named.iter().flat_map(|command| &command.flags).chain(GLOBAL).collect();
    if let Some(long) = value_of {
        return value(
            flags.iter().find(|flag| flag.long == long).map_or(Completes::Nothing, |flag| flag.completes),
            "",
        );
    }
    if current.starts_with('-') {
        let given = |flag: &Flag| {
            !flag.repeated && before.iter().any(|word| word.strip_prefix("--") == Some(flag.long))
        };
        return Wanted::Words(
            flags
                .iter()
                .filter(|flag| !given(flag))
                .map(|flag| (format!("--{}", flag.long), flag.help.to_owned()))
                .collect(),
        );
    }
    match named {
        Some(command) => word(command, free.get(command.name.split(' ').count()..).unwrap_or_default()),
        None => first_words(&free),
    }
}

/// The command that the free words name.
fn called(free: &[&str]) -> Option<&'static Command> {
    let first = free.first()?;
    let both = free.get(1).and_then(|second| command(&format!("{first} {second}")));
    both.or_else(|| command(canonical(first)))
}

fn first_words(free: &[&str]) -> Wanted {
    let about = |command: &Command| command.summary.trim_end_matches('.').to_owned();
    let words = match free {
        [] => invocations()
            .into_iter()
            .map(|word| (word.to_owned(), command(word).map_or_else(|| "The daemon".to_owned(), about)))
            .collect(),
        [family] => commands()
            .iter()
            .filter(|command| command.family() == *family)
            .filter_map(|command| Some((command.name.split_once(' ')?.1.to_owned(), about(command))))
            .collect(),
        _ => Vec::new(),
    };
    Wanted::Words(words)
}

/// A free word of a command, behind those that are there.
fn word(command: &Command, given: &[&str]) -> Wanted {
    let choice = |words: &[&str]| {
        Wanted::Words(words.iter().map(|word| ((*word).to_owned(), String::new())).collect())
    };
    match (command.name, given) {
        ("move", [_]) => choice(&["up", "down", "before", "after"]),
        ("move", [_, "before" | "after"]) => Wanted::Ids(""),
        ("apply-plan", []) => Wanted::Files,
        ("completions", []) => choice(&["bash", "zsh", "fish"]),
        ("help" | "man", free) => first_words(free),
        (_, []) if command.action.is_some_and(takes_id) => Wanted::Ids(""),
        _ => Wanted::Nothing,
    }
}

fn takes_id(action: &Action) -> bool {
    action.argument("id").is_some_and(|argument| matches!(argument.cli, Cli::Word(_)))
}

fn value(completes: Completes, before: &'static str) -> Wanted {
    match completes {
        Completes::Ids => Wanted::Ids(before),
        Completes::Statuses => {
            Wanted::Words(Status::NAMES.iter().map(|name| ((*name).to_owned(), String::new())).collect())
        }
        Completes::Files => Wanted::Files,
        Completes::Directories => Wanted::Directories,
        Completes::Nothing => Wanted::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(line: &[&str]) -> Wanted {
        wanted(&line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    fn offered(line: &[&str]) -> Vec<String> {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        complete(&words).lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn every_command_is_offered_first() {
        let first = offered(&[""]);
        for command in commands() {
            assert!(first.contains(&command.family().to_owned()), "{}", command.name);
        }
        assert_eq!(complete(&["rea".into()]).lines().count(), 1);
        assert_eq!(offered(&["project", "mo"]), ["move"]);
        assert_eq!(offered(&["daemon", "st"]), ["status", "start", "stop"]);
        assert_eq!(offered(&["help", "daemon", "l"]), ["logs"]);
    }

    #[test]
    fn ids_are_offered_where_a_goal_is_named() {
        for line in [
            &["show", ""][..],
            &["project", "complete", "a"],
            &["set-active", ""],
            &["start", ""],
            &["--json", "why", ""],
            &["--cwd", "list", "show", ""],
            &["move", ""],
            &["move", "a", "before", ""],
            &["add", "Title", "--depends-on", ""],
            &["update", "a", "--depends-on", ""],
            &["list", "--after", ""],
        ] {
            assert_eq!(want(line), Wanted::Ids(""), "{line:?}");
        }
        for line in [
            &["list", ""][..],
            &["show", "a", ""],
            &["add", ""],
            &["update", "a", "--group", ""],
            &["add", "T", "--", ""],
        ] {
            assert_eq!(want(line), Wanted::Nothing, "{line:?}");
        }
    }

    #[test]
    fn flags_files_and_choices_are_offered_in_their_places() {
        assert_eq!(want(&["apply-plan", ""]), Wanted::Files);
        assert_eq!(want(&["add", "T", "--description-file", ""]), Wanted::Files);
        assert_eq!(want(&["list", "--cwd", ""]), Wanted::Directories);
        assert_eq!(offered(&["list", "--status", "a"]), ["active", "archived"]);
        assert_eq!(offered(&["move", "a", ""]), ["up", "down", "before", "after"]);
        assert_eq!(offered(&["completions", "z"]), ["zsh"]);
        assert!(offered(&["ready", "--"]).contains(&"--full".to_owned()));
        assert!(!offered(&["ready", "--full", "--"]).contains(&"--full".to_owned()));
        assert!(offered(&["list", "--status", "open", "--s"]).contains(&"--status".to_owned()));
        assert_eq!(offered(&["complete", "x", "--con"]), ["--confirm"]);
    }
}
