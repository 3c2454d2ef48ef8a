//! The table's own rules: types, unknown fields, required fields, blanks.

use serde_json::{Map, Value};
use stepstone_proto::contract::{Action, Argument, Blank, Shape};

use super::problems::Problems;
use super::{expected, plan};

/// The arguments that are really there: right in type, `null` and meaningless blanks left out.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    present: Vec<(&'static str, &'a Value)>,
}

impl<'a> Arguments<'a> {
    /// Checks every argument against the table and notes what is wrong.
    pub(super) fn read(
        action: &'static Action,
        given: &'a Map<String, Value>,
        problems: &mut Problems,
    ) -> Self {
        for name in given.keys().filter(|name| *name != "action" && action.argument(name).is_none()) {
            let known: Vec<&str> = action.arguments.iter().map(|argument| argument.name).collect();
            let known = if known.is_empty() { "no fields".to_owned() } else { known.join(", ") };
            let sentence = format!("`{}` is no field of {}, which takes {known}.", cut(name), action.name);
            problems.add(name.as_str(), "remove-unknown-fields", sentence);
        }
        let mut present = Vec::new();
        for argument in action.arguments {
            match given.get(argument.name).filter(|value| is_there(argument, value)) {
                None if argument.required => missing(argument, problems),
                None => {}
                Some(value) if check(argument, value, problems) => present.push((argument.name, value)),
                Some(_) => {}
            }
        }
        Self { present }
    }

    /// The argument's value as it was given, when it is there.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.present.iter().find(|(present, _)| *present == name).map(|(_, value)| *value)
    }

    /// A text as given.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.value(name)?.as_str()
    }

    /// A text as given, empty when it is not there: for arguments that the table requires.
    pub(super) fn required_text(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_owned()
    }

    /// A text without blanks around it.
    pub(super) fn trimmed(&self, name: &str) -> Option<String> {
        self.text(name).map(|text| text.trim().to_owned())
    }

    /// An array of texts as given.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let entries = self.value(name)?.as_array()?;
        Some(entries.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Bool(true))
    }

    /// A whole number.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.value(name).and_then(|value| count(name, value))
    }
}

/// `null` is absence, and so are a false flag and blanks that mean nothing.
fn is_there(argument: &Argument, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(false) => argument.shape != Shape::Flag,
        Value::String(text) if argument.blank == Blank::Absent => {
            !text.trim().is_empty() || !takes_text(argument.shape)
        }
        _ => true,
    }
}

const fn takes_text(shape: Shape) -> bool {
    matches!(shape, Shape::Text | Shape::Choice(_))
}

fn missing(argument: &Argument, problems: &mut Problems) {
    let resolution = match (argument.shape, argument.blank) {
        (Shape::Plan, _) => "provide-json-goal-array",
        (_, Blank::Refused(resolution)) => resolution,
        _ => "provide-valid-values",
    };
    let sentence = format!("`{}` is missing; give {}.", argument.name, expected(argument.shape));
    problems.add(argument.name, resolution, sentence);
}

/// Notes what is wrong with one value; true when nothing is.
fn check(argument: &Argument, value: &Value, problems: &mut Problems) -> bool {
    let shaped = match argument.shape {
        Shape::Text => value.is_string(),
        Shape::Texts => value.as_array().is_some_and(|entries| entries.iter().all(Value::is_string)),
        Shape::Flag => value.is_boolean(),
        Shape::Count(least, most) => {
            count(argument.name, value).is_some_and(|count| (least..=most).contains(&count))
        }
        Shape::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Shape::Choices(words) => value.as_array().is_some_and(|entries| {
            entries.iter().all(|entry| entry.as_str().is_some_and(|word| words.contains(&word)))
        }),
        Shape::Plan => return plan::check(value, problems),
        Shape::Confirmation => true,
    };
    if !shaped {
        let sentence = format!("`{}` must be {}.", argument.name, expected(argument.shape));
        problems.add(argument.name, "provide-valid-values", sentence);
        return false;
    }
    let Blank::Refused(resolution) = argument.blank else { return true };
    let blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let refused = blank(value) || value.as_array().is_some_and(|entries| entries.iter().any(blank));
    if refused {
        let what = if value.is_array() { "must not hold blank entries" } else { "must not be blank" };
        problems.add(argument.name, resolution, format!("`{}` {what}.", argument.name));
    }
    !refused
}

/// The number that an argument holds. Answers carry revisions as text, so a revision may come back as text.
fn count(name: &str, value: &Value) -> Option<u64> {
    match value {
        Value::String(digits) if name == "expectedRevision" => digits.trim().parse().ok(),
        _ => whole_number(value),
    }
}

/// A whole number, also when it was spelled with a fraction of zero (`5.0`).
fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        // Beyond 2^53 a fraction of zero says nothing; such a number is no count.
        (0.0..=9_007_199_254_740_991.0).contains(&number).then_some(number as u64)
    })
}

/// A field's name, short enough for a message.
pub(super) fn cut(name: &str) -> String {
    name.chars().take(60).collect()
}
