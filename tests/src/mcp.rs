//! A small MCP client over the standard streams of `stepstone-mcp`.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wait::LIMIT;
use crate::{Answer, run};

/// A session to be.
#[derive(Debug)]
#[must_use]
pub struct Session {
    command: Command,
    client: String,
    protocol: String,
}

/// A running session. Dropping it ends the server.
#[derive(Debug)]
pub struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Result<Value, String>>,
    unasked: VecDeque<Value>,
    errors: Arc<Mutex<String>>,
    next_id: u64,
    server: Value,
}

impl Session {
    pub(crate) fn new(command: Command) -> Self {
        Self { command, client: "bench".to_owned(), protocol: "2025-06-18".to_owned() }
    }

    /// In this directory.
    pub fn within(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// With this variable too.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// As a host of this name.
    pub fn client(mut self, name: &str) -> Self {
        name.clone_into(&mut self.client);
        self
    }

    /// Asking for this revision of the protocol.
    pub fn protocol(mut self, revision: &str) -> Self {
        revision.clone_into(&mut self.protocol);
        self
    }

    /// The command itself, for what the methods here do not offer.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Starts the server and says nothing to it.
    ///
    /// # Panics
    /// When it cannot be started.
    #[track_caller]
    pub fn start_silent(mut self) -> Mcp {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        let output = child.stdout.take().expect("piped");
        let mut stderr = child.stderr.take().expect("piped");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let message = line.map_err(|error| error.to_string()).and_then(|line| {
                    serde_json::from_str(&line).map_err(|error| format!("no JSON ({error}): {line}"))
                });
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let errors = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&errors);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&chunk[..count]));
            }
        });
        Mcp {
            input: child.stdin.take(),
            child,
            messages,
            unasked: VecDeque::new(),
            errors,
            next_id: 0,
            server: Value::Null,
        }
    }

    /// Starts the server and shakes hands with it.
    ///
    /// # Panics
    /// When it does not answer.
    #[track_caller]
    pub fn start(self) -> Mcp {
        let hello = json!({
            "protocolVersion": self.protocol,
            "capabilities": {},
            "clientInfo": { "name": self.client, "version": "1" },
        });
        let mut mcp = self.start_silent();
        mcp.server = mcp.request("initialize", hello).expect("initialize is answered with a result");
        mcp.notify("notifications/initialized", json!({}));
        mcp
    }
}

impl Mcp {
    /// What the server said of itself.
    pub fn server(&self) -> &Value {
        &self.server
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// When the server no longer reads.
    #[track_caller]
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the session is open");
        let sent = input.write_all(bytes).and_then(|()| input.flush());
        sent.unwrap_or_else(|error| panic!("the server does not read ({error}); stderr: {}", self.errors()));
    }

