//! A failure: what did not happen, and what helps.

use serde_json::Value;
use stepstone_proto::envelope::Failure;

use super::model::Known;
use super::text::{line, pad, width};
use crate::arguments::{Usage, closest, usage_lines};
use stepstone_proto::contract::command_line;

/// A usage error: what is wrong, how it is called, and where to read more.
pub(super) fn usage(usage: &Usage) -> String {
    let mut out = format!("stepstone: {}\n", line(&usage.message));
    match command_line::command(&usage.command) {
        Some(command) => {
            for (at, form) in usage_lines(command).iter().enumerate() {
                out.push_str(if at == 0 { "usage: " } else { "       " });
                out.push_str(form);
                out.push('\n');
            }
            out.push_str(&format!("More: stepstone help {}\n", command.name));
        }
        None => out.push_str("More: stepstone help\n"),
    }
    out
}

/// A failure of the engine, with the goals that an ambiguous name may mean, or the one that a wrong name most likely
/// means.
pub(super) fn failure(failure: &Failure, known: &Known) -> String {
    let mut out = format!("stepstone: {}\n", super::text::lines(&failure.message).join("\n"));
    let detail = |key: &str| failure.details.as_ref().and_then(|details| details.get(key));
    if let Some(Value::Array(candidates)) = detail("candidates") {
        let text =
            |candidate: &Value, key| line(candidate.get(key).and_then(Value::as_str).unwrap_or_default());
        let ids = candidates.iter().map(|candidate| width(&text(candidate, "id"))).max().unwrap_or(0);
        for candidate in candidates {
            out.push_str(&format!("  {}  {}\n", pad(&text(candidate, "id"), ids), text(candidate, "title")));
        }
        let count =
            detail("candidateCount").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        if let Some(left) =
            count.and_then(|count| count.checked_sub(candidates.len())).filter(|left| *left > 0)
        {
            out.push_str(&format!("  and {left} more\n"));
        }
    }
    if let Some(id) = detail("entity").and(detail("id")).and_then(Value::as_str)
        && let Some(meant) = closest(id, known.order.iter().map(String::as_str))
    {
        out.push_str(&format!("Did you mean {}?\n", line(meant)));
    }
    out
}
