//! `apply-plan`: a plan from a file or from standard input.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Content, FromFile, Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    let mut asked = given.operation(command)?;
    let Some(path) = given.path("plan") else {
        return Err(Usage::missing(command.name, "a plan: a JSON file, or - for standard input"));
    };
    asked.from_file = Some(FromFile { path: path.to_owned(), content: Content::Plan });
    Ok(Task::Operation(asked))
}
