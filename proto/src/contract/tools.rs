//! The actions as MCP tools: order, descriptions, input schemas, hints and metadata.
//!
//! Schemas keep to what every known host understands: plain types, string enums, arrays with `items`. Some hosts
//! strip limits, so that every constraint stands in a description too.

use serde_json::{Map, Value, json};

use super::guidance::{CAPTURE, CONFIRMATION};
use super::{ACTIONS, Action, Argument, Kind, Shape};

/// The tools that come last, in this order; the others keep the table's order.
const LAST: [&str; 2] = ["start", "read_goals"];

/// Every action that is a tool, in the order in which tools are listed.
pub fn all() -> impl Iterator<Item = &'static Action> {
    let tools = || ACTIONS.iter().filter(|action| action.surfaces.tool);
    let first = tools().filter(|action| !LAST.contains(&action.name));
    first.chain(LAST.into_iter().filter_map(move |name| tools().find(|action| action.name == name)))
}

/// What a tool does, when to use it and when not, what comes back, how it is refused. At most 2,000 characters.
#[must_use]
pub fn description(tool: &Action) -> String {
    text(tool.name)
        .unwrap_or(tool.summary)
        .trim_ascii_end()
        .replace("{guard}", CONFIRMATION)
        .replace("{steps}", &CAPTURE.numbered())
}

fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" => include_str!("texts/tools/add.txt"),
        "apply-plan" => include_str!("texts/tools/apply-plan.txt"),
        "update" => include_str!("texts/tools/update.txt"),
        "move" => include_str!("texts/tools/move.txt"),
        "set_active" => include_str!("texts/tools/set_active.txt"),
        "complete" => include_str!("texts/tools/complete.txt"),
        "reopen" => include_str!("texts/tools/reopen.txt"),
        "archive" => include_str!("texts/tools/archive.txt"),
        "delete" => include_str!("texts/tools/delete.txt"),
        "start" => include_str!("texts/tools/start.txt"),
        "read_goals" => include_str!("texts/tools/read_goals.txt"),
        _ => return None,
    })
}

/// What a host may assume about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It removes something for good.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It reaches out to anything beyond the goal file.
    pub open_world: bool,
}

/// The hints of a tool.
#[must_use]
pub fn hints(tool: &Action) -> Hints {
    Hints {
        read_only: tool.kind == Kind::Read,
        destructive: tool.name == "delete",
        idempotent: matches!(
            tool.name,
            "set_active" | "complete" | "reopen" | "archive" | "delete" | "start" | "read_goals"
        ),
        open_world: false,
    }
}

/// A tool's `_meta`.
#[must_use]
pub fn meta(tool: &Action) -> Map<String, Value> {
    let mut meta = Map::new();
    if tool.kind != Kind::Read {
        meta.insert("confirmRequired".to_owned(), tool.confirm.into());
    }
    if matches!(tool.name, "start" | "read_goals") {
        meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
    }
    if tool.name == "apply-plan" {
        let schema = &CAPTURE.schema_descriptions;
        let workflow = json!({
            "title": CAPTURE.title,
            "steps": CAPTURE.steps,
            "schemaDescriptions": { "plan": schema.plan, "planEntry": schema.entry, "dryRun": schema.dry_run },
        });
        meta.insert("captureWorkflow".to_owned(), workflow);
    }
    meta
}

/// A tool's input schema.
#[must_use]
pub fn schema(tool: &Action) -> Map<String, Value> {
    let mut properties = Map::new();
    for argument in tool.arguments {
        properties.insert(argument.name.to_owned(), property(tool, argument));
    }
    let required = tool.arguments.iter().filter(|argument| argument.required).map(|argument| argument.name);
    closed_object(properties, required)
}

fn closed_object<'a>(
    properties: Map<String, Value>,
    required: impl Iterator<Item = &'a str>,
) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.collect::<Vec<_>>().into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn property(tool: &Action, argument: &Argument) -> Value {
    let description = match (tool.name, argument.name) {
        ("apply-plan", "plan") => CAPTURE.schema_descriptions.plan,
        ("apply-plan", "dryRun") => CAPTURE.schema_descriptions.dry_run,
        _ => argument.description,
    };
    let mut property = match argument.shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Flag | Shape::Confirmation => json!({ "type": "boolean" }),
        Shape::Count(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Choice(values) => json!({ "type": "string", "enum": values }),
        Shape::Choices(values) => json!({ "type": "array", "items": { "type": "string", "enum": values } }),
        Shape::Plan => json!({ "type": "array", "items": entry() }),
    };
    if let Value::Object(property) = &mut property {
        property.insert("description".to_owned(), description.into());
    }
    property
}

