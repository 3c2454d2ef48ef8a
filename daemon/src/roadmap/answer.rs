//! Results as JSON text: whole goals, compact goals, and the object around them.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use stepstone_proto::envelope::Failure;
use stepstone_proto::goal::Status;

use super::document::Roadmap;
use super::goal::{Goal, Key};
use super::refusal;

/// A result object, begun with `scope` and `action`.
pub(super) struct Answer {
    text: String,
}

impl Answer {
    pub(super) fn new(action: &str) -> Self {
        Self { text: format!("{{\"scope\":\"project\",\"action\":\"{action}\"") }
    }

    /// One more field, as JSON text.
    pub(super) fn raw(&mut self, key: &str, json: &str) {
        self.begin(key).push_str(json);
    }

    /// The text behind the name of one more field. Its value has to be put there: what may be large is not made
    /// elsewhere first.
    pub(super) fn begin(&mut self, key: &str) -> &mut String {
        self.text.push_str(",\"");
        self.text.push_str(key);
        self.text.push_str("\":");
        &mut self.text
    }

    /// One more field that is an array of JSON texts.
    pub(super) fn list(&mut self, key: &str, items: &[String]) {
        self.raw(key, &joined(items));
    }

    /// One more field.
    pub(super) fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Failure> {
        self.raw(key, &json(value)?);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Box<RawValue>, Failure> {
        self.text.push('}');
        RawValue::from_string(self.text)
            .map_err(|error| refusal::impossible(&format!("an answer was no JSON ({error})")))
    }
}

/// A value as JSON text.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| refusal::impossible(&format!("an answer could not be written ({error})")))
}

/// JSON texts as one array.
pub(super) fn joined(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// How goals are shown in collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Whole instead of compact.
    pub(super) full: bool,
    /// With `blocked` and `blockedBy`, derived.
    pub(super) explain: bool,
    /// With `claimedAt` and `claimedBy`.
    pub(super) claim: bool,
}

/// A goal as collections show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Compact<'a> {
    id: &'a str,
    title: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "is_empty")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    depends_on: &'a [Box<str>],
    #[serde(skip_serializing_if = "is_empty")]
    branch: Option<&'a str>,
    updated_at: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_description: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_at: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_by: Vec<&'a str>,
}

fn is_empty(text: &Option<&str>) -> bool {
    text.is_none_or(str::is_empty)
}

impl Roadmap {
    /// One goal of a collection, as JSON text.
    pub(super) fn shown(&self, place: usize, style: Style) -> Result<String, Failure> {
        let goal = self.goal_at(place)?;
        let explained = style.explain && !goal.status.is_settled();
        let blocked_by = if explained { self.blocked_by(goal) } else { Vec::new() };
        let blocked = explained.then_some(!blocked_by.is_empty());
        if style.full {
            let mut more = Vec::new();
            if let Some(blocked) = blocked {
                more.push(("blocked", blocked.to_string()));
            }
            if !blocked_by.is_empty() {
                more.push(("blockedBy", json(&blocked_by)?));
            }
            return Ok(goal.whole(&more));
        }
        json(&compact(goal, style.claim, blocked, blocked_by))
    }
}

/// A goal in short, as JSON text.
pub(super) fn in_short(goal: &Goal, claim: bool) -> Result<String, Failure> {
    json(&compact(goal, claim, None, Vec::new()))
}

fn compact<'a>(goal: &'a Goal, claim: bool, blocked: Option<bool>, blocked_by: Vec<&'a str>) -> Compact<'a> {
    let claim = |key| if claim { goal.decoded(key) } else { None };
    Compact {
        id: &goal.id,
        title: &goal.title,
        status: goal.status,
        group: goal.group.as_deref(),
        depends_on: &goal.depends_on,
        branch: goal.branch.as_deref(),
        updated_at: &goal.updated_at,
        has_description: goal.has_description(),
        claimed_at: claim(Key::ClaimedAt),
        claimed_by: claim(Key::ClaimedBy),
        blocked,
        blocked_by,
    }
}
