//! What one line is, as far as JSON-RPC goes. Pure.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// JSON-RPC: no JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: JSON, but no request.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: a method that nobody knows here.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC: a known method with wrong parameters.
pub const INVALID_PARAMS: i32 = -32602;
/// The answer could not be given.
pub const INTERNAL_ERROR: i32 = -32603;

/// A request's id as JSON text: a number in its own spelling, or a string in ours.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WireId(String);

impl WireId {
    /// The id as it is written.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The id as a value, for places inside a message. A number that no `f64` holds loses its last digits.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }

    /// The id that stands here, when this is a string or a number.
    #[must_use]
    pub fn from_raw(raw: &str) -> Option<Self> {
        match raw.as_bytes().first()? {
            b'"' => serde_json::from_str::<String>(raw).ok().map(|text| Self(Value::from(text).to_string())),
            b'-' | b'0'..=b'9' => Some(Self(raw.to_owned())),
            _ => None,
        }
    }

    /// The id that stands in a message's parameters.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        matches!(value, Value::String(_) | Value::Number(_)).then(|| Self(value.to_string()))
    }
}

/// A protocol error, to be sent for a message that goes no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// As JSON-RPC and MCP number them.
    pub code: i32,
    /// One sentence.
    pub message: String,
}

impl WireError {
    /// An error with this code.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// One line.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// Nothing to answer: a blank line, or the answer to a question that this side never asks.
    Nothing,
    /// Expects an answer.
    Request {
        /// Whose answer it will be.
        id: WireId,
        /// What is asked for.
        method: String,
        /// `None` when absent or null.
        params: Option<Map<String, Value>>,
    },
    /// Expects none.
    Notification {
        /// What happened.
        method: String,
        /// `None` when absent, null or no object.
        params: Option<Map<String, Value>>,
    },
    /// Several messages in one array.
    Batch(Vec<Incoming>),
    /// Goes no further. Without an id when none could be read.
    Refused(Option<WireId>, WireError),
}

/// A message's members, in the text that they have. Anything at all may stand in `params` without making the rest
/// unreadable: an answer needs the id.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default)]
    result: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// A member that is there, also when it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// What this line is.
#[must_use]
pub fn understand(line: &[u8]) -> Incoming {
    let Ok(text) = std::str::from_utf8(line) else { return not_utf8(line) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.is_empty() {
        return Incoming::Nothing;
    }
    if !text.starts_with('[') {
        return one(text);
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(entries) if entries.is_empty() => refused(INVALID_REQUEST, "the batch is empty"),
        Ok(entries) => Incoming::Batch(entries.into_iter().map(|entry| one(entry.get())).collect()),
        Err(error) => unreadable(&error),
    }
}

/// The line is no UTF-8. Its id is looked for all the same, so that nobody waits for an answer in vain.
fn not_utf8(line: &[u8]) -> Incoming {
    let text = String::from_utf8_lossy(line);
    let id = serde_json::from_str::<Head<'_>>(&text).ok().and_then(|head| head.id).map(RawValue::get);
    Incoming::Refused(id.and_then(WireId::from_raw), WireError::new(PARSE_ERROR, "the line is not UTF-8"))
}

fn one(text: &str) -> Incoming {
    let head = match serde_json::from_str::<Head<'_>>(text) {
        Ok(head) => head,
        Err(error) => return unreadable(&error),
    };
    let Some(method) = head.method else {
        if head.result.is_some() || head.error.is_some() {
            return Incoming::Nothing;
        }
        let id = head.id.and_then(|id| WireId::from_raw(id.get()));
        return Incoming::Refused(id, WireError::new(INVALID_REQUEST, "the message has no method"));
    };
    let id = match head.id.map(|id| WireId::from_raw(id.get())) {
        Some(None) => return refused(INVALID_REQUEST, "an id is a string or a number"),
        Some(Some(id)) => Some(id),
        None => None,
    };
    if head.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Incoming::Refused(id, WireError::new(INVALID_REQUEST, "jsonrpc must be \"2.0\""));
    }
    let Ok(method) = serde_json::from_str::<String>(method.get()) else {
        return Incoming::Refused(id, WireError::new(INVALID_REQUEST, "the method must be a string"));
    };
    match (id, head.params.map_or(Ok(None), |params| object(params.get()))) {
        (Some(id), Ok(params)) => Incoming::Request { id, method, params },
        (Some(id), Err(message)) => Incoming::Refused(Some(id), WireError::new(INVALID_PARAMS, message)),
        (None, params) => Incoming::Notification { method, params: params.unwrap_or_default() },
    }
}

/// The parameters, when they are an object or null.
fn object(raw: &str) -> Result<Option<Map<String, Value>>, String> {
    let parsed = serde_json::from_str(raw).or_else(|error| match mend(raw) {
        Some(mended) => serde_json::from_str(&mended),
        None => Err(error),
    });
    match parsed {
        Ok(Value::Object(params)) => Ok(Some(params)),
        Ok(Value::Null) => Ok(None),
        Ok(_) => Err("params must be an object".to_owned()),
        Err(error) => Err(format!("params cannot be read: {error}")),
    }
}

/// The same JSON with U+FFFD for every escape that is half a surrogate pair, which JavaScript and Python write for a
/// text that was cut inside a character. `None` when there is no such escape.
fn mend(raw: &str) -> Option<String> {
    let mut mended = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match surrogate(escape) {
            Some(0xD800..=0xDBFF) if matches!(escape.get(6..).and_then(surrogate), Some(0xDC00..=0xDFFF)) => {
                12
            }
            Some(_) => {
                mended.push_str("\\ufffd");
                changed = true;
                rest = escape.get(6..)?;
                continue;
            }
            // An escape of two characters at least: the backslash, and what it escapes.
            None => 1 + escape.chars().nth(1)?.len_utf8(),
        };
        mended.push_str(escape.get(..length)?);
        rest = escape.get(length..)?;
    }
    mended.push_str(rest);
    changed.then_some(mended)
}

