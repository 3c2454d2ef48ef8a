//! Arguments as given, decoded to typed operations by the contract table.
//!
//! This is the only place that looks at the shape of arguments, so that every interface refuses the same input with
//! the same envelope. What the table cannot say (which arguments exclude each other) stands in one function per
//! action here.

mod arguments;
mod changes;
mod plan;
mod problems;
#[cfg(test)]
mod properties;
mod reads;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use stepstone_proto::contract::{self, Action, Shape};
use stepstone_proto::envelope::{ErrorCode, Failure};
use stepstone_proto::operation::Operation;

use self::arguments::Arguments;
use self::problems::Problems;

/// One decoded request.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The row of the table.
    pub action: &'static Action,
    /// The action that envelopes carry: the view's name for `read_goals`, unless the view itself is bad.
    pub view_action: &'static str,
    /// The typed operation, or the refusal of its shape.
    pub operation: Result<Operation, Failure>,
    /// `confirm` was literal `true`.
    pub confirmed: bool,
    /// The goal that was named, as given, to be shown when a confirmation is missing.
    pub id: Option<String>,
}

/// Decodes `action` and the arguments beside it.
///
/// # Errors
///
/// `INVALID_REQUEST` with `details.supportedActions` when the action is none of the table's.
pub fn decode(operation: &Map<String, Value>) -> Result<Decoded, Failure> {
    let named = operation.get("action").and_then(Value::as_str);
    let Some(action) = named.and_then(contract::action) else {
        return Err(unknown_action(operation.get("action")));
    };
    let given = |name: &str| operation.get(name);
    let (view_action, decoded) = if action.name == "read_goals" {
        match reads::view(operation) {
            Ok(view) => (view.name, reads::read_goals(action, view, operation)),
            Err(failure) => (action.name, Err(failure)),
        }
    } else {
        (action.name, typed(action, operation))
    };
    Ok(Decoded {
        action,
        view_action,
        operation: decoded,
        confirmed: given("confirm") == Some(&Value::Bool(true)),
        id: given("id").and_then(Value::as_str).map(str::to_owned),
    })
}

fn typed(action: &'static Action, operation: &Map<String, Value>) -> Result<Operation, Failure> {
    let mut problems = Problems::of(action);
    let arguments = Arguments::read(action, operation, &mut problems);
    problems.finish()?;
    match action.name {
        "list" => Ok(Operation::Read(reads::list(&arguments))),
        "find" => Ok(Operation::Read(reads::find(&arguments))),
        "show" => Ok(Operation::Read(reads::show(&arguments))),
        "why" => Ok(Operation::Read(reads::why(&arguments))),
        "next" => Ok(Operation::Read(reads::next())),
        "ready" => Ok(Operation::Read(reads::ready(&arguments))),
        "waves" => Ok(Operation::Read(reads::waves(&arguments))),
        "ids" => Ok(Operation::Read(reads::ids(&arguments))),
        "migrate_path" => {
            changes::dry_run(action, operation, &arguments).map(|dry_run| Operation::MigratePath { dry_run })
        }
        "init" => Ok(Operation::Init),
        _ => changes::change(action, operation, &arguments).map(Operation::Change),
    }
}

fn unknown_action(given: Option<&Value>) -> Failure {
    let supported: Vec<&str> = contract::ACTIONS.iter().map(|action| action.name).collect();
    let message = match given.and_then(Value::as_str) {
        Some(name) => format!(
            "Nothing was done: no action is called \"{}\" here. If it is newer than this engine ({}), upgrade \
             Stepstone and run `stepstone daemon restart`.",
            name.chars().take(100).collect::<String>(),
            stepstone_proto::protocol::VERSION,
        ),
        None => "Nothing was done: the request names no action.".to_owned(),
    };
    Failure::new(ErrorCode::InvalidRequest, message)
        .with("supportedActions", supported)
        .resolution("use-a-supported-action")
}

/// How a shape is called in a refusal.
fn expected(shape: Shape) -> String {
    match shape {
        Shape::Text => "a text".to_owned(),
        Shape::Texts => "an array of texts".to_owned(),
        Shape::Flag => "true or false".to_owned(),
        Shape::Count(least, most) => format!("a whole number from {least} to {most}"),
        Shape::Choice(words) => format!("one of {}", words.join(", ")),
        Shape::Choices(words) => format!("an array that holds only {}", words.join(", ")),
        Shape::Plan => "a JSON array of plan entries".to_owned(),
        Shape::Confirmation => "true".to_owned(),
    }
}
