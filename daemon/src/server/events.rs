//! `GET /v1/events?context=…`: what changes in one worklist, one JSON object per line.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use hyper::body::{Bytes, Frame};
use stepstone_proto::operation::Context;
use stepstone_proto::protocol::{self, Because, Elsewhere, EventLine};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::backend::{Change, Changes, Reply};
use super::clients::Seat;
use super::{Server, routes};

/// Tells a live stream from a lost one.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(super) async fn events(
    State(server): State<Arc<Server>>,
    seat: Option<Extension<Arc<Seat>>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = routes::refuse_range(&headers) {
        return refusal;
    }
    let Some(context) = context(query.as_deref().unwrap_or_default()) else {
        return routes::not_understood(StatusCode::BAD_REQUEST, "the query's context is none");
    };
    if let Some(Extension(seat)) = seat {
        seat.introduce(&context);
    }
    let changes = match Arc::clone(&server.backend).subscribe(context).await {
        Ok(changes) => changes,
        Err(Reply::CallerMust { reason }) => {
            let text = serde_json::to_vec(&Elsewhere { caller_must: Because { reason } }).unwrap_or_default();
            let status = StatusCode::from_u16(protocol::CALLER_MUST).unwrap_or(StatusCode::BAD_REQUEST);
            return routes::json(status, text);
        }
        Err(Reply::Envelope(envelope)) => {
            let words = envelope.error.map(|failure| failure.message).unwrap_or_default();
            return routes::not_understood(StatusCode::NOT_FOUND, words);
        }
    };
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(tell(server, changes, sender));
    let mut response = Response::new(Body::new(Lines(receiver)));
    let lines = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, lines);
    response
}

/// The context in a query, where one component `context=` holds it as percent-encoded JSON.
fn context(query: &str) -> Option<Context> {
    let given = query.split('&').find_map(|pair| pair.strip_prefix("context="))?;
    serde_json::from_str(&protocol::decode_component(given)?).ok()
}

/// Writes lines until the engine leaves or nobody reads.
async fn tell(server: Arc<Server>, mut changes: Changes, lines: mpsc::Sender<EventLine>) {
    let mut leaving = server.leaving.subscribe();
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    let mut sequence = 1;
    let hello = EventLine::Hello { instance: server.instance.clone(), sequence };
    if lines.send(hello).await.is_err() {
        return;
    }
    loop {
        let line = tokio::select! {
            change = changes.recv() => match change {
                Some(change) => {
                    let line = numbered(change, sequence);
                    sequence += 1;
                    line
                }
                // The engine stopped watching; the reader comes back and reads again.
                None => return,
            },
            _ = leaving.wait_for(Option::is_some) => {
                // A reader that does not read does not hold up the leaving.
                let _ = lines.try_send(EventLine::Leaving);
                return;
            }
            _ = heartbeat.tick() => EventLine::Heartbeat,
            () = lines.closed() => return,
        };
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

fn numbered(change: Change, sequence: u64) -> EventLine {
    match change {
        Change::Changed { revision, added, removed, changed, order_changed } => {
            let revision = revision.to_string();
            EventLine::Changed { sequence, revision, added, removed, changed, order_changed }
        }
        Change::Malformed { message } => EventLine::Malformed { sequence, message },
        Change::ReadAgain => EventLine::ReadAgain { sequence },
    }
}

/// The lines as frames of a body.
struct Lines(mpsc::Receiver<EventLine>);

impl hyper::body::Body for Lines {
    type Data = Bytes;
    type Error = serde_json::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|line| {
            let mut text = match serde_json::to_vec(&line?) {
                Ok(text) => text,
                Err(error) => return Some(Err(error)),
            };
            text.push(b'\n');
            Some(Ok(Frame::data(text.into())))
        })
    }
}
