//! `docs/cli.md`, rendered.

use std::fmt::Write as _;

use super::{Command, EVERYWHERE, EXIT_CODES, Flag, GLOBAL, Section, commands};

const HEAD: &str = include_str!("pages/cli.md");

/// The command reference as Markdown: the whole of `docs/cli.md`.
#[must_use]
pub fn cli_reference() -> String {
    let mut overview = String::new();
    let mut details = String::new();
    for section in Section::ALL {
        let _ = writeln!(overview, "\n**{}**\n\n| command | what it does |\n| --- | --- |", section.title());
        for command in commands().iter().filter(|command| command.section == section) {
            let _ = writeln!(
                overview,
                "| [`{}`](#{}) | {} |",
                command.name,
                command.name.replace(' ', "-"),
                cell(command.summary)
            );
            details.push_str(&one(command));
        }
    }
    let exit_codes: String = EXIT_CODES.iter().fold(
        "| code | when |\n| --- | --- |\n".to_owned(),
        |mut table, (code, meaning)| {
            let _ = writeln!(table, "| {code} | {} |", cell(meaning));
            table
        },
    );
    let rules: String = EVERYWHERE.iter().fold(String::new(), |mut list, rule| {
        let _ = writeln!(list, "- {rule}");
        list
    });
    HEAD.replace("{overview}\n", overview.trim_start_matches('\n'))
        .replace("{rules}\n", &rules)
        .replace("{global}\n", &flags(GLOBAL))
        .replace("{exit_codes}\n", &exit_codes)
        .replace("{commands}\n", details.trim_start_matches('\n'))
}

fn one(command: &Command) -> String {
    let mut out = format!("\n### {}\n\n{}\n\n```text\n", command.name, command.summary);
    for line in command.usage() {
        let _ = writeln!(out, "stepstone {line}");
    }
    out.push_str("```\n");
    for note in command.notes {
        let _ = writeln!(out, "\n{note}");
    }
    if !command.flags.is_empty() {
        out.push('\n');
        out.push_str(&flags(&command.flags));
    }
    if !command.examples.is_empty() {
        out.push_str("\n```sh\n");
        for example in command.examples {
            let _ = writeln!(out, "# {}\n{}", example.about, example.line);
        }
        out.push_str("```\n");
    }
    out
}

fn flags(flags: &[Flag]) -> String {
    let mut out = String::from("| flag | what it does |\n| --- | --- |\n");
    for flag in flags {
        let _ = writeln!(out, "| `{}` | {} |", flag.shown(), cell(flag.help));
    }
    out
}

/// Text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_everything_and_has_no_placeholder_left() {
        let page = cli_reference();
        for command in commands() {
            assert!(page.contains(&format!("\n### {}\n", command.name)), "{}", command.name);
            for flag in &command.flags {
                assert!(page.contains(&format!("`{}`", flag.shown())), "{} {}", command.name, flag.shown());
            }
            for example in command.examples {
                assert!(page.contains(example.line));
            }
        }
        for placeholder in ["{overview}", "{rules}", "{global}", "{exit_codes}", "{commands}"] {
            assert!(!page.contains(placeholder), "{placeholder}");
        }
    }
}
