//! `set_active`, `complete`, `reopen`, `archive`, `delete`: one goal, and the user's word where it takes one.
//!
//! Whether a confirmation is needed, and whether it is there, is the engine's matter.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    given.operation(command).map(Task::Operation)
}
