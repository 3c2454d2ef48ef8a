//! One goal: its text as it is printed, and what the rules need to know of it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use stepstone_proto::goal::Status;

use super::text;

/// The level of indentation on which goals stand.
const DEPTH: usize = 2;

/// The fields of a goal that mean something here. Any other is kept and left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Id,
    Title,
    Description,
    Group,
    Links,
    DependsOn,
    Status,
    CreatedAt,
    UpdatedAt,
    CompletedAt,
    Branch,
    ClaimedAt,
    ClaimedBy,
    PreviousIds,
    Other,
}

impl Key {
    /// Every key that means something; the first of them in the order in which a new goal's stand.
    const KNOWN: [(Self, &'static str); 14] = [
        (Self::Id, "id"),
        (Self::Title, "title"),
        (Self::Description, "description"),
        (Self::Group, "group"),
        (Self::Links, "links"),
        (Self::DependsOn, "dependsOn"),
        (Self::Status, "status"),
        (Self::CreatedAt, "createdAt"),
        (Self::UpdatedAt, "updatedAt"),
        (Self::CompletedAt, "completedAt"),
        (Self::Branch, "branch"),
        (Self::ClaimedAt, "claimedAt"),
        (Self::ClaimedBy, "claimedBy"),
        (Self::PreviousIds, "previousIds"),
    ];
    /// Without these a goal is malformed.
    const REQUIRED: [Self; 5] = [Self::Id, Self::Title, Self::Status, Self::CreatedAt, Self::UpdatedAt];

    fn named(name: &str) -> Self {
        Self::KNOWN.iter().find(|known| known.1 == name).map_or(Self::Other, |known| known.0)
    }

    pub(super) fn name(self) -> &'static str {
        Self::KNOWN.iter().find(|known| known.0 == self).map_or("", |known| known.1)
    }
}

/// Why a text is no goal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The field, where it is about one.
    pub(super) field: Option<String>,
    /// What is wrong with it, as the end of a sentence.
    pub(super) problem: String,
    /// Where in the goal's text, in bytes.
    pub(super) offset: usize,
}

/// A field's place in the goal's text.
#[derive(Debug)]
struct Field {
    key: Key,
    /// With its quotes.
    name: Range<usize>,
    value: Range<usize>,
    /// Readers of answers can take the value in. A number that no reader can hold, or half a surrogate pair, is kept
    /// in the file and left out of answers.
    answerable: bool,
}

/// One goal, never changed once it is made.
#[derive(Debug)]
pub(super) struct Goal {
    /// In our layout, from brace to brace.
    text: Box<str>,
    fields: Box<[Field]>,
    pub(super) id: Arc<str>,
    pub(super) title: Box<str>,
    pub(super) status: Status,
    pub(super) updated_at: Box<str>,
    pub(super) group: Option<Box<str>>,
    pub(super) branch: Option<Box<str>>,
    /// As stored: live or former ids, or names of nothing.
    pub(super) depends_on: Box<[Box<str>]>,
    pub(super) previous_ids: Box<[Box<str>]>,
}

impl Goal {
    /// Reads a goal from valid JSON text in any layout, nested no deeper than [`text::DEPTH_LIMIT`].
    pub(super) fn read(object: &str) -> Result<Self, Flaw> {
        if text::kind(object) != "an object" {
            let problem = format!("must be an object, not {}", text::kind(object));
            return Err(Flaw { field: None, problem, offset: 0 });
        }
        let mut parts = Parts::default();
        // In our layout the text comes out as long as it went in.
        let mut out = String::with_capacity(object.len());
        let mut fields = Vec::with_capacity(12);
        let mut others = HashSet::new();
        for entry in text::entries(object) {
            let at = |field: Option<String>, problem: String, part: &str| Flaw {
                field,
                problem,
                offset: part.as_ptr().addr().saturating_sub(object.as_ptr().addr()),
            };
            let Some(name) = text::decoded(entry.key) else {
                return Err(at(
                    None,
                    format!("has a field whose name is no Unicode text: {}", text::shortened(entry.key)),
                    entry.key,
                ));
            };
            let key = Key::named(&name);
            let field = || Some(name.clone().into_owned());
            let is_first =
                if key == Key::Other { others.insert(name.clone()) } else { !parts.found.contains(&key) };
            if !is_first {
                return Err(at(field(), "stands there twice".to_owned(), entry.key));
            }
            parts.take(key, entry.value).map_err(|problem| at(field(), problem, entry.value))?;
            fields.push(append(key, entry, &mut out));
        }
        text::new_line(DEPTH, &mut out);
        out.push('}');
        parts.goal(out, fields).map_err(|key| Flaw {
            field: Some(key.name().to_owned()),
            problem: "is missing".to_owned(),
            offset: 0,
        })
    }

