//! One connection at a time, with the deadlines that `axum::serve` does not have.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use stepstone_proto::protocol;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until, timeout};

use super::clients::Seat;
use super::{Server, routes};

/// A silent client is cut off sooner while the engine leaves.
const LAST_SILENCE: Duration = Duration::from_secs(1);

/// Serves one connection to its end: the client's, or this engine's. A client that has not begun a request within
/// `silence` is cut off.
pub(super) async fn connection(
    server: Arc<Server>,
    router: Router,
    io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    silence: Option<Duration>,
) {
    let seat = server.clients.enter();
    let inner = TowerToHyperService::new(router);
    let routes = Routes { server: Arc::clone(&server), seat: Arc::clone(&seat), inner };
    let mut serving = pin!(http1::Builder::new().serve_connection(TokioIo::new(io), routes));
    let mut leaving = server.leaving.subscribe();
    let mut told = false;
    let mut deadline = silence.map(|silence| Instant::now() + silence);
    loop {
        tokio::select! {
            ended = serving.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!("a connection ended: {error}");
                }
                return;
            }
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() && !seat.has_asked() => {
                // It may have asked while this branch was waiting.
                if !seat.has_asked() {
                    tracing::debug!("a client said nothing and was cut off");
                    return;
                }
            }
            _ = leaving.wait_for(Option::is_some), if !told => {
                told = true;
                if seat.has_asked() {
                    // What is being answered is answered; an idle connection closes at once.
                    serving.as_mut().graceful_shutdown();
                } else {
                    // Its first request may lie in the socket already. The answer then closes the connection.
                    let last = Instant::now() + LAST_SILENCE;
                    deadline = Some(deadline.map_or(last, |deadline| deadline.min(last)));
                }
            }
        }
    }
}

/// Tells one client that there is no room, so that it knows that nothing was done.
pub(super) async fn refuse(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let answer = service_fn(|_: Request<Incoming>| async {
        let status = StatusCode::from_u16(protocol::FULL).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        Ok::<_, Infallible>(routes::not_understood(status, "this engine has no room for another connection"))
    });
    let refusing = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(io), answer);
    // A client that does not listen is none to wait for.
    let _ = timeout(LAST_SILENCE, refusing).await;
}

/// The router, told which connection a request came on.
struct Routes {
    server: Arc<Server>,
    seat: Arc<Seat>,
    inner: TowerToHyperService<Router>,
}

impl Service<Request<Incoming>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.seat.ask();
        if request.method() == Method::POST && request.uri().path() == protocol::SHUTDOWN {
            // Obeyed when it arrives, and not when it is answered: who asked an engine that was stopped meanwhile may
            // be gone by then.
            self.server.leave("asked to leave");
        }
        request.extensions_mut().insert(Arc::clone(&self.seat));
        let (answering, server) = (self.inner.call(request), Arc::clone(&self.server));
        Box::pin(async move { Ok(routes::with_headers(&server, answering.await?)) })
    }
}
