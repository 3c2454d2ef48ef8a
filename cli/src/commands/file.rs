//! What is read from a file or from standard input on the caller's side: plans and descriptions.

use std::ffi::OsStr;
use std::io::{self, Read};

use serde_json::Value;
use stepstone_proto::envelope::{ErrorCode, Failure};

use crate::arguments::{Content, FromFile};

/// More is never read: no request may be larger.
const LIMIT: u64 = stepstone_proto::protocol::BODY_LIMIT as u64;

/// Reads it: the argument that it fills, and its value.
///
/// # Errors
/// `VALIDATION_FAILED` that names the file as it was given.
pub(crate) fn read(from: &FromFile) -> Result<(&'static str, Value), Box<Failure>> {
    let path = from.path.to_string_lossy().into_owned();
    let (argument, unreadable) = match from.content {
        Content::Plan => ("plan", "provide-readable-json-plan"),
        Content::Description => ("description", "provide-readable-description-file"),
    };
    let refused = |what: String, resolution: &str| {
        let failure = Failure::new(ErrorCode::ValidationFailed, what);
        Box::new(failure.resolution(resolution).with("path", path.clone()))
    };
    let name = if from.path == "-" { "Standard input".to_owned() } else { format!("The file {path}") };
    let bytes = bytes(&from.path).map_err(|error| {
        refused(
            format!("{name} could not be read: {error}. Nothing was changed. Name a file that can be read."),
            unreadable,
        )
    })?;
    if bytes.len() as u64 > LIMIT {
        return Err(refused(
            format!("{name} holds more than {LIMIT} bytes. Nothing was changed. Give a smaller one."),
            unreadable,
        ));
    }
    let value = match from.content {
        Content::Plan => serde_json::from_slice(strip_mark(&bytes)).map_err(|error| {
            refused(
                format!("{name} is no JSON: {error}. Nothing was changed. A plan is a JSON array of goals: mend it there."),
                "fix-json-plan",
            )
        })?,
        Content::Description => {
            let text = std::str::from_utf8(strip_mark(&bytes)).map_err(|error| {
                refused(format!("{name} is no UTF-8: {error}. Nothing was changed."), "provide-utf-8-description-file")
            })?;
            // The line end that closes a text file is no part of the description.
            let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
            text.into()
        }
    };
    Ok((argument, value))
}

fn bytes(path: &OsStr) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == "-" {
        io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Without a byte order mark, which some editors write.
fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_bytes(content: Content, bytes: &[u8]) -> Result<Value, Box<Failure>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        read(&FromFile { path: path.into(), content }).map(|(_, value)| value)
    }

    #[test]
    fn a_description_loses_its_last_line_end_and_nothing_else() {
        for (bytes, text) in [
            (&b"one\ntwo\n"[..], "one\ntwo"),
            (b"one\r\ntwo\r\n", "one\r\ntwo"),
            (b"one\n\n", "one\n"),
            (b"  \xef\xbb\xbf", "  \u{feff}"),
            (b"\xef\xbb\xbfx", "x"),
            (b"", ""),
        ] {
            assert_eq!(read_bytes(Content::Description, bytes).unwrap(), json!(text));
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_its_name() {
        let resolution = |failure: &Failure| failure.details.as_ref().unwrap().get("resolution").cloned();
        let missing = |content| read(&FromFile { path: "no such file".into(), content }).unwrap_err();
        let plan = missing(Content::Plan);
        assert_eq!(plan.details.as_ref().unwrap().get("path"), Some(&json!("no such file")));
        assert_eq!(resolution(&plan), Some(json!("provide-readable-json-plan")));
        assert_eq!(
            resolution(&missing(Content::Description)),
            Some(json!("provide-readable-description-file"))
        );
        assert_eq!(
            resolution(&read_bytes(Content::Plan, b"not json").unwrap_err()),
            Some(json!("fix-json-plan"))
        );
        let bad = read_bytes(Content::Description, b"\xff").unwrap_err();
        assert_eq!(resolution(&bad), Some(json!("provide-utf-8-description-file")));
        assert_eq!(read_bytes(Content::Plan, b"{\"a\": 1}").unwrap(), json!({"a": 1}));
    }
}