    /// As it stands in the file, without the indentation before its first line.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A field's value as it is spelled.
    fn value(&self, key: Key) -> Option<&str> {
        let field = self.fields.iter().find(|field| field.key == key)?;
        self.text.get(field.value.clone())
    }

    /// A field's text, when it is there.
    pub(super) fn decoded(&self, key: Key) -> Option<Cow<'_, str>> {
        self.value(key).and_then(text::decoded)
    }

    /// The texts in a field, none when it is not there.
    pub(super) fn list(&self, key: Key) -> Vec<Cow<'_, str>> {
        self.value(key)
            .map(|array| text::elements(array).filter_map(text::decoded).collect())
            .unwrap_or_default()
    }

    /// Whether the field is there.
    pub(super) fn has(&self, key: Key) -> bool {
        self.fields.iter().any(|field| field.key == key)
    }

    /// Not empty.
    pub(super) fn has_description(&self) -> bool {
        self.value(Key::Description).is_some_and(|value| value != "\"\"")
    }

    /// The branch that took it. A blank one is nobody's.
    pub(super) fn held_by(&self) -> Option<&str> {
        self.branch.as_deref().filter(|branch| !branch.trim().is_empty())
    }

    /// Somebody works on it.
    pub(super) fn is_claimed(&self) -> bool {
        self.status == Status::Active || self.held_by().is_some()
    }

    /// The whole goal for an answer, without white space, and with `more` entries at its end. Fields that `more`
    /// names again are left out of the front.
    pub(super) fn whole(&self, more: &[(&str, String)]) -> String {
        let mut out = String::with_capacity(self.text.len());
        out.push('{');
        for field in self.fields.iter().filter(|field| field.answerable) {
            let name = self.text.get(field.name.clone()).unwrap_or_default();
            if field.key == Key::Other
                && more.iter().any(|(key, _)| text::decoded(name).as_deref() == Some(key))
            {
                continue;
            }
            push_separator(&mut out);
            out.push_str(name);
            out.push(':');
            text::compact(self.text.get(field.value.clone()).unwrap_or_default(), &mut out);
        }
        for (key, value) in more {
            push_separator(&mut out);
            out.push_str(&text::quoted(key));
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        out
    }

    /// The same goal with fields changed in their places, added at the end, or taken out.
    pub(super) fn with(&self, edits: &[(Key, Option<String>)]) -> Result<Self, Flaw> {
        let edited =
            |key: Key| edits.iter().find(|edit| edit.0 == key && key != Key::Other).map(|edit| &edit.1);
        let mut out = String::with_capacity(self.text.len());
        out.push('{');
        for field in &self.fields {
            let name = self.text.get(field.name.clone()).unwrap_or_default();
            let kept = self.text.get(field.value.clone()).unwrap_or_default();
            let value = match edited(field.key) {
                None => kept,
                Some(Some(value)) => value,
                Some(None) => continue,
            };
            push_separator(&mut out);
            out.push_str(name);
            out.push(':');
            out.push_str(value);
        }
        for (key, value) in edits {
            if let Some(value) = value.as_ref().filter(|_| !self.has(*key)) {
                push_separator(&mut out);
                out.push_str(&text::quoted(key.name()));
                out.push(':');
                out.push_str(value);
            }
        }
        out.push('}');
        Self::read(&out)
    }

    /// A new goal out of these fields, in this order.
    pub(super) fn made_of(fields: &[(Key, String)]) -> Result<Self, Flaw> {
        let entries: Vec<String> =
            fields.iter().map(|(key, value)| format!("{}:{value}", text::quoted(key.name()))).collect();
        Self::read(&format!("{{{}}}", entries.join(",")))
    }
}

