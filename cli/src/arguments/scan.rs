//! A first look along the arguments, which never fails: the words, the separator, and the few flags that matter
//! even when the rest is wrong.

use std::ffi::OsString;

use stepstone_proto::contract::command_line::{self, VALUE_FLAGS, commands};

/// What stands in an argument vector, whatever else is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The free words before the separator, in order.
    pub(crate) words: Vec<String>,
    /// A `--` that is no flag's value.
    pub(crate) separator: bool,
    /// The flag whose value a bare `--` would be; more likely the value was forgotten.
    pub(crate) taken_by: Option<String>,
    /// `--help` or `-h`.
    pub(crate) help: bool,
    /// `--version` or `-V`.
    pub(crate) version: bool,
}

impl Scan {
    /// The command that was meant, as typed: the first word but `project`, or the first two of a family.
    pub(crate) fn command_name(&self) -> String {
        let mut words = self.words.iter().map(String::as_str).skip_while(|word| *word == "project");
        let Some(first) = words.next() else { return String::new() };
        match words.next() {
            Some(second) if commands().iter().any(|command| command.name == format!("{first} {second}")) => {
                format!("{first} {second}")
            }
            _ => command_line::canonical(first).to_owned(),
        }
    }
}

/// Looks along the arguments.
pub(crate) fn scan(arguments: &[OsString]) -> Scan {
    let mut scan = Scan::default();
    let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
    while let Some(argument) = arguments.next() {
        match argument.as_ref() {
            "--" => {
                scan.separator = true;
                break;
            }
            "--help" | "-h" => scan.help = true,
            "--version" | "-V" => scan.version = true,
            flag if flag.strip_prefix("--").is_some_and(|long| VALUE_FLAGS.contains(&long)) => {
                if arguments.next().is_some_and(|value| value == "--") {
                    scan.taken_by = flag.strip_prefix("--").map(str::to_owned);
                }
            }
            flag if flag.len() > 1 && flag.starts_with('-') => {}
            word => scan.words.push(word.to_owned()),
        }
    }
    scan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &[&str]) -> Scan {
        scan(&line.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_flags_value_is_neither_a_word_nor_a_flag_nor_the_separator() {
        let scan = of(&["add", "--description", "--help", "Title", "--description", "--", "x"]);
        assert_eq!(scan.words, ["add", "Title", "x"]);
        assert!(!scan.help && !scan.separator);
    }

    #[test]
    fn what_stands_behind_the_separator_is_no_word() {
        let scan = of(&["update", "a", "--", "-h", "word"]);
        assert!(scan.separator && !scan.help);
        assert_eq!(scan.words, ["update", "a"]);
    }

    #[test]
    fn the_command_is_found_behind_flags_and_project() {
        assert_eq!(of(&["--json", "--cwd", "list", "project", "set-active"]).command_name(), "set_active");
        assert_eq!(of(&["daemon", "status"]).command_name(), "daemon status");
        assert_eq!(of(&["daemon", "x"]).command_name(), "daemon");
    }
}
