//! From the process's arguments to its exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::Map;
use stepstone_client::Surroundings;
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure};
use stepstone_proto::protocol::VERSION;

use crate::arguments::{self, Asked, Everywhere, Invocation, Task, Usage};
use crate::commands::{self, completions, daemon, doctor, operation};
use crate::output::Screen;
use crate::render::{self, Known, Page, View};
use crate::session::Session;
use crate::{exit, json, output};

/// Carries the command line out; the executable's name is left out of the arguments.
#[must_use]
pub fn run(arguments: &[OsString]) -> ExitCode {
    let (code, page) = match arguments::parse(arguments) {
        Ok(invocation) => answer(invocation),
        // Whoever wrote --json anywhere reads envelopes.
        Err(usage) => refusal(&usage, arguments.iter().any(|argument| argument == "--json")),
    };
    match output::show(&page) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            let err = format!("stepstone: the answer could not be written: {error}\n");
            let _ = output::show(&Page { out: String::new(), err });
            ExitCode::FAILURE
        }
    }
}

/// An exit code and what is printed.
type Answer = (u8, Page);

fn answer(Invocation { everywhere, task }: Invocation) -> Answer {
    match task {
        Task::Operation(asked) => on_engine(&everywhere, asked),
        Task::Daemon(task) => on_loop("daemon", async {
            daemon_answer(&everywhere, &daemon::carry_out(task, &Surroundings::from_env()).await)
        }),
        Task::Doctor => {
            on_loop("doctor", async { daemon_answer(&everywhere, &doctor::carry_out(&everywhere).await) })
        }
        Task::Version => (0, text(format!("stepstone {VERSION}\n"))),
        Task::Help(topic) => (0, render::help(topic, Screen::here())),
        Task::Man(topic) => (0, render::man(topic)),
        Task::Completions(shell) => (0, text(completions::script(shell).to_owned())),
        Task::Complete(words) => (0, text(completions::complete(&words))),
    }
}

fn refusal(usage: &Usage, wants_json: bool) -> Answer {
    let envelope = usage.envelope();
    if wants_json {
        as_json(&envelope)
    } else {
        (exit::code(&envelope), output::broken(render::usage(usage)))
    }
}

/// One envelope, on the stream that its `ok` names.
fn as_json(envelope: &Envelope) -> Answer {
    let page = match json::printed(envelope) {
        Ok(text) if envelope.ok => Page { out: text, err: String::new() },
        Ok(text) => Page { out: String::new(), err: text },
        Err(error) => {
            Page { out: String::new(), err: format!("stepstone: the answer is no JSON: {error}\n") }
        }
    };
    (exit::code(envelope), page)
}

fn text(out: String) -> Page {
    Page { out, err: String::new() }
}

fn on_engine(everywhere: &Everywhere, asked: Asked) -> Answer {
    if operation::action(&asked.operation) == "migrate_path"
        && let Some(what) = operation::override_in_use(everywhere.file.as_deref())
    {
        return refusal(&commands::override_refused(what), everywhere.json);
    }
    let action = operation::action(&asked.operation).to_owned();
    on_loop(&action, ask(everywhere, asked))
}

/// Runs it on an event loop of its own.
fn on_loop(action: &str, answer: impl Future<Output = Answer>) -> Answer {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(answer),
        Err(error) => {
            let failure = Failure::new(
                ErrorCode::Unavailable,
                format!(
                    "The event loop could not be started: {error}. Try again when the system has resources left."
                ),
            );
            as_json(&Envelope::failure(action, failure.retryable()))
        }
    }
}

async fn ask(everywhere: &Everywhere, asked: Asked) -> Answer {
    let session = Session::new(Surroundings::from_env(), everywhere);
    if everywhere.json {
        return as_json(&operation::carry_out(&session, asked).await);
    }
    let operation = asked.operation.clone();
    let envelope = operation::carry_out(&session, operation::explained(asked)).await;
    let known = operation::beside(&session, &envelope).await;
    let mut page =
        render::envelope(&View::new(Screen::here(), Timestamp::now(), &known), &envelope, &operation);
    if everywhere.verbose {
        page.err.push_str(&match session.note() {
            Some(note) => format!("stepstone: {note}\n"),
            None => "stepstone: answered by the daemon\n".to_owned(),
        });
    } else if let Some(warning) = session.warning() {
        page.err.push_str(&format!("stepstone: {warning}\n"));
    }
    (exit::code(&envelope), output::broken(page))
}

fn daemon_answer(everywhere: &Everywhere, envelope: &Envelope) -> Answer {
    if everywhere.json {
        return as_json(envelope);
    }
    let known = Known::default();
    let view = View::new(Screen::here(), Timestamp::now(), &known);
    (exit::code(envelope), output::broken(render::envelope(&view, envelope, &Map::new())))
}
