//! The rules between an operation and a store: order of refusals, `meta`, what is left to the caller's own engine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use stepstone_proto::operation::{ClientInfo, Context, Request};

use super::{Engine, EngineSettings, Reply, Role};

/// A scratch repository and an engine of its own.
struct Bench {
    dir: tempfile::TempDir,
    engine: Arc<Engine>,
    runtime: tokio::runtime::Runtime,
}

const ALPHA: &str = r#"{"version":1,"revision":4,"goals":[{"id":"alpha","title":"Alpha","status":"open",
"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}]}"#;

impl Bench {
    fn new(role: Role) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let state = dir.path().join("state");
        std::fs::create_dir(&state).unwrap();
        let guard = runtime.enter();
        let engine = Engine::new(EngineSettings { state_dir: Some(state), role, watch: false });
        drop(guard);
        let bench = Self { dir, engine, runtime };
        std::fs::create_dir(bench.root()).unwrap();
        bench.git(&["init", "-q", "-b", "main"]);
        bench
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("repo")
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git").args(arguments).current_dir(self.root()).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn context(&self, cwd: &Path) -> Context {
        let path = std::env::var("PATH").unwrap_or_default();
        Context {
            cwd: cwd.to_string_lossy().into_owned(),
            git_env: [("PATH".to_owned(), path)].into(),
            client: ClientInfo { name: "somebody".to_owned(), ..ClientInfo::default() },
            ..Context::default()
        }
    }

    fn reply(&self, context: Context, operation: Value) -> Reply {
        let Value::Object(operation) = operation else { panic!("operations are objects") };
        let request = Request { context, operation };
        self.runtime.block_on(self.engine.execute(request, Arc::new(AtomicBool::new(true))))
    }

    fn ask_in(&self, context: Context, operation: Value) -> Value {
        match self.reply(context, operation) {
            Reply::Envelope(envelope) => serde_json::to_value(envelope).unwrap(),
            Reply::CallerMust { reason } => json!({ "callerMust": reason }),
        }
    }

    fn ask(&self, operation: Value) -> Value {
        self.ask_in(self.context(&self.root()), operation)
    }
}

fn code(envelope: &Value) -> &str {
    envelope["error"]["code"].as_str().unwrap_or("ok")
}

#[test]
fn refusals_come_in_the_one_order() {
    let bench = Bench::new(Role::Private);
    let outside = bench.context(bench.dir.path());
    // Shape before root.
    assert_eq!(code(&bench.ask_in(outside.clone(), json!({"action": "add"}))), "VALIDATION_FAILED");
    assert_eq!(code(&bench.ask_in(outside, json!({"action": "list"}))), "UNAVAILABLE");
    bench.write(".worklist/worklist.json", "{");
    // Shape before confirmation before content before goal.
    assert_eq!(code(&bench.ask(json!({"action": "delete"}))), "VALIDATION_FAILED");
    assert_eq!(code(&bench.ask(json!({"action": "delete", "id": "x"}))), "APPROVAL_REQUIRED");
    assert_eq!(
        code(&bench.ask(json!({"action": "delete", "id": "x", "confirm": true}))),
        "PERSISTENCE_FAILED"
    );
    bench.write(".worklist/worklist.json", ALPHA);
    let stale =
        json!({"action": "delete", "id": "x", "confirm": true, "expectedUpdatedAt": "2020-01-01T00:00:00Z"});
    assert_eq!(code(&bench.ask(stale)), "NOT_FOUND");
    let stale = json!({"action": "delete", "id": "alpha", "confirm": true, "expectedUpdatedAt": "2020-01-01T00:00:00Z"});
    assert_eq!(code(&bench.ask(stale)), "CONFLICT");
    assert_eq!(std::fs::read_to_string(bench.root().join(".worklist/worklist.json")).unwrap(), ALPHA);
}

#[test]
fn an_unknown_action_names_the_known_ones() {
    let bench = Bench::new(Role::Private);
    let answer = bench.ask(json!({"action": "explode"}));
    assert_eq!(code(&answer), "INVALID_REQUEST");
    assert_eq!(answer["action"], "explode");
    assert!(answer["error"]["details"]["supportedActions"].as_array().unwrap().contains(&json!("add")));
}

#[test]
fn every_refusal_says_which_file_is_passed_over() {
    let bench = Bench::new(Role::Private);
    bench.write(".worklist/worklist.json", ALPHA);
    let legacy = bench.write(".pi/worklist.json", ALPHA);
    for operation in [
        json!({"action": "add"}),
        json!({"action": "list"}),
        json!({"action": "complete", "id": "alpha"}),
        json!({"action": "show", "id": "zeta"}),
        json!({"action": "nonsense"}),
        json!({"action": "migrate_path", "confirm": true}),
    ] {
        let answer = bench.ask(operation.clone());
        assert_eq!(answer["meta"]["shadowedWorklistPath"], json!(legacy), "{operation}");
    }
}

#[test]
fn a_selector_that_names_nothing_says_where_was_looked() {
    let bench = Bench::new(Role::Private);
    let path = bench.write(".worklist/worklist.json", ALPHA);
    for operation in [
        json!({"action": "show", "id": "zeta"}),
        json!({"action": "update", "id": "zeta", "title": "x"}),
        json!({"action": "add", "title": "x", "dependsOn": ["zeta"]}),
    ] {
        let answer = bench.ask(operation.clone());
        assert_eq!(answer["error"]["details"]["path"], json!(path), "{operation}");
    }
}

