//! The prompts: texts of the contract, with the roadmap's present state where they need it.

use serde_json::{Map, Value};
use stepstone_proto::contract::guidance::{self, NEXT_GOAL, NEXT_GOAL_RULES, PLAN_ROADMAP, PROMPTS, Prompt};
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::ClientInfo;

use crate::call::{Caller, operation};

/// The prompt with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Prompt> {
    PROMPTS.into_iter().find(|prompt| prompt.name == name)
}

/// What is wrong with a prompt's arguments, when something is.
///
/// # Errors
/// One sentence that names the argument.
pub fn check(prompt: &Prompt, arguments: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in arguments {
        if prompt.argument.map(|(known, _)| known) != Some(name) {
            return Err(format!("the prompt {} has no argument {name}", prompt.name));
        }
        if !value.is_string() && !value.is_null() {
            return Err(format!("the argument {name} must be a string"));
        }
    }
    Ok(())
}

/// The prompt's text. The arguments have been checked.
pub async fn text(
    prompt: &Prompt,
    arguments: &Map<String, Value>,
    caller: &Caller,
    client: ClientInfo,
) -> String {
    if prompt.name == PLAN_ROADMAP.name {
        let topic = prompt.argument.and_then(|(name, _)| arguments.get(name)).and_then(Value::as_str);
        return guidance::plan_roadmap(topic);
    }
    debug_assert_eq!(prompt.name, NEXT_GOAL.name);
    format!("{NEXT_GOAL_RULES}\n\n{}", next_goal(caller, client).await)
}

/// The first ready goal with what waits for it; without one, who holds what and what is left.
async fn next_goal(caller: &Caller, client: ClientInfo) -> String {
    let next = caller.read(operation("next"), client.clone()).await;
    if !next.ok {
        return shown("The roadmap cannot be read:", &next);
    }
    if let Some(id) = goal_id(&next) {
        let mut show = operation("show");
        show.insert("id".to_owned(), id.into());
        let show = caller.read(show, client).await;
        return shown(
            "The first ready goal, as the roadmap has it now:",
            if show.ok { &show } else { &next },
        );
    }
    let mut left = operation("list");
    left.insert("status".to_owned(), vec!["open", "active"].into());
    left.insert("explain".to_owned(), true.into());
    left.insert("limit".to_owned(), 50.into());
    let left = caller.read(left, client).await;
    shown(
        "Nothing is ready now: what is not finished is blocked, active or held by somebody, or nothing is left. What is left, as the roadmap has it now:",
        &left,
    )
}

fn goal_id(envelope: &Envelope) -> Option<String> {
    let result: Value = serde_json::from_str(envelope.result.as_ref()?.get()).ok()?;
    result.pointer("/goal/id")?.as_str().map(str::to_owned)
}

fn shown(heading: &str, envelope: &Envelope) -> String {
    // An envelope is made of what serializes.
    let text = serde_json::to_string_pretty(envelope).unwrap_or_default();
    format!("{heading}\n\n```json\n{text}\n```")
}
