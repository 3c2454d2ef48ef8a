//! Behaviour as data: a fresh repository, some files in it, and steps with the answers that they must get.
//!
//! A file of `tests/scenarios/` is an array of scenarios. A scenario has a `name`, `files` (path to text or JSON),
//! `env`, `cwd` (below the repository), `git: false` for a directory that is no repository, and `steps`. A step is one
//! of:
//!
//! | key | what it does |
//! | --- | --- |
//! | `tool`, `args` | calls an MCP tool |
//! | `read` | reads an MCP resource |
//! | `cli` | runs `stepstone`; `expect` is `{"exit", "envelope"?}` |
//! | `write`, `content` | writes a file |
//! | `git` | runs Git |
//! | `json`, `bytes` | reads a file, as JSON or as text |
//! | `absent` | a path that must not exist |
//!
//! `save` keeps a value of an envelope under a name, for `${name}` in later steps; `${root}` is the repository. What is
//! expected is exact JSON, but for four placeholders: `<time:a>` (an instant; one label is one value in a scenario),
//! `<text>` (some text), `<any>` (anything, also absence) and `<root>/x` (a path in the repository). Keys that a
//! scenario does not name are differences too, except inside `details` and for a few that may accompany any answer.

mod compare;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value, json};

use self::compare::Comparison;
use crate::{Answer, Mcp, Sandbox, executables, mcp, workspace_root};

/// How many scenarios run at the same time.
const AT_ONCE: usize = 4;

/// Where the scenarios are.
#[must_use]
pub fn directory() -> PathBuf {
    workspace_root().join("tests/scenarios")
}

/// The scenarios of one file.
///
/// # Panics
/// When the file is no array of scenarios.
#[must_use]
pub fn load(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Runs scenarios, a few at a time; one sentence for each difference, beginning with the scenario's name.
#[must_use]
pub fn run_all(scenarios: &[Value]) -> Vec<String> {
    executables();
    let queue = Mutex::new(scenarios.iter());
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(scenario) = queue.lock().unwrap().next() else { break };
                    let name = scenario["name"].as_str().unwrap_or("a scenario without a name");
                    let found = std::panic::catch_unwind(|| Scenario::new(scenario).run())
                        .unwrap_or_else(|panic| vec![format!("panicked: {}", message(&*panic))]);
                    problems.lock().unwrap().extend(found.iter().map(|problem| format!("{name}: {problem}")));
                }
            });
        }
    });
    problems.into_inner().unwrap()
}

struct Scenario<'a> {
    spec: &'a Value,
    sandbox: Sandbox,
    directory: PathBuf,
    mcp: Option<Mcp>,
    names: BTreeMap<String, String>,
    labels: BTreeMap<String, String>,
    problems: Vec<String>,
}

impl<'a> Scenario<'a> {
    fn new(spec: &'a Value) -> Self {
        let mut sandbox =
            if spec["git"] == Value::Bool(false) { Sandbox::without_repository() } else { Sandbox::new() };
        let names = BTreeMap::from([
            ("root".to_owned(), sandbox.root().to_string_lossy().into_owned()),
            ("base".to_owned(), sandbox.base().to_string_lossy().into_owned()),
        ]);
        for (name, value) in object(&spec["env"]) {
            sandbox.set_env(name, fill(text(value), &names));
        }
        for (name, content) in object(&spec["files"]) {
            sandbox.write(name, bytes_of(content));
        }
        let directory = sandbox.path(spec["cwd"].as_str().unwrap_or_default());
        std::fs::create_dir_all(&directory).expect("a directory below the repository");
        Self { spec, sandbox, directory, mcp: None, names, labels: BTreeMap::new(), problems: Vec::new() }
    }

    fn run(mut self) -> Vec<String> {
        for (index, step) in self.spec["steps"].as_array().into_iter().flatten().enumerate() {
            let step = fill_all(step, &self.names);
            let (kind, what) = object(&step).next().expect("a step does something");
            let place = format!("step {} ({kind} {what})", index + 1);
            let found = self.step(&step);
            self.problems.extend(found.into_iter().map(|problem| format!("{place}: {problem}")));
        }
        self.problems
    }

