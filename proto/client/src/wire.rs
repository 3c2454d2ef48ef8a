//! One HTTP connection to one engine, over the daemon's socket or a child's standard streams.

use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use stepstone_proto::protocol::{self, Range};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How long a body is awaited after its head.
pub(crate) const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// The same on every request.
static HEADERS: LazyLock<HeaderMap> = LazyLock::new(|| {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, HeaderValue::from_static("stepstone"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(protocol::VERSION_HEADER, HeaderValue::from_static(protocol::VERSION));
    if let Ok(range) = HeaderValue::from_str(&protocol::RANGE.to_string()) {
        headers.insert(protocol::PROTOCOL_HEADER, range);
    }
    headers
});

/// Which engine is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The daemon.
    Shared,
    /// A child of this process.
    Private,
}

/// One connection. Dropping it closes it at once, so that the engine sees that nobody waits any more.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
    /// For the waits for a head, which end later and later: to put a clock on costs next to nothing, to make one wakes the
    /// event loop for nothing.
    clock: Pin<Box<Sleep>>,
    /// Which engine.
    pub(crate) engine: Engine,
    /// Which directory its journals are in; a private engine has to be asked.
    pub(crate) journal: Option<String>,
    /// The engine's process, where the system tells.
    pub(crate) pid: Option<u32>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) range: Option<Range>,
    pub(crate) version: String,
    pub(crate) body: Vec<u8>,
}

/// Why there is no whole answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The request did not leave this process.
    NotSent,
    /// No head came in time. The engine may still carry it out.
    Late,
    /// The connection ended before the answer did.
    Lost,
    /// The head came, the body did not in time.
    Unfinished,
}

impl Connection {
    /// Speaks HTTP over `io`.
    pub(crate) async fn over(
        io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        engine: Engine,
    ) -> hyper::Result<Self> {
        let (sender, connection) = handshake(TokioIo::new(io)).await?;
        let task = tokio::spawn(async move {
            // Its errors reach whoever waits for an answer.
            let _ = connection.await;
        });
        let clock = Box::pin(sleep(Duration::ZERO));
        Ok(Self { sender, task, clock, engine, journal: None, pid: None })
    }

    /// Whether the engine has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed() || self.task.is_finished()
    }

    /// Sends a request and awaits the answer's head until `deadline`.
    pub(crate) async fn head(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Unanswered> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|_| Unanswered::NotSent)?;
        request.headers_mut().clone_from(&HEADERS);
        let sending = async {
            self.sender.ready().await.map_err(|_| Unanswered::NotSent)?;
            self.sender.try_send_request(request).await.map_err(|mut error| match error.take_message() {
                Some(_) => Unanswered::NotSent,
                None => Unanswered::Lost,
            })
        };
        self.clock.as_mut().reset(deadline);
        tokio::select! {
            biased;
            sent = sending => sent,
            () = self.clock.as_mut() => Err(Unanswered::Late),
        }
    }

    /// Sends a request and awaits the whole answer: its head until `deadline`, then its body.
    pub(crate) async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
        deadline: Instant,
    ) -> Result<Answer, Unanswered> {
        let response = self.head(method, path, body, deadline).await?;
        let (head, body) = response.into_parts();
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let range = text(protocol::PROTOCOL_HEADER).and_then(Range::parse);
        let version = text(protocol::VERSION_HEADER).unwrap_or("unknown").to_owned();
        let body = match timeout(BODY_PATIENCE, whole(body)).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => return Err(Unanswered::Lost),
            Err(_) => return Err(Unanswered::Unfinished),
        };
        Ok(Answer { status: head.status.as_u16(), range, version, body })
    }
}

/// A body in one piece. Each part is let go as soon as it stands there.
async fn whole(mut body: Incoming) -> hyper::Result<Vec<u8>> {
    let expected = body.size_hint().exact().unwrap_or_default();
    let mut whole = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    while let Some(frame) = body.frame().await {
        if let Ok(part) = frame?.into_data() {
            whole.extend_from_slice(&part);
        }
    }
    Ok(whole)
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}
