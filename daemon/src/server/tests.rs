use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request as HttpRequest, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure};
use stepstone_proto::operation::{Context, Request};
use stepstone_proto::protocol::{self, OpenWorklist};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Notify, mpsc};
use tower::ServiceExt as _;

use super::{Answering, Backend, Change, Changes, Reply, Server, connections, router, routes};

/// An engine that answers what it is told to, when it is told to.
#[derive(Default)]
struct Fake {
    /// Answer 421 instead of an envelope.
    elsewhere: bool,
    /// Wait for this before answering.
    gate: Option<Arc<Notify>>,
    /// Break off instead of answering.
    breaks: bool,
    begun: AtomicUsize,
    done: AtomicUsize,
    wanted: Mutex<Option<Arc<AtomicBool>>>,
    changes: Mutex<Option<Changes>>,
}

impl Fake {
    fn reply(&self, action: &str) -> Reply {
        if self.elsewhere {
            return Reply::CallerMust { reason: "the file lies outside".to_owned() };
        }
        let failure = Failure::new(ErrorCode::NotFound, "no such goal");
        Reply::Envelope(Box::new(Envelope::failure(action, failure)))
    }

    fn is_wanted(&self) -> bool {
        self.wanted.lock().unwrap().as_ref().unwrap().load(Ordering::Relaxed)
    }

    fn counts(&self) -> (usize, usize) {
        (self.begun.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed))
    }
}

impl Backend for Fake {
    fn execute(self: Arc<Self>, request: Request, wanted: Arc<AtomicBool>) -> Answering<Reply> {
        Box::pin(async move {
            self.begun.fetch_add(1, Ordering::Relaxed);
            *self.wanted.lock().unwrap() = Some(wanted);
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            assert!(!self.breaks, "this engine breaks off");
            self.done.fetch_add(1, Ordering::Relaxed);
            self.reply(request.operation["action"].as_str().unwrap())
        })
    }

    fn subscribe(self: Arc<Self>, _: Context) -> Answering<Result<Changes, Reply>> {
        Box::pin(async move { self.changes.lock().unwrap().take().ok_or_else(|| self.reply("events")) })
    }

    fn root(self: Arc<Self>, context: Context) -> Answering<Option<String>> {
        Box::pin(async move { context.cwd.strip_suffix("/below").map(str::to_owned) })
    }

    fn overview(&self) -> Vec<OpenWorklist> {
        vec![OpenWorklist { path: "/r/w.json".into(), revision: "3".into(), goals: 2, queued: 1 }]
    }

    fn watching(&self) -> &'static str {
        "system"
    }

    fn finish(self: Arc<Self>) -> Answering<()> {
        Box::pin(async {})
    }
}

fn server(fake: Fake) -> (Arc<Fake>, Arc<Server>) {
    let fake = Arc::new(fake);
    let server = Server::new(Arc::clone(&fake) as Arc<dyn Backend>, None, None);
    (fake, server)
}

fn operation() -> Value {
    json!({"context": {"cwd": "/r", "client": {"name": "cli", "version": "1", "pid": 7}, "novel": 1},
           "operation": {"action": "complete", "id": "x"}})
}

fn post(path: &str, body: impl Into<Body>) -> HttpRequest<Body> {
    HttpRequest::post(path).body(body.into()).unwrap()
}

fn get(path: &str) -> HttpRequest<Body> {
    HttpRequest::get(path).body(Body::empty()).unwrap()
}

fn with_range(mut request: HttpRequest<Body>, range: &str) -> HttpRequest<Body> {
    request.headers_mut().insert(protocol::PROTOCOL_HEADER, range.parse().unwrap());
    request
}

async fn ask(server: &Arc<Server>, request: HttpRequest<Body>) -> Response<Body> {
    routes::with_headers(server, router(Arc::clone(server)).oneshot(request).await.unwrap())
}

async fn body(response: Response<Body>) -> Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

#[tokio::test]
async fn work_that_breaks_off_at_once_or_later_is_a_failure_of_that_request_alone() {
    for gate in [None, Some(Arc::new(Notify::new()))] {
        if let Some(gate) = gate.clone() {
            // Runs when the request has been begun and waits.
            tokio::spawn(async move { gate.notify_one() });
        }
        let (fake, server) = server(Fake { breaks: true, gate, ..Fake::default() });
        let response = ask(&server, post(protocol::OPERATIONS, operation().to_string())).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(body(response).await["error"].as_str().unwrap().contains("gave up"));
        assert_eq!(fake.counts(), (1, 0));
        server.work.done().await;
    }
}

