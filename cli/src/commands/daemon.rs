//! `daemon status|start|stop|restart|logs`: envelopes of the scope `daemon`.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use stepstone_client::Surroundings;
use stepstone_client::control::{self, ControlError};
use stepstone_proto::contract::command_line::Command;
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure, Scope};

use crate::arguments::{DaemonTask, Given, Task, Usage};

/// How many lines of the log are shown unless asked otherwise.
const LINES: usize = 50;
/// Never more of the log than this; it is rotated at 1 MiB.
const LOG: u64 = 2 * 1024 * 1024;

pub(super) fn read(command: &'static Command, given: &Given<'_>) -> Result<Task, Usage> {
    Ok(Task::Daemon(match command.name {
        "daemon start" => DaemonTask::Start,
        "daemon stop" => DaemonTask::Stop,
        "daemon restart" => DaemonTask::Restart,
        "daemon logs" => DaemonTask::Logs(match given.text("lines")? {
            Some(text) => given
                .count("lines", &text)?
                .as_u64()
                .and_then(|lines| usize::try_from(lines).ok())
                .unwrap_or(LINES),
            None => LINES,
        }),
        _ => DaemonTask::Status,
    }))
}

/// Does it, and says so in an envelope.
pub(crate) async fn carry_out(task: DaemonTask, surroundings: &Surroundings) -> Envelope {
    match task {
        DaemonTask::Status => answer("status", status(surroundings).await),
        DaemonTask::Start => answer(
            "start",
            control::start(surroundings).await.map(|started| {
                fields(json!({"running": true, "alreadyRunning": started.already}), &started.status)
            }),
        ),
        DaemonTask::Stop => answer(
            "stop",
            control::stop(surroundings).await.map(|stopped| {
                fields(
                    json!({"running": false, "wasRunning": stopped.pid.is_some()}),
                    &json!({"pid": stopped.pid}),
                )
            }),
        ),
        DaemonTask::Restart => answer(
            "restart",
            control::restart(surroundings).await.map(|(stopped, started)| {
                let mut result = json!({"running": true});
                if let (Some(pid), Some(result)) = (stopped.pid, result.as_object_mut()) {
                    result.insert("previousPid".to_owned(), pid.into());
                }
                fields(result, &started.status)
            }),
        ),
        DaemonTask::Logs(lines) => logs(surroundings, lines),
    }
}

async fn status(surroundings: &Surroundings) -> Result<Map<String, Value>, ControlError> {
    let mut result = match control::status(surroundings).await? {
        Some(status) => fields(json!({"running": true}), &status),
        None => fields(json!({"running": false}), &json!({})),
    };
    if let Some(reason) = private_engine(surroundings) {
        result.insert("privateEngine".to_owned(), reason.into());
    }
    Ok(result)
}

/// Why this process answers from its own engine whether or not the daemon runs, as far as that is known beforehand.
pub(crate) fn private_engine(surroundings: &Surroundings) -> Option<String> {
    if surroundings.no_daemon {
        return Some("STEPSTONE_NO_DAEMON is set".to_owned());
    }
    match (&surroundings.layout, surroundings.sandbox) {
        (Err(error), _) => Some(error.to_string()),
        (Ok(_), Some(variable)) => Some(format!(
            "{variable} says that this is a sandbox, from which the daemon is used but not started"
        )),
        (Ok(_), None) => None,
    }
}

/// The first object's fields, then the second's; what is null is left out.
fn fields(first: Value, second: &impl Serialize) -> Map<String, Value> {
    let mut result = Map::new();
    for value in [first, serde_json::to_value(second).unwrap_or_default()] {
        if let Value::Object(object) = value {
            result.extend(object.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }
    result
}

fn answer(action: &str, result: Result<Map<String, Value>, ControlError>) -> Envelope {
    match result {
        Ok(result) => success(action, &result),
        Err(error) => {
            let retryable = matches!(error, ControlError::NoAnswer { .. } | ControlError::StillThere { .. });
            let failure = Failure::new(
                ErrorCode::Unavailable,
                format!(
                    "{error}. `stepstone doctor` looks further; goals can be read and changed all the same."
                ),
            )
            .resolution("run-stepstone-doctor");
            failed(action, Failure { retryable, ..failure })
        }
    }
}

/// A success about the daemon.
pub(crate) fn success(action: &str, result: &Map<String, Value>) -> Envelope {
    let whole = fields(json!({"scope": "daemon", "action": action}), result);
    match to_raw_value(&whole) {
        Ok(result) => Envelope { scope: Scope::Daemon, ..Envelope::success(action, result) },
        Err(error) => {
            failed(action, Failure::new(ErrorCode::Unavailable, format!("The answer is no JSON: {error}.")))
        }
    }
}

/// A failure about the daemon.
pub(crate) fn failed(action: &str, failure: Failure) -> Envelope {
    Envelope { scope: Scope::Daemon, ..Envelope::failure(action, failure) }
}

fn logs(surroundings: &Surroundings, lines: usize) -> Envelope {
    let path = match control::log_path(surroundings) {
        Ok(path) => path,
        Err(error) => return answer("logs", Err(ControlError::Unreachable(error.to_string()))),
    };
    let text = match tail(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let failure = Failure::new(ErrorCode::Unavailable, format!("{}: {error}.", path.display()));
            return failed("logs", failure.resolution("run-stepstone-doctor"));
        }
    };
    let all: Vec<&str> = text.lines().collect();
    let first = if lines == 0 { 0 } else { all.len().saturating_sub(lines) };
    let shown = all.get(first..).unwrap_or_default();
    success("logs", &fields(json!({"path": path.to_string_lossy()}), &json!({"lines": shown})))
}

/// The end of the log, at most [`LOG`] bytes.
fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG)))?;
    let mut bytes = Vec::new();
    file.take(LOG).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