    /// Carries out one step; what is wrong with its outcome.
    fn step(&mut self, step: &Value) -> Vec<String> {
        if let Some(tool) = step["tool"].as_str() {
            let arguments = step.get("args").cloned().unwrap_or_else(|| json!({}));
            let reply = self.mcp().request("tools/call", json!({ "name": tool, "arguments": arguments }));
            self.check_reply(step, reply, mcp::envelope_of_call)
        } else if let Some(uri) = step["read"].as_str() {
            let reply = self.mcp().request("resources/read", json!({ "uri": uri }));
            self.check_reply(step, reply, |result| mcp::envelope_of_read(result, uri))
        } else if let Some(arguments) = step["cli"].as_array() {
            let ended = self.sandbox.cli(arguments.iter().map(text)).within(&self.directory).finish();
            let mut actual = json!({ "exit": ended.code });
            if step["expect"].get("envelope").is_some() {
                let mut envelope = ended.envelope();
                if let Some(meta) = envelope.0["meta"].as_object_mut() {
                    meta.shift_remove("cliVersion");
                }
                actual["envelope"] = envelope.0;
            }
            self.check(step, &actual)
        } else if let Some(name) = step["write"].as_str() {
            self.sandbox.write(name, bytes_of(&step["content"]));
            Vec::new()
        } else if let Some(arguments) = step["git"].as_array() {
            self.sandbox.git(arguments.iter().map(text));
            Vec::new()
        } else if let Some(name) = step["json"].as_str() {
            let actual = serde_json::from_slice(&self.sandbox.read(name)).expect("the file is JSON");
            self.check(step, &actual)
        } else if let Some(name) = step["bytes"].as_str() {
            // Byte for byte, also where a file is no UTF-8.
            let latin: String = self.sandbox.read(name).into_iter().map(char::from).collect();
            self.check(step, &latin.into())
        } else if let Some(name) = step["absent"].as_str() {
            let exists = self.sandbox.path(name).symlink_metadata().is_ok();
            exists.then(|| "it exists".to_owned()).into_iter().collect()
        } else {
            vec!["no such step".to_owned()]
        }
    }

    fn mcp(&mut self) -> &mut Mcp {
        self.mcp.get_or_insert_with(|| self.sandbox.session().within(&self.directory).start())
    }

    fn check_reply(
        &mut self,
        step: &Value,
        reply: Result<Value, Value>,
        envelope: impl Fn(&Value) -> Result<Answer, String>,
    ) -> Vec<String> {
        let actual = match reply {
            Err(error) => json!({ "protocolError": { "code": error["code"] } }),
            Ok(result) => match envelope(&result) {
                Ok(answer) => answer.0,
                Err(problem) => return vec![problem],
            },
        };
        for (name, pointer) in object(&step["save"]) {
            if let Some(value) = actual.pointer(text(pointer)).and_then(Value::as_str) {
                self.names.insert(name.clone(), value.to_owned());
            }
        }
        self.check(step, &actual)
    }

    fn check(&mut self, step: &Value, actual: &Value) -> Vec<String> {
        let Some(expected) = step.get("expect") else { return Vec::new() };
        let root = &self.names["root"];
        let mut comparison = Comparison { labels: &mut self.labels, root, problems: Vec::new() };
        comparison.compare(expected, actual, "");
        comparison.problems
    }
}

fn object(value: &Value) -> serde_json::map::Iter<'_> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.as_object().unwrap_or(&EMPTY).iter()
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} should be a text"))
}

/// The bytes of a file: a text as it is, anything else as indented JSON.
fn bytes_of(content: &Value) -> Vec<u8> {
    match content {
        Value::String(text) => text.clone().into_bytes(),
        other => (serde_json::to_string_pretty(other).expect("JSON prints") + "\n").into_bytes(),
    }
}

/// Puts values in for `${name}`.
fn fill(text: &str, names: &BTreeMap<String, String>) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
}

fn fill_all(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => fill(text, names).into(),
        Value::Array(values) => values.iter().map(|value| fill_all(value, names)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), fill_all(value, names))).collect()
        }
        other => other.clone(),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref().copied()).unwrap_or("no message").to_owned()
}
