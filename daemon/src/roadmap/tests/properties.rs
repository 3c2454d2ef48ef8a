//! What holds after any operations on any file.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::roadmap::{difference, text};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any JSON value, with names and texts that need escapes.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof!["[a-z]{0,3}", ".{0,6}", Just("\"\\/\n\u{0}".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// One step: what to do, and numbers that choose goals and texts.
#[derive(Debug, Clone)]
struct Step {
    kind: u8,
    first: u8,
    second: u8,
    title: u8,
    clock: i8,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..16_u8, any::<u8>(), any::<u8>(), any::<u8>(), -2..3_i8);
    let step =
        step.prop_map(|(kind, first, second, title, clock)| Step { kind, first, second, title, clock });
    prop::collection::vec(step, 1..60)
}

const TITLES: [&str; 8] = [
    "Alpha",
    "Alpha one",
    "beta!",
    "???",
    "goal abc 0123abcd",
    "Ship it",
    "ship it now and forever, whatever comes",
    "Ä",
];

impl Step {
    /// The operation on what stands there now; `None` where there is no goal to choose.
    fn operation(&self, ids: &[String]) -> Option<Value> {
        let chosen = |number: u8| ids.get(usize::from(number) % ids.len().max(1)).cloned();
        let title = TITLES[usize::from(self.title) % TITLES.len()];
        let first = chosen(self.first);
        let edges: Vec<String> = chosen(self.first).into_iter().chain(chosen(self.second)).collect();
        Some(match self.kind {
            0 | 1 => json!({"action": "add", "title": title}),
            2 | 3 => json!({"action": "add", "title": title, "dependsOn": edges, "group": "G"}),
            4 => {
                let mut entries =
                    vec![json!({"title": format!("{title} plan {}", self.second), "dependsOn": edges})];
                if self.first.is_multiple_of(8) {
                    entries.push(json!({"title": "Behind", "dependsOn": ["nothing-of-this-name"]}));
                }
                json!({"action": "apply-plan", "plan": entries})
            }
            5 => json!({"action": "update", "id": first?, "title": title}),
            6 => json!({"action": "update", "id": first?, "dependsOn": [chosen(self.second)?]}),
            7 => json!({"action": "update", "id": first?, "appendDescription": title, "dependsOn": []}),
            8 => json!({"action": "move", "id": first?, "beforeId": chosen(self.second)?}),
            9 => {
                json!({"action": "move", "id": first?, "direction": if self.second.is_multiple_of(2) { "up" } else { "down" }})
            }
            10 => json!({"action": "start", "id": first?, "branch": format!("b{}", self.second % 2)}),
            11 => json!({"action": "start", "branch": "next"}),
            12 => json!({"action": "set_active", "id": first?}),
            13 => json!({"action": "complete", "id": first?, "confirm": true}),
            14 => match self.second % 3 {
                0 => json!({"action": "reopen", "id": first?, "confirm": true}),
                1 => json!({"action": "archive", "id": first?, "confirm": true}),
                _ => json!({"action": "start", "id": first?, "clear": true, "takeOver": true}),
            },
            _ => match self.second % 4 {
                0 => json!({"action": "migrate_ids", "confirm": true}),
                _ => json!({"action": "delete", "id": first?, "confirm": true}),
            },
        })
    }
}

fn texts(roadmap: &Roadmap) -> BTreeMap<String, String> {
    roadmap.goals().iter().map(|goal| (goal.id.to_string(), goal.text().to_owned())).collect()
}

