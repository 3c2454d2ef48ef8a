//! `migrate_ids`, `migrate_path`: see first, then carry out.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    if given.switch("confirm") && given.switch("dry-run") {
        return Err(Usage::new(
            command.name,
            &["confirm", "dry-run"],
            "--confirm carries it out and --dry-run does not: give one of them.",
        ));
    }
    if command.name == "migrate_path" && given.path("file").is_some() {
        return Err(override_refused("--file"));
    }
    given.operation(command).map(Task::Operation)
}

/// `migrate_path` moves the repository's own file, not one that somebody named.
pub(crate) fn override_refused(what: &str) -> Usage {
    let flags: &[&str] = if what == "--file" { &["file"] } else { &[] };
    Usage::new(
        "migrate_path",
        flags,
        format!(
            "{what} names one file, and migrate_path moves the repository's own from .pi to .worklist. Leave {what} \
             out."
        ),
    )
}
