//! `init` and `doctor`: no arguments of their own.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    if command.name == "doctor" {
        return Ok(Task::Doctor);
    }
    given.operation(command).map(Task::Operation)
}
