//! Envelopes as text for people. Nothing here knows a rule of the roadmap: it shows what the engine derived.

mod changes;
mod daemon;
mod doctor;
mod failure;
mod goal;
mod help;
mod init;
mod lists;
mod man;
mod model;
mod rows;
mod style;
mod text;
mod time;
mod why;

use jiff::Timestamp;
use serde_json::{Map, Value};
use stepstone_proto::envelope::{Envelope, Meta, Scope};

use crate::arguments::{Topic, Usage};
use crate::output::Screen;
pub(crate) use model::{Known, answer};
use style::Brush;

/// What goes to the two streams.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

/// Messages with their lines broken to a terminal's width; the parts behind the first are set in.
pub(crate) fn broken(messages: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in messages.lines() {
        // A line that is set in already keeps its place.
        let hang = line.len() - line.trim_start().len() + 2;
        for (at, part) in text::wrap(line, columns.saturating_sub(2).max(20)).iter().enumerate() {
            if at > 0 {
                out.push_str(&" ".repeat(hang));
            }
            out.push_str(if at > 0 { part.trim_start() } else { part });
            out.push('\n');
        }
    }
    out
}

/// Everything beside the answer that its text depends on.
pub(crate) struct View<'a> {
    /// Columns; `None` where nothing is cut.
    width: Option<usize>,
    brush: Brush,
    now: Timestamp,
    known: &'a Known,
}

impl<'a> View<'a> {
    /// For this screen, at this moment.
    pub(crate) fn new(screen: Screen, now: Timestamp, known: &'a Known) -> Self {
        Self { width: screen.width, brush: Brush { colour: screen.colour }, now, known }
    }
}

/// A usage error.
pub(crate) fn usage(usage: &Usage) -> Page {
    Page { out: String::new(), err: failure::usage(usage) }
}

/// The answer to an operation.
pub(crate) fn envelope(view: &View<'_>, envelope: &Envelope, asked: &Map<String, Value>) -> Page {
    let mut page = match &envelope.error {
        _ if envelope.scope == Scope::Daemon && envelope.action == "doctor" => doctor::page(view, envelope),
        Some(failure) => Page { out: String::new(), err: failure::failure(failure, view.known) },
        None => success(view, envelope, asked),
    };
    page.err.push_str(&warnings(&envelope.meta));
    page
}

/// Help for this screen.
pub(crate) fn help(topic: Topic, screen: Screen) -> Page {
    let out = help::help(topic, screen.width, Brush { colour: screen.colour });
    Page { out, err: String::new() }
}

/// A manual page.
pub(crate) fn man(topic: Topic) -> Page {
    Page { out: man::page(topic), err: String::new() }
}

fn success(view: &View<'_>, envelope: &Envelope, asked: &Map<String, Value>) -> Page {
    if envelope.scope == Scope::Daemon {
        return daemon::page(view, envelope);
    }
    let answer = answer(envelope);
    let out = match envelope.action.as_str() {
        "list" => lists::list(view, &answer, asked),
        "find" => lists::find(view, &answer, asked),
        "ready" => lists::ready(view, &answer, asked),
        "waves" => lists::waves(view, &answer, asked),
        "next" => lists::next(view, &answer),
        "show" => goal::show(view, &answer),
        "why" => why::page(view, envelope),
        "init" => init::page(view, envelope),
        "apply-plan" => return changes::plan(view, &answer),
        "migrate_ids" => changes::migrate_ids(&answer),
        "migrate_path" => changes::migrate_path(&answer),
        _ => return changes::one(view, envelope, &answer, asked),
    };
    Page { out, err: String::new() }
}

/// What somebody should know beside the answer.
fn warnings(meta: &Meta) -> String {
    let mut out = String::new();
    if let Some(path) = &meta.shadowed_worklist_path {
        out.push_str(&format!(
            "stepstone: {} is passed over, because .worklist/worklist.json is there too. Merge the two by hand.\n",
            text::line(path)
        ));
    }
    if meta.durability.as_deref() == Some("unsynced") {
        out.push_str(
            "stepstone: the change is written, but the system could not confirm that it reached the disk.\n",
        );
    }
    out
}

#[cfg(test)]
mod tests;
