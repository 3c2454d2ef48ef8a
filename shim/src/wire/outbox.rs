//! The one writer of the output.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

/// While more than this many bytes wait to be written, nothing further is read: a host that does not read its
/// answers must not make this process grow.
const BACKLOG: usize = 32 * 1024 * 1024;
/// How long the last answers may take to be written once the session is over.
const FAREWELL: Duration = Duration::from_secs(5);

/// Lines to be written, in the order in which they are given.
#[derive(Debug)]
pub struct Outbox {
    lines: Option<mpsc::UnboundedSender<String>>,
    writer: Option<JoinHandle<()>>,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    waiting: AtomicUsize,
    written: Notify,
    broken: watch::Sender<bool>,
    begun: watch::Sender<bool>,
}

/// Tells the outbox that nobody reads any more.
#[derive(Debug, Clone)]
pub struct Breaker(Arc<State>);

impl Breaker {
    /// Nobody reads any more.
    pub fn trip(&self) {
        self.0.broken.send_replace(true);
        self.0.written.notify_waiters();
    }
}

impl Outbox {
    /// Writes to `output` from a task of its own.
    pub fn new<W: AsyncWrite + Unpin + Send + 'static>(output: W) -> Self {
        let (lines, waiting) = mpsc::unbounded_channel();
        let state = Arc::new(State {
            waiting: AtomicUsize::new(0),
            written: Notify::new(),
            broken: watch::Sender::new(false),
            begun: watch::Sender::new(false),
        });
        let writer = tokio::spawn(write(output, waiting, Arc::clone(&state)));
        Self { lines: Some(lines), writer: Some(writer), state }
    }

    /// Puts one line, without its end, behind those that wait. Lost when nobody reads any more.
    pub fn push(&self, line: String) {
        if let Some(lines) = &self.lines {
            self.state.waiting.fetch_add(line.len(), Ordering::Relaxed);
            // Only fails when the writer has gone, which `broken` tells.
            let _ = lines.send(line);
        }
    }

    /// A handle for whoever notices that the output was closed.
    #[must_use]
    pub fn breaker(&self) -> Breaker {
        Breaker(Arc::clone(&self.state))
    }

    /// Waits until the first line has been written. False when the output ends without one.
    pub fn begun(&self) -> impl Future<Output = bool> + Send + 'static {
        let mut begun = self.state.begun.subscribe();
        async move { begun.wait_for(|begun| *begun).await.is_ok() }
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        *self.state.broken.borrow()
    }

    /// Waits until nobody reads any more.
    pub async fn broken(&self) {
        let mut broken = self.state.broken.subscribe();
        // The sender lives in `state`, so the wait cannot fail.
        let _ = broken.wait_for(|broken| *broken).await;
    }

    /// Waits until what is to be written is few enough, or nobody reads any more.
    pub async fn roomy(&self) {
        loop {
            let written = self.state.written.notified();
            if self.is_broken() || self.state.waiting.load(Ordering::Relaxed) <= BACKLOG {
                return;
            }
            written.await;
        }
    }

    /// Writes what waits, for a bounded time, and closes the output.
    pub async fn close(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let abort = writer.abort_handle();
            if tokio::time::timeout(FAREWELL, writer).await.is_err() {
                abort.abort();
            }
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut lines: mpsc::UnboundedReceiver<String>,
    state: Arc<State>,
) {
    while let Some(mut bytes) = lines.recv().await.map(ended) {
        // What has come together meanwhile goes out together.
        while bytes.len() < 64 * 1024
            && let Ok(line) = lines.try_recv()
        {
            bytes.extend(ended(line));
        }
        let written = output.write_all(&bytes).await.and(output.flush().await);
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        state.waiting.fetch_sub(bytes.len().saturating_sub(ends), Ordering::Relaxed);
        state.written.notify_waiters();
        if written.is_err() {
            return Breaker(state).trip();
        }
        state.begun.send_if_modified(|begun| !std::mem::replace(begun, true));
    }
    // The session is over. Should closing fail, there is nobody left to be told.
    let _ = output.shutdown().await;
}

fn ended(line: String) -> Vec<u8> {
    let mut bytes = line.into_bytes();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn lines_are_written_whole_in_order_and_all_before_the_output_closes() {
        let (here, mut there) = tokio::io::duplex(7);
        let mut outbox = Outbox::new(here);
        let lines: Vec<String> = (0..200).map(|number| format!("line {number}")).collect();
        for line in &lines {
            outbox.push(line.clone());
        }
        let read = tokio::spawn(async move {
            let mut text = String::new();
            there.read_to_string(&mut text).await.unwrap();
            text
        });
        outbox.close().await;
        assert_eq!(read.await.unwrap(), format!("{}\n", lines.join("\n")));
    }

    #[tokio::test]
    async fn an_output_that_nobody_reads_is_noticed() {
        let (here, there) = tokio::io::duplex(64);
        drop(there);
        let outbox = Outbox::new(here);
        outbox.push("lost".to_owned());
        outbox.broken().await;
        outbox.push("lost too".to_owned());
        assert!(outbox.is_broken());
    }

    #[tokio::test]
    async fn reading_pauses_while_too_much_waits_to_be_written_and_goes_on_afterwards() {
        let (here, mut there) = tokio::io::duplex(1024);
        let outbox = Outbox::new(here);
        outbox.push("x".repeat(BACKLOG + 1));
        let paused = tokio::time::timeout(Duration::from_millis(20), outbox.roomy()).await;
        assert!(paused.is_err());
        tokio::spawn(async move { tokio::io::copy(&mut there, &mut tokio::io::sink()).await });
        outbox.roomy().await;
    }
}
