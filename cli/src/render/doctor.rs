//! `doctor`: one line for each finding, and below it what to do.

use serde::Deserialize;
use serde_json::Value;
use stepstone_proto::envelope::Envelope;

use super::style::Tone;
use super::text::{line, pad, width, wrap};
use super::{Page, View, model};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Findings {
    findings: Vec<Finding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Finding {
    level: String,
    check: String,
    message: String,
    advice: Option<String>,
}

/// The width of the longest level.
const MARK: usize = 7;

/// The findings, whether or not something needs doing.
pub(super) fn page(view: &View<'_>, envelope: &Envelope) -> Page {
    let findings = match &envelope.error {
        Some(failure) => {
            let found = failure.details.as_ref().and_then(|details| details.get("findings"));
            found.cloned().and_then(|found: Value| serde_json::from_value(found).ok()).unwrap_or_default()
        }
        None => model::read::<Findings>(envelope.result.as_deref()).findings,
    };
    let checks = findings.iter().map(|finding: &Finding| width(&finding.check)).max().unwrap_or(0);
    // On a narrow terminal texts stand below their labels: paths are long, and are never cut.
    let stacked = view.width.is_some_and(|width| width < 90);
    let indent = if stacked { 4 } else { MARK + 2 + checks + 2 };
    let mut out = String::new();
    for finding in &findings {
        let (mark, tone) = match finding.level.as_str() {
            "problem" => ("problem", Tone::Alarm),
            "note" => ("note", Tone::Claimed),
            _ => ("ok", Tone::Open),
        };
        let blanks = " ".repeat(MARK - mark.len() + 2);
        let label = format!("{}{blanks}{}", view.brush.paint(tone, mark), pad(&line(&finding.check), checks));
        out.push_str(label.trim_end());
        out.push_str(&if stacked {
            format!("\n{}", " ".repeat(indent))
        } else {
            label_gap(&finding.check, checks)
        });
        out.push_str(&hanging(view, &line(&finding.message), indent));
        if let Some(advice) = &finding.advice {
            out.push_str(&" ".repeat(indent));
            out.push_str(&hanging(view, &format!("-> {}", line(advice)), indent + 3));
        }
    }
    let err = envelope.error.as_ref().map(|failure| format!("stepstone: {}\n", line(&failure.message)));
    Page { out, err: err.unwrap_or_default() }
}

/// The blanks between a label, trimmed at its end, and the text beside it.
fn label_gap(check: &str, checks: usize) -> String {
    " ".repeat(checks.saturating_sub(width(&line(check))) + 2)
}

/// Text whose further lines begin at a column.
fn hanging(view: &View<'_>, text: &str, indent: usize) -> String {
    let Some(columns) = view.width else { return format!("{text}\n") };
    let parts = wrap(text, columns.saturating_sub(indent).max(20));
    let between = format!("\n{}", " ".repeat(indent));
    format!("{}\n", parts.join(&between))
}
