//! `list`, `show`, `find`, `next`, `ready`, `waves`, `why`.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    let asked = given.operation(command)?;
    if command.name == "find" && !asked.operation.contains_key("query") {
        return Err(Usage::missing(command.name, "<text...>: the words to look for"));
    }
    Ok(Task::Operation(asked))
}
