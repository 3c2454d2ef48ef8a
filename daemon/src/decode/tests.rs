//! Every rule of shape, as a table: an input, and the fields and resolution of its refusal.

use serde_json::{Value, json};
use stepstone_proto::contract::ACTIONS;
use stepstone_proto::contract::resolutions::RESOLUTIONS;
use stepstone_proto::envelope::{ErrorCode, Failure};
use stepstone_proto::goal::Status;
use stepstone_proto::operation::{
    Change, DescriptionEdit, Edit, NewGoal, Operation, Placement, PlanEntry, Read, Start,
};

use super::{Decoded, decode};

fn decoded(operation: &Value) -> Decoded {
    decode(operation.as_object().unwrap()).unwrap()
}

fn refusal(operation: &Value) -> Failure {
    decoded(operation).operation.expect_err(&operation.to_string())
}

fn accepted(operation: &Value) -> Operation {
    decoded(operation).operation.unwrap_or_else(|failure| panic!("{operation}: {failure:?}"))
}

#[track_caller]
fn refused(operation: &Value, fields: &[&str], resolution: &str) {
    let failure = refusal(operation);
    assert_eq!(failure.code, ErrorCode::ValidationFailed, "{operation}");
    let details = failure.details.unwrap();
    assert_eq!(details["fields"], json!(fields), "{operation}: {}", failure.message);
    assert_eq!(details["resolution"], resolution, "{operation}: {}", failure.message);
    assert!(RESOLUTIONS.iter().any(|known| known.word == resolution), "{resolution} is not listed");
}

#[test]
fn missing_and_blank_fields_are_named() {
    refused(&json!({"action": "add"}), &["title"], "provide-non-blank-title");
    refused(&json!({"action": "add", "title": " \n"}), &["title"], "provide-non-blank-title");
    refused(&json!({"action": "add", "title": null}), &["title"], "provide-non-blank-title");
    refused(&json!({"action": "update", "id": "a", "title": " "}), &["title"], "provide-non-blank-title");
    for action in ["show", "why", "set_active", "complete", "reopen", "archive", "delete"] {
        refused(&json!({"action": action}), &["id"], "provide-a-goal-id");
        refused(&json!({"action": action, "id": " "}), &["id"], "provide-a-goal-id");
    }
    refused(&json!({"action": "update", "title": "x"}), &["id"], "provide-a-goal-id");
    refused(&json!({"action": "move", "direction": "up"}), &["id"], "provide-a-goal-id");
    refused(&json!({"action": "start", "id": ""}), &["id"], "provide-a-goal-id");
    refused(&json!({"action": "find", "query": " "}), &["query"], "provide-non-blank-search-text");
    refused(
        &json!({"action": "add", "title": "x", "dependsOn": ["a", " "]}),
        &["dependsOn"],
        "provide-non-blank-goal-ids",
    );
    refused(
        &json!({"action": "update", "id": "a", "title": "x", "expectedUpdatedAt": " "}),
        &["expectedUpdatedAt"],
        "provide-non-blank-expected-updated-at",
    );
    refused(
        &json!({"action": "complete", "id": "a", "expectedUpdatedAt": "yesterday"}),
        &["expectedUpdatedAt"],
        "provide-instant-as-expected-updated-at",
    );
}

#[test]
fn every_argument_of_every_action_refuses_a_wrong_type_and_names_itself() {
    for action in ACTIONS {
        for argument in action.arguments.iter().filter(|argument| argument.name != "confirm") {
            for wrong in [json!(7.5), json!({"a": 1}), json!([1]), json!([null])] {
                let mut operation = json!({"action": action.name, "view": "list", "id": "a"});
                if action.argument("view").is_none() {
                    operation.as_object_mut().unwrap().remove("view");
                }
                operation[argument.name] = wrong;
                let fields = refusal(&operation).details.unwrap()["fields"].clone();
                let fields: Vec<String> = serde_json::from_value(fields).unwrap();
                let named = |field: &String| field.starts_with(argument.name);
                assert!(fields.iter().any(named), "{operation}: {fields:?}");
            }
        }
    }
}

