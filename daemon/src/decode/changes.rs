//! The changes: what excludes what, and the values that need more than a type.

use std::collections::HashSet;

use serde_json::{Map, Value};
use stepstone_proto::contract::Action;
use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::{
    Baseline, Change, DescriptionEdit, Edit, NewGoal, Placement, Start, Target,
};
use url::Url;

use super::arguments::Arguments;
use super::plan;
use super::problems::Problems;
use crate::roadmap::nanoseconds;

/// What `update` can change, as fields.
const EDITS: [&str; 6] = ["title", "description", "appendDescription", "group", "dependsOn", "links"];

/// The typed change for an action whose arguments have the right types.
///
/// # Errors
///
/// `VALIDATION_FAILED` for contradictions and for values that are none.
pub(super) fn change(
    action: &'static Action,
    given: &Map<String, Value>,
    arguments: &Arguments<'_>,
) -> Result<Change, Failure> {
    let mut problems = Problems::of(action);
    let problem = &mut problems;
    let change = match action.name {
        "add" => Change::Add(new_goal(arguments, problem)),
        "apply-plan" => Change::ApplyPlan {
            entries: plan::entries(arguments.value("plan"))?,
            dry_run: arguments.flag("dryRun"),
            expected_revision: arguments.count("expectedRevision"),
        },
        "update" => Change::Update { target: target(arguments, problem), edit: edit(arguments, problem) },
        "move" => {
            Change::Move { id: arguments.required_text("id"), placement: placement(arguments, problem) }
        }
        "start" => Change::Start(start(arguments, problem)),
        "set_active" => Change::SetActive(target(arguments, problem)),
        "complete" => Change::Complete(target(arguments, problem)),
        "reopen" => Change::Reopen(target(arguments, problem)),
        "archive" => Change::Archive(target(arguments, problem)),
        "delete" => Change::Delete(target(arguments, problem)),
        _ => Change::MigrateIds { dry_run: dry_run(action, given, arguments)? },
    };
    problems.finish()?;
    Ok(change)
}

/// Whether a migration is only to be shown.
///
/// # Errors
///
/// `VALIDATION_FAILED` when it is confirmed at the same time.
pub(super) fn dry_run(
    action: &'static Action,
    given: &Map<String, Value>,
    arguments: &Arguments<'_>,
) -> Result<bool, Failure> {
    let dry_run = arguments.flag("dryRun");
    let mut problems = Problems::of(action);
    if dry_run && given.get("confirm") == Some(&Value::Bool(true)) {
        let sentence = "A dry run changes nothing and needs no confirmation; give one of the two.";
        problems.add_all(["confirm", "dryRun"], "choose-confirm-or-dry-run", sentence);
    }
    problems.finish()?;
    Ok(dry_run)
}

fn new_goal(arguments: &Arguments<'_>, problems: &mut Problems) -> NewGoal {
    NewGoal {
        title: arguments.trimmed("title").unwrap_or_default(),
        description: arguments.text("description").map(str::to_owned),
        group: arguments.trimmed("group"),
        depends_on: arguments.texts("dependsOn").unwrap_or_default(),
        links: links(arguments, problems).unwrap_or_default(),
    }
}

fn target(arguments: &Arguments<'_>, problems: &mut Problems) -> Target {
    Target { id: arguments.required_text("id"), expected_updated_at: baseline(arguments, problems) }
}

/// `expectedUpdatedAt` is compared as an instant, so that another spelling of the same one matches.
fn baseline(arguments: &Arguments<'_>, problems: &mut Problems) -> Option<Baseline> {
    const FIELD: &str = "expectedUpdatedAt";
    let given = arguments.text(FIELD)?;
    match nanoseconds(given) {
        Some(instant) => Some(Baseline { given: given.to_owned(), instant }),
        None => {
            let sentence =
                format!("`{FIELD}` is no instant; pass the goal's updatedAt exactly as it was read.");
            problems.add(FIELD, "provide-instant-as-expected-updated-at", sentence);
            None
        }
    }
}

