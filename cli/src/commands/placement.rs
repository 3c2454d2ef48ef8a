//! `move`: up, down, before another goal or after it.

use stepstone_proto::contract::command_line::Command;

use crate::arguments::{Given, Task, Usage};

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    let mut asked = given.operation(command)?;
    let placement = given.text("placement")?;
    let anchor = given.text("anchor")?;
    let (argument, value) = match (placement.as_deref(), anchor) {
        (Some(direction @ ("up" | "down")), None) => ("direction", direction.to_owned()),
        (Some("before"), Some(anchor)) => ("beforeId", anchor),
        (Some("after"), Some(anchor)) => ("afterId", anchor),
        (Some(direction @ ("up" | "down")), Some(anchor)) => {
            return Err(wrong(&format!("`{direction}` takes no goal, but `{anchor}` follows it.")));
        }
        (Some(side @ ("before" | "after")), None) => {
            return Err(wrong(&format!("`{side}` needs the goal {side} which it goes.")));
        }
        (Some(other), _) => return Err(wrong(&format!("`{other}` is no place."))),
        (None, _) => return Err(wrong("Where to is missing.")),
    };
    asked.operation.insert(argument.to_owned(), value.into());
    Ok(Task::Operation(asked))
}

fn wrong(what: &str) -> Usage {
    Usage::new("move", &[], format!("{what} A goal is moved up, down, before <id> or after <id>."))
}
