//! The whole server over in-memory pipes, with an engine that these tests hold in their hands.

mod eras;
mod hostile;
mod life;
mod subscribing;
mod surface;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure, Revisions};
use stepstone_proto::operation::Context;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Semaphore, broadcast};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::serve;
use crate::engine::{Boxed, Engine, Event, Watch};
use crate::place::Place;

/// Bounds what a test waits for. Never reached when the test holds.
const LIMIT: Duration = Duration::from_secs(20);

/// Answers every operation with the operation itself.
pub(super) struct Fake {
    /// What was performed, in order.
    pub(super) performed: Mutex<Vec<(Context, Map<String, Value>)>>,
    /// What was begun and given up.
    pub(super) withdrawn: Arc<Mutex<Vec<String>>>,
    /// Results of actions that are not the operation itself.
    pub(super) results: Mutex<BTreeMap<String, Value>>,
    /// Each operation takes one.
    pub(super) permits: Semaphore,
    /// How often it was told to get ready.
    pub(super) warmed: Mutex<usize>,
    /// How often a watch began.
    pub(super) watches: Mutex<usize>,
    pub(super) events: broadcast::Sender<Event>,
}

impl Fake {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            performed: Mutex::default(),
            withdrawn: Arc::default(),
            results: Mutex::default(),
            permits: Semaphore::new(Semaphore::MAX_PERMITS),
            warmed: Mutex::default(),
            watches: Mutex::default(),
            events: broadcast::Sender::new(64),
        })
    }

    /// The same, doing nothing until it is given permits.
    pub(super) fn held() -> Arc<Self> {
        let fake = Self::new();
        fake.permits.forget_permits(Semaphore::MAX_PERMITS);
        fake
    }

    pub(super) fn result(&self, action: &str, result: Value) {
        self.results.lock().unwrap().insert(action.to_owned(), result);
    }

    pub(super) fn operations(&self) -> Vec<Value> {
        self.performed.lock().unwrap().iter().map(|(_, operation)| Value::Object(operation.clone())).collect()
    }
}

struct Withdrawn(Option<(String, Arc<Mutex<Vec<String>>>)>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        if let Some((action, list)) = self.0.take() {
            list.lock().unwrap().push(action);
        }
    }
}

impl Engine for Fake {
    fn warm(&self) -> Boxed<'_, ()> {
        Box::pin(async { *self.warmed.lock().unwrap() += 1 })
    }

    fn perform(&self, context: Context, operation: Map<String, Value>) -> Boxed<'_, Envelope> {
        let action = operation["action"].as_str().unwrap().to_owned();
        self.performed.lock().unwrap().push((context, operation.clone()));
        let withdrawn = Withdrawn(Some((action.clone(), Arc::clone(&self.withdrawn))));
        Box::pin(async move {
            let mut withdrawn = withdrawn;
            self.permits.acquire().await.unwrap().forget();
            withdrawn.0 = None;
            let revisions = Some(Revisions { project: "7".to_owned() });
            let mut envelope = if operation.get("id") == Some(&json!("refused")) {
                Envelope::failure(&action, Failure::new(ErrorCode::NotFound, "Nothing was done."))
            } else {
                let given = self.results.lock().unwrap().get(&action).cloned();
                let result = given.unwrap_or_else(|| json!({ "operation": operation }));
                Envelope::success(&action, RawValue::from_string(result.to_string()).unwrap())
            };
            envelope.meta.revisions = revisions;
            envelope
        })
    }

    fn watch(&self, _context: Context) -> Boxed<'_, Box<dyn Watch>> {
        Box::pin(async move {
            *self.watches.lock().unwrap() += 1;
            let watch: Box<dyn Watch> = Box::new(Told(self.events.subscribe()));
            watch
        })
    }
}

struct Told(broadcast::Receiver<Event>);

impl Watch for Told {
    fn next(&mut self) -> Boxed<'_, Option<Event>> {
        Box::pin(async { self.0.recv().await.ok() })
    }
}

/// One client of a server.
pub(super) struct Client {
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    pub(super) server: JoinHandle<()>,
}

impl Client {
    pub(super) fn new(engine: &Arc<Fake>) -> Self {
        let (input, theirs_in) = tokio::io::duplex(64 * 1024);
        let (theirs_out, output) = tokio::io::duplex(64 * 1024);
        let engine: Arc<dyn Engine> = Arc::<Fake>::clone(engine);
        let place = Place::new(Some("/project".into()), None);
        let server = tokio::spawn(serve(theirs_in, theirs_out, engine, place, drop));
        Self { input: Some(input), output: BufReader::new(output), server }
    }

    /// A client that shook hands on this revision.
    pub(super) async fn with_handshake(engine: &Arc<Fake>, revision: &str) -> Self {
        let mut client = Self::new(engine);
        let result = client.ask(0, "initialize", hello(revision)).await.unwrap();
        assert_eq!(result["protocolVersion"], revision);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    pub(super) async fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        timeout(LIMIT, input.write_all(bytes)).await.unwrap().unwrap();
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub(super) async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })).await;
    }

    pub(super) async fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({ "requestId": id.into() });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }

    /// The next line. `None` when the output was closed.
    pub(super) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        timeout(LIMIT, self.output.read_line(&mut line)).await.expect("nothing was said").unwrap();
        line.ends_with('\n').then(|| line.trim_end().to_owned())
    }

    pub(super) async fn message(&mut self) -> Value {
        serde_json::from_str(&self.line().await.expect("the output was closed")).unwrap()
    }

    /// The reply that comes next, which must be for this id: its result, or its error.
    pub(super) async fn reply(&mut self, id: impl Into<Value>) -> Result<Value, Value> {
        let message = self.message().await;
        assert_eq!(message["id"], id.into(), "{message}");
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    pub(super) async fn ask(
        &mut self,
        id: impl Into<Value>,
        method: &str,
        params: Value,
    ) -> Result<Value, Value> {
        let id = id.into();
        self.request(id.clone(), method, params).await;
        self.reply(id).await
    }

    /// Ends the input, and gives all that is still said until the server has ended.
    pub(super) async fn end(mut self) -> Vec<Value> {
        self.input = None;
        let mut said = Vec::new();
        while let Some(line) = self.line().await {
            said.push(serde_json::from_str(&line).unwrap());
        }
        timeout(LIMIT, self.server).await.expect("the server goes on").unwrap();
        said
    }

    /// Closes the reading end of the output.
    pub(super) fn stop_reading(self) -> (Option<DuplexStream>, JoinHandle<()>) {
        drop(self.output);
        (self.input, self.server)
    }
}

pub(super) fn hello(revision: &str) -> Value {
    json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "tests", "version": "3" } })
}

/// Parameters that carry their own context.
pub(super) fn modern(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "modern tests", "version": "4" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[allow(clippy::needless_pass_by_value, reason = "callers write json!(…)")]
pub(super) fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Lets everything that can go on do so.
pub(super) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Waits until something holds that nothing announces.
pub(super) async fn eventually(holds: impl Fn() -> bool) {
    let poll = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(LIMIT, poll).await.expect("it never held");
}