/// Web addresses in WHATWG spelling, each once, in the order given.
fn links(arguments: &Arguments<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let given = arguments.texts("links")?;
    let mut links: Vec<String> = Vec::with_capacity(given.len());
    let mut seen = HashSet::new();
    for text in &given {
        match Url::parse(text.trim()) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => {
                let link = String::from(url);
                if seen.insert(link.clone()) {
                    links.push(link);
                }
            }
            _ => {
                let shown: String = text.chars().take(200).collect();
                let sentence = format!("`links` must hold absolute http or https URLs; \"{shown}\" is none.");
                problems.add("links", "provide-absolute-http-or-https-urls", sentence);
            }
        }
    }
    Some(links)
}

fn edit(arguments: &Arguments<'_>, problems: &mut Problems) -> Edit {
    let given = |name: &str| arguments.value(name).is_some();
    if !EDITS.iter().any(|name| given(name)) {
        let sentence =
            format!("The update names nothing to change; give at least one of {}.", EDITS.join(", "));
        problems.add_all(EDITS, "provide-a-change", sentence);
    } else if given("appendDescription") && given("description") {
        problems.add_all(
            ["appendDescription", "description"],
            "provide-one-description-change",
            "A description is replaced or appended to, not both.",
        );
    } else if given("appendDescription") && given("title") {
        problems.add_all(
            ["appendDescription", "title"],
            "remove-title-or-replace-description",
            "An append adds to the goal as it is, so it does not go with a new title; leave one out, or replace the \
             description.",
        );
    }
    let append = arguments.trimmed("appendDescription").map(DescriptionEdit::Append);
    let replace = arguments.text("description").map(|text| DescriptionEdit::Replace(text.to_owned()));
    Edit {
        title: arguments.trimmed("title"),
        description: replace.or(append),
        group: arguments.trimmed("group").map(|group| Some(group).filter(|group| !group.is_empty())),
        depends_on: arguments.texts("dependsOn"),
        links: links(arguments, problems),
    }
}

fn placement(arguments: &Arguments<'_>, problems: &mut Problems) -> Placement {
    let direction = arguments.text("direction");
    let before = arguments.text("beforeId").map(str::to_owned);
    let after = arguments.text("afterId").map(str::to_owned);
    match (direction, before, after) {
        (Some("up"), None, None) => return Placement::Up,
        (Some(_), None, None) => return Placement::Down,
        (None, Some(id), None) => return Placement::Before(id),
        (None, None, Some(id)) => return Placement::After(id),
        (_, Some(_), Some(_)) => problems.add_all(
            ["afterId", "beforeId"],
            "provide-one-placement-anchor",
            "A goal goes before one goal or behind one, not both.",
        ),
        (direction, before, after) => {
            let all = direction.is_none();
            let fields = [
                ("afterId", all || after.is_some()),
                ("beforeId", all || before.is_some()),
                ("direction", true),
            ];
            let fields = fields.into_iter().filter(|(_, named)| *named).map(|(name, _)| name);
            let sentence = "Give exactly one of direction, beforeId and afterId.";
            problems.add_all(fields, "provide-one-placement", sentence);
        }
    }
    Placement::Up
}

fn start(arguments: &Arguments<'_>, problems: &mut Problems) -> Start {
    let branch = arguments.trimmed("branch");
    if branch.as_deref().is_some_and(|branch| branch.chars().any(char::is_control)) {
        problems.add(
            "branch",
            "provide-one-line-branch",
            "`branch` must be one line without control characters.",
        );
    }
    let clear = arguments.flag("clear");
    if clear && branch.is_some() {
        let sentence = "Give a branch to take the goal for, or clear to give it back, not both.";
        problems.add_all(["branch", "clear"], "choose-branch-or-clear", sentence);
    }
    if arguments.text("id").is_none() {
        let dependent: Vec<&str> = ["clear", "takeOver", "expectedUpdatedAt"]
            .into_iter()
            .filter(|name| arguments.value(name).is_some())
            .collect();
        if !dependent.is_empty() {
            let sentence = format!("{} must say which goal: give its id.", dependent.join(", "));
            problems.add_all(dependent.into_iter().chain(["id"]), "provide-a-goal-id", sentence);
        }
        return Start::Next { branch };
    }
    let target = target(arguments, problems);
    let take_over = arguments.flag("takeOver");
    if clear { Start::Clear { target, take_over } } else { Start::Take { target, branch, take_over } }
}