#[test]
fn a_confirmation_is_never_a_shape_error_and_only_literal_true_confirms() {
    for confirm in [json!(null), json!("true"), json!(1), json!([]), json!({}), json!(false)] {
        let decoded = decoded(&json!({"action": "delete", "id": "a", "confirm": confirm}));
        assert!(decoded.operation.is_ok() && !decoded.confirmed, "{confirm}");
    }
    assert!(decoded(&json!({"action": "delete", "id": "a", "confirm": true})).confirmed);
}

#[test]
fn all_unknown_fields_are_named_at_once() {
    let operation = json!({"action": "add", "title": "x", "zoo": 1, "colour": null});
    refused(&operation, &["colour", "zoo"], "remove-unknown-fields");
    refused(&json!({"action": "next", "full": true}), &["full"], "remove-unknown-fields");
}

#[test]
fn everything_wrong_is_named_in_one_refusal() {
    let operation = json!({"action": "add", "title": "", "group": 3, "links": ["x"], "what": 1});
    let fields = refusal(&operation).details.unwrap()["fields"].clone();
    assert_eq!(fields, json!(["group", "title", "what"]));
}

#[test]
fn nothing_means_absent() {
    let plain = accepted(&json!({"action": "add", "title": "x"}));
    let filled = json!({"action": "add", "title": " x ", "description": null, "group": " ", "dependsOn": null,
                        "links": null});
    assert_eq!(accepted(&filled), plain);
    assert_eq!(
        plain,
        Operation::Change(Change::Add(NewGoal { title: "x".to_owned(), ..NewGoal::default() }))
    );
    let plain = accepted(&json!({"action": "list"}));
    let filled = json!({"action": "list", "full": false, "explain": null, "status": null, "group": "",
                        "claimed": false, "limit": null, "after": ""});
    assert_eq!(accepted(&filled), plain);
    let plain = accepted(&json!({"action": "move", "id": "a", "afterId": "b"}));
    let filled = json!({"action": "move", "id": "a", "afterId": "b", "beforeId": " ", "direction": ""});
    assert_eq!(accepted(&filled), plain);
    let filled = json!({"action": "start", "id": null, "branch": " ", "clear": false, "takeOver": false,
                        "expectedUpdatedAt": null});
    assert_eq!(accepted(&filled), Operation::Change(Change::Start(Start::Next { branch: None })));
    let filled = json!({"action": "apply-plan", "plan": [], "dryRun": null, "expectedRevision": null});
    assert_eq!(accepted(&filled), accepted(&json!({"action": "apply-plan", "plan": []})));
}

#[test]
fn links_are_canonical_unique_and_of_the_web() {
    let links = json!(["HTTPS://Example.com", "https://example.com/", "http://a.b/c d"]);
    let Operation::Change(Change::Add(goal)) =
        accepted(&json!({"action": "add", "title": "x", "links": links}))
    else {
        panic!("an add")
    };
    assert_eq!(goal.links, ["https://example.com/", "http://a.b/c%20d"]);
    for link in ["ftp://example.com/a", "example.com", "", "javascript:alert(1)", "/x", "https://"] {
        let operation = json!({"action": "add", "title": "x", "links": [link]});
        refused(&operation, &["links"], "provide-absolute-http-or-https-urls");
    }
}

#[test]
fn an_update_must_name_one_consistent_change() {
    let all = ["appendDescription", "dependsOn", "description", "group", "links", "title"];
    refused(&json!({"action": "update", "id": "a"}), &all, "provide-a-change");
    refused(&json!({"action": "update", "id": "a", "title": null, "links": null}), &all, "provide-a-change");
    refused(
        &json!({"action": "update", "id": "a", "description": "x", "appendDescription": "y"}),
        &["appendDescription", "description"],
        "provide-one-description-change",
    );
    refused(
        &json!({"action": "update", "id": "a", "title": "x", "appendDescription": "y"}),
        &["appendDescription", "title"],
        "remove-title-or-replace-description",
    );
    refused(
        &json!({"action": "update", "id": "a", "appendDescription": "  "}),
        &["appendDescription"],
        "provide-non-blank-append-text",
    );
    let operation = json!({"action": "update", "id": "a", "appendDescription": " more\n", "group": "",
                           "dependsOn": [], "links": []});
    let Operation::Change(Change::Update { edit, .. }) = accepted(&operation) else { panic!("an update") };
    let expected = Edit {
        description: Some(DescriptionEdit::Append("more".to_owned())),
        group: Some(None),
        depends_on: Some(Vec::new()),
        links: Some(Vec::new()),
        title: None,
    };
    assert_eq!(edit, expected);
}

