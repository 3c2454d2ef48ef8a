//! Colours, by meaning. Only the sixteen colours that every terminal theme defines, and none that is hard to read on
//! light or on dark.

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A heading or a title.
    Strong,
    /// Less important than what stands beside it.
    Faint,
    /// Open, and can be started.
    Open,
    /// The active goal.
    Active,
    /// Somebody works on it.
    Claimed,
    /// Waits for something.
    Blocked,
    /// Landed.
    Done,
    /// Something needs doing.
    Alarm,
}

/// Paints, or leaves plain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brush {
    /// Whether colours are wanted.
    pub(crate) colour: bool,
}

impl Brush {
    /// The text in its tone. Painting comes after measuring: the codes take no columns but count as characters.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Open => "32",
            Tone::Active => "1;36",
            Tone::Claimed => "35",
            Tone::Blocked => "31",
            Tone::Done => "2",
            Tone::Alarm => "1;31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_stays_plain() {
        assert_eq!(Brush { colour: false }.paint(Tone::Alarm, "x"), "x");
        assert_eq!(Brush { colour: true }.paint(Tone::Alarm, ""), "");
        assert_eq!(Brush { colour: true }.paint(Tone::Open, "x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
