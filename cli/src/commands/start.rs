//! `start`: take a goal for a branch, or give it back.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    given.operation(command).map(Task::Operation)
}
