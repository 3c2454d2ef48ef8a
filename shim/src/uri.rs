//! Resource URIs and the reads that they name. Pure.

use serde_json::{Map, Value};
use stepstone_proto::contract::{ACTIONS, Action};

/// What every resource's URI begins with.
pub const BASE: &str = "stepstone://worklist/";

/// A resource that there is.
#[derive(Debug, Clone)]
pub struct Resource {
    /// The read that answers it.
    pub action: &'static Action,
    /// The template's variable and what it stands for here.
    pub variable: Option<(&'static str, String)>,
}

impl Resource {
    /// The resource at this URI, if there is one.
    ///
    /// Whatever follows a template's fixed part is the variable, also when it holds characters that a careful client
    /// would have encoded.
    #[must_use]
    pub fn at(uri: &str) -> Option<Self> {
        let path = uri.strip_prefix(BASE)?;
        ACTIONS.iter().find_map(|action| {
            let pattern = action.surfaces.resource?;
            match variable(pattern) {
                None => (pattern == path).then_some(Self { action, variable: None }),
                Some((fixed, name)) => {
                    let value = decode(path.strip_prefix(fixed)?);
                    Some(Self { action, variable: Some((name, value)) })
                }
            }
        })
    }

    /// The operation that answers it.
    #[must_use]
    pub fn operation(&self) -> Map<String, Value> {
        let mut operation = Map::new();
        operation.insert("action".to_owned(), self.action.name.into());
        if let Some((name, value)) = &self.variable {
            operation.insert((*name).to_owned(), value.as_str().into());
        }
        operation
    }

    /// Whether it tells of one goal, which many changes do not touch.
    #[must_use]
    pub fn is_one_goal(&self) -> bool {
        matches!(self.variable, Some(("id", _)))
    }
}

/// The URI or URI template of an action that is a resource.
#[must_use]
pub fn of(action: &Action) -> Option<String> {
    action.surfaces.resource.map(|pattern| format!("{BASE}{pattern}"))
}

/// A template's fixed part and the name of its variable.
#[must_use]
pub fn variable(pattern: &str) -> Option<(&str, &str)> {
    let (fixed, rest) = pattern.split_once('{')?;
    Some((fixed, rest.strip_suffix('}')?))
}

/// Percent-decoded. A `%` that begins no encoded byte stays as it is, and so does the whole when the bytes would be
/// no text.
fn decode(written: &str) -> String {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'%'
            && let [high, low, behind @ ..] = behind
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            bytes.push(high * 16 + low);
            rest = behind;
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| written.to_owned())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn operation(uri: &str) -> Value {
        Resource::at(uri).map_or(Value::Null, |resource| Value::Object(resource.operation()))
    }

    #[test]
    fn each_resource_is_the_read_that_its_path_names() {
        for name in ["list", "next", "ready", "waves"] {
            assert_eq!(operation(&format!("{BASE}{name}")), json!({ "action": name }));
        }
        assert_eq!(operation(&format!("{BASE}show/ship-it")), json!({ "action": "show", "id": "ship-it" }));
        assert_eq!(operation(&format!("{BASE}find/a")), json!({ "action": "find", "query": "a" }));
    }

    #[test]
    fn variables_are_percent_decoded_and_what_is_no_encoding_is_taken_as_written() {
        for (written, meant) in [
            ("needle%20in", "needle in"),
            ("100%25", "100%"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("50%25%20off%", "50% off%"),
            ("a%2Fb", "a/b"),
            ("a/b?c#d", "a/b?c#d"),
            ("a+b", "a+b"),
            ("%C3%A9%c3%a9", "éé"),
            ("é", "é"),
            ("%ff", "%ff"),
            ("", ""),
            ("%20", " "),
        ] {
            assert_eq!(operation(&format!("{BASE}find/{written}"))["query"], meant, "{written}");
        }
    }

    #[test]
    fn anything_else_is_no_resource() {
        for uri in [
            "",
            "stepstone://worklist",
            "stepstone://worklist/",
            "stepstone://worklist/lists",
            "stepstone://worklist/list/",
            "stepstone://worklist/list?x",
            "stepstone://worklist/show",
            "stepstone://worklist/why/a",
            "stepstone://other/list",
            "file:///etc/passwd",
            "Stepstone://worklist/list",
        ] {
            assert!(Resource::at(uri).is_none(), "{uri}");
        }
    }
}
