//! Manual pages in roff, from the contract.

use std::fmt::Write as _;

use stepstone_proto::contract::command_line::{
    Command, EVERYWHERE, EXIT_CODES, Flag, GLOBAL, Section, commands,
};
use stepstone_proto::protocol::VERSION;

use crate::arguments::{Topic, usage_lines};

/// The page about something: `stepstone(1)`, or `stepstone-<command>(1)`.
pub(crate) fn page(topic: Topic) -> String {
    match topic {
        Topic::Overview => overview(),
        Topic::Command(command) => one(command),
        Topic::Family(family) => {
            let members: Vec<&Command> =
                commands().iter().filter(|command| command.family() == family).collect();
            let mut out = head(family, "Stepstone's daemon");
            out.push_str(".SH COMMANDS\n");
            for command in members {
                out.push_str(&entry(command.name, command.summary));
            }
            out
        }
    }
}

fn overview() -> String {
    let mut out = head("", "a repository's roadmap");
    out.push_str(
        ".SH SYNOPSIS\n.B stepstone\n[\\fBproject\\fR] \\fIcommand\\fR [\\fIarguments\\fR] [\\fIflags\\fR]\n",
    );
    out.push_str(".SH DESCRIPTION\n");
    out.push_str(
        "Stepstone keeps a repository's roadmap in .worklist/worklist.json: goals, what must land before what, and \
         who works on which.\n",
    );
    for line in EVERYWHERE {
        let _ = writeln!(out, ".PP\n{}", escaped(line));
    }
    for section in Section::ALL {
        let _ = writeln!(out, ".SH {}", escaped(&section.title().to_uppercase()));
        for command in commands().iter().filter(|command| command.section == section) {
            out.push_str(&entry(command.name, command.summary));
        }
    }
    out.push_str(".SH FLAGS OF EVERY COMMAND\n");
    out.push_str(&flags(GLOBAL));
    out.push_str(".SH EXIT STATUS\n");
    for (code, meaning) in EXIT_CODES {
        out.push_str(&entry(&code.to_string(), meaning));
    }
    out.push_str(".SH ENVIRONMENT\n");
    for (name, meaning) in [
        ("STEPSTONE_WORKLIST", "The goal file, when --file does not name one."),
        ("STEPSTONE_NO_DAEMON", "Never use the shared daemon; answer from a private engine."),
        ("STEPSTONE_STATE_DIR", "Another state directory than ~/.local/state/stepstone/<host>."),
        ("NO_COLOR", "No colours."),
    ] {
        out.push_str(&entry(name, meaning));
    }
    out.push_str(".SH FILES\n");
    out.push_str(&entry(
        ".worklist/worklist.json",
        "The goals. Meant to be committed; never edited while others work.",
    ));
    out
}

fn one(command: &Command) -> String {
    let mut out = head(command.name, command.summary);
    out.push_str(".SH SYNOPSIS\n");
    for (at, line) in usage_lines(command).iter().enumerate() {
        let _ = writeln!(out, "{}{}", if at == 0 { "" } else { ".br\n" }, escaped(line));
    }
    out.push_str(".SH DESCRIPTION\n");
    let _ = writeln!(out, "{}", escaped(command.summary));
    for note in command.notes {
        let _ = writeln!(out, ".PP\n{}", escaped(note));
    }
    out.push_str(".SH FLAGS\n");
    out.push_str(&flags(&command.flags));
    out.push_str(&flags(GLOBAL));
    if !command.examples.is_empty() {
        out.push_str(".SH EXAMPLES\n");
    }
    for example in command.examples {
        let _ = writeln!(
            out,
            ".PP\n{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi",
            escaped(example.about),
            escaped(example.line)
        );
    }
    out.push_str(".SH SEE ALSO\n.BR stepstone (1)\n");
    out
}

fn head(name: &str, summary: &str) -> String {
    let title = if name.is_empty() {
        "stepstone".to_owned()
    } else {
        format!("stepstone-{}", name.replace(' ', "-"))
    };
    format!(
        ".TH {} 1 \"\" \"stepstone {VERSION}\" \"Stepstone\"\n.SH NAME\n{} \\- {}\n",
        escaped(&title.to_uppercase()),
        escaped(&title),
        escaped(summary.trim_end_matches('.'))
    )
}

fn flags(flags: &[Flag]) -> String {
    flags.iter().map(|flag| entry(&flag.shown(), flag.help)).collect()
}

fn entry(name: &str, text: &str) -> String {
    format!(".TP\n\\fB{}\\fR\n{}\n", escaped(name), escaped(text))
}

/// Text as roff takes it: no line begins a request, and a dash stays a dash that can be copied.
fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    if escaped.starts_with(['.', '\'']) { format!("\\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_text_or_a_known_request() {
        let mut topics = vec![Topic::Overview, Topic::Family("daemon")];
        topics.extend(commands().iter().map(Topic::Command));
        for topic in topics {
            for line in page(topic).lines().filter(|line| line.starts_with(['.', '\''])) {
                let request = line.split(' ').next().unwrap_or_default();
                let known = [".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".br", ".nf", ".fi", ".RS", ".RE"];
                assert!(known.contains(&request), "{line}");
            }
        }
    }

    #[test]
    fn what_is_typed_can_be_copied_from_a_page() {
        let update =
            page(Topic::Command(stepstone_proto::contract::command_line::command("update").unwrap()));
        assert!(update.contains("\\-\\-append\\-description"));
        assert!(!update.contains(" --"));
    }
}