fn push_separator(out: &mut String) {
    if out.len() > 1 {
        out.push(',');
    }
}

/// Appends one entry in our layout and says where it stands.
fn append(key: Key, entry: text::Entry<'_>, out: &mut String) -> Field {
    out.push(if out.is_empty() { '{' } else { ',' });
    text::new_line(DEPTH + 1, out);
    let name = out.len()..out.len() + entry.key.len();
    out.push_str(entry.key);
    out.push_str(": ");
    let start = out.len();
    text::lay_out(entry.value, DEPTH + 1, out);
    let answerable = key != Key::Other || serde_json::from_str::<serde_json::Value>(entry.value).is_ok();
    Field { key, name, value: start..out.len(), answerable }
}

/// The known fields as they are found.
#[derive(Default)]
struct Parts {
    found: Vec<Key>,
    id: Option<Arc<str>>,
    title: Option<Box<str>>,
    status: Option<Status>,
    updated_at: Option<Box<str>>,
    group: Option<Box<str>>,
    branch: Option<Box<str>>,
    depends_on: Box<[Box<str>]>,
    previous_ids: Box<[Box<str>]>,
}

impl Parts {
    fn take(&mut self, key: Key, value: &str) -> Result<(), String> {
        match key {
            Key::Id => self.id = Some(Arc::from(&*text_of(value)?)),
            Key::Title => self.title = Some(text_of(value)?.into()),
            Key::UpdatedAt => self.updated_at = Some(text_of(value)?.into()),
            Key::Group => self.group = Some(text_of(value)?.into()),
            Key::Branch => self.branch = Some(text_of(value)?.into()),
            Key::Status => self.status = Some(status_of(value)?),
            Key::DependsOn => self.depends_on = texts_of(value)?,
            Key::PreviousIds => self.previous_ids = texts_of(value)?,
            Key::Links => drop(texts_of(value)?),
            Key::Description | Key::CreatedAt | Key::CompletedAt | Key::ClaimedAt | Key::ClaimedBy => {
                check_text(value)?;
            }
            Key::Other => {}
        }
        self.found.push(key);
        Ok(())
    }

    /// The goal, or the first required field that is not there.
    fn goal(self, text: String, fields: Vec<Field>) -> Result<Goal, Key> {
        if let Some(missing) = Key::REQUIRED.into_iter().find(|key| !self.found.contains(key)) {
            return Err(missing);
        }
        Ok(Goal {
            text: text.into_boxed_str(),
            fields: fields.into_boxed_slice(),
            id: self.id.ok_or(Key::Id)?,
            title: self.title.ok_or(Key::Title)?,
            status: self.status.ok_or(Key::Status)?,
            updated_at: self.updated_at.ok_or(Key::UpdatedAt)?,
            group: self.group,
            branch: self.branch,
            depends_on: self.depends_on,
            previous_ids: self.previous_ids,
        })
    }
}

fn check_text(value: &str) -> Result<(), String> {
    if text::kind(value) != "text" {
        return Err(format!("must be text, not {}", text::kind(value)));
    }
    if !text::is_decodable(value) {
        return Err("holds half a surrogate pair, which is no Unicode text".to_owned());
    }
    Ok(())
}

fn text_of(value: &str) -> Result<Cow<'_, str>, String> {
    check_text(value)?;
    Ok(text::decoded(value).unwrap_or_default())
}

/// The texts of an array of texts; also used for the file's retired ids.
pub(super) fn texts_of(value: &str) -> Result<Box<[Box<str>]>, String> {
    if text::kind(value) != "an array" {
        return Err(format!("must be an array of texts, not {}", text::kind(value)));
    }
    text::elements(value)
        .map(|element| {
            text_of(element).map(Into::into).map_err(|problem| format!("holds an entry that {problem}"))
        })
        .collect()
}

fn status_of(value: &str) -> Result<Status, String> {
    let name = text_of(value)?;
    Status::from_name(&name).ok_or_else(|| {
        format!("must be one of {}, not {}", Status::NAMES.join(", "), text::shortened(&text::quoted(&name)))
    })
}
