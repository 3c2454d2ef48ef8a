//! `man [command]` and `help [command]`.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage, topic};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    let words = given.texts("topic")?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let topic = topic(&words)?;
    Ok(if command.name == "man" { Task::Man(topic) } else { Task::Help(topic) })
}
