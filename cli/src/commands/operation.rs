//! An operation: its files read, the engine asked, and for people whatever else their text needs.

use std::path::Path;

use serde_json::{Map, Value, json};
use stepstone_proto::contract;
use stepstone_proto::envelope::{Envelope, ErrorCode};

use crate::arguments::Asked;
use crate::render::{Known, answer};
use crate::session::Engine;

use super::file;

/// Carries out what was asked for.
pub(crate) async fn carry_out(engine: &impl Engine, asked: Asked) -> Envelope {
    let mut operation = asked.operation;
    if let Some(from) = asked.from_file {
        match file::read(&from) {
            Ok((argument, value)) => operation.insert(argument.to_owned(), value),
            Err(failure) => return Envelope::failure(action(&operation), *failure),
        };
    }
    engine.ask(operation).await
}

/// The action of an operation.
pub(crate) fn action(operation: &Map<String, Value>) -> &str {
    operation.get("action").and_then(Value::as_str).unwrap_or_default()
}

/// The same question, with the derived facts that a text for people shows.
pub(crate) fn explained(mut asked: Asked) -> Asked {
    let explains =
        contract::action(action(&asked.operation)).is_some_and(|action| action.argument("explain").is_some());
    if explains {
        asked.operation.insert("explain".to_owned(), Value::Bool(true));
    }
    asked
}

/// What a text for people needs beside the answer: names and states of goals that it mentions, holders of claims, why
/// nothing is ready, what a mistyped id may mean. Reads only; what they do not answer is left out of the text.
pub(crate) async fn beside(engine: &impl Engine, envelope: &Envelope) -> Known {
    let mut known = Known::default();
    if let Some(failure) = &envelope.error {
        if failure.code == ErrorCode::NotFound {
            known.learn_ids(&ask(engine, json!({"action": "ids"})).await);
        }
        return known;
    }
    let answer = answer(envelope);
    let is_empty = match envelope.action.as_str() {
        "next" | "start" => answer.goal.is_none(),
        "ready" => answer.goals.as_ref().is_some_and(Vec::is_empty),
        _ => false,
    };
    let shows_others = envelope.action == "show" && (!answer.blocks.is_empty() || answer.depends());
    let has_claims = answer.mentions_claims();
    if is_empty || shows_others || has_claims {
        known.learn(&ask(engine, json!({"action": "list", "claimed": true})).await);
    }
    if is_empty || shows_others {
        known.learn(&ask(engine, json!({"action": "list", "explain": true})).await);
    }
    known
}

async fn ask(engine: &impl Engine, operation: Value) -> Envelope {
    match operation {
        Value::Object(operation) => engine.ask(operation).await,
        _ => engine.ask(Map::new()).await,
    }
}

/// Whether an override names the goal file: `--file`, or `$STEPSTONE_WORKLIST` unless it is blank.
pub(crate) fn override_in_use(file: Option<&str>) -> Option<&'static str> {
    if file.is_some() {
        return Some("--file");
    }
    let variable = std::env::var_os("STEPSTONE_WORKLIST")?;
    (!Path::new(&variable).to_string_lossy().trim().is_empty()).then_some("$STEPSTONE_WORKLIST")
}
