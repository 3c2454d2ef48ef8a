//! The only module that knows `rmcp`.
//!
//! rmcp has the protocol's types, runs requests side by side, hands out cancellation and shapes answers per
//! revision. What it gets wrong for a process on standard streams is done here: `transport` reads, writes, counts
//! requests and ends; `requests` turns methods into rmcp's types; `ledger` knows whom an answer is for.

mod handler;
mod ledger;
mod lists;
mod requests;
mod transport;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rmcp::service::serve_directly;
use stepstone_proto::transport::Stream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::call::Caller;
use crate::engine::Engine;
use crate::place::Place;
use crate::subscriptions::Subscriptions;
use crate::wire::outbox::{Breaker, Outbox};
use handler::{Handler, Server};
use transport::Stdio;

/// Where a client's lines come from.
pub type Input = Box<dyn AsyncRead + Unpin + Send>;
/// Where the answers go.
pub type Output = Box<dyn AsyncWrite + Unpin + Send>;

/// Standard input and output, in the way that suits what they are connected to. Hosts that run on Node.js connect
/// sockets, others pipes; both are waited for by the event loop itself. Anything else costs a thread for each line.
#[must_use]
pub fn standard_streams() -> (Input, Output) {
    match (Stream::standard(std::io::stdin()), Stream::standard(std::io::stdout())) {
        (Some(input), Some(output)) => (Box::new(input), Box::new(output)),
        _ => {
            let (input, output) = rmcp::transport::stdio_pipes();
            (Box::new(input), Box::new(output))
        }
    }
}

/// Serves one client until the input ends and everything in flight is answered, or until nobody reads the output.
/// `watch_output` is given the means to say that the latter has happened.
pub async fn serve<R, W>(
    input: R,
    output: W,
    engine: Arc<dyn Engine>,
    place: Place,
    watch_output: impl FnOnce(Breaker),
) where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let warming = Arc::clone(&engine);
    let caller = Arc::new(Caller::new(engine, place));
    let subscriptions = Subscriptions::new(Arc::clone(&caller));
    let (closing, closed) = watch::channel(false);
    let outbox = Outbox::new(output);
    watch_output(outbox.breaker());
    // The handshake needs no engine. Looking for one, or starting one, is begun behind its answer, and nobody waits for
    // it: whoever needs the engine first finds it, or goes on looking.
    let begun = outbox.begun();
    tokio::spawn(async move {
        if begun.await {
            warming.warm().await;
        }
    });
    let handler = Handler::new(caller, subscriptions, closed);
    let running = serve_directly(Server::new(handler), Stdio::new(input, outbox, closing), None);
    // The service's own task cannot fail; should it be torn down, there is nothing left to serve.
    let _ = running.waiting().await;
}