#[test]
fn an_unconfirmed_action_names_its_goal_and_changes_nothing() {
    let bench = Bench::new(Role::Private);
    let path = bench.write(".worklist/worklist.json", ALPHA);
    for confirm in [json!(null), json!(false), json!("true"), json!(1), json!([true])] {
        let answer = bench.ask(json!({"action": "complete", "id": "alp", "confirm": confirm}));
        assert_eq!(code(&answer), "APPROVAL_REQUIRED");
        let details = &answer["error"]["details"];
        assert_eq!(details["confirmation"], "confirm=true");
        assert_eq!(details["goal"]["id"], "alpha");
        assert_eq!(answer["meta"]["revisions"]["project"], "4");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), ALPHA);
}

#[test]
fn the_shared_engine_leaves_files_outside_the_work_tree_to_the_caller() {
    let bench = Bench::new(Role::Shared);
    let outside = bench.dir.path().join("elsewhere.json");
    let mut context = bench.context(&bench.root());
    context.worklist = Some(outside.to_string_lossy().into_owned());
    let answer = bench.ask_in(context, json!({"action": "add", "title": "x"}));
    assert!(answer["callerMust"].is_string(), "{answer}");
    assert!(!outside.exists());
    // So does a link out of the tree.
    std::fs::create_dir(bench.root().join(".worklist")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.root().join(".worklist/worklist.json")).unwrap();
    let answer = bench.ask(json!({"action": "add", "title": "x"}));
    assert!(answer["callerMust"].is_string(), "{answer}");
    assert!(!outside.exists());
}

#[test]
fn the_private_engine_writes_an_explicit_file_and_says_which() {
    let bench = Bench::new(Role::Private);
    let outside = bench.dir.path().canonicalize().unwrap().join("elsewhere.json");
    let mut context = bench.context(&bench.root());
    context.worklist = Some(outside.to_string_lossy().into_owned());
    let answer = bench.ask_in(context, json!({"action": "add", "title": "x"}));
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(answer["meta"]["worklistPath"], json!(outside));
    assert!(outside.exists());
}

#[test]
fn a_repeated_key_is_answered_with_the_first_envelope() {
    let bench = Bench::new(Role::Private);
    let mut context = bench.context(&bench.root());
    context.idempotency_key = Some(json!("k1"));
    let add = json!({"action": "add", "title": "Once", "group": "g"});
    let first = bench.ask_in(context.clone(), add);
    let reordered = json!({"group": "g", "title": "Once", "action": "add"});
    let mut second = bench.ask_in(context.clone(), reordered);
    assert_eq!(second["meta"]["replayed"], true, "{second}");
    second["meta"].as_object_mut().unwrap().remove("replayed");
    assert_eq!(first, second);
    let other = bench.ask_in(context, json!({"action": "add", "title": "Twice"}));
    assert_eq!(other["error"]["details"]["resolution"], "use-a-new-idempotency-key");
    assert_eq!(bench.ask(json!({"action": "list"}))["result"]["goals"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_that_is_no_text_or_blank_is_refused() {
    let bench = Bench::new(Role::Private);
    for key in [json!(""), json!("  "), json!(7), json!({}), json!([])] {
        let mut context = bench.context(&bench.root());
        context.idempotency_key = Some(key);
        let answer = bench.ask_in(context, json!({"action": "add", "title": "x"}));
        assert_eq!(code(&answer), "VALIDATION_FAILED");
        assert!(!bench.root().join(".worklist").exists());
    }
}

#[test]
fn a_claim_is_written_down_for_the_client_that_asked() {
    let bench = Bench::new(Role::Private);
    bench.write(".worklist/worklist.json", ALPHA);
    let answer = bench.ask(json!({"action": "start"}));
    assert_eq!(answer["result"]["goal"]["claimedBy"], "somebody", "{answer}");
    assert_eq!(answer["result"]["goal"]["branch"], "main");
}

#[test]
fn the_branch_that_took_a_goal_gives_it_back_and_no_other_does() {
    let bench = Bench::new(Role::Private);
    bench.write(".worklist/worklist.json", ALPHA);
    let give_back = || bench.ask(json!({"action": "start", "id": "alpha", "clear": true}));
    bench.ask(json!({"action": "start", "branch": "theirs"}));
    assert_eq!(give_back()["error"]["conflict"]["branch"], "theirs");
    bench.ask(json!({"action": "start", "id": "alpha", "takeOver": true}));
    let answer = give_back();
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(answer["result"]["goal"].get("branch"), None);
}

#[test]
fn a_change_of_someone_who_left_is_not_carried_out() {
    let bench = Bench::new(Role::Private);
    let Value::Object(operation) = json!({"action": "add", "title": "x"}) else { panic!("an object") };
    let request = Request { context: bench.context(&bench.root()), operation };
    bench.runtime.block_on(bench.engine.execute(request, Arc::new(AtomicBool::new(false))));
    assert!(!bench.root().join(".worklist/worklist.json").exists());
}

#[test]
fn a_malformed_file_is_read_again_once_it_is_repaired() {
    let bench = Bench::new(Role::Private);
    bench.write(".worklist/worklist.json", "{\n<<<<<<< HEAD\n");
    assert_eq!(code(&bench.ask(json!({"action": "add", "title": "x"}))), "PERSISTENCE_FAILED");
    bench.write(".worklist/worklist.json", ALPHA);
    assert_eq!(bench.ask(json!({"action": "add", "title": "x"}))["ok"], true);
}
