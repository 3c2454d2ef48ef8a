//! `init`: what was written, and what to set up where.

use serde::Deserialize;
use stepstone_proto::envelope::Envelope;

use super::style::Tone;
use super::text::{line, lines, wrap};
use super::{View, model};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Init {
    agents_path: String,
    integrations: Vec<Integration>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Integration {
    name: String,
    command: Option<String>,
    file: Option<HostFile>,
    note: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HostFile {
    path: String,
    content: String,
}

/// Lines that are copied are never wrapped.
pub(super) fn page(view: &View<'_>, envelope: &Envelope) -> String {
    let init: Init = model::read(envelope.result.as_deref());
    let path = line(&init.agents_path);
    let mut out = if envelope.meta.changed {
        format!("Wrote Stepstone's block in {path}\n")
    } else {
        format!("Stepstone's block in {path} is current\n")
    };
    out.push_str(
        "\nWhat follows is for you to do; nothing of it was done. Each host needs only its own part.\n",
    );
    for integration in &init.integrations {
        out.push_str(&format!("\n{}\n", view.brush.paint(Tone::Strong, &line(&integration.name))));
        if let Some(command) = &integration.command {
            out.push_str(&format!("  {}\n", line(command)));
        }
        if let Some(file) = &integration.file {
            let or = if integration.command.is_some() { "or in" } else { "in" };
            out.push_str(&format!("  {or} {}:\n", line(&file.path)));
            for content in lines(&file.content) {
                out.push_str(&format!("    {content}\n"));
            }
        }
        if let Some(note) = &integration.note {
            let columns = view.width.map_or(usize::MAX, |width| width.saturating_sub(2));
            for part in wrap(&line(note), columns) {
                out.push_str(&format!("  {}\n", view.brush.paint(Tone::Faint, &part)));
            }
        }
    }
    out
}