/// What every content keeps to that only operations made.
fn check_content(roadmap: &Roadmap) {
    let printed = roadmap.print();
    let again = Roadmap::parse(&printed).unwrap();
    assert_eq!(again.print(), printed);
    assert_eq!(texts(&again), texts(roadmap));
    let mut landed: HashSet<usize> = HashSet::new();
    let goals = roadmap.goals();
    // Every edge is the live id of a goal, once.
    for goal in goals {
        let edges: BTreeSet<&str> = goal.depends_on.iter().map(|edge| &**edge).collect();
        assert_eq!(edges.len(), goal.depends_on.len());
        assert!(edges.iter().all(|edge| roadmap.names().live(edge).is_some()), "{:?}", goal.depends_on);
    }
    // No loop: goals land one after the other until all have.
    while landed.len() < goals.len() {
        let before = landed.len();
        for (place, goal) in goals.iter().enumerate() {
            let mut edges = goal.depends_on.iter().map(|edge| roadmap.names().live(edge).unwrap());
            if edges.all(|edge| landed.contains(&edge)) {
                landed.insert(place);
            }
        }
        assert!(landed.len() > before, "a loop");
    }
    check_waves(roadmap);
    assert!(goals.iter().filter(|goal| goal.status == stepstone_proto::goal::Status::Active).count() <= 1);
}

/// The waves part the unfinished goals, and each goal stands in the earliest that can hold it.
fn check_waves(roadmap: &Roadmap) {
    let waves = roadmap.waves();
    assert!(
        waves.unreachable.is_empty() && waves.waves.iter().all(|wave| wave.is_sorted() && !wave.is_empty())
    );
    let mut wave_of: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, wave) in waves.waves.iter().enumerate() {
        for place in wave {
            assert_eq!(wave_of.insert(*place, number), None);
        }
    }
    for (place, goal) in roadmap.goals().iter().enumerate() {
        assert_eq!(wave_of.contains_key(&place), !goal.status.is_settled());
        let Some(wave) = wave_of.get(&place) else { continue };
        let waited: Vec<usize> =
            roadmap.blocked_by(goal).iter().map(|id| roadmap.names().live(id).unwrap()).collect();
        let earliest = waited.iter().map(|place| wave_of[place] + 1).max().unwrap_or(0);
        assert_eq!(*wave, earliest);
        let is_ready =
            waited.is_empty() && goal.status == stepstone_proto::goal::Status::Open && !goal.is_claimed();
        assert_eq!(roadmap.is_ready(goal), is_ready);
    }
}

/// What every written change keeps to.
fn check_change(
    before: &Roadmap,
    after: &Roadmap,
    operation: &Value,
    changed: &[String],
    ever: &mut HashSet<String>,
) {
    assert!(changed.is_sorted() && !changed.is_empty(), "{operation}: {changed:?}");
    let difference = difference(before, after);
    let (old, new) = (texts(before), texts(after));
    // Everything else kept every byte.
    for (id, text) in
        old.iter().filter(|(id, _)| !changed.contains(id) && operation["action"] != "migrate_ids")
    {
        assert_eq!(new.get(id), Some(text), "{operation}");
    }
    if operation["action"] == "move" {
        assert_eq!((changed.len(), old.values().collect::<BTreeSet<_>>()), (1, new.values().collect()));
        assert!(difference.order_changed);
    } else {
        let migrates = operation["action"] == "migrate_ids";
        let mut expected: Vec<String> = difference.added.iter().chain(&difference.changed).cloned().collect();
        expected.extend(difference.removed.iter().filter(|_| !migrates).cloned());
        expected.sort();
        assert_eq!(changed, expected, "{operation}");
        assert!(!difference.order_changed);
    }
    for id in &difference.changed {
        let stamp = |roadmap: &Roadmap| {
            let place = roadmap.names().live(id).unwrap();
            crate::roadmap::nanoseconds(&roadmap.goals()[place].updated_at).unwrap()
        };
        assert!(stamp(after) > stamp(before), "{operation}: {id} is not stamped");
    }
    for id in &difference.added {
        assert!(ever.insert(id.clone()), "{operation}: {id} was used before");
    }
}

