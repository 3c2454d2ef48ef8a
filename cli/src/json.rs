//! Envelopes as `--json` prints them.

use serde::Serialize;
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
    let mut text = indented(&serde_json::to_string(&printed)?);
    text.push('\n');
    Ok(text)
}

/// JSON text with its white space laid out anew. Values are copied, not parsed: a number keeps its spelling.
fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                out.push('"');
                while let Some(inner) = characters.next() {
                    out.push(inner);
                    match inner {
                        '\\' => out.extend(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(close) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn any_json_is_laid_out_as_serde_json_lays_it_out() {
        for value in [
            json!({}),
            json!([]),
            json!({"a": [], "b": {}, "c": [1, {"d": null}], "e": "x, {y}: [\"z\"] \\ \u{e9}\n"}),
            json!([[[]], "", true, -1.5]),
        ] {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(indented(&value.to_string()), pretty);
            assert_eq!(indented(&pretty), pretty);
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
