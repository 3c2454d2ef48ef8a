//! Where the block stands in a text, and the text with the block made current. Pure.

use std::fmt;

use stepstone_proto::contract::command_line::{AGENTS_END, AGENTS_START};

/// Why a file is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// A marker stands there more than once.
    Duplicate,
    /// A marker without the other, the two the wrong way round, or one that shares its line.
    Malformed,
    /// The file is no UTF-8.
    Encoding,
    /// It is no regular file.
    Kind,
}

impl Problem {
    /// As it stands in `details.markerProblem`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate-markers",
            Self::Malformed => "malformed-markers",
            Self::Encoding => "invalid-encoding",
            Self::Kind => "unsupported-file",
        }
    }

    pub(super) const fn resolution(self) -> &'static str {
        match self {
            Self::Duplicate | Self::Malformed => "fix-agents-markers",
            Self::Encoding | Self::Kind => "provide-writable-agents-file",
        }
    }

    pub(super) const fn way_out(self) -> &'static str {
        match self {
            Self::Duplicate | Self::Malformed => {
                "Leave one pair of marker lines, or none, and run init again."
            }
            Self::Encoding | Self::Kind => "Make it a regular file in UTF-8, and run init again.",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duplicate => "a marker line of Stepstone's stands there twice.",
            Self::Malformed => "Stepstone's two marker lines are not one pair, each on a line of its own.",
            Self::Encoding => "it is no UTF-8.",
            Self::Kind => "it is no regular file.",
        })
    }
}

/// The text with the block in the place of the one that is there, or behind it after a blank line. Everything outside
/// the block stays as it is; the block takes over the text's line ends.
pub(super) fn with_block(text: &str, block: &str) -> Result<String, Problem> {
    let (end_of_line, block) =
        if text.contains("\r\n") { ("\r\n", block.replace('\n', "\r\n")) } else { ("\n", block.to_owned()) };
    let start = marker(text, AGENTS_START)?;
    let end = marker(text, AGENTS_END)?;
    match (start, end) {
        (Some(start), Some(end)) if start < end => {
            let before = text.get(..start).unwrap_or_default();
            let behind = text.get(end + AGENTS_END.len()..).unwrap_or_default();
            Ok(format!("{before}{block}{behind}"))
        }
        (None, None) => {
            let blank = format!("{end_of_line}{end_of_line}");
            let between = if text.is_empty() || text.ends_with(&blank) {
                ""
            } else if text.ends_with('\n') {
                end_of_line
            } else {
                &blank
            };
            Ok(format!("{text}{between}{block}{end_of_line}"))
        }
        _ => Err(Problem::Malformed),
    }
}

/// Where a marker stands; it must stand there once at most, and have a line to itself.
fn marker(text: &str, marker: &str) -> Result<Option<usize>, Problem> {
    let mut places = text.match_indices(marker).map(|(place, _)| place);
    let Some(place) = places.next() else { return Ok(None) };
    let alone = |place: usize| {
        let before = text.get(..place).unwrap_or_default();
        let behind = text.get(place + marker.len()..).unwrap_or_default();
        (before.is_empty() || before.ends_with('\n') || before == "\u{feff}")
            && (behind.is_empty() || behind.starts_with('\n') || behind.starts_with("\r\n"))
    };
    if !alone(place) || places.clone().any(|place| !alone(place)) {
        return Err(Problem::Malformed);
    }
    if places.next().is_some() {
        return Err(Problem::Duplicate);
    }
    Ok(Some(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> String {
        format!("{AGENTS_START}\n{text}\n{AGENTS_END}")
    }

    #[test]
    fn a_text_without_a_block_gets_one_behind_a_blank_line() {
        let new = block("new");
        for (text, between) in
            [("", ""), ("# A\n", "\n"), ("# A", "\n\n"), ("# A\n\n", ""), ("# A\n\n\n", "")]
        {
            assert_eq!(with_block(text, &new).unwrap(), format!("{text}{between}{new}\n"), "{text:?}");
        }
    }

    #[test]
    fn a_block_is_replaced_and_everything_else_kept() {
        let (old, new) = (block("old\nlines"), block("new"));
        for (before, behind) in
            [("", ""), ("", "\n"), ("# A\n\n", "\nmore"), ("\u{feff}", "\n"), ("x\n\n\n", "\n\n \ty")]
        {
            let text = format!("{before}{old}{behind}");
            let expected = format!("{before}{new}{behind}");
            assert_eq!(with_block(&text, &new).unwrap(), expected);
            assert_eq!(with_block(&expected, &new).unwrap(), expected, "current stays current");
        }
    }

    #[test]
    fn windows_line_ends_are_taken_over() {
        let new = block("new");
        let crlf = new.replace('\n', "\r\n");
        let written = with_block("# A\r\n", &new).unwrap();
        assert_eq!(written, format!("# A\r\n\r\n{crlf}\r\n"));
        assert_eq!(with_block(&written, &new).unwrap(), written);
    }

    #[test]
    fn unclear_markers_are_refused_by_their_kind() {
        let whole = block("x");
        for (text, problem) in [
            (format!("{AGENTS_START}\n"), Problem::Malformed),
            (format!("text\n{AGENTS_END}\n"), Problem::Malformed),
            (format!("{AGENTS_END}\n{AGENTS_START}\n"), Problem::Malformed),
            (format!("see {AGENTS_START}\n{AGENTS_END}\n"), Problem::Malformed),
            (format!("{AGENTS_START} \n{AGENTS_END}\n"), Problem::Malformed),
            (format!("{whole}\nand `{AGENTS_START}` too\n"), Problem::Malformed),
            (format!("{whole}\n{whole}\n"), Problem::Duplicate),
            (format!("{whole}\n{AGENTS_END}\n"), Problem::Duplicate),
        ] {
            assert_eq!(with_block(&text, &whole), Err(problem), "{text}");
        }
    }
}
