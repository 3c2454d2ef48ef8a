//! Text on its way to a terminal: made harmless, measured, cut and wrapped.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line of somebody else's text. Whatever could move the cursor, change the terminal's state, hide itself or turn
/// the text around is shown as a visible stand-in, so that a goal can never look like something else.
pub(crate) fn line(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                if !clean.ends_with(' ') {
                    clean.push(' ');
                }
            }
            other => push_harmless(&mut clean, other),
        }
    }
    clean.trim().to_owned()
}

/// The lines of somebody else's longer text, each made harmless; tabs become blanks, trailing blanks go.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.trim_end()
        .replace("\r\n", "\n")
        .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .map(|line| {
            let mut clean = String::with_capacity(line.len());
            for character in line.chars() {
                if character == '\t' {
                    clean.push_str("    ");
                } else {
                    push_harmless(&mut clean, character);
                }
            }
            clean.trim_end().to_owned()
        })
        .collect()
}

fn push_harmless(clean: &mut String, character: char) {
    match character {
        // Control pictures: one visible column for each.
        '\0'..='\u{1f}' => clean.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}')),
        '\u{7f}' => clean.push('\u{2421}'),
        other if is_hidden(other) => clean.push_str(&format!("<U+{:04X}>", u32::from(other))),
        other => clean.push(other),
    }
}

/// C1 controls, marks and overrides of the direction of text, and other characters that only hide something. The two
/// joiners stay: some scripts and many emoji need them.
fn is_hidden(character: char) -> bool {
    matches!(
        u32::from(character),
        0x80..=0x9f
            | 0xad
            | 0x61c
            | 0x180e
            | 0x200b
            | 0x200e..=0x200f
            | 0x202a..=0x202e
            | 0x2060..=0x206f
            | 0xfeff
            | 0xfff0..=0xfffb
            | 0xe0000..=0xe007f
    )
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text, cut to so many columns; what was cut shows as an ellipsis.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut kept = prefix(text, columns - 1).trim_end_matches([' ', '\u{200d}']).to_owned();
    kept.push('…');
    kept
}

/// As much of a text's beginning as fits. A combining mark stays with what it is written on.
fn prefix(text: &str, columns: usize) -> &str {
    let mut end = 0;
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        end = at + character.len_utf8();
    }
    text.get(..end).unwrap_or(text)
}

/// The text with blanks behind it, up to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', columns.saturating_sub(width(text))));
    padded
}

/// A line broken at blanks so that no part is wider than so many columns, but for single words that are. Parts behind
/// the first begin under the first's text: behind its own blanks and its list mark.
pub(crate) fn wrap(line: &str, columns: usize) -> Vec<String> {
    let body = line.trim_start();
    let own = line.len() - body.len();
    let mark = list_mark(body);
    let hang = if own + mark + 10 < columns { own + mark } else { 0 };
    let mut parts = Vec::new();
    let mut part: String = line.chars().take(own).collect();
    let (mut filled, mut gap) = (false, 0);
    for word in body.split(' ') {
        gap += 1;
        if word.is_empty() {
            continue;
        }
        // Blanks between words stay as many as they were, but at a break.
        gap = if filled { gap } else { 0 };
        if filled && width(&part) + gap + width(word) > columns {
            parts.push(part);
            part = " ".repeat(hang);
            gap = 0;
        }
        part.push_str(&" ".repeat(gap));
        part.push_str(word);
        (filled, gap) = (true, 0);
    }
    parts.push(part.trim_end().to_owned());
    parts
}

/// The length of `- `, `* `, `12. ` at a line's beginning.
fn list_mark(body: &str) -> usize {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = body.get(digits..).unwrap_or_default();
    match (digits, rest.as_bytes()) {
        (0, [b'-' | b'*' | b'+', b' ', ..]) => 2,
        (1..=3, [b'.' | b')', b' ', ..]) => digits + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_gets_through() {
        let every = (0..=0x10_ffff).filter_map(char::from_u32);
        for character in every {
            let hostile = character.is_control() || is_hidden(character);
            for shown in [line(&format!("a{character}b")), lines(&format!("a{character}b")).concat()] {
                assert!(!shown.chars().any(char::is_control), "U+{:04X}", u32::from(character));
                assert!(!hostile || !shown.contains(character), "U+{:04X}", u32::from(character));
                assert!(shown.starts_with('a') && shown.ends_with('b'));
            }
        }
    }

    #[test]
    fn escapes_and_overrides_stay_visible() {
        assert_eq!(line("\u{1b}[31mred\u{7}"), "␛[31mred␇");
        assert_eq!(line("a\u{202e}b"), "a<U+202E>b");
        assert_eq!(line("  one\r\n\ttwo  "), "one two");
        assert_eq!(lines("a\tb\r\n\nc\n"), ["a    b", "", "c"]);
    }

    #[test]
    fn cutting_counts_columns_not_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("路线图路线图", 5), "路线…");
        assert_eq!(cut("路线图路线图", 6), "路线…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("anything", 0), "");
        for columns in 0..20 {
            for text in ["plain words here and there", "路线图 e\u{301} 🧑‍🚀 x", "\u{301}\u{301}"] {
                assert!(width(&cut(text, columns)) <= columns.max(width("")), "{text} at {columns}");
            }
        }
    }

    #[test]
    fn padding_counts_columns_too() {
        assert_eq!(pad("路", 4), "路  ");
        assert_eq!(pad("wide", 2), "wide");
    }

    #[test]
    fn wrapped_lines_fit_and_hang_under_their_own_text() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("  - alpha beta gamma delta", 18), ["  - alpha beta", "    gamma delta"]);
        assert_eq!(wrap("12. alpha beta gamma delta", 20), ["12. alpha beta gamma", "    delta"]);
        assert_eq!(wrap("unbreakableword", 4), ["unbreakableword"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("a  b   c", 20), ["a  b   c"]);
        assert_eq!(wrap("aa  bb   cc", 6), ["aa  bb", "cc"]);
    }
}
