//! clap's matches, read by the names of the contract.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::ArgMatches;
use serde_json::{Map, Value};
use stepstone_proto::contract::Cli;
use stepstone_proto::contract::command_line::Command;

use super::scan::Scan;
use super::tree::{BEHIND, is_count, words_id};
use super::usage::Usage;
use super::{Asked, Everywhere};

/// What was given to one command.
pub(crate) struct Given<'a> {
    matches: &'a ArgMatches,
    /// The command, for messages.
    pub(crate) name: String,
    scan: &'a Scan,
}

/// The innermost command of the matches, its name as the contract spells it, and what was given to it.
pub(crate) fn leaf<'a>(matches: &'a ArgMatches, scan: &'a Scan) -> (String, Given<'a>) {
    let mut path: Vec<&str> = Vec::new();
    let mut matches = matches;
    while let Some((name, inner)) = matches.subcommand() {
        if name != "project" {
            path.push(name);
        }
        matches = inner;
    }
    let name = path.join(" ");
    (name.clone(), Given { matches, name, scan })
}

impl Given<'_> {
    /// Whether a switch is there.
    pub(crate) fn switch(&self, long: &str) -> bool {
        self.matches.try_get_one::<u8>(long).ok().flatten().is_some_and(|count| *count > 0)
    }

    /// The values of a flag or a word, as given.
    fn raw(&self, id: &str) -> Vec<&OsString> {
        match self.matches.try_get_many::<OsString>(id) {
            Ok(Some(values)) => values.collect(),
            _ => Vec::new(),
        }
    }

    /// A path, in whatever encoding.
    pub(crate) fn path(&self, id: &str) -> Option<&OsStr> {
        self.raw(id).first().map(|value| value.as_os_str())
    }

    /// The values of a flag or a word, as text.
    pub(crate) fn texts(&self, id: &str) -> Result<Vec<String>, Usage> {
        self.raw(id)
            .into_iter()
            .map(|value| {
                value.to_str().map(str::to_owned).ok_or_else(|| Usage::not_text(&self.name, id, value))
            })
            .collect()
    }

    /// The one value of a flag or a word, as text.
    pub(crate) fn text(&self, id: &str) -> Result<Option<String>, Usage> {
        Ok(self.texts(id)?.into_iter().next())
    }

    /// The words behind `--`; `None` when there is no `--`.
    pub(crate) fn behind(&self) -> Result<Option<Vec<String>>, Usage> {
        let words = self.texts(BEHIND)?;
        Ok((self.scan.separator || !words.is_empty()).then_some(words))
    }

    /// The flag that took a bare `--` as its value.
    pub(crate) fn separator_taken_by(&self) -> Option<&str> {
        self.scan.taken_by.as_deref()
    }

    /// Where the values of a flag, or the words of an argument, stand on the command line.
    pub(crate) fn places(&self, id: &'static str) -> Vec<usize> {
        if self.matches.try_contains_id(id).unwrap_or(false) {
            self.matches.indices_of(id).map(Iterator::collect).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// Where the words of an argument stand on the command line.
    pub(crate) fn word_places(&self, argument: &'static str) -> Vec<usize> {
        self.places(words_id(argument))
    }

    /// The flags that every command takes.
    pub(super) fn everywhere(&self) -> Result<Everywhere, Usage> {
        Ok(Everywhere {
            json: self.switch("json"),
            cwd: self.path("cwd").map(PathBuf::from),
            file: self.text("file")?,
            verbose: self.switch("verbose"),
        })
    }

    /// The operation's arguments as far as the table says how they are given.
    pub(crate) fn operation(&self, command: &'static Command) -> Result<Asked, Usage> {
        let mut operation = Map::new();
        operation.insert("action".to_owned(), command.name.into());
        for argument in command.action.map(|action| action.arguments).unwrap_or_default() {
            let value = match argument.cli {
                Cli::Word(shown) => match self.text(argument.name)? {
                    None if argument.required => {
                        return Err(Usage::missing(&self.name, &format!("<{shown}>")));
                    }
                    word => word.map(Value::from),
                },
                Cli::Words(_) => {
                    let words = self.texts(words_id(argument.name))?;
                    (!words.is_empty()).then(|| words.join(" ").into())
                }
                Cli::Flag(long, "") => self.switch(long).then_some(Value::Bool(true)),
                Cli::Flag(long, _) => match self.text(long)? {
                    Some(text) if is_count(argument.shape) => Some(self.count(long, &text)?),
                    text => text.map(Value::from),
                },
                Cli::Repeated(long, _) => self.repeated(long)?,
                Cli::No | Cli::Own => None,
            };
            if let Some(value) = value {
                operation.insert(argument.name.to_owned(), value);
            }
        }
        Ok(Asked { operation, from_file: None })
    }

    /// A number, as the operation's JSON wants it; which numbers are allowed is the engine's matter.
    pub(crate) fn count(&self, long: &str, text: &str) -> Result<Value, Usage> {
        text.parse::<u64>().map(Value::from).map_err(|_| Usage::not_a_number(&self.name, long, text))
    }

    /// A flag that may come again. One empty value alone is the empty set.
    fn repeated(&self, long: &'static str) -> Result<Option<Value>, Usage> {
        let values = self.texts(long)?;
        let clears = values.iter().any(String::is_empty);
        match values.len() {
            0 => Ok(None),
            1 if clears => Ok(Some(Value::Array(Vec::new()))),
            _ if clears => Err(Usage::new(
                &self.name,
                &[long],
                format!(
                    "An empty --{long} clears them all, so it cannot stand together with another --{long}. Give \
                     either --{long} '' alone or only the values that are to stay."
                ),
            )),
            _ => Ok(Some(values.into())),
        }
    }
}
