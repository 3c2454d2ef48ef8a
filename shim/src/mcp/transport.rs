//! Standard streams as rmcp's transport.
//!
//! What rmcp would get wrong is dealt with before it sees anything: messages that are none, notifications that it
//! does not expect, methods and parameters that it confuses, requests without a context, ids. And it learns of the
//! end of the input only when everything in flight has been answered, since it would wait for some answers too long
//! and for others not long enough.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    JsonRpcMessage, NumberOrString, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use tokio::io::AsyncRead;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::ledger::{BatchNumber, Ledger, Number, Pending, error_line, result_line};
use super::{lists, requests};
use crate::wire::lines::{LIMIT, Line, Lines};
use crate::wire::message::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Incoming, WireError, WireId, understand,
};
use crate::wire::outbox::Outbox;

/// How long what is in flight at the end of the input may take. The client's own bounds are below it.
const LAST_ANSWERS: Duration = Duration::from_secs(40);
/// The one revision whose messages may come several in one array.
const WITH_BATCHES: &str = "2025-03-26";
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// One client on a pair of byte streams.
pub(super) struct Stdio<R> {
    lines: Lines<R>,
    outbox: Outbox,
    ledger: Ledger,
    ready: VecDeque<ClientJsonRpcMessage>,
    /// Whether a handshake was asked for, and the revision that it agreed on.
    handshake: bool,
    revision: Option<String>,
    /// Tells long-lived requests that the input has ended.
    closing: watch::Sender<bool>,
    /// Set at the end of the input: when waiting for answers ends.
    until: Option<Instant>,
}

impl<R: AsyncRead + Unpin> Stdio<R> {
    /// Reads from `input` and writes to `outbox`. `closing` is set at the end of the input.
    pub(super) fn new(input: R, outbox: Outbox, closing: watch::Sender<bool>) -> Self {
        Self {
            lines: Lines::new(input, LIMIT),
            outbox,
            ledger: Ledger::default(),
            ready: VecDeque::new(),
            handshake: false,
            revision: None,
            closing,
            until: None,
        }
    }

    fn take_in(&mut self, line: Line) {
        match line {
            Line::Whole(line) => match understand(&line) {
                Incoming::Batch(messages) => self.take_batch(messages),
                message => self.take(message, None),
            },
            Line::TooLong => {
                let error = WireError::new(INVALID_REQUEST, format!("the line is longer than {LIMIT} bytes"));
                self.refuse(None, None, &error);
            }
            Line::End => {
                self.until = Some(Instant::now() + LAST_ANSWERS);
                self.closing.send_replace(true);
            }
        }
    }

    fn take_batch(&mut self, messages: Vec<Incoming>) {
        if self.revision.as_deref() != Some(WITH_BATCHES) {
            let error =
                WireError::new(INVALID_REQUEST, "send one message per line: this revision has no batches");
            return self.refuse(None, None, &error);
        }
        let answered =
            |message: &&Incoming| matches!(message, Incoming::Request { .. } | Incoming::Refused(..));
        let batch = self.ledger.batch(messages.iter().filter(answered).count());
        for message in messages {
            self.take(message, Some(batch));
        }
    }

    fn take(&mut self, message: Incoming, batch: Option<BatchNumber>) {
        match message {
            Incoming::Nothing => {}
            Incoming::Request { id, method, params } => self.take_request(id, method, params, batch),
            Incoming::Notification { method, params } if method == "notifications/cancelled" => {
                self.cancel(params.as_ref());
            }
            // Every other notification of a client is news that changes nothing here.
            Incoming::Notification { .. } => {}
            Incoming::Batch(_) => {
                let error = WireError::new(INVALID_REQUEST, "a batch holds messages, not batches");
                self.refuse(None, batch, &error);
            }
            Incoming::Refused(id, error) => self.refuse(id.as_ref(), batch, &error),
        }
    }

    fn take_request(
        &mut self,
        id: WireId,
        method: String,
        params: Option<Map<String, Value>>,
        batch: Option<BatchNumber>,
    ) {
        let modern = version(params.as_ref()).is_some();
        if let Some(missing) = self.missing_context(&method, modern, params.as_ref()) {
            let text = format!(
                "the request's _meta lacks {missing}, and there was no initialize before: send one of the two"
            );
            return self.refuse(Some(&id), batch, &WireError::new(INVALID_PARAMS, text));
        }
        match requests::typed(&method, params) {
            Ok(request) => {
                self.handshake |= method == "initialize";
                let number = self.ledger.open(Pending { id, method, modern, batch });
                self.ready.push_back(ClientJsonRpcMessage::request(request, NumberOrString::Number(number)));
            }
            Err(error) => self.refuse(Some(&id), batch, &error),
        }
    }

    /// What a request that leans on a handshake needs and does not have, because there was none.
    fn missing_context(
        &self,
        method: &str,
        modern: bool,
        params: Option<&Map<String, Value>>,
    ) -> Option<String> {
        if modern || self.handshake || matches!(method, "initialize" | "ping" | "server/discover") {
            return None;
        }
        let has = |name: &str| meta(params).is_some_and(|meta| meta.contains_key(name));
        let missing: Vec<&str> =
            [PROTOCOL_VERSION, CLIENT_CAPABILITIES].into_iter().filter(|name| !has(name)).collect();
        let missing = if missing.is_empty() { vec![PROTOCOL_VERSION] } else { missing };
        Some(missing.join(" and "))
    }

