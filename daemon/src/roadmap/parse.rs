//! Reading the goal file's bytes, and saying exactly what is wrong with them.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use stepstone_proto::envelope::{ErrorCode, Failure};

use super::document::{Field, FieldValue, REVISION_LIMIT, Roadmap};
use super::goal::{Flaw, Goal, texts_of};
use super::names::Names;
use super::text;

/// The only version of the file's shape so far.
const VERSION: f64 = 1.0;
/// What editors of some systems put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// What Git leaves at the beginning of lines when it could not merge.
const MERGE_MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// Why bytes are no roadmap. Such a file is never written.
#[derive(Debug, Clone, PartialEq)]
pub enum Defect {
    /// A version above ours: a newer Stepstone wrote it.
    Newer {
        /// The version that stands there.
        found: Value,
    },
    /// It is not of the shape of a goal file.
    Malformed {
        /// What is wrong and where: line and column, or goal and field, or merge markers and their lines. A sentence
        /// without its subject and full stop, such as `goal 2 ("a"), field "title": must be text`.
        message: String,
    },
}

impl Defect {
    /// The refusal that every operation on this file gets.
    #[must_use]
    pub fn failure(&self, path: &str) -> Failure {
        match self {
            Self::Newer { found } => Failure::new(
                ErrorCode::PersistenceFailed,
                format!(
                    "{path} has version {found}, which a newer Stepstone wrote; this one knows version 1 and has not \
                     touched it. Upgrade Stepstone, and do not edit the file."
                ),
            )
            .resolution("upgrade-stepstone")
            .with("path", path)
            .with("found", found.clone()),
            Self::Malformed { message } => Failure::new(
                ErrorCode::PersistenceFailed,
                format!(
                    "{path} cannot be read as a roadmap: {message}. Nothing was done and the file was not touched. \
                     Have a person repair it, or take an older one from version control; then ask again."
                ),
            )
            .resolution("repair-project-file")
            .with("path", path),
        }
    }
}

impl Roadmap {
    /// Reads the goal file's bytes.
    ///
    /// # Errors
    /// Says what is wrong and where; see [`Defect`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Defect> {
        let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
        let json = match std::str::from_utf8(bytes) {
            Ok(json) => json,
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let place = place(&String::from_utf8_lossy(valid), valid.len());
                return Err(malformed(format!("it is not UTF-8 at {place}")));
            }
        };
        if json.trim().is_empty() {
            return Err(malformed("it is empty".to_owned()));
        }
        let value = serde_json::from_str::<&RawValue>(json).map_err(|error| syntax(json, &error))?;
        if let Some(offset) = text::too_deep(json) {
            let limit = text::DEPTH_LIMIT;
            return Err(malformed(format!("it nests deeper than {limit} levels at {}", place(json, offset))));
        }
        File { json }.roadmap(value.get())
    }
}

fn malformed(message: String) -> Defect {
    Defect::Malformed { message }
}

/// Line and column of a byte offset, both from 1; columns count characters.
fn place(json: &str, offset: usize) -> String {
    let before = String::from_utf8_lossy(json.as_bytes().get(..offset).unwrap_or(json.as_bytes()));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

/// Bad JSON: merge markers where there are some, else what the JSON reader says and where.
fn syntax(json: &str, error: &serde_json::Error) -> Defect {
    let is_marker = |line: &str| MERGE_MARKERS.iter().any(|marker| line.starts_with(marker));
    let lines: Vec<String> = json
        .lines()
        .enumerate()
        .filter(|(_, line)| is_marker(line))
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    if let Some((last, first)) = lines.split_last().filter(|_| lines.len() <= 30) {
        let lines = if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
        let word = if first.is_empty() { "line" } else { "lines" };
        return malformed(format!("merge conflict markers stand in it, at {word} {lines}"));
    }
    if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
        let count = lines.len();
        return malformed(format!(
            "{count} merge conflict markers stand in it, from line {first} to line {last}"
        ));
    }
    let start: usize = json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let place = place(json, start + error.column().saturating_sub(1));
    let said = error.to_string();
    let reason = said.split(" at line ").next().unwrap_or(&said);
    malformed(format!("it is not valid JSON at {place}: {reason}"))
}

/// The text of a file that is valid JSON.
struct File<'a> {
    json: &'a str,
}

