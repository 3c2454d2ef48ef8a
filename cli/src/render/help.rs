//! Help at every level, from the contract.

use stepstone_proto::contract::command_line::{Command, EVERYWHERE, Flag, GLOBAL, Section, commands};

use super::style::{Brush, Tone};
use super::text::{pad, width, wrap};
use crate::arguments::{Topic, usage_lines};

/// The widest that help is set.
const MEASURE: usize = 100;
/// Further lines of a usage line begin under its first argument.
const HANGING: &str = "           ";
const HANG: usize = HANGING.len();
/// Where nobody looks, lines are as long as in an ordinary terminal.
const ELSEWHERE: usize = 80;

/// Help on something.
pub(crate) fn help(topic: Topic, columns: Option<usize>, brush: Brush) -> String {
    let set = Setting { columns: columns.unwrap_or(ELSEWHERE).min(MEASURE), brush };
    match topic {
        Topic::Overview => set.overview(),
        Topic::Command(command) => set.command(command),
        Topic::Family(family) => set.family(family),
    }
}

struct Setting {
    columns: usize,
    brush: Brush,
}

impl Setting {
    fn overview(&self) -> String {
        let about = "A repository's roadmap: goals, what waits for what, and who works on it.";
        let mut out = self.paragraph(about, 0);
        out.push_str("\nusage: stepstone [project] <command> [arguments] [flags]\n");
        for section in Section::ALL {
            out.push_str(&self.heading(section.title()));
            let rows = commands()
                .iter()
                .filter(|command| command.section == section)
                .map(|command| (command.name.to_owned(), command.summary))
                .collect::<Vec<_>>();
            out.push_str(&self.table(&rows, 16));
        }
        out.push_str(&self.heading("Flags of every command"));
        out.push_str(&self.flags(GLOBAL));
        out.push('\n');
        for line in EVERYWHERE {
            out.push_str(&self.paragraph(line, 0));
        }
        out.push_str("\nMore: stepstone help <command>, stepstone man\n");
        out
    }

    fn family(&self, family: &str) -> String {
        let mut out = format!("usage: stepstone {family} <command> [flags]\n\n");
        let rows = commands()
            .iter()
            .filter(|command| command.family() == family)
            .map(|command| (command.name.to_owned(), command.summary))
            .collect::<Vec<_>>();
        out.push_str(&self.table(&rows, 16));
        out.push_str(&format!("\nMore: stepstone help {family} <command>\n"));
        out
    }

    fn command(&self, command: &Command) -> String {
        let mut out = String::new();
        for part in wrap(command.summary, self.columns) {
            out.push_str(&format!("{}\n", self.brush.paint(Tone::Strong, &part)));
        }
        out.push('\n');
        for (at, line) in usage_lines(command).iter().enumerate() {
            let label = if at == 0 { "usage: " } else { "       " };
            for (at, part) in wrap(line, self.columns.saturating_sub(HANG)).iter().enumerate() {
                out.push_str(if at == 0 { label } else { HANGING });
                out.push_str(part.trim_start());
                out.push('\n');
            }
        }
        if !command.notes.is_empty() {
            out.push('\n');
        }
        for note in command.notes {
            out.push_str(&self.paragraph(note, 0));
        }
        if !command.flags.is_empty() {
            out.push_str(&self.heading("Flags"));
            out.push_str(&self.flags(&command.flags));
        }
        out.push_str(&self.heading("Flags of every command"));
        out.push_str(&self.flags(GLOBAL));
        if !command.examples.is_empty() {
            out.push_str(&self.heading("Examples"));
            for example in command.examples {
                out.push_str(&self.paragraph(&format!("{}:", example.about), 2));
                out.push_str(&format!("    {}\n", example.line));
            }
        }
        out
    }

    fn heading(&self, text: &str) -> String {
        format!("\n{}\n", self.brush.paint(Tone::Strong, text))
    }

    fn flags(&self, flags: &[Flag]) -> String {
        let rows: Vec<(String, &str)> = flags.iter().map(|flag| (flag.shown(), flag.help)).collect();
        self.table(&rows, 24)
    }

    /// Names and what they are, in two columns; a name that is too long has a line of its own.
    fn table(&self, rows: &[(String, &str)], most: usize) -> String {
        let names =
            rows.iter().map(|(name, _)| width(name)).filter(|width| *width <= most).max().unwrap_or(most);
        let indent = 2 + names + 2;
        let mut out = String::new();
        for (name, text) in rows {
            let parts = wrap(text, self.columns.saturating_sub(indent).max(20));
            let mut parts = parts.iter();
            if width(name) > names {
                out.push_str(&format!("  {name}\n"));
            } else if let Some(first) = parts.next() {
                out.push_str(&format!("  {}  {first}\n", pad(name, names)));
            }
            for part in parts {
                out.push_str(&format!("{}{part}\n", " ".repeat(indent)));
            }
        }
        out
    }

    fn paragraph(&self, text: &str, indent: usize) -> String {
        wrap(text, self.columns.saturating_sub(indent))
            .iter()
            .map(|part| format!("{}{part}\n", " ".repeat(indent)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_the_terminal_but_for_lines_that_are_typed() {
        for columns in [60, 80, 200] {
            let brush = Brush { colour: false };
            let mut topics = vec![Topic::Overview, Topic::Family("daemon")];
            topics.extend(commands().iter().map(Topic::Command));
            for topic in topics {
                for line in help(topic, Some(columns), brush).lines() {
                    let typed = line.starts_with("    stepstone ") || line.starts_with("    eval ");
                    assert!(typed || width(line) <= columns.min(MEASURE), "{columns}: {line}");
                }
            }
        }
    }

    #[test]
    fn the_overview_names_every_command_and_a_commands_help_everything_of_it() {
        let brush = Brush { colour: false };
        let overview = help(Topic::Overview, None, brush);
        for command in commands() {
            assert!(overview.contains(&format!("  {}", command.name)), "{}", command.name);
            let text = help(Topic::Command(command), None, brush);
            for flag in command.flags.iter().chain(GLOBAL) {
                assert!(text.contains(&format!("--{}", flag.long)), "{} --{}", command.name, flag.long);
            }
            for example in command.examples {
                assert!(text.contains(example.line), "{}", example.line);
            }
        }
    }
}
