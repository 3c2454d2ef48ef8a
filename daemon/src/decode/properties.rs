//! What holds for any arguments whatever.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stepstone_proto::contract::ACTIONS;
use stepstone_proto::contract::resolutions::RESOLUTIONS;
use stepstone_proto::envelope::ErrorCode;
use stepstone_proto::operation::{Change, Operation};

use super::decode;

/// Values as programs and models send them, right and wrong.
fn any_value() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just(String::new()),
        Just(" \n".to_owned()),
        "[a-z]{1,4}",
        ".{0,8}",
        prop::sample::select(vec![
            "list",
            "show",
            "up",
            "open",
            "done",
            "https://x.org",
            "2026-01-01T00:00:00Z",
            "7"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..300_u64).prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    let name = prop_oneof![Just("title".to_owned()), Just("dependsOn".to_owned()), word];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Arguments of every action, mixed.
fn any_operation() -> impl Strategy<Value = Map<String, Value>> {
    let mut names: Vec<&'static str> =
        ACTIONS.iter().flat_map(|action| action.arguments).map(|argument| argument.name).collect();
    names.extend(["unknown", "action", "", "plan/0"]);
    let actions: Vec<&'static str> =
        ACTIONS.iter().map(|action| action.name).chain(["nothing", ""]).collect();
    let entry = (prop::sample::select(names), any_value());
    (prop::sample::select(actions), prop::collection::vec(entry, 0..6)).prop_map(|(action, entries)| {
        let mut operation: Map<String, Value> =
            entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        // Not always the last word: an action of another type is refused as well.
        if operation.get("action").is_none_or(Value::is_string) {
            operation.insert("action".to_owned(), json!(action));
        }
        operation
    })
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// What the rest of the engine relies on once arguments are decoded.
fn check_operation(operation: &Operation) {
    match operation {
        Operation::Change(Change::Add(goal)) => {
            assert!(!is_blank(&goal.title) && goal.title.trim() == goal.title);
            assert!(goal.group.as_ref().is_none_or(|group| !is_blank(group)));
            assert!(goal.depends_on.iter().all(|edge| !is_blank(edge)));
            assert!(goal.links.iter().all(|link| link.starts_with("http")));
        }
        Operation::Change(Change::ApplyPlan { entries, .. }) => {
            for entry in entries {
                assert!(!is_blank(&entry.title));
                assert!(entry.depends_on.iter().all(|edge| !is_blank(edge) && edge.trim() == edge));
            }
        }
        Operation::Change(Change::Update { edit, .. }) => assert_ne!(*edit, Default::default()),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_are_decoded_or_refused_by_name(operation in any_operation()) {
        let decoded = match decode(&operation) {
            Err(failure) => {
                prop_assert_eq!(failure.code, ErrorCode::InvalidRequest);
                prop_assert!(failure.details.unwrap().contains_key("supportedActions"));
                return Ok(());
            }
            Ok(decoded) => decoded,
        };
        prop_assert_eq!(decoded.confirmed, operation.get("confirm") == Some(&Value::Bool(true)));
        match decoded.operation {
            Ok(operation) => check_operation(&operation),
            Err(failure) => {
                prop_assert_eq!(failure.code, ErrorCode::ValidationFailed);
                prop_assert!(!failure.retryable && failure.message.len() < 4_000, "{}", failure.message);
                let details = failure.details.unwrap();
                let fields: Vec<String> = serde_json::from_value(details["fields"].clone()).unwrap();
                prop_assert!(!fields.is_empty() && fields.is_sorted(), "{:?}", fields);
                let word = details["resolution"].as_str().unwrap();
                prop_assert!(RESOLUTIONS.iter().any(|known| known.word == word), "{}", word);
                // A confirmation is asked for elsewhere, whatever stands there.
                prop_assert!(word == "choose-confirm-or-dry-run" || decoded.action.argument("confirm").is_none() || !fields.contains(&"confirm".to_owned()));
            }
        }
    }
}