impl File<'_> {
    fn at(&self, part: &str) -> String {
        self.at_offset(part, 0)
    }

    fn at_offset(&self, part: &str, offset: usize) -> String {
        place(self.json, part.as_ptr().addr().saturating_sub(self.json.as_ptr().addr()) + offset)
    }

    fn roadmap(&self, object: &str) -> Result<Roadmap, Defect> {
        if text::kind(object) != "an object" {
            return Err(malformed(format!("it must hold an object, not {}", text::kind(object))));
        }
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        for entry in text::entries(object) {
            let Some(name) = text::decoded(entry.key) else {
                let (name, at) = (text::shortened(entry.key), self.at(entry.key));
                return Err(malformed(format!("a field's name is no Unicode text: {name} ({at})")));
            };
            if !names.insert(name.clone()) {
                let name = text::shortened(&text::quoted(&name));
                return Err(malformed(format!("field {name} stands there twice ({})", self.at(entry.key))));
            }
            entries.push((name, entry));
        }
        let named = |name: &str| entries.iter().find(|entry| entry.0 == name).map(|entry| entry.1.value);
        // First of all, since a newer shape may differ in anything else.
        self.check_version(named("version"))?;
        let revision = named("revision").map_or(Ok(0), |value| self.revision(value))?;
        let retired = named("retiredIds").map_or(Ok(Box::default()), |value| {
            texts_of(value).map_err(|problem| self.field("retiredIds", &problem, value))
        })?;
        let list = named("goals")
            .ok_or_else(|| malformed("field \"goals\" is missing, an array of goals".to_owned()))?;
        let (goals, names) = self.goals(list, &retired)?;
        let fields = entries.iter().map(|(name, entry)| field(name, entry)).collect();
        Ok(Roadmap::made_of(fields, revision, goals, Arc::from(retired), names))
    }

    fn field(&self, name: &str, problem: &str, value: &str) -> Defect {
        malformed(format!("field \"{name}\" {problem} ({})", self.at(value)))
    }

    fn check_version(&self, value: Option<&str>) -> Result<(), Defect> {
        let Some(value) = value else {
            return Err(malformed("field \"version\" is missing; it must be 1".to_owned()));
        };
        let number = serde_json::from_str::<Value>(value).ok();
        match number.as_ref().and_then(Value::as_f64) {
            Some(VERSION) => Ok(()),
            Some(version) if version > VERSION => Err(Defect::Newer { found: number.unwrap_or_default() }),
            _ => Err(self.field("version", &format!("must be 1, not {}", text::shortened(value)), value)),
        }
    }

    fn revision(&self, value: &str) -> Result<u64, Defect> {
        let number = serde_json::from_str::<serde_json::Number>(value).ok();
        number
            .and_then(|number| number.as_u64().or_else(|| whole(number.as_f64()?)))
            .filter(|revision| *revision <= REVISION_LIMIT)
            .ok_or_else(|| {
                let problem = format!(
                    "must be a whole number from 0 to {REVISION_LIMIT}, not {}",
                    text::shortened(value)
                );
                self.field("revision", &problem, value)
            })
    }

    fn goals(&self, list: &str, retired: &[Box<str>]) -> Result<(Vec<Arc<Goal>>, Names), Defect> {
        if text::kind(list) != "an array" {
            let problem = format!("must be an array of goals, not {}", text::kind(list));
            return Err(self.field("goals", &problem, list));
        }
        let mut goals = Vec::new();
        for element in text::elements(list) {
            let goal = Goal::read(element).map_err(|flaw| self.goal_defect(goals.len(), element, &flaw))?;
            goals.push(Arc::new(goal));
        }
        match Names::of(&goals, retired) {
            Ok(names) => Ok((goals, names)),
            Err((first, second)) => {
                let at = |index: usize| {
                    text::elements(list).nth(index).map_or(String::new(), |part| self.at(part))
                };
                let id = goals.get(second).map_or("", |goal| &*goal.id);
                Err(malformed(format!(
                    "goals {} ({}) and {} ({}) have the same id {}",
                    first + 1,
                    at(first),
                    second + 1,
                    at(second),
                    text::shortened(&text::quoted(id))
                )))
            }
        }
    }

    /// Names the goal by its number, from 1, and by its id where it has one.
    fn goal_defect(&self, index: usize, element: &str, flaw: &Flaw) -> Defect {
        let named = |entry: &text::Entry<'_>| text::decoded(entry.key).as_deref() == Some("id");
        let id = text::entries(element).find(named).filter(|entry| text::kind(entry.value) == "text");
        let id = id.map_or(String::new(), |entry| format!(" ({})", text::shortened(entry.value)));
        let field = flaw
            .field
            .as_ref()
            .map_or(String::new(), |field| format!(", field {}", text::shortened(&text::quoted(field))));
        let number = index + 1;
        malformed(format!(
            "goal {number}{id}{field}: {} ({})",
            flaw.problem,
            self.at_offset(element, flaw.offset)
        ))
    }
}

fn field(name: &str, entry: &text::Entry<'_>) -> Field {
    let value = || {
        let mut out = String::new();
        text::lay_out(entry.value, 1, &mut out);
        out.into_boxed_str()
    };
    let value = match name {
        "goals" => FieldValue::Goals,
        "revision" => FieldValue::Revision(value()),
        "retiredIds" => FieldValue::Retired(value()),
        _ => FieldValue::Kept(value()),
    };
    Field { name: entry.key.into(), value }
}

/// A number that is whole and that every reader of JSON holds exactly.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both are checked directly before"
)]
fn whole(number: f64) -> Option<u64> {
    #[expect(clippy::cast_precision_loss, reason = "the limit is exact in both")]
    let limit = REVISION_LIMIT as f64;
    (number.fract() == 0.0 && (0.0..=limit).contains(&number)).then_some(number as u64)
}
