//! What a mistyped name was meant to be.

/// The candidate that a mistyped word most likely means, if any is close. A candidate is also compared by as much of
/// its beginning as was typed, since ids are often typed as prefixes.
pub(crate) fn closest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const CLOSE: f64 = 0.6;
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    if length == 0 {
        return None;
    }
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let whole = strsim::normalized_damerau_levenshtein(&typed, candidate);
        let score = if length >= 3 {
            let beginning: String = candidate.chars().take(length).collect();
            // A whole word that is as close is the better guess.
            whole.max(strsim::normalized_damerau_levenshtein(&typed, &beginning) - 0.05)
        } else {
            whole
        };
        if score >= CLOSE && best.is_none_or(|(other, _)| score > other) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn slips_of_one_or_two_letters_are_recognised() {
        let names =
            ["list", "show", "find", "next", "ready", "waves", "why", "update", "complete", "archive"];
        for (typed, meant) in [
            ("lsit", "list"),
            ("redy", "ready"),
            ("udpate", "update"),
            ("compleet", "complete"),
            ("archvie", "archive"),
            ("READY", "ready"),
        ] {
            assert_eq!(closest(typed, names), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_mistyped_prefix_finds_its_id() {
        let ids = ["replace-legacy-auth", "ship-sso"];
        assert_eq!(closest("replce", ids), Some("replace-legacy-auth"));
        assert_eq!(closest("shp-sso", ids), Some("ship-sso"));
    }

    #[test]
    fn nothing_is_guessed_from_something_else_or_from_nothing() {
        assert_eq!(closest("zzz", ["list", "show"]), None);
        assert_eq!(closest("", ["list"]), None);
    }
}
