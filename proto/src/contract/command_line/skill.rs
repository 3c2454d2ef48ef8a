//! The agent skill and the block in AGENTS.md, rendered.

use super::{EXIT_CODES, GLOBAL, Section, commands};

/// The line that opens Stepstone's block in AGENTS.md. The npm package of the same name uses the same two lines, so
/// that either refreshes the other's block instead of adding a second one.
pub const AGENTS_START: &str = "<!-- stepstone:project-goals:start -->";
/// The line that closes it.
pub const AGENTS_END: &str = "<!-- stepstone:project-goals:end -->";

/// From ideas to an approved plan, for those who work through the command line.
const CAPTURE: &[&str] = &[
    "Think it through with the user. Read the roadmap first (`stepstone list --json`), so that nothing is planned twice.",
    "Write the plan as one JSON array, in the order the goals should have.",
    "Show the user that exact array and wait until they approve it. If it changes, show it again.",
    "`stepstone apply-plan plan.json --dry-run --json` previews it at any time. A preview is never the user's approval.",
    "Apply the approved array by exactly one `stepstone apply-plan plan.json --json`, never by a sequence of `add`.",
];

/// The agent skill: the whole of `SKILL.md`.
#[must_use]
pub fn skill() -> String {
    let capture: Vec<String> =
        CAPTURE.iter().enumerate().map(|(at, step)| format!("{}. {step}", at + 1)).collect();
    let listed: Vec<String> = commands()
        .iter()
        .filter(|command| command.action.is_some())
        .map(|command| {
            let usage: Vec<String> = command.usage().iter().map(|line| format!("`{line}`")).collect();
            format!("- {}: {}", usage.join(" or "), command.summary)
        })
        .collect();
    let everywhere: Vec<String> =
        GLOBAL.iter().filter(|flag| flag.long != "help").map(|flag| format!("`{}`", flag.shown())).collect();
    let exit_codes: Vec<String> =
        EXIT_CODES.iter().map(|(code, meaning)| format!("- {code}: {meaning}")).collect();
    include_str!("pages/skill.md")
        .replace("{confirmed}", &confirmed())
        .replace("{capture}", &capture.join("\n"))
        .replace("{commands}", &listed.join("\n"))
        .replace("{everywhere}", &format!("{}.", everywhere.join(", ")))
        .replace("{exit_codes}", &exit_codes.join("\n"))
}

/// The block for AGENTS.md, from the first marker line to the last, without a line end behind it.
#[must_use]
pub fn agents_block() -> String {
    let text = include_str!("pages/agents.md").replace("{confirmed}", &confirmed());
    format!("{AGENTS_START}\n{}\n{AGENTS_END}", text.trim_end())
}

/// The actions on one goal that need the user's word.
fn confirmed() -> String {
    let names: Vec<String> = commands()
        .iter()
        .filter(|command| command.section == Section::Confirmed)
        .map(|command| format!("`{}`", command.name))
        .collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        other => other.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_and_every_command_named() {
        for page in [skill(), agents_block()] {
            for placeholder in ["{confirmed}", "{capture}", "{commands}", "{everywhere}", "{exit_codes}"] {
                assert!(!page.contains(placeholder), "{placeholder}");
            }
            assert!(page.contains("`complete`, `reopen`, `archive` and `delete`"));
        }
        let skill = skill();
        for command in commands().iter().filter(|command| command.action.is_some()) {
            assert!(skill.contains(&format!("`{}", command.name)), "{}", command.name);
        }
        assert!(skill.starts_with("---\nname: stepstone\n"));
    }

    #[test]
    fn the_block_is_one_pair_of_marker_lines() {
        let block = agents_block();
        assert!(
            block.starts_with(&format!("{AGENTS_START}\n")) && block.ends_with(&format!("\n{AGENTS_END}"))
        );
        assert_eq!(block.matches("stepstone:project-goals").count(), 2);
    }
}