#[test]
fn a_move_goes_to_exactly_one_place() {
    let refused = |arguments: &[(&str, &str)], fields: &[&str], resolution: &str| {
        let mut operation = json!({"action": "move", "id": "a"});
        for (name, value) in arguments {
            operation[name] = json!(value);
        }
        refused(&operation, fields, resolution);
    };
    let (up, before, after) = (("direction", "up"), ("beforeId", "b"), ("afterId", "c"));
    refused(&[], &["afterId", "beforeId", "direction"], "provide-one-placement");
    refused(&[before, after], &["afterId", "beforeId"], "provide-one-placement-anchor");
    refused(&[up, before, after], &["afterId", "beforeId"], "provide-one-placement-anchor");
    refused(&[up, before], &["beforeId", "direction"], "provide-one-placement");
    refused(&[up, after], &["afterId", "direction"], "provide-one-placement");
    refused(&[("direction", "left")], &["direction"], "provide-valid-values");
    for (argument, placement) in [
        (up, Placement::Up),
        (("direction", "down"), Placement::Down),
        (before, Placement::Before("b".to_owned())),
        (after, Placement::After("c".to_owned())),
    ] {
        let operation = json!({"action": "move", "id": "a", argument.0: argument.1});
        assert_eq!(accepted(&operation), Operation::Change(Change::Move { id: "a".to_owned(), placement }));
    }
}

#[test]
fn a_start_says_what_it_takes_or_gives_back() {
    refused(
        &json!({"action": "start", "id": "a", "clear": true, "branch": "b"}),
        &["branch", "clear"],
        "choose-branch-or-clear",
    );
    for (name, value) in [
        ("clear", json!(true)),
        ("takeOver", json!(true)),
        ("expectedUpdatedAt", json!("2026-01-01T00:00:00Z")),
    ] {
        let mut fields = vec![name, "id"];
        fields.sort_unstable();
        refused(&json!({"action": "start", name: value}), &fields, "provide-a-goal-id");
    }
    refused(&json!({"action": "start", "branch": "a\nb"}), &["branch"], "provide-one-line-branch");
    let operation = json!({"action": "start", "id": "a", "clear": true, "takeOver": true});
    assert!(matches!(
        accepted(&operation),
        Operation::Change(Change::Start(Start::Clear { take_over: true, .. }))
    ));
}

#[test]
fn a_plan_is_refused_at_the_very_place() {
    let plan = |plan: Value| json!({"action": "apply-plan", "plan": plan});
    refused(&json!({"action": "apply-plan"}), &["plan"], "provide-json-goal-array");
    refused(&plan(json!({"title": "x"})), &["plan"], "provide-json-goal-array");
    refused(&plan(json!("[]")), &["plan"], "provide-json-goal-array");
    refused(&plan(json!(["x"])), &["plan/0"], "provide-json-goal-array");
    refused(&plan(json!([{"title": "x", "status": "done"}])), &["plan/0/status"], "remove-unknown-fields");
    refused(&plan(json!([{"title": "x"}, {"title": " "}])), &["plan/1/title"], "provide-non-blank-title");
    refused(&plan(json!([{}])), &["plan/0/title"], "provide-non-blank-title");
    refused(&plan(json!([{"title": 3}])), &["plan/0/title"], "provide-valid-values");
    for reference in [" a", "a ", "", " "] {
        let entry = json!([{"title": "x", "dependsOn": [reference]}]);
        refused(&plan(entry), &["plan/0/dependsOn"], "remove-surrounding-reference-whitespace");
    }
    for (field, wrong) in [("group", json!(1)), ("description", json!([])), ("dependsOn", json!("a"))] {
        let entry = json!([{"title": "x", field: wrong}]);
        refused(&plan(entry), &[&format!("plan/0/{field}")], "provide-valid-values");
    }
    let entries = json!([{"title": " One ", "description": "", "group": " ", "dependsOn": ["b"]}]);
    let Operation::Change(Change::ApplyPlan { entries, .. }) = accepted(&plan(entries)) else {
        panic!("a plan")
    };
    let expected = PlanEntry {
        title: "One".to_owned(),
        description: Some(String::new()),
        group: None,
        depends_on: vec!["b".to_owned()],
    };
    assert_eq!(entries, [expected]);
}

