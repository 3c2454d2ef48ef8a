//! The reads, and `read_goals` with its views and bounds.

use serde_json::{Map, Value};
use stepstone_proto::contract::{self, Action};
use stepstone_proto::envelope::Failure;
use stepstone_proto::goal::Status;
use stepstone_proto::operation::{Filter, Operation, Read, View};

use super::arguments::Arguments;
use super::problems::Problems;

/// What `read_goals` answers with when no limit is given.
const VIEW_LIMIT: usize = 50;
/// About how many characters of JSON `read_goals` answers with: hosts cut or refuse longer answers.
const VIEW_CHARACTERS: usize = 10_000;
/// How many ids are named for completion when no limit is given.
const IDS_LIMIT: usize = 100;

pub(super) fn list(arguments: &Arguments<'_>) -> Read {
    Read::List { filter: filter(arguments), view: collection(arguments) }
}

pub(super) fn find(arguments: &Arguments<'_>) -> Read {
    Read::Find { query: arguments.required_text("query"), view: collection(arguments) }
}

pub(super) fn show(arguments: &Arguments<'_>) -> Read {
    Read::Show { id: arguments.required_text("id") }
}

pub(super) fn why(arguments: &Arguments<'_>) -> Read {
    Read::Why { id: arguments.required_text("id") }
}

pub(super) const fn next() -> Read {
    Read::Next
}

pub(super) fn ready(arguments: &Arguments<'_>) -> Read {
    Read::Ready(collection(arguments))
}

pub(super) fn waves(arguments: &Arguments<'_>) -> Read {
    Read::Waves(collection(arguments))
}

pub(super) fn ids(arguments: &Arguments<'_>) -> Read {
    let prefix = arguments.trimmed("prefix").unwrap_or_default();
    Read::Ids { prefix, limit: limit(arguments).unwrap_or(IDS_LIMIT) }
}

fn filter(arguments: &Arguments<'_>) -> Filter {
    let status = arguments.texts("status").unwrap_or_default();
    Filter {
        status: status.iter().filter_map(|name| Status::from_name(name)).collect(),
        group: arguments.trimmed("group"),
        claimed: arguments.flag("claimed"),
    }
}

fn collection(arguments: &Arguments<'_>) -> View {
    View {
        full: arguments.flag("full"),
        explain: arguments.flag("explain"),
        limit: limit(arguments),
        after: arguments.trimmed("after"),
        characters: None,
    }
}

fn limit(arguments: &Arguments<'_>) -> Option<usize> {
    arguments.count("limit").and_then(|count| usize::try_from(count).ok())
}

/// The action that `view` names.
///
/// # Errors
///
/// `VALIDATION_FAILED`, fields `["view"]`, when it names none.
pub(super) fn view(operation: &Map<String, Value>) -> Result<&'static Action, Failure> {
    let views: Vec<&'static Action> =
        contract::ACTIONS.iter().filter(|action| action.surfaces.view).collect();
    let named = operation.get("view").and_then(Value::as_str);
    let found = named.and_then(|name| views.iter().copied().find(|action| action.name == name));
    found.ok_or_else(|| {
        let names: Vec<&str> = views.iter().map(|action| action.name).collect();
        let sentence = format!("`view` must be one of {}.", names.join(", "));
        Problems::refusal(&sentence, "view", "provide-a-view")
    })
}

/// `read_goals`: the view's own read, bounded.
///
/// # Errors
///
/// `VALIDATION_FAILED` for wrong shapes, for what the view needs and did not get, and for fields that it does not use
/// and that are not blank.
pub(super) fn read_goals(
    action: &'static Action,
    view: &'static Action,
    operation: &Map<String, Value>,
) -> Result<Operation, Failure> {
    let mut problems = Problems::of(action);
    let used = |name: &str| name == "view" || view.argument(name).is_some();
    for argument in action.arguments.iter().filter(|argument| !used(argument.name)) {
        if operation.get(argument.name).is_some_and(|value| !is_blank(value)) {
            let sentence = format!("The view {} does not use `{}`.", view.name, argument.name);
            problems.add(argument.name, "remove-unused-fields", sentence);
        }
    }
    let kept = operation.iter().filter(|(name, _)| used(name) || action.argument(name).is_none());
    let kept: Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    let arguments = Arguments::read(action, &kept, &mut problems);
    for argument in view.arguments.iter().filter(|argument| argument.required) {
        if arguments.value(argument.name).is_none() && !problems.names(argument.name) {
            let contract::Blank::Refused(resolution) = argument.blank else { continue };
            let sentence = format!("The view {} needs `{}`.", view.name, argument.name);
            problems.add(argument.name, resolution, sentence);
        }
    }
    problems.finish()?;
    let mut read = match view.name {
        "show" => show(&arguments),
        "find" => find(&arguments),
        "next" => next(),
        "ready" => ready(&arguments),
        "waves" => waves(&arguments),
        "why" => why(&arguments),
        _ => unfinished_unless_told(list(&arguments)),
    };
    bound(&mut read);
    Ok(Operation::Read(read))
}

/// `null`, a false flag, an empty or blank text, an empty array: what models fill unused fields with.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(entries) => entries.is_empty(),
        _ => false,
    }
}

fn unfinished_unless_told(mut read: Read) -> Read {
    if let Read::List { filter, .. } = &mut read
        && filter.status.is_empty()
    {
        filter.status = vec![Status::Open, Status::Active];
    }
    read
}

fn bound(read: &mut Read) {
    if let Read::List { view, .. } | Read::Find { view, .. } | Read::Ready(view) | Read::Waves(view) = read {
        view.limit.get_or_insert(VIEW_LIMIT);
        view.characters = Some(VIEW_CHARACTERS);
    }
}