/// The surrogate that this text begins with, as an escape.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..=0xDFFF).contains(unit))
}

fn unreadable(error: &serde_json::Error) -> Incoming {
    if error.is_data() {
        refused(INVALID_REQUEST, &format!("the line is no JSON-RPC message: {error}"))
    } else {
        refused(PARSE_ERROR, &format!("the line is no JSON: {error}"))
    }
}

fn refused(code: i32, message: &str) -> Incoming {
    Incoming::Refused(None, WireError::new(code, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(raw: &str) -> WireId {
        WireId::from_raw(raw).unwrap()
    }

    fn request(line: &str) -> (WireId, String, Option<Value>) {
        match understand(line.as_bytes()) {
            Incoming::Request { id, method, params } => (id, method, params.map(Value::Object)),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refusal(line: &[u8]) -> (Option<String>, i32) {
        match understand(line) {
            Incoming::Refused(id, error) => (id.map(|id| id.as_json().to_owned()), error.code),
            other => panic!("{}: {other:?}", String::from_utf8_lossy(line)),
        }
    }

    #[test]
    fn a_request_is_understood_with_a_bom_with_a_carriage_return_and_with_white_space() {
        let plain = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#;
        let expected = (id("1"), "m".to_owned(), Some(json!({ "a": 1 })));
        for line in
            [plain.to_owned(), format!("\u{feff}{plain}"), format!("{plain}\r"), format!("  {plain}\t")]
        {
            assert_eq!(request(&line), expected, "{line:?}");
        }
    }

    #[test]
    fn ids_keep_their_spelling() {
        for raw in
            ["0", "-7", "1.0", "18446744073709551615", "123456789012345678901234567890", "\"a b\"", "\"\""]
        {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{raw},"method":"m"}}"#);
            assert_eq!(request(&line).0.as_json(), raw);
        }
        assert_eq!(id("\"\\u0061\""), id("\"a\""));
        assert_eq!(WireId::from_value(&json!("a")), Some(id("\"a\"")));
        assert_eq!(WireId::from_value(&json!(3)), Some(id("3")));
        assert_eq!(WireId::from_value(&json!(null)), None);
    }

    #[test]
    fn null_and_absent_parameters_are_none() {
        assert_eq!(request(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#).2, None);
        assert_eq!(request(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#).2, None);
    }

    #[test]
    fn blank_lines_and_answers_to_questions_never_asked_are_nothing() {
        for line in
            ["", "\r", "  ", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"id":1,"error":{"code":1}}"#]
        {
            assert_eq!(understand(line.as_bytes()), Incoming::Nothing, "{line:?}");
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error_without_an_id() {
        for line in [r#"{"jsonrpc":"2.0","id":1"#, "nonsense", "{]", "[1,", r#"{"a":1}}"#] {
            assert_eq!(refusal(line.as_bytes()), (None, PARSE_ERROR), "{line}");
        }
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request_with_the_id_that_could_be_read() {
        for (line, answered) in [
            ("42", None),
            ("\"text\"", None),
            ("null", None),
            ("{}", None),
            ("[]", None),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some("1")),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, None),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Some("1")),
            (r#"{"id":"x","method":"m"}"#, Some("\"x\"")),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Some("1")),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, None),
        ] {
            assert_eq!(refusal(line.as_bytes()), (answered.map(str::to_owned), INVALID_REQUEST), "{line}");
        }
    }

    #[test]
    fn parameters_that_are_no_object_are_answered_as_such() {
        for params in ["[]", "1", "\"x\"", "true"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
            assert_eq!(refusal(line.as_bytes()), (Some("1".to_owned()), INVALID_PARAMS), "{params}");
        }
    }

    #[test]
    fn parameters_nested_too_deep_are_answered_with_the_id() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{deep}}}}}"#);
        assert_eq!(refusal(line.as_bytes()), (Some("1".to_owned()), INVALID_PARAMS));
    }

    #[test]
    fn a_line_that_is_no_utf8_is_answered_with_its_id_when_it_has_one() {
        assert_eq!(
            refusal(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}"),
            (Some("9".to_owned()), PARSE_ERROR)
        );
        assert_eq!(refusal(b"\xff\xfe"), (None, PARSE_ERROR));
    }

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character_and_whole_pairs_stay() {
        for (written, meant) in [
            (r"\ud83d", "\u{fffd}"),
            (r"\udc00x", "\u{fffd}x"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\ud83d\ude00\ud83d", "\u{1f600}\u{fffd}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\\ud83d\ud83d", "\\ud83d\u{fffd}"),
            (r"\u00e9\ud83d é", "é\u{fffd} é"),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"t":"{written}"}}}}"#);
            assert_eq!(request(&line).2, Some(json!({ "t": meant })), "{written}");
        }
    }

    #[test]
    fn a_batch_is_its_messages_each_understood_by_itself() {
        let line = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},7]"#;
        let Incoming::Batch(entries) = understand(line.as_bytes()) else { panic!() };
        assert!(matches!(
            entries.as_slice(),
            [Incoming::Request { .. }, Incoming::Notification { .. }, Incoming::Refused(None, _)]
        ));
    }

    #[test]
    fn a_notification_with_parameters_of_the_wrong_kind_still_is_one() {
        let line = r#"{"jsonrpc":"2.0","method":"n","params":[1]}"#;
        assert_eq!(
            understand(line.as_bytes()),
            Incoming::Notification { method: "n".to_owned(), params: None }
        );
    }
}
