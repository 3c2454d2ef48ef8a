//! One file per command family: from what was given to what is to be done.

pub(crate) mod completions;
pub(crate) mod daemon;
pub(crate) mod doctor;
mod file;
mod lifecycle;
mod man;
mod migrate;
pub(crate) mod operation;
mod placement;
mod plan;
mod reads;
mod start;
mod text;
mod upkeep;

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};
pub(crate) use migrate::override_refused;

/// Reads what was given to a command.
///
/// # Errors
/// A [`Usage`] when it cannot be carried out as it stands.
pub(crate) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    match command.name {
        "list" | "show" | "find" | "next" | "ready" | "waves" | "why" => reads::read(command, given),
        "add" | "update" => text::read(command, given),
        "apply-plan" => plan::read(command, given),
        "move" => placement::read(command, given),
        "start" => start::read(command, given),
        "set_active" | "complete" | "reopen" | "archive" | "delete" => lifecycle::read(command, given),
        "migrate_ids" | "migrate_path" => migrate::read(command, given),
        "init" | "doctor" => upkeep::read(command, given),
        "completions" => completions::read(given),
        "man" | "help" => man::read(command, given),
        _ => daemon::read(command, given),
    }
}
