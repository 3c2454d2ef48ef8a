//! The entries of a plan.

use std::collections::HashMap;

use serde_json::{Map, Value};
use stepstone_proto::envelope::{ErrorCode, Failure};
use stepstone_proto::operation::PlanEntry;

use super::arguments::cut;
use super::problems::Problems;
use crate::roadmap::slug;

/// The fields of an entry, and nothing else.
const FIELDS: [&str; 4] = ["title", "description", "group", "dependsOn"];

/// Notes what is wrong with a plan; true when nothing is.
pub(super) fn check(plan: &Value, problems: &mut Problems) -> bool {
    let mut right = true;
    let mut wrong = |field: String, resolution: &'static str, sentence: String| {
        right = false;
        problems.add(field, resolution, sentence);
    };
    let Some(entries) = plan.as_array() else {
        let sentence = "`plan` must be a JSON array of entries, not a text or an object.";
        wrong("plan".to_owned(), "provide-json-goal-array", sentence.to_owned());
        return false;
    };
    for (index, entry) in entries.iter().enumerate() {
        match entry.as_object() {
            None => wrong(
                format!("plan/{index}"),
                "provide-json-goal-array",
                format!("Entry {index} of the plan must be an object with a title."),
            ),
            Some(entry) => check_entry(index, entry, &mut wrong),
        }
    }
    right
}

fn check_entry(
    index: usize,
    entry: &Map<String, Value>,
    wrong: &mut impl FnMut(String, &'static str, String),
) {
    let place = |field: &str| format!("plan/{index}/{field}");
    for field in entry.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
        let sentence = format!(
            "Entry {index} of the plan has the field `{}`, which plans do not take; they take {}.",
            cut(field),
            FIELDS.join(", ")
        );
        wrong(place(field), "remove-unknown-fields", sentence);
    }
    let given = |field: &str| entry.get(field).filter(|value| !value.is_null());
    match given("title") {
        Some(Value::String(title)) if !title.trim().is_empty() => {}
        Some(Value::String(_)) | None => {
            wrong(
                place("title"),
                "provide-non-blank-title",
                format!("Entry {index} of the plan needs a title."),
            );
        }
        Some(_) => wrong(
            place("title"),
            "provide-valid-values",
            format!("The title of entry {index} must be a text."),
        ),
    }
    for field in ["description", "group"] {
        if given(field).is_some_and(|value| !value.is_string()) {
            wrong(
                place(field),
                "provide-valid-values",
                format!("The {field} of entry {index} must be a text."),
            );
        }
    }
    let Some(references) = given("dependsOn") else { return };
    match references.as_array().map(|array| array.iter().map(Value::as_str).collect::<Option<Vec<_>>>()) {
        Some(Some(texts)) => {
            if texts.iter().any(|text| text.trim().is_empty() || text.trim() != *text) {
                let sentence =
                    format!("The references of entry {index} must be neither blank nor padded with blanks.");
                wrong(place("dependsOn"), "remove-surrounding-reference-whitespace", sentence);
            }
        }
        _ => wrong(
            place("dependsOn"),
            "provide-valid-values",
            format!("The dependsOn of entry {index} must be an array of texts."),
        ),
    }
}

/// The entries of a plan whose shape was found right.
///
/// # Errors
///
/// `VALIDATION_FAILED` when several of them would be called the same inside the plan.
pub(super) fn entries(plan: Option<&Value>) -> Result<Vec<PlanEntry>, Failure> {
    let entries = plan.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let entries: Vec<PlanEntry> = entries.iter().filter_map(Value::as_object).map(entry).collect();
    let mut called: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        called.entry(slug(&entry.title)).or_default().push(index);
    }
    // The ones that come first in the plan, so that the same plan always gets the same answer.
    let clash = called
        .into_iter()
        .filter(|(_, indices)| indices.len() > 1)
        .min_by_key(|(_, indices)| indices.first().copied());
    match clash {
        None => Ok(entries),
        Some((slug, indices)) => Err(same_slug(&slug, &indices)),
    }
}

fn same_slug(slug: &str, indices: &[usize]) -> Failure {
    let places: Vec<String> = indices.iter().take(8).map(usize::to_string).collect();
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "Nothing was changed: the titles of entries {} of the plan all make the id {slug}, so references to it would \
             be unclear. Rename all but one of them, and have the changed plan approved.",
            places.join(", ")
        ),
    )
    .fields(indices.iter().map(|index| format!("plan/{index}/title")))
    .with("preCollisionSlug", slug)
    .resolution("rename-one-batch-goal")
}

fn entry(fields: &Map<String, Value>) -> PlanEntry {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let references = fields.get("dependsOn").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    PlanEntry {
        title: text("title").unwrap_or_default().trim().to_owned(),
        description: text("description").map(str::to_owned),
        group: text("group").map(str::trim).filter(|group| !group.is_empty()).map(str::to_owned),
        depends_on: references.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}
