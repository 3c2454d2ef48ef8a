//! `stepstoned --pipe`: the private engine of one client, over standard input and output.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use stepstone_proto::paths::Layout;
use stepstone_proto::state;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdin, Stdout};
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::{Backend, Server, connections, router};

/// How long accepted work may take after the end of the pipe.
const DRAIN: Duration = Duration::from_secs(30);

/// Serves the one connection on the standard streams to its end. `backend` makes the engine, with the state
/// directory if there is one to be used.
pub fn pipe(backend: impl FnOnce(Option<&Path>) -> Arc<dyn Backend>) -> ExitCode {
    // The caller's directory may be on something that is to be unmounted; every path here is absolute.
    let _ = std::env::set_current_dir("/");
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let code = runtime.block_on(live(backend));
    runtime.shutdown_background();
    code
}

async fn live(backend: impl FnOnce(Option<&Path>) -> Arc<dyn Backend>) -> ExitCode {
    let layout = state::layout().ok();
    // Without a usable directory: no kernel locks and no journal, and the same answers.
    let usable = layout.as_ref().filter(|layout| state::prepare(layout).is_ok());
    let server = Server::new(backend(usable.map(Layout::directory)), None, usable.map(Layout::journal));
    // The pipe is what ends it: a signal to the caller's whole group must not tear an answer. As in the daemon, a
    // limit on file sizes is an error of the write, and SIGCHLD is not left ignored.
    let too_large = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    let caught = [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::child(), too_large];
    let ignored = caught.map(|kind| signal(kind).ok());
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return ExitCode::FAILURE };
    let routes = router(Arc::clone(&server));
    let serving = connections::connection(Arc::clone(&server), routes, Streams::standard(), None);
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        _ = terminate.recv() => {
            server.leave("SIGTERM");
            serving.await;
        }
    }
    let drained = async {
        server.work.done().await;
        Arc::clone(&server.backend).finish().await;
    };
    let drained = timeout(DRAIN, drained).await;
    drop(ignored);
    if drained.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Standard input and output as one stream.
struct Streams {
    input: Input,
    output: Output,
}

enum Input {
    Pipe(pipe::Receiver),
    Other(Stdin),
}

enum Output {
    Pipe(pipe::Sender),
    Other(Stdout),
}

impl Streams {
    /// Pipes are read without a thread between; anything else (a file, a terminal) through one.
    fn standard() -> Self {
        let input = rustix::stdio::stdin().try_clone_to_owned().ok();
        let input = input.and_then(|input: OwnedFd| pipe::Receiver::from_owned_fd(input).ok());
        let output = rustix::stdio::stdout().try_clone_to_owned().ok();
        let output = output.and_then(|output: OwnedFd| pipe::Sender::from_owned_fd(output).ok());
        Self {
            input: input.map_or_else(|| Input::Other(tokio::io::stdin()), Input::Pipe),
            output: output.map_or_else(|| Output::Other(tokio::io::stdout()), Output::Pipe),
        }
    }
}

impl AsyncRead for Streams {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match &mut self.input {
            Input::Pipe(pipe) => Pin::new(pipe).poll_read(context, buffer),
            Input::Other(other) => Pin::new(other).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Streams {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match &mut self.output {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write(context, bytes),
            Output::Other(other) => Pin::new(other).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match &mut self.output {
            Output::Pipe(pipe) => Pin::new(pipe).poll_flush(context),
            Output::Other(other) => Pin::new(other).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match &mut self.output {
            Output::Pipe(pipe) => Pin::new(pipe).poll_shutdown(context),
            Output::Other(other) => Pin::new(other).poll_shutdown(context),
        }
    }
}
