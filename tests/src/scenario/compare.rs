//! Expected values against actual ones.

use std::collections::BTreeMap;

use serde_json::Value;

/// Keys that an answer may carry although a scenario does not name them.
const WELCOME: [&str; 8] = [
    "revisions",
    "released",
    "deactivated",
    "blockedBy",
    "worklistPath",
    "summary",
    "claimedAt",
    "claimedBy",
];

/// Compares one answer and collects a sentence for each difference.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    /// Instants by label: one label is one value in a scenario.
    pub(super) labels: &'a mut BTreeMap<String, String>,
    /// What `<root>` stands for.
    pub(super) root: &'a str,
    /// One sentence for each difference.
    pub(super) problems: Vec<String>,
}

impl Comparison<'_> {
    /// Compares `actual`, found at `place`.
    pub(super) fn compare(&mut self, expected: &Value, actual: &Value, place: &str) {
        match (expected, actual) {
            (Value::String(text), _) => self.compare_text(text, actual, place),
            (Value::Object(wanted), Value::Object(found)) => {
                for (key, value) in wanted {
                    match found.get(key) {
                        Some(actual) => self.compare(value, actual, &format!("{place}/{key}")),
                        None if value == "<any>" => {}
                        None => self.problem(place, &format!("{key} is missing (expected {})", cut(value))),
                    }
                }
                let extra = found.iter().filter(|(key, _)| {
                    !wanted.contains_key(*key)
                        && !WELCOME.contains(&key.as_str())
                        && !place.ends_with("/details")
                });
                for (key, value) in extra {
                    self.problem(place, &format!("{key} is not expected (got {})", cut(value)));
                }
            }
            (Value::Array(wanted), Value::Array(found)) => {
                if wanted.len() != found.len() {
                    self.problem(place, &format!("expected {} entries, got {}", wanted.len(), found.len()));
                }
                for (index, (expected, actual)) in wanted.iter().zip(found).enumerate() {
                    self.compare(expected, actual, &format!("{place}/{index}"));
                }
            }
            _ if expected == actual => {}
            _ => self.differs(expected, actual, place),
        }
    }

    fn compare_text(&mut self, expected: &str, actual: &Value, place: &str) {
        let text = actual.as_str();
        if expected == "<any>" {
        } else if expected == "<text>" {
            if text.is_none_or(|text| text.trim().is_empty()) {
                self.problem(place, &format!("expected some text, got {}", cut(actual)));
            }
        } else if let Some(label) = expected.strip_prefix("<time:").and_then(|rest| rest.strip_suffix('>')) {
            match text.filter(|text| is_instant(text)) {
                None => self.problem(place, &format!("expected an instant, got {}", cut(actual))),
                Some(text) => {
                    let first = self.labels.entry(label.to_owned()).or_insert_with(|| text.to_owned());
                    if first != text {
                        let sentence = format!("expected {first} again ({label}), got {text}");
                        self.problem(place, &sentence);
                    }
                }
            }
        } else {
            let expected = match expected.strip_prefix("<root>") {
                Some(rest) => format!("{}{rest}", self.root),
                None => expected.to_owned(),
            };
            if text != Some(expected.as_str()) {
                self.differs(&expected.into(), actual, place);
            }
        }
    }

    fn differs(&mut self, expected: &Value, actual: &Value, place: &str) {
        self.problem(place, &format!("expected {}, got {}", cut(expected), cut(actual)));
    }

    fn problem(&mut self, place: &str, sentence: &str) {
        self.problems.push(format!("{place}: {sentence}"));
    }
}

/// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
fn is_instant(text: &str) -> bool {
    let shape = b"dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == shape.len()
        && text.bytes().zip(shape).all(|(byte, shape)| match shape {
            b'd' => byte.is_ascii_digit(),
            other => byte == *other,
        })
}

fn cut(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(expected: &Value, actual: &Value) -> Vec<String> {
        let mut labels = BTreeMap::new();
        let mut comparison = Comparison { labels: &mut labels, root: "/r", problems: Vec::new() };
        comparison.compare(expected, actual, "");
        comparison.problems
    }

    #[test]
    fn placeholders_stand_for_what_they_say() {
        let expected =
            json!({"a": "<time:t>", "b": "<time:t>", "c": "<text>", "d": "<any>", "e": "<root>/x"});
        let instant = "2026-01-01T00:00:00.000Z";
        let good = json!({"a": instant, "b": instant, "c": "words", "e": "/r/x"});
        assert_eq!(problems(&expected, &good), Vec::<String>::new());
        for (key, bad) in [("b", "2026-01-01T00:00:00.001Z"), ("a", "today"), ("c", " "), ("e", "/x")] {
            let mut actual = good.clone();
            actual[key] = bad.into();
            assert_eq!(problems(&expected, &actual).len(), 1, "{key}: {bad}");
        }
    }

    #[test]
    fn keys_that_no_scenario_names_are_differences_except_the_welcome_ones_and_details() {
        assert_eq!(problems(&json!({"a": 1}), &json!({"a": 1, "b": 2})).len(), 1);
        assert_eq!(problems(&json!({"a": 1, "b": 2}), &json!({"a": 1})).len(), 1);
        assert!(problems(&json!({}), &json!({"released": []})).is_empty());
        assert!(problems(&json!({"details": {}}), &json!({"details": {"more": 1}})).is_empty());
        assert_eq!(problems(&json!([1, 2]), &json!([1])).len(), 1);
        assert_eq!(problems(&json!(1), &json!(true)).len(), 1);
    }
}