    /// Sends one message.
    ///
    /// # Panics
    /// As [`Mcp::send_bytes`].
    #[track_caller]
    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a notification.
    ///
    /// # Panics
    /// As [`Mcp::send_bytes`].
    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "callers write json!(…)")]
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its id, without waiting.
    ///
    /// # Panics
    /// As [`Mcp::send_bytes`].
    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "callers write json!(…)")]
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The reply to the request with this id: its result, or its protocol error. What else arrives meanwhile is kept
    /// for [`Mcp::notification`].
    ///
    /// # Errors
    /// The JSON-RPC error object.
    ///
    /// # Panics
    /// When the server ends, prints something that is no message, or says nothing for a minute.
    #[track_caller]
    pub fn reply(&mut self, id: u64) -> Result<Value, Value> {
        let is_reply = |message: &Value| message["id"] == id && message.get("method").is_none();
        let mut message = match self.unasked.iter().position(is_reply) {
            Some(index) => self.unasked.remove(index).expect("it was just found"),
            None => loop {
                let message = self
                    .receive(LIMIT)
                    .unwrap_or_else(|| panic!("no reply to request {id}; stderr: {}", self.errors()));
                if is_reply(&message) {
                    break message;
                }
                self.unasked.push_back(message);
            },
        };
        match message.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(message["result"].take()),
        }
    }

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    /// The JSON-RPC error object.
    ///
    /// # Panics
    /// As [`Mcp::reply`].
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.reply(id)
    }

    /// Calls a tool: the envelope, after checking that both representations and `isError` agree with it.
    ///
    /// # Panics
    /// When they do not, or the protocol refuses the call.
    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "callers write json!(…)")]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let result = self
            .request("tools/call", json!({ "name": tool, "arguments": arguments }))
            .unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"));
        envelope_of_call(&result).unwrap_or_else(|problem| panic!("{tool} {arguments}: {problem}"))
    }

    /// Reads a resource: the envelope, after checking media type and address.
    ///
    /// # Panics
    /// When they are others, or the protocol refuses the read.
    #[track_caller]
    pub fn read(&mut self, uri: &str) -> Answer {
        let result = self
            .request("resources/read", json!({ "uri": uri }))
            .unwrap_or_else(|error| panic!("{uri}: {error}"));
        envelope_of_read(&result, uri).unwrap_or_else(|problem| panic!("{uri}: {problem}"))
    }

    /// The next message that answers none of our requests, if one comes within `patience`.
    ///
    /// # Panics
    /// When the server prints something that is no message.
    #[track_caller]
    pub fn notification(&mut self, patience: Duration) -> Option<Value> {
        self.unasked.pop_front().or_else(|| self.receive(patience))
    }

    /// The next message, whatever it is; nothing when the server is silent for `patience` or has ended.
    ///
    /// # Panics
    /// When the server prints something that is no message.
    #[track_caller]
    pub fn receive(&mut self, patience: Duration) -> Option<Value> {
        match self.messages.recv_timeout(patience) {
            Ok(Ok(message)) => Some(message),
            Ok(Err(problem)) => panic!("standard output carried something else: {problem}"),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// What stands on the server's standard error so far.
    pub fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Ends the server's input, waits for its end and gives its status and how long it took.
    ///
    /// # Panics
    /// When it does not end.
    #[track_caller]
    pub fn close(mut self) -> (ExitStatus, Duration) {
        let begin = Instant::now();
        drop(self.input.take());
        let status = run::wait(&mut self.child, "the MCP server after the end of its input");
        (status, begin.elapsed())
    }

    /// Ends the server's input and gives its status and all that it still said, in order.
    ///
    /// # Panics
    /// When it does not end, or prints something that is no message.
    #[track_caller]
    pub fn finish(mut self) -> (ExitStatus, Vec<Value>) {
        drop(self.input.take());
        let mut said: Vec<Value> = self.unasked.drain(..).collect();
        while let Some(message) = self.receive(LIMIT) {
            said.push(message);
        }
        (run::wait(&mut self.child, "the MCP server after the end of its input"), said)
    }

    /// Kills the server, as hosts do.
    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.input.take());
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.end();
    }
}

/// The envelope of a tool's result.
///
/// # Errors
/// What is wrong with it: no envelope, two different ones, or an `isError` that contradicts it.
pub(crate) fn envelope_of_call(result: &Value) -> Result<Answer, String> {
    let envelope = &result["structuredContent"];
    if !envelope.is_object() {
        return Err(format!("no structured content in {result}"));
    }
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    if serde_json::from_str::<Value>(text).ok().as_ref() != Some(envelope) {
        return Err(format!("text content and structured content differ in {result}"));
    }
    let is_error = result["isError"].as_bool().unwrap_or_default();
    if is_error == (envelope["ok"] == Value::Bool(true)) {
        return Err(format!("isError is {is_error} beside {envelope}"));
    }
    Ok(Answer(envelope.clone()))
}

/// The envelope of a resource's content.
///
/// # Errors
/// What is wrong with it: another address or media type, or no JSON.
pub(crate) fn envelope_of_read(result: &Value, uri: &str) -> Result<Answer, String> {
    let content = &result["contents"][0];
    if content["mimeType"] != "application/json" || content["uri"] != uri {
        return Err(format!("address or media type is another in {content}"));
    }
    let text = content["text"].as_str().unwrap_or_default();
    serde_json::from_str(text).map(Answer).map_err(|error| format!("{error} in {content}"))
}
