//! `add` and `update`: a title and a description on one line, and how they are told apart.
//!
//! A shell hands over words, and an unquoted description looks like more title. What could silently become another
//! title than the one meant is refused here, since no engine could tell.

use stepstone_proto::contract::command_line::{Command, GLOBAL, commands};

use crate::arguments::{Asked, Content, FromFile, Given, Task, Usage, listed};

/// The flags that give one description, or a part of one.
const TEXT_FLAGS: [&str; 3] = ["description", "append-description", "description-file"];

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    let mut asked = given.operation(command)?;
    let mut behind = given.behind()?;
    refuse_flags_behind(command, behind.as_deref().unwrap_or_default())?;
    title(command, given, &mut asked, &mut behind)?;
    refuse_spilled_title(command, given)?;
    description(command, given, &mut asked, behind)?;
    if command.name == "add" && !asked.operation.contains_key("title") {
        return Err(Usage::missing(command.name, "<title...>"));
    }
    if command.name == "update" && nothing_to_change(&asked) {
        return Err(Usage::new(
            command.name,
            &[],
            "There is nothing to change: give a new title behind the id, or one of --description, \
             --append-description, --group, --depends-on and --link.",
        ));
    }
    Ok(Task::Operation(asked))
}

/// A flag that stands alone behind `--` was meant as a flag, and would be swallowed as text.
fn refuse_flags_behind(command: &Command, words: &[String]) -> Result<(), Usage> {
    let known = |word: &&String| {
        let long = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
        long.is_some_and(|long| {
            commands().iter().flat_map(|command| &command.flags).chain(GLOBAL).any(|flag| flag.long == long)
        })
    };
    let swallowed: Vec<&str> = words.iter().filter(known).map(String::as_str).collect();
    if swallowed.is_empty() {
        return Ok(());
    }
    let flags: Vec<&str> = swallowed.iter().map(|flag| flag.trim_start_matches('-')).collect();
    let instead = if command.name == "update" {
        "--description T or --append-description T"
    } else {
        "--description T"
    };
    Err(Usage::new(
        command.name,
        &flags,
        format!(
            "{} behind -- would become text. Put flags before --; a text that holds them goes into one argument: \
             {instead}.",
            listed(&swallowed)
        ),
    ))
}

/// The title from its words, from `--title`, or (`add` without either) from the words behind `--`.
fn title(
    command: &Command,
    given: &Given<'_>,
    asked: &mut Asked,
    behind: &mut Option<Vec<String>>,
) -> Result<(), Usage> {
    if let Some(title) = given.text("title")? {
        if asked.operation.contains_key("title") {
            return Err(Usage::new(
                command.name,
                &["title"],
                "--title and free words are two titles: give one of them.",
            ));
        }
        asked.operation.insert("title".to_owned(), title.into());
    } else if command.name == "add"
        && !asked.operation.contains_key("title")
        && let Some(words) = behind.take_if(|words| !words.is_empty())
    {
        asked.operation.insert("title".to_owned(), words.join(" ").into());
    }
    Ok(())
}

/// Words behind a description's one value are most likely the rest of that description without its quotes: they must
/// not become a new title (`update`), nor the other half of a title (`add`).
fn refuse_spilled_title(command: &Command, given: &Given<'_>) -> Result<(), Usage> {
    let words = given.word_places("title");
    for flag in ["description", "append-description"] {
        let Some(place) = given.places(flag).first().copied() else { continue };
        let behind = words.iter().any(|word| *word > place);
        let before = words.iter().any(|word| *word < place);
        let what = match command.name {
            "update" if behind => "would become a new title",
            "add" if behind && before => "would become more of the title",
            _ => continue,
        };
        return Err(Usage::new(
            command.name,
            &[flag],
            format!(
                "The words behind the value of --{flag} {what}. Put the whole text into one argument (in quotes), and \
                 a title before --{flag}."
            ),
        ));
    }
    Ok(())
}

/// One description at most: `--description`, `--description-file`, `--append-description`, or the words behind `--`.
fn description(
    command: &Command,
    given: &Given<'_>,
    asked: &mut Asked,
    behind: Option<Vec<String>>,
) -> Result<(), Usage> {
    let texts: Vec<&str> = TEXT_FLAGS.into_iter().filter(|flag| !given.places(flag).is_empty()).collect();
    if let [one, other, ..] = texts.as_slice() {
        return Err(Usage::new(
            command.name,
            &texts,
            format!("--{one} and --{other} are two descriptions: give one of them."),
        ));
    }
    if let Some(flag) = given.separator_taken_by() {
        return Err(Usage::new(
            command.name,
            &[flag],
            format!("--{flag} needs its text as one argument; words behind -- go without it."),
        ));
    }
    let append = given.switch("append");
    match (texts.first(), behind) {
        (Some(flag), Some(_)) => Err(Usage::new(
            command.name,
            &[flag],
            format!("--{flag} and words behind -- are two descriptions: give one of them."),
        )),
        (Some(flag), None) if append => Err(Usage::new(
            command.name,
            &["append", flag],
            format!(
                "--append takes the words behind --, not --{flag}. For one argument: --append-description T."
            ),
        )),
        (Some(&"description-file"), None) => {
            asked.from_file = given
                .path("description-file")
                .map(|path| FromFile { path: path.to_owned(), content: Content::Description });
            Ok(())
        }
        (None, Some(words)) if append && words.is_empty() => Err(append_what(command)),
        (None, None) if append => Err(append_what(command)),
        (None, Some(words)) => {
            let argument = if append { "appendDescription" } else { "description" };
            asked.operation.insert(argument.to_owned(), words.join(" ").into());
            Ok(())
        }
        (_, None) => Ok(()),
    }
}

fn append_what(command: &Command) -> Usage {
    Usage::new(
        command.name,
        &["append"],
        "--append needs words behind --: stepstone update <id> --append -- words... For one argument: \
         --append-description T.",
    )
}

/// An update that names nothing to change; the goal and its baseline are no change.
fn nothing_to_change(asked: &Asked) -> bool {
    asked.from_file.is_none()
        && asked.operation.keys().all(|key| matches!(key.as_str(), "action" | "id" | "expectedUpdatedAt"))
}
