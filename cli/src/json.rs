//! Envelopes as `--json` prints them.

use std::io;

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::value::RawValue;
use stepstone_proto::envelope::{Envelope, Failure, Meta, Scope};
use stepstone_proto::protocol::VERSION;

#[derive(Serialize)]
struct Printed<'a> {
    ok: bool,
    scope: Scope,
    action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
    meta: PrintedMeta<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrintedMeta<'a> {
    #[serde(flatten)]
    meta: &'a Meta,
    cli_version: &'static str,
}

/// The envelope with `meta.cliVersion`, indented by two blanks, with a line end behind it.
pub(crate) fn printed(envelope: &Envelope) -> Result<String, serde_json::Error> {
    let printed = Printed {
        ok: envelope.ok,
        scope: envelope.scope,
        action: &envelope.action,
        result: envelope.result.as_deref(),
        error: envelope.error.as_ref(),
        meta: PrintedMeta { meta: &envelope.meta, cli_version: VERSION },
    };
    let mut text = Vec::new();
    // What is written, a large result above all, is laid out as it comes: there is no second copy of it.
    serde_json::to_writer(Indented::on(&mut text), &printed)?;
    text.push(b'\n');
    String::from_utf8(text).map_err(serde_json::Error::custom)
}

/// Lays the white space of JSON text out anew. Values are copied, not parsed: a number keeps its spelling.
struct Indented<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
    inside: Inside,
}

/// What the next byte is a part of, or follows.
#[derive(Clone, Copy)]
enum Inside {
    Structure,
    /// An object or array that has just begun, and may be empty.
    Beginning,
    Text,
    /// A text, behind a backslash.
    Escape,
}

impl<'a> Indented<'a> {
    const fn on(out: &'a mut Vec<u8>) -> Self {
        Self { out, depth: 0, inside: Inside::Structure }
    }

    fn take(&mut self, byte: u8) {
        match self.inside {
            Inside::Text => {
                self.out.push(byte);
                match byte {
                    b'\\' => self.inside = Inside::Escape,
                    b'"' => self.inside = Inside::Structure,
                    _ => {}
                }
                return;
            }
            Inside::Escape => {
                self.out.push(byte);
                self.inside = Inside::Text;
                return;
            }
            _ if byte.is_ascii_whitespace() => return,
            Inside::Beginning if !matches!(byte, b'}' | b']') => {
                self.depth += 1;
                self.line();
            }
            Inside::Structure if matches!(byte, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                self.line();
            }
            Inside::Beginning | Inside::Structure => {}
        }
        self.inside = match byte {
            b'"' => Inside::Text,
            b'{' | b'[' => Inside::Beginning,
            _ => Inside::Structure,
        };
        self.out.push(byte);
        match byte {
            b',' => self.line(),
            b':' => self.out.push(b' '),
            _ => {}
        }
    }

    fn line(&mut self) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + 2 * self.depth, b' ');
    }
}

impl io::Write for Indented<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|byte| self.take(*byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn indented(json: &str) -> String {
        let mut out = Vec::new();
        let mut writer = Indented::on(&mut out);
        // In parts, as they may come.
        json.as_bytes().chunks(3).for_each(|part| io::Write::write_all(&mut writer, part).unwrap());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn any_json_is_laid_out_as_serde_json_lays_it_out() {
        for value in [
            json!({}),
            json!([]),
            json!({"a": [], "b": {}, "c": [1, {"d": null}], "e": "x, {y}: [\"z\"] \\ \u{e9}\n"}),
            json!([[[]], "", true, -1.5]),
        ] {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            for text in [value.to_string(), pretty.clone(), pretty.replace('\n', "\r\n\t")] {
                assert_eq!(indented(&text), pretty);
            }
        }
    }

    #[test]
    fn numbers_keep_their_spelling_and_the_version_stands_in_meta() {
        let raw =
            RawValue::from_string(r#"{"scope":"project","x":1.0e5,"big":123456789012345678901}"#.to_owned());
        let text = printed(&Envelope::success("list", raw.unwrap())).unwrap();
        assert!(text.contains("\"x\": 1.0e5") && text.contains("123456789012345678901"), "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value.pointer("/meta/cliVersion"), Some(&json!(VERSION)));
        assert_eq!(value.pointer("/meta/changedFields"), Some(&json!([])));
        assert!(text.ends_with("}\n"));
    }
}
