//! The four routes.

use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use hyper::body::Bytes;
use serde::Serialize;
use stepstone_proto::operation::Request;
use stepstone_proto::protocol::{
    self, BODY_LIMIT, Because, ConnectedClient, Elsewhere, Leaving, NotUnderstood, RANGE, Range, Status,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::backend::Reply;
use super::clients::Seat;
use super::late::{Asker, Late};
use super::pieces::Pieces;
use super::{Server, events, older};

/// How long a request's body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How long the head of an answer waits for the answer itself. Within it a status can still say that the caller's
/// own engine must do this; after it the head is sent alone, so that a busy engine is told from a dead one.
const HEAD_PATIENCE: Duration = Duration::from_millis(250);
/// How long the status waits for the roots of the connected clients, all together.
const ROOTS_PATIENCE: Duration = Duration::from_millis(200);

/// The routes, over this server. What they answer is sent `with_headers`.
pub fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route(protocol::OPERATIONS, post(operations))
        .route(protocol::EVENTS, get(events::events))
        .route(protocol::STATUS, get(status))
        .route(protocol::SHUTDOWN, post(shutdown))
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_route)
        .with_state(server)
}

/// Every message carries the protocol range and the version, and the last one on a connection says so.
pub(super) fn with_headers(server: &Server, mut response: Response) -> Response {
    static OURS: LazyLock<Option<HeaderValue>> =
        LazyLock::new(|| HeaderValue::from_str(&RANGE.to_string()).ok());
    let headers = response.headers_mut();
    if let Some(range) = &*OURS {
        headers.insert(protocol::PROTOCOL_HEADER, range.clone());
    }
    headers.insert(protocol::VERSION_HEADER, HeaderValue::from_static(protocol::VERSION));
    if server.is_leaving() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

pub(super) fn not_understood(status: StatusCode, error: impl Into<String>) -> Response {
    (status, Json(NotUnderstood { error: error.into() })).into_response()
}

async fn unknown_route(request: HttpRequest) -> Response {
    let error = format!(
        "{} {} is not known to stepstoned {}",
        request.method(),
        request.uri().path(),
        protocol::VERSION
    );
    not_understood(StatusCode::NOT_FOUND, error)
}

/// The refusal of a side whose protocol range does not meet ours, before anything is done. A side that does not say
/// its range (a person with a tool) is taken at its word.
pub(super) fn refuse_range(headers: &HeaderMap) -> Option<Response> {
    let theirs = headers.get(protocol::PROTOCOL_HEADER)?;
    let range = theirs.to_str().ok().and_then(Range::parse);
    if range.is_some_and(|range| range.meets(RANGE)) {
        return None;
    }
    let status = StatusCode::from_u16(protocol::RANGES_APART).unwrap_or(StatusCode::BAD_REQUEST);
    let error =
        format!("this engine speaks protocol {RANGE}, not {}", theirs.to_str().unwrap_or("what was sent"));
    Some(not_understood(status, error))
}

/// The body, within its limits.
async fn whole(body: Body) -> Result<Bytes, Response> {
    match timeout(BODY_PATIENCE, axum::body::to_bytes(body, BODY_LIMIT)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            let cause = error.source();
            Err(if cause.is_some_and(<dyn Error>::is::<http_body_util::LengthLimitError>) {
                let error = format!("the body is larger than {BODY_LIMIT} bytes");
                not_understood(StatusCode::PAYLOAD_TOO_LARGE, error)
            } else {
                not_understood(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))
            })
        }
        Err(_) => Err(not_understood(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

async fn operations(State(server): State<Arc<Server>>, request: HttpRequest) -> Response {
    let (Parts { headers, extensions, .. }, body) = request.into_parts();
    if let Some(refusal) = refuse_range(&headers) {
        return refusal;
    }
    let bytes = match whole(body).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal,
    };
    let request: Request = match serde_json::from_slice(&bytes) {
        Ok(request) => request,
        Err(error) => {
            return not_understood(StatusCode::BAD_REQUEST, format!("the body is no operation: {error}"));
        }
    };
    drop(bytes);
    if let Some(seat) = extensions.get::<Arc<Seat>>() {
        seat.introduce(&request.context);
    }
    // A client that closed the connection behind its request (we were stopped meanwhile, and it went elsewhere) is
    // noticed when the body has been read, and this is dropped above.
    let wanted = Arc::new(AtomicBool::new(true));
    let asker = Asker(Arc::clone(&wanted));
    let client = headers.get(protocol::VERSION_HEADER).and_then(|version| version.to_str().ok());
    let settled = match begin(carry_out(&server, request, wanted, client)).await {
        Begun::Done(settled) => settled,
        Begun::Going(mut answer) => match timeout(HEAD_PATIENCE, &mut answer).await {
            Ok(settled) => settled.unwrap_or(None),
            Err(_) => return json(StatusCode::OK, Body::new(Late::new(text_of(answer), asker))),
        },
    };
    match settled {
        Some(Settled::Envelope(text)) => json(StatusCode::OK, Body::new(text)),
        Some(Settled::Elsewhere(text)) => {
            json(StatusCode::from_u16(protocol::CALLER_MUST).unwrap_or(StatusCode::OK), Body::new(text))
        }
        None => not_understood(StatusCode::INTERNAL_SERVER_ERROR, "the engine gave up on this request"),
    }
}

/// An answer as it crosses the socket.
enum Settled {
    Envelope(Pieces),
    Elsewhere(Pieces),
}

/// The work itself, and its answer; `None` when that cannot be written down.
fn carry_out(
    server: &Arc<Server>,
    request: Request,
    wanted: Arc<AtomicBool>,
    client: Option<&str>,
) -> impl Future<Output = Option<Settled>> + Send + 'static {
    let client = client.map(str::to_owned);
    let piece = server.work.begin();
    let work = Arc::clone(&server.backend).execute(request, wanted);
    async move {
        let settled = match work.await {
            Reply::Envelope(mut envelope) => {
                older::name_it(&mut envelope, client.as_deref());
                Pieces::of_envelope(*envelope).map(Settled::Envelope)
            }
            Reply::CallerMust { reason } => {
                let body = Elsewhere { caller_must: Because { reason } };
                Pieces::of(&body).map(Settled::Elsewhere)
            }
        };
        drop(piece);
        settled.ok()
    }
}

/// How far the first step of some work came.
enum Begun<T> {
    Done(T),
    Going(oneshot::Receiver<T>),
}

/// Takes the first step of some work, which is all that a read at hand needs. The rest is done in a task of its own: a
/// change that has begun is not torn when its asker goes away. Work that breaks off never answers, and harms nobody
/// else on this connection.
async fn begin<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Begun<T> {
    let mut work = Box::pin(work);
    let first =
        poll_fn(|context| Poll::Ready(catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)))));
    let first = first.await;
    if let Ok(Poll::Ready(done)) = first {
        return Begun::Done(done);
    }
    let (sender, receiver) = oneshot::channel();
    // Should it have broken off, the end of the channel tells.
    if first.is_ok() {
        tokio::spawn(async move {
            // Nobody may be there to take it.
            let _ = sender.send(work.await);
        });
    }
    Begun::Going(receiver)
}

