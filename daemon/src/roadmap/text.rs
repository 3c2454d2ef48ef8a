//! JSON text that is known to be valid: its parts, and our layout of it.
//!
//! Everything here works on text that `serde_json` has already accepted, so the scanner only has to find where
//! things end. Nothing is decoded and spelled anew: strings and numbers are copied as they stand. No function calls
//! itself, because nesting is chosen by whoever wrote the file.

use std::borrow::Cow;

/// The deepest nesting of arrays and objects that a goal file may have. Readers of our answers refuse to go deeper
/// than 128, and an answer wraps a goal in a few levels of its own.
pub(super) const DEPTH_LIMIT: usize = 100;

/// One entry of an object, both parts as they are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// With its quotes.
    pub(super) key: &'a str,
    /// Without surrounding white space.
    pub(super) value: &'a str,
}

/// The kinds of JSON value, as people call them.
pub(super) fn kind(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'"') => "text",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The entries of a valid object; nothing for any other value.
pub(super) fn entries(object: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut scan = Scan::inside(object, b'{');
    std::iter::from_fn(move || {
        let key = scan.value()?;
        scan.separator();
        let value = scan.value()?;
        scan.separator();
        Some(Entry { key, value })
    })
}

/// The elements of a valid array; nothing for any other value.
pub(super) fn elements(array: &str) -> impl Iterator<Item = &str> {
    let mut scan = Scan::inside(array, b'[');
    std::iter::from_fn(move || {
        let value = scan.value()?;
        scan.separator();
        Some(value)
    })
}

/// The text that a valid string literal means. `None` when it is none, or when it means no Unicode text (half a
/// surrogate pair).
pub(super) fn decoded(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_some() {
        serde_json::from_str(literal).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Whether a valid string literal means Unicode text: [`decoded`] gives it, only without making it. Nothing but an
/// escaped surrogate can stand in the way.
pub(super) fn is_decodable(literal: &str) -> bool {
    let mut rest = literal.as_bytes();
    while let Some(found) = memchr::memchr(b'\\', rest) {
        if matches!(rest.get(found + 1..found + 3), Some(b"ud" | b"uD")) {
            return decoded(literal).is_some();
        }
        rest = rest.get(found + 2..).unwrap_or_default();
    }
    true
}

/// A text as a JSON string literal.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A piece of JSON text for a message: not longer than a line.
pub(super) fn shortened(json: &str) -> String {
    const LONGEST: usize = 60;
    match json.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", json.get(..end).unwrap_or_default()),
        None => json.to_owned(),
    }
}

/// Texts as a JSON array, without white space.
pub(super) fn quoted_all<S: AsRef<str>>(texts: &[S]) -> String {
    let all: Vec<String> = texts.iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", all.join(","))
}

/// Where the nesting first goes below [`DEPTH_LIMIT`], as a byte offset.
pub(super) fn too_deep(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => {
                depth += 1;
                if depth > DEPTH_LIMIT {
                    return Some(at);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Appends a valid value in our layout: two blanks for each level, empty collections closed at once. `depth` is the
/// level that the value itself stands on.
pub(super) fn lay_out(value: &str, depth: usize, out: &mut String) {
    if !is_collection(value) {
        out.push_str(value.trim());
        return;
    }
    let mut depth = depth;
    for_each_token(value, |token, empty| match token {
        "{" | "[" => {
            out.push_str(token);
            if !empty {
                depth += 1;
                new_line(depth, out);
            }
        }
        "}" | "]" => {
            if !empty {
                depth = depth.saturating_sub(1);
                new_line(depth, out);
            }
            out.push_str(token);
        }
        "," => {
            out.push(',');
            new_line(depth, out);
        }
        ":" => out.push_str(": "),
        _ => out.push_str(token),
    });
}

/// Appends a valid value without any white space between its parts.
pub(super) fn compact(value: &str, out: &mut String) {
    if !is_collection(value) {
        out.push_str(value.trim());
        return;
    }
    for_each_token(value, |token, _| out.push_str(token));
}

/// Appends a line break and the indentation of `depth`.
pub(super) fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Calls `visit` with each token of a valid value. The flag says, for brackets, that nothing stands between the two.
fn for_each_token(value: &str, mut visit: impl FnMut(&str, bool)) {
    let bytes = value.as_bytes();
    let mut at = blank_end(bytes, 0);
    let mut opened = false;
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at),
            b'{' | b'[' | b'}' | b']' | b',' | b':' => at + 1,
            _ => scalar_end(bytes, at),
        };
        let next = blank_end(bytes, end);
        let empty = match byte {
            b'{' | b'[' => matches!(bytes.get(next), Some(b'}' | b']')),
            b'}' | b']' => opened,
            _ => false,
        };
        opened = matches!(byte, b'{' | b'[');
        visit(value.get(at..end).unwrap_or_default(), empty);
        at = next;
    }
}

/// A place in valid JSON text.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// Directly behind the opening bracket, or at the end when the value is of another kind.
    fn inside(text: &'a str, open: u8) -> Self {
        let bytes = text.as_bytes();
        let start = blank_end(bytes, 0);
        let at = if bytes.get(start) == Some(&open) { start + 1 } else { bytes.len() };
        Self { text, at }
    }

    /// The next value, or `None` at the closing bracket.
    fn value(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let start = blank_end(bytes, self.at);
        let end = match bytes.get(start)? {
            b'"' => string_end(bytes, start),
            b'{' | b'[' => nested_end(bytes, start),
            b'}' | b']' => return None,
            _ => scalar_end(bytes, start),
        };
        self.at = end;
        self.text.get(start..end)
    }

    /// Skips a comma or colon, if one stands here.
    fn separator(&mut self) {
        let bytes = self.text.as_bytes();
        self.at = blank_end(bytes, self.at);
        if matches!(bytes.get(self.at), Some(b',' | b':')) {
            self.at += 1;
        }
    }
}

/// An array or an object: the only values that more than one layout has.
fn is_collection(value: &str) -> bool {
    let bytes = value.as_bytes();
    matches!(bytes.get(blank_end(bytes, 0)), Some(b'[' | b'{'))
}

fn blank_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
}

fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let is_part = |byte: &&u8| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' | b']' | b'}');
    // At least one byte, so that every caller moves on.
    start + rest.iter().take_while(is_part).count().max(1)
}

/// The end of the string literal that begins at `start`, behind its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(found) if rest.get(found) == Some(&b'"') => return at + found + 1,
            Some(found) => at += found + 2,
            None => return bytes.len(),
        }
    }
}

/// The end of the array or object that begins at `start`, behind its closing bracket.
fn nested_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