    fn cancel(&mut self, params: Option<&Map<String, Value>>) {
        let Some(id) = params.and_then(|params| params.get("requestId")).and_then(WireId::from_value) else {
            return;
        };
        let (numbers, lines) = self.ledger.cancel(&id);
        for line in lines {
            self.outbox.push(line);
        }
        for number in numbers {
            let params = CancelledNotificationParam::new(Some(NumberOrString::Number(number)), None);
            let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(params));
            self.ready.push_back(ClientJsonRpcMessage::notification(cancelled));
        }
    }

    fn refuse(&mut self, id: Option<&WireId>, batch: Option<BatchNumber>, error: &WireError) {
        self.answer(batch, error_line(id, error, None));
    }

    fn answer(&mut self, batch: Option<BatchNumber>, answer: String) {
        if let Some(line) = self.ledger.line(batch, answer) {
            self.outbox.push(line);
        }
    }

    fn give(&mut self, message: ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => {
                let Some(pending) = self.close(&response.id) else { return };
                if let ServerResult::InitializeResult(result) = &response.result {
                    self.revision = Some(result.protocol_version.as_str().to_owned());
                }
                let line = if pending.modern {
                    serde_json::to_value(&response.result).and_then(|mut result| {
                        sign(&mut result, &pending.id);
                        result_line(&pending.id, &result)
                    })
                } else {
                    result_line(&pending.id, &response.result)
                };
                let line = line.unwrap_or_else(|error| {
                    let text = format!("the answer cannot be written as JSON: {error}");
                    error_line(Some(&pending.id), &WireError::new(INTERNAL_ERROR, text), None)
                });
                self.answer(pending.batch, line);
            }
            JsonRpcMessage::Error(error) => {
                let Some(pending) = error.id.as_ref().and_then(|id| self.close(id)) else { return };
                let wire = WireError::new(error.error.code.0, error.error.message);
                self.answer(pending.batch, error_line(Some(&pending.id), &wire, error.error.data));
            }
            JsonRpcMessage::Notification(notification) => {
                let Ok(mut notification) = serde_json::to_value(&notification) else { return };
                if self.address(&mut notification) {
                    self.outbox.push(notification.to_string());
                }
            }
            // This server asks clients nothing.
            JsonRpcMessage::Request(_) => {}
        }
    }

    fn close(&mut self, id: &NumberOrString) -> Option<Pending> {
        self.ledger.close(number(id)?)
    }

    /// Puts the client's own id of a subscription where rmcp put ours. False when the subscription is no more.
    fn address(&self, notification: &mut Value) -> bool {
        let Some(subscription) =
            notification.pointer_mut("/params/_meta").and_then(|meta| meta.get_mut(SUBSCRIPTION_ID))
        else {
            return true;
        };
        let Some(pending) = subscription.as_i64().and_then(|number| self.ledger.get(number)) else {
            return false;
        };
        *subscription = pending.id.to_value();
        true
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for Stdio<R> {
    type Error = Infallible;

    /// What is sent stands in line when this returns, so that the order of calls is the order of lines.
    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.give(message);
        ready(Ok(()))
    }

    /// Asked again after every message that was sent, so that the last answer ends the wait for it.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.outbox.is_broken() {
                return None;
            }
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            match self.until {
                None => {
                    self.outbox.roomy().await;
                    let line = tokio::select! {
                        line = self.lines.next() => line,
                        () = self.outbox.broken() => return None,
                    };
                    self.take_in(line);
                }
                Some(_) if self.ledger.is_idle() => return None,
                Some(until) => tokio::select! {
                    () = sleep_until(until) => return None,
                    () = self.outbox.broken() => return None,
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.outbox.close().await;
        Ok(())
    }
}

fn number(id: &NumberOrString) -> Option<Number> {
    match id {
        NumberOrString::Number(number) => Some(*number),
        NumberOrString::String(_) => None,
    }
}

fn meta(params: Option<&Map<String, Value>>) -> Option<&Map<String, Value>> {
    params?.get("_meta")?.as_object()
}

/// The revision that a request names for itself.
fn version(params: Option<&Map<String, Value>>) -> Option<&str> {
    meta(params)?.get(PROTOCOL_VERSION)?.as_str()
}

/// Says who answers, as results without a handshake do, and which subscription a last result is about.
fn sign(result: &mut Value, id: &WireId) {
    let Some(result) = result.as_object_mut() else { return };
    let meta = result.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    let Some(meta) = meta.as_object_mut() else { return };
    if !meta.contains_key(SERVER_INFO)
        && let Ok(info) = serde_json::to_value(lists::implementation())
    {
        meta.insert(SERVER_INFO.to_owned(), info);
    }
    if let Some(subscription) = meta.get_mut(SUBSCRIPTION_ID) {
        *subscription = id.to_value();
    }
}