/// The schema of one plan entry.
fn entry() -> Map<String, Value> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let mut properties = Map::new();
    properties.insert("title".to_owned(), text("What will be true when the goal has landed. Not blank."));
    properties.insert("description".to_owned(), text("Context, scope and acceptance criteria."));
    properties.insert("group".to_owned(), text("A heading shared with related goals."));
    properties.insert(
        "dependsOn".to_owned(),
        json!({
            "type": "array",
            "items": { "type": "string" },
            "description": "What must land first: another entry, by its title's slug (\"Ship it\" is ship-it), or an existing goal, by its exact id. No prefixes.",
        }),
    );
    let mut schema = closed_object(properties, std::iter::once("title"));
    schema.insert("description".to_owned(), CAPTURE.schema_descriptions.entry.into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool as a host lists it.
    fn listed(tool: &Action) -> Value {
        let hints = hints(tool);
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": description(tool),
            "inputSchema": schema(tool),
            "annotations": {
                "readOnlyHint": hints.read_only,
                "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent,
                "openWorldHint": hints.open_world,
            },
            "_meta": meta(tool),
        })
    }

    fn names(tools: impl Iterator<Item = &'static Action>) -> Vec<&'static str> {
        tools.map(|tool| tool.name).collect()
    }

    #[test]
    fn there_are_eleven_tools_in_the_order_that_users_know() {
        assert_eq!(
            names(all()),
            [
                "add",
                "apply-plan",
                "update",
                "move",
                "set_active",
                "complete",
                "reopen",
                "archive",
                "delete",
                "start",
                "read_goals"
            ]
        );
    }

    #[test]
    fn every_tool_has_a_text_of_its_own_within_the_limits_of_hosts() {
        let mut list = 0;
        for tool in all() {
            assert!(text(tool.name).is_some(), "{}", tool.name);
            let description = description(tool);
            assert!(!description.contains("{guard}") && !description.contains("{steps}"), "{}", tool.name);
            assert!(description.chars().count() <= 2000, "{}: {}", tool.name, description.chars().count());
            let size = listed(tool).to_string().len();
            assert!(size <= 7_000, "{}: {size} bytes", tool.name);
            list += size + 1;
        }
        assert!(list <= 20_000, "the list has {list} bytes");
    }

    /// What a schema says to hosts, checked for what every one of them understands. One boolean sub-schema makes all
    /// tools of a server vanish in some.
    fn lint(path: &str, schema: &Value) {
        const KEYS: [&str; 9] = [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "minimum",
            "maximum",
            "description",
        ];
        let schema = schema.as_object().unwrap_or_else(|| panic!("{path} is no object"));
        for key in schema.keys() {
            assert!(KEYS.contains(&key.as_str()), "{path} has {key}");
        }
        match schema["type"].as_str().unwrap_or_else(|| panic!("{path}: the type is no plain word")) {
            "object" => {
                assert_eq!(schema["additionalProperties"], false, "{path}");
                let properties = schema["properties"].as_object().unwrap();
                for name in schema["required"].as_array().unwrap() {
                    assert!(properties.contains_key(name.as_str().unwrap()), "{path} requires {name}");
                }
                for (name, property) in properties {
                    assert!(
                        property["description"].as_str().is_some_and(|text| text.len() > 5),
                        "{path}/{name}"
                    );
                    lint(&format!("{path}/{name}"), property);
                }
            }
            "array" => lint(&format!("{path}/items"), &schema["items"]),
            "string" => {
                for value in schema.get("enum").and_then(Value::as_array).into_iter().flatten() {
                    assert!(value.as_str().is_some_and(|value| !value.is_empty()), "{path}: {value}");
                }
            }
            // Hosts strip limits, so that the description must say them.
            "integer" => {
                let said = schema["description"].as_str().unwrap();
                let limit = schema["maximum"].to_string();
                assert!(said.contains(&limit) || said.contains("revision"), "{path} does not say {limit}");
            }
            "boolean" => {}
            other => panic!("{path} is a {other}"),
        }
    }

    #[test]
    fn every_schema_keeps_to_the_portable_subset() {
        for tool in all() {
            lint(tool.name, &Value::Object(schema(tool)));
        }
    }

    #[test]
    fn schemas_name_the_arguments_of_the_table_and_require_what_it_requires() {
        let required = |name: &str| schema(all().find(|tool| tool.name == name).unwrap())["required"].clone();
        for (tool, names) in [
            ("add", json!(["title"])),
            ("apply-plan", json!(["plan"])),
            ("update", json!(["id"])),
            ("move", json!(["id"])),
            ("start", json!([])),
            ("set_active", json!(["id"])),
            ("complete", json!(["id"])),
            ("delete", json!(["id"])),
            ("read_goals", json!(["view"])),
        ] {
            assert_eq!(required(tool), names, "{tool}");
        }
        for tool in all() {
            let schema = schema(tool);
            let names: Vec<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names, tool.arguments.iter().map(|argument| argument.name).collect::<Vec<_>>());
        }
    }

    #[test]
    fn hints_say_which_tools_read_remove_and_repeat() {
        let with = |hint: fn(Hints) -> bool| names(all().filter(move |tool| hint(hints(tool))));
        assert_eq!(with(|hints| hints.read_only), ["read_goals"]);
        assert_eq!(with(|hints| hints.destructive), ["delete"]);
        assert_eq!(
            with(|hints| hints.idempotent),
            ["set_active", "complete", "reopen", "archive", "delete", "start", "read_goals"]
        );
        assert_eq!(with(|hints| hints.open_world), [""; 0]);
    }

    #[test]
    fn the_confirmed_tools_carry_the_guardrail_whole_and_take_an_optional_boolean() {
        let confirmed = ["complete", "reopen", "archive", "delete"];
        assert_eq!(names(all().filter(|tool| tool.confirm)), confirmed);
        for tool in all() {
            let (description, schema, meta) = (description(tool), schema(tool), meta(tool));
            let confirm = schema["properties"].get("confirm");
            assert_eq!(tool.confirm, confirm.is_some(), "{}", tool.name);
            assert_eq!(tool.confirm, description.contains(CONFIRMATION), "{}", tool.name);
            if tool.kind == Kind::Read {
                assert_eq!(meta.get("confirmRequired"), None);
                continue;
            }
            assert_eq!(meta["confirmRequired"], tool.confirm);
            if let Some(confirm) = confirm {
                assert_eq!(confirm["type"], "boolean");
                assert!(!schema["required"].as_array().unwrap().contains(&json!("confirm")));
            }
        }
        for part in ["explicitly", "general request", "another action", "earlier turn", "permission", "own"] {
            assert!(CONFIRMATION.contains(part), "{part}");
        }
    }

    #[test]
    fn some_tools_are_always_loaded_and_the_plan_carries_its_workflow() {
        let always = all().filter(|tool| meta(tool).contains_key("anthropic/alwaysLoad"));
        assert_eq!(names(always), ["start", "read_goals"]);
        let plan = all().find(|tool| tool.name == "apply-plan").unwrap();
        let workflow = &meta(plan)["captureWorkflow"];
        for step in workflow["steps"].as_array().unwrap() {
            assert!(description(plan).contains(step.as_str().unwrap()));
        }
        let schema = &Value::Object(schema(plan))["properties"];
        let texts = &workflow["schemaDescriptions"];
        assert_eq!(schema["plan"]["description"], texts["plan"]);
        assert_eq!(schema["plan"]["items"]["description"], texts["planEntry"]);
        assert_eq!(schema["dryRun"]["description"], texts["dryRun"]);
    }

    #[test]
    fn the_instructions_fit_and_name_what_they_tell_of() {
        use super::super::guidance::INSTRUCTIONS;
        assert!(INSTRUCTIONS.chars().count() <= 2000, "{}", INSTRUCTIONS.chars().count());
        for part in [
            "read_goals",
            "stepstone://worklist/list",
            "start",
            "expectedUpdatedAt",
            "CONFLICT",
            "apply-plan",
            "by hand",
            "confirm: true",
            "never instructions",
        ] {
            assert!(INSTRUCTIONS.contains(part), "{part}");
        }
    }
}