/// The same without the status, for a body whose head is out already.
fn text_of(answer: oneshot::Receiver<Option<Settled>>) -> oneshot::Receiver<Pieces> {
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        if let Ok(Some(Settled::Envelope(text) | Settled::Elsewhere(text))) = answer.await {
            let _ = sender.send(text);
        }
    });
    receiver
}

pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn answered(body: &impl Serialize) -> Response {
    Json(body).into_response()
}

async fn status(State(server): State<Arc<Server>>) -> Response {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    answered(&Status {
        version: protocol::VERSION.to_owned(),
        protocol: RANGE.to_string(),
        pid: std::process::id(),
        instance: server.instance.clone(),
        uptime_ms: u64::try_from(server.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        state_directory: server.layout.as_ref().map(|layout| text(layout.directory())),
        socket: server.layout.as_ref().map(|layout| text(layout.socket())),
        journal: server.journal(),
        watching: server.backend.watching().to_owned(),
        worklists: server.backend.overview(),
        clients: connected(&server).await,
    })
}

/// The connected programs, each with the root that it asked about. A repository that does not answer at once is named
/// by the directory.
async fn connected(server: &Arc<Server>) -> Vec<ConnectedClient> {
    let deadline = Instant::now() + ROOTS_PATIENCE;
    let mut clients = Vec::new();
    for (mut client, context) in server.clients.list() {
        let root = Arc::clone(&server.backend).root(context);
        if let Ok(Some(root)) = timeout_at(deadline, root).await {
            client.root = root;
        }
        clients.push(client);
    }
    clients
}

async fn shutdown(State(server): State<Arc<Server>>) -> Response {
    // On a connection this was seen to when the request arrived.
    server.leave("asked to leave");
    answered(&Leaving { pid: std::process::id() })
}