#[tokio::test]
async fn a_refusal_of_the_operation_is_an_answer_like_any_other() {
    let (_, server) = server(Fake::default());
    let response = ask(&server, post(protocol::OPERATIONS, operation().to_string())).await;
    assert_eq!(response.status(), StatusCode::OK);
    let envelope = body(response).await;
    assert_eq!(envelope["ok"], false);
    assert_eq!(envelope["action"], "complete");
}

#[tokio::test]
async fn what_the_caller_must_do_is_a_status_of_its_own() {
    let (_, server) = server(Fake { elsewhere: true, ..Fake::default() });
    let response = ask(&server, post(protocol::OPERATIONS, operation().to_string())).await;
    assert_eq!(response.status().as_u16(), protocol::CALLER_MUST);
    assert_eq!(body(response).await, json!({"callerMust": {"reason": "the file lies outside"}}));
}

#[tokio::test(start_paused = true)]
async fn a_busy_engine_sends_the_head_before_the_answer() {
    for (elsewhere, key) in [(false, "ok"), (true, "callerMust")] {
        let gate = Arc::new(Notify::new());
        let (fake, server) = server(Fake { gate: Some(Arc::clone(&gate)), elsewhere, ..Fake::default() });
        let response = ask(&server, post(protocol::OPERATIONS, operation().to_string())).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(fake.counts(), (1, 0));
        gate.notify_one();
        assert!(body(response).await.get(key).is_some());
        assert_eq!(fake.counts(), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn an_asker_that_is_gone_is_seen_by_the_engine_and_tears_nothing() {
    let gate = Arc::new(Notify::new());
    let (fake, server) = server(Fake { gate: Some(Arc::clone(&gate)), ..Fake::default() });
    // Gone before the head was sent.
    let request = post(protocol::OPERATIONS, operation().to_string());
    let waiting = tokio::time::timeout(Duration::from_millis(10), ask(&server, request)).await;
    assert!(waiting.is_err());
    assert!(!fake.is_wanted());
    gate.notify_one();
    server.work.done().await;
    assert_eq!(fake.counts(), (1, 1));
    // Gone between head and body.
    let response = ask(&server, post(protocol::OPERATIONS, operation().to_string())).await;
    assert!(fake.is_wanted());
    drop(response);
    assert!(!fake.is_wanted());
    gate.notify_one();
    server.work.done().await;
    assert_eq!(fake.counts(), (2, 2));
}

#[tokio::test]
async fn a_request_that_is_not_understood_reaches_no_engine() {
    let (fake, server) = server(Fake::default());
    let large = vec![b' '; protocol::BODY_LIMIT + 1];
    let requests = [
        (post(protocol::OPERATIONS, "{"), 400),
        (post(protocol::OPERATIONS, ""), 400),
        (post(protocol::OPERATIONS, "[]"), 400),
        (post(protocol::OPERATIONS, r#"{"context": {}, "operation": {}}"#), 400),
        (post(protocol::OPERATIONS, r#"{"context": {"cwd": "/"}, "operation": 7}"#), 400),
        (post(protocol::OPERATIONS, large), 413),
        (get(protocol::OPERATIONS), 404),
        (post(protocol::STATUS, ""), 404),
        (get("/"), 404),
        (get("/v2/operations"), 404),
        (get(protocol::EVENTS), 400),
        (get("/v1/events?context=%7B%7D"), 400),
        (get("/v1/events?context=%zz"), 400),
        (with_range(post(protocol::OPERATIONS, operation().to_string()), "7-9"), protocol::RANGES_APART),
        (with_range(post(protocol::OPERATIONS, operation().to_string()), "0-0"), protocol::RANGES_APART),
        (with_range(post(protocol::OPERATIONS, operation().to_string()), "one"), protocol::RANGES_APART),
        (with_range(get("/v1/events?context=%7B%22cwd%22%3A%22%2F%22%7D"), "7-9"), protocol::RANGES_APART),
    ];
    for (request, status) in requests {
        let shown = format!("{} {}", request.method(), request.uri());
        let response = ask(&server, request).await;
        assert_eq!(response.status().as_u16(), status, "{shown}");
        assert_eq!(response.headers()[protocol::PROTOCOL_HEADER], protocol::RANGE.to_string(), "{shown}");
        assert_eq!(response.headers()[protocol::VERSION_HEADER], protocol::VERSION, "{shown}");
        assert!(body(response).await["error"].is_string(), "{shown}");
    }
    assert_eq!(fake.counts(), (0, 0));
}

#[tokio::test]
async fn any_version_can_ask_and_stop_any_other() {
    let (_, server) = server(Fake::default());
    let response = ask(&server, with_range(get(protocol::STATUS), "900-901")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let status = body(response).await;
    assert_eq!(status["pid"], std::process::id());
    assert_eq!(status["protocol"], protocol::RANGE.to_string());
    assert_eq!(status.get("journal"), None);
    assert_eq!(status["watching"], "system");
    assert_eq!(status["worklists"], json!([{"path": "/r/w.json", "revision": "3", "goals": 2, "queued": 1}]));
    assert!(!server.is_leaving());
    let response = ask(&server, with_range(post(protocol::SHUTDOWN, ""), "900-901")).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["connection"], "close");
    assert_eq!(body(response).await["pid"], std::process::id());
    assert!(server.is_leaving());
}

async fn line(response: &mut Response<Body>) -> Option<Value> {
    let frame = response.body_mut().frame().await?.unwrap().into_data().unwrap();
    assert_eq!(frame.last(), Some(&b'\n'));
    Some(serde_json::from_slice(&frame).unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_event_stream_says_who_tells_then_numbers_what_happens_and_ends_with_the_engine() {
    let (sender, changes) = mpsc::channel(4);
    let (_, server) = server(Fake { changes: Mutex::new(Some(changes)), ..Fake::default() });
    let mut response = ask(&server, get("/v1/events?context=%7B%22cwd%22%3A%22%2F%22%7D")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let hello = json!({"event": "hello", "instance": server.instance, "sequence": 1});
    assert_eq!(line(&mut response).await, Some(hello));
    let changed = Change::Changed {
        revision: 4,
        added: vec!["a".into()],
        removed: vec![],
        changed: vec!["b".into()],
        order_changed: false,
    };
    for change in [changed, Change::Malformed { message: "bad".into() }, Change::ReadAgain] {
        sender.send(change).await.unwrap();
    }
    let expected = json!({"event": "changed", "sequence": 1, "revision": "4", "added": ["a"], "removed": [],
                          "changed": ["b"], "orderChanged": false});
    assert_eq!(line(&mut response).await, Some(expected));
    let expected = json!({"event": "malformed", "sequence": 2, "message": "bad"});
    assert_eq!(line(&mut response).await, Some(expected));
    assert_eq!(line(&mut response).await, Some(json!({"event": "read-again", "sequence": 3})));
    // Nothing happens: time passes by itself here.
    assert_eq!(line(&mut response).await, Some(json!({"event": "heartbeat"})));
    server.leave("test");
    assert_eq!(line(&mut response).await, Some(json!({"event": "leaving"})));
    assert_eq!(line(&mut response).await, None);
    sender.closed().await;
}

#[tokio::test]
async fn a_stream_that_nobody_reads_any_more_ends_its_subscription() {
    let (sender, changes) = mpsc::channel(4);
    let (_, server) = server(Fake { changes: Mutex::new(Some(changes)), ..Fake::default() });
    let response = ask(&server, get("/v1/events?context=%7B%22cwd%22%3A%22%2F%22%7D")).await;
    drop(response);
    sender.closed().await;
}

#[tokio::test]
async fn an_event_stream_that_cannot_be_is_refused_like_an_operation() {
    for (elsewhere, status) in [(true, protocol::CALLER_MUST), (false, 404)] {
        let (_, server) = server(Fake { elsewhere, ..Fake::default() });
        let response = ask(&server, get("/v1/events?context=%7B%22cwd%22%3A%22%2F%22%7D")).await;
        assert_eq!(response.status().as_u16(), status);
    }
}

/// Serves one connection; gives the client's end.
fn connect(server: &Arc<Server>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let silence = Some(Duration::from_secs(10));
    tokio::spawn(connections::connection(Arc::clone(server), router(Arc::clone(server)), theirs, silence));
    ours
}

fn raw(body: &str) -> String {
    format!(
        "POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        protocol::OPERATIONS,
        body.len()
    )
}

async fn to_the_end(stream: &mut DuplexStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_cut_off() {
    let (_, server) = server(Fake::default());
    for begin in ["", "POST /v1/opera"] {
        let mut stream = connect(&server);
        stream.write_all(begin.as_bytes()).await.unwrap();
        assert_eq!(to_the_end(&mut stream).await, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_asked_may_stay_as_long_as_it_likes() {
    let (_, server) = server(Fake::default());
    let mut stream = connect(&server);
    for _ in 0..3 {
        stream.write_all(raw(&operation().to_string()).as_bytes()).await.unwrap();
        let mut begin = [0; 15];
        stream.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200 OK");
        let mut rest = [0; 4096];
        assert!(stream.read(&mut rest).await.unwrap() > 0);
        let known = server.clients.list();
        let [(client, _)] = known.as_slice() else { panic!("{known:?}") };
        assert_eq!((client.name.as_str(), client.pid), ("cli", 7));
        tokio::time::sleep(Duration::from_secs(3600)).await;
    }
    drop(stream);
    while !server.clients.list().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_cut_off() {
    let (fake, server) = server(Fake::default());
    for garbage in [
        "\0\0\0\0\r\n\r\n",
        "hello there\r\n\r\n",
        "{\"jsonrpc\": \"2.0\"}\n\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = connect(&server);
        stream.write_all(garbage.as_bytes()).await.unwrap();
        let answer = to_the_end(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{garbage:?}: {answer}");
    }
    assert_eq!(fake.counts(), (0, 0));
}

#[tokio::test]
async fn a_request_whose_sender_left_behind_it_is_not_carried_out() {
    let (fake, server) = server(Fake::default());
    let (mut ours, theirs) = tokio::io::duplex(1 << 20);
    // All of it lies in the socket before the server looks, as when it was stopped meanwhile.
    ours.write_all(raw(&operation().to_string()).as_bytes()).await.unwrap();
    drop(ours);
    connections::connection(Arc::clone(&server), router(Arc::clone(&server)), theirs, None).await;
    server.work.done().await;
    assert_eq!(fake.counts(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn leaving_answers_what_was_asked_closes_what_is_idle_and_waits_for_no_silent_client() {
    let gate = Arc::new(Notify::new());
    let (fake, server) = server(Fake { gate: Some(Arc::clone(&gate)), ..Fake::default() });
    let mut busy = connect(&server);
    busy.write_all(raw(&operation().to_string()).as_bytes()).await.unwrap();
    while fake.counts().0 == 0 {
        tokio::task::yield_now().await;
    }
    let mut silent = connect(&server);
    // Accepted late, its request already there.
    server.leave("test");
    let (mut late, theirs) = tokio::io::duplex(1 << 20);
    late.write_all(b"GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    connections::connection(Arc::clone(&server), router(Arc::clone(&server)), theirs, None).await;
    assert!(to_the_end(&mut late).await.starts_with("HTTP/1.1 200"));
    assert_eq!(to_the_end(&mut silent).await, "");
    gate.notify_one();
    let answer = to_the_end(&mut busy).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn status_names_each_connected_program_once_with_the_root_that_it_asked_about() {
    let (_, server) = server(Fake::default());
    let context = |pid, cwd: &str| {
        let client = stepstone_proto::operation::ClientInfo { name: "cli".into(), version: "1".into(), pid };
        Context { cwd: cwd.into(), client, ..Context::default() }
    };
    let seats: Vec<_> = (0..4).map(|_| server.clients.enter()).collect();
    seats[0].introduce(&context(7, "/elsewhere"));
    seats[1].introduce(&context(7, "/r/below"));
    seats[2].introduce(&context(8, "/no/repository"));
    let clients = body(ask(&server, get(protocol::STATUS)).await).await["clients"].clone();
    let shown: Vec<_> =
        clients.as_array().unwrap().iter().map(|one| (one["pid"].clone(), one["root"].clone())).collect();
    assert_eq!(shown, [(json!(7), json!("/r")), (json!(8), json!("/no/repository"))]);
    drop(seats);
    assert_eq!(body(ask(&server, get(protocol::STATUS)).await).await["clients"], json!([]));
}