#[test]
fn a_migration_is_shown_or_confirmed() {
    for action in ["migrate_ids", "migrate_path"] {
        let both = json!({"action": action, "dryRun": true, "confirm": true});
        refused(&both, &["confirm", "dryRun"], "choose-confirm-or-dry-run");
        assert!(decoded(&json!({"action": action})).operation.is_ok());
    }
}

#[test]
fn a_view_decides_the_action_and_refuses_what_it_does_not_use() {
    for view in [json!(null), json!(""), json!("everything"), json!(3), json!("ids"), json!("add")] {
        let operation = json!({"action": "read_goals", "view": view});
        assert_eq!(decoded(&operation).view_action, "read_goals");
        refused(&operation, &["view"], "provide-a-view");
    }
    refused(
        &json!({"action": "read_goals", "view": "next", "id": "a", "limit": 3}),
        &["id", "limit"],
        "remove-unused-fields",
    );
    refused(
        &json!({"action": "read_goals", "view": "show", "id": "a", "query": "x"}),
        &["query"],
        "remove-unused-fields",
    );
    refused(&json!({"action": "read_goals", "view": "show"}), &["id"], "provide-a-goal-id");
    refused(
        &json!({"action": "read_goals", "view": "find", "query": " "}),
        &["query"],
        "provide-non-blank-search-text",
    );
    refused(
        &json!({"action": "read_goals", "view": "list", "limit": 201}),
        &["limit"],
        "provide-valid-values",
    );
    refused(&json!({"action": "read_goals", "view": "list", "nope": 1}), &["nope"], "remove-unknown-fields");
    let filled = json!({"action": "read_goals", "view": "show", "id": "a", "query": "", "status": [], "group": " ",
                        "claimed": false, "limit": null, "after": "", "full": false, "explain": null});
    assert_eq!(accepted(&filled), Operation::Read(Read::Show { id: "a".to_owned() }));
    assert_eq!(decoded(&filled).view_action, "show");
}

#[test]
fn views_are_bounded_and_list_what_is_unfinished() {
    let Operation::Read(Read::List { filter, view }) =
        accepted(&json!({"action": "read_goals", "view": "list"}))
    else {
        panic!("a list")
    };
    assert_eq!(filter.status, [Status::Open, Status::Active]);
    assert_eq!((view.limit, view.characters), (Some(50), Some(10_000)));
    let Operation::Read(Read::List { filter, view }) =
        accepted(&json!({"action": "read_goals", "view": "list", "status": ["done"], "limit": 200.0}))
    else {
        panic!("a list")
    };
    assert_eq!((filter.status, view.limit), (vec![Status::Done], Some(200)));
    let Operation::Read(Read::List { filter, view }) = accepted(&json!({"action": "list"})) else {
        panic!("a list")
    };
    assert_eq!((filter.status.len(), view.limit, view.characters), (0, None, None));
}

proptest::proptest! {
    #[test]
    fn no_input_is_too_strange_to_answer(
        action in proptest::sample::select(ACTIONS.iter().map(|action| action.name).collect::<Vec<_>>()),
        fields in proptest::collection::vec((proptest::sample::select(vec![
            "id", "title", "view", "plan", "limit", "status", "links", "dependsOn", "confirm", "branch", "clear",
            "direction", "beforeId", "description", "appendDescription", "group", "expectedUpdatedAt", "x",
        ]), values()), 0..8),
    ) {
        let mut operation = serde_json::Map::new();
        operation.insert("action".to_owned(), json!(action));
        operation.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if let Err(failure) = decode(&operation).unwrap().operation {
            let details = failure.details.unwrap();
            let fields: Vec<String> = serde_json::from_value(details["fields"].clone()).unwrap();
            assert!(!fields.is_empty() && fields.is_sorted());
            let word = details["resolution"].as_str().unwrap();
            assert!(RESOLUTIONS.iter().any(|known| known.word == word), "{word} is not listed");
        }
    }
}

fn values() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(vec!["list", "up", "open", "a", "", "https://a.b"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[a-z]{1,6}|title|dependsOn", inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}