/// Unknown fields of the file and of goals that are still there, in the order in which they stand.
fn unknown_fields(roadmap: &Roadmap) -> Vec<String> {
    let file: Value = serde_json::from_slice(&roadmap.print()).unwrap();
    let fields = |value: &Value| {
        let entries = value.as_object().unwrap().iter().filter(|(name, _)| name.starts_with("x-"));
        entries.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    let goals = file["goals"].as_array().unwrap().iter().filter(|goal| !fields(goal).is_empty());
    let mut found: Vec<String> =
        goals.map(|goal| format!("{}:{:?}", goal["createdAt"], fields(goal))).collect();
    found.sort();
    found.push(format!("{:?}", fields(&file)));
    found
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_operations_keep_the_rules(steps in steps()) {
        let mut bench = Bench::empty();
        let mut ever: HashSet<String> = HashSet::new();
        for step in &steps {
            bench.now_ms += i64::from(step.clock) * 7;
            let ids: Vec<String> = bench.roadmap.goals().iter().map(|goal| goal.id.to_string()).collect();
            let Some(operation) = step.operation(&ids) else { continue };
            let before = bench.roadmap.clone();
            let printed = before.print();
            match bench.try_run(&operation) {
                Err(failure) => {
                    check_message(&failure);
                    prop_assert_eq!(bench.roadmap.print(), printed);
                }
                Ok(outcome) => match outcome.changed {
                    None => {
                        prop_assert!(outcome.no_op, "{}", operation);
                        prop_assert_eq!(bench.roadmap.print(), printed);
                    }
                    Some(changed) => {
                        check_change(&before, &bench.roadmap, &operation, &changed, &mut ever);
                        check_content(&bench.roadmap);
                        // Asked again, most changes find that it is so already.
                        let again = ["set_active", "complete", "reopen", "archive", "move", "migrate_ids"];
                        let name = operation["action"].as_str().unwrap();
                        if again.contains(&name) && operation.get("direction").is_none() {
                            bench.no_op(operation);
                        }
                    }
                },
            }
        }
    }

    #[test]
    fn unknown_fields_outlive_any_operations(
        steps in steps(),
        own in prop::collection::vec(any_json(), 0..3),
        of_goals in prop::collection::vec(any_json(), 3),
    ) {
        let mut goals = Vec::new();
        for (number, value) in of_goals.iter().enumerate() {
            let mut goal = json!({"x-first": value, "id": format!("g{number}"), "title": "t", "status": "open",
                                  "createdAt": format!("{number}"), "updatedAt": OLD});
            goal["x-last"] = value.clone();
            goals.push(goal);
        }
        let mut file = json!({"x-top": 1, "version": 1, "goals": goals});
        for (number, value) in own.iter().enumerate() {
            file[format!("x-{number}")] = value.clone();
        }
        let mut bench = Bench::with_file(file);
        let mut expected = unknown_fields(&bench.roadmap);
        for step in steps.iter().filter(|step| step.kind != 15 || step.second.is_multiple_of(4)) {
            let ids: Vec<String> = bench.roadmap.goals().iter().map(|goal| goal.id.to_string()).collect();
            if let Some(operation) = step.operation(&ids) {
                drop(bench.try_run(&operation));
            }
        }
        prop_assert_eq!(unknown_fields(&bench.roadmap), expected.clone());
        bench.run(json!({"action": "delete", "id": "g1", "confirm": true}));
        expected.retain(|fields| !fields.starts_with("\"1\":"));
        prop_assert_eq!(unknown_fields(&bench.roadmap), expected);
    }

    #[test]
    fn any_value_is_laid_out_as_people_expect(value in any_json(), depth in 0..3_usize) {
        let mut laid_out = String::new();
        text::lay_out(&value.to_string(), 0, &mut laid_out);
        prop_assert_eq!(&laid_out, &serde_json::to_string_pretty(&value).unwrap());
        let mut deeper = String::new();
        text::lay_out(&laid_out, depth, &mut deeper);
        prop_assert_eq!(deeper, laid_out.replace('\n', &format!("\n{}", "  ".repeat(depth))));
        let mut compact = String::new();
        text::compact(&laid_out, &mut compact);
        prop_assert_eq!(&compact, &value.to_string());
        let parts: Vec<String> = text::elements(&laid_out).map(str::to_owned).collect();
        prop_assert_eq!(parts.len(), value.as_array().map_or(0, Vec::len));
        let entries = text::entries(&laid_out).map(|entry| text::decoded(entry.key).unwrap().into_owned());
        let names: Vec<String> = value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        prop_assert_eq!(entries.collect::<Vec<_>>(), names);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(crate::roadmap::Defect::Malformed { message }) = Roadmap::parse(&bytes) {
            prop_assert!(!message.is_empty());
        }
    }

    #[test]
    fn any_damage_to_a_file_is_read_or_refused(
        at in any::<prop::sample::Index>(),
        removed in 0..40_usize,
        put in prop_oneof![Just(Vec::new()), prop::collection::vec(any::<u8>(), 0..4), Just(b"\"}],".to_vec())],
    ) {
        let whole = Bench::with_file(json!({"version": 1, "revision": 3, "goals": five(), "retiredIds": ["x"]}));
        let mut bytes = whole.roadmap.print();
        let start = at.index(bytes.len());
        let end = (start + removed).min(bytes.len());
        bytes.splice(start..end, put);
        if let Ok(roadmap) = Roadmap::parse(&bytes) {
            let printed = roadmap.print();
            prop_assert_eq!(Roadmap::parse(&printed).unwrap().print(), printed);
        }
    }

    #[test]
    fn any_selector_means_what_the_stages_say(
        live in prop::collection::btree_set("[abA]{1,3}", 1..7),
        former in prop::collection::vec("[abA]{1,3}", 0..6),
        retired in prop::collection::vec("[abA]{1,3}", 0..3),
        selector in " ?[abA]{0,3} ?",
    ) {
        let live: Vec<String> = live.into_iter().collect();
        let mut goals: Vec<Value> = live.iter().map(|id| plain(id)).collect();
        for (number, id) in former.iter().enumerate() {
            let place = number % live.len();
            let mut ids = goals[place].get("previousIds").cloned().unwrap_or_else(|| json!([]));
            ids.as_array_mut().unwrap().push(json!(id));
            goals[place]["previousIds"] = ids;
        }
        let name = selector.trim().to_owned();
        let has_former = |goal: &Value| {
            goal.get("previousIds").is_some_and(|ids| ids.as_array().unwrap().contains(&json!(name)))
        };
        let of = |test: &dyn Fn(&Value) -> bool| -> Vec<String> {
            goals.iter().filter(|goal| test(goal)).map(|goal| goal["id"].as_str().unwrap().to_owned()).collect()
        };
        let lower = |text: &str| text.to_lowercase();
        let stages = [
            of(&|goal| goal["id"] == name.as_str()),
            of(&has_former),
            of(&|goal| {
                !retired.iter().any(|id| lower(id) == lower(&name))
                    && lower(goal["id"].as_str().unwrap()).starts_with(&lower(&name))
            }),
        ];
        let matches = stages.into_iter().find(|stage| !stage.is_empty()).filter(|_| !name.is_empty()).unwrap_or_default();
        let bench = Bench::with_file(json!({"version": 1, "goals": goals, "retiredIds": retired}));
        let found = bench.roadmap.selected(&selector);
        let found: Vec<String> = match found {
            crate::roadmap::names::Selected::Nothing => Vec::new(),
            crate::roadmap::names::Selected::One(place) => vec![bench.roadmap.goals()[place].id.to_string()],
            crate::roadmap::names::Selected::Many(places) => {
                places.iter().map(|place| bench.roadmap.goals()[*place].id.to_string()).collect()
            }
        };
        prop_assert_eq!(found, matches);
    }
}
