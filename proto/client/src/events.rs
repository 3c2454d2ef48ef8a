//! What changes in one worklist, across any number of daemons.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::body::{Bytes, Incoming};
use stepstone_proto::operation::Context;
use stepstone_proto::protocol::{self, EventLine, RANGE, Range};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::client::{Client, DAEMON_PATIENCE, introduce};
use crate::find;
use crate::private;
use crate::wire::Connection;

/// A stream without a line for so long is taken for lost; engines send a heartbeat every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);
/// Pauses between attempts to reach an engine: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// After a daemon that said that it leaves: time for a stop to be seen, or for an upgrade to finish.
const AFTER_LEAVING: Duration = Duration::from_millis(500);
/// How long the first stream is awaited before [`Client::events`] returns without it.
const FIRST: Duration = Duration::from_secs(2);

/// Something that changed in the worklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Its content.
    Changed {
        /// The file's revision, as decimal text.
        revision: String,
        /// Ids of new goals.
        added: Vec<String>,
        /// Ids that are gone.
        removed: Vec<String>,
        /// Ids of goals that read differently now.
        changed: Vec<String>,
        /// The goals that stayed stand in another order.
        order_changed: bool,
    },
    /// It cannot be read any more.
    Malformed {
        /// What is wrong with it.
        message: String,
    },
    /// Anything may have changed: a stream was lost, or another file is in use.
    ReadAgain,
}

/// Events of one worklist. It reconnects by itself, and ends when it is dropped.
#[derive(Debug)]
pub struct EventStream(mpsc::Receiver<Event>);

impl EventStream {
    /// The next event. `None` only when the runtime ends. Nothing is lost when this is cancelled.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.recv().await
    }
}

impl Client {
    /// The events of the worklist that `context` is about, from now on.
    ///
    /// Returns when an engine has begun to watch (or after two seconds without one; [`Event::ReadAgain`] then comes
    /// with the first that does), so that a change after this call is never missed.
    pub async fn events(self: &Arc<Self>, mut context: Context) -> EventStream {
        introduce(&mut context);
        let (sender, receiver) = mpsc::channel(64);
        let (begun, first) = oneshot::channel();
        let follower =
            Follower { client: Arc::clone(self), context, sender, begun: Some(begun), missed: false };
        tokio::spawn(follower.follow());
        let seen = timeout(FIRST, first).await;
        drop(seen);
        EventStream(receiver)
    }
}

struct Follower {
    client: Arc<Client>,
    context: Context,
    sender: mpsc::Sender<Event>,
    /// Told when the first stream stands; gone afterwards.
    begun: Option<oneshot::Sender<()>>,
    /// Changes may have been missed since the last stream.
    missed: bool,
}

/// How one stream ended.
enum End {
    /// Nobody listens any more.
    Unheard,
    /// The engine said that it leaves.
    Left,
    /// It was lost, or never stood.
    Lost,
}

impl Follower {
    async fn follow(mut self) {
        let mut pause = PAUSES.0;
        while !self.sender.is_closed() {
            let end = match self.stream().await {
                Some((_connection, body)) => {
                    pause = PAUSES.0;
                    self.read(body).await
                }
                None => End::Lost,
            };
            self.missed = true;
            let wait = match end {
                End::Unheard => return,
                End::Left => AFTER_LEAVING,
                End::Lost => pause,
            };
            tokio::select! {
                () = sleep(wait) => {}
                () = self.sender.closed() => return,
            }
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// A stream from the daemon, else from a private engine of its own.
    async fn stream(&self) -> Option<(Connection, Incoming)> {
        let context = serde_json::to_string(&self.context).ok()?;
        let path = format!("{}?context={}", protocol::EVENTS, protocol::encode_component(&context));
        let surroundings = &self.client.surroundings;
        let deadline = Instant::now() + DAEMON_PATIENCE;
        if let Ok(mut connection) = find::find_or_start(surroundings, deadline).await
            && let Ok(response) = connection.head(Method::GET, &path, Bytes::new(), deadline).await
        {
            let range = response.headers().get(protocol::PROTOCOL_HEADER);
            let range = range.and_then(|value| value.to_str().ok()).and_then(Range::parse);
            let meets = range.is_none_or(|range| range.meets(RANGE));
            match response.status().as_u16() {
                200 if meets => return Some((connection, response.into_body())),
                protocol::CALLER_MUST => {}
                _ if meets => return None,
                _ => {}
            }
        }
        let mut connection = private::start(surroundings).await.ok()?;
        let deadline = Instant::now() + DAEMON_PATIENCE;
        let response = connection.head(Method::GET, &path, Bytes::new(), deadline).await.ok()?;
        (response.status().as_u16() == 200).then(|| (connection, response.into_body()))
    }

    async fn read(&mut self, mut body: Incoming) -> End {
        let mut lines = Lines::default();
        loop {
            let frame = tokio::select! {
                frame = timeout(SILENCE, body.frame()) => frame,
                () = self.sender.closed() => return End::Unheard,
            };
            let Ok(Some(Ok(frame))) = frame else { return End::Lost };
            let Ok(data) = frame.into_data() else { continue };
            lines.push(&data);
            while let Some(line) = lines.next() {
                if let Some(end) = self.line(&line).await {
                    return end;
                }
            }
        }
    }

    async fn line(&mut self, line: &[u8]) -> Option<End> {
        let event = match serde_json::from_slice(line) {
            Ok(EventLine::Hello { .. }) => {
                // The first stream missed nothing if its subscriber still waits for it.
                let waited_for = self.begun.take().is_some_and(|begun| begun.send(()).is_ok());
                if waited_for && !self.missed {
                    return None;
                }
                self.missed = false;
                Event::ReadAgain
            }
            Ok(EventLine::Changed { revision, added, removed, changed, order_changed, .. }) => {
                Event::Changed { revision, added, removed, changed, order_changed }
            }
            Ok(EventLine::Malformed { message, .. }) => Event::Malformed { message },
            Ok(EventLine::ReadAgain { .. }) => Event::ReadAgain,
            Ok(EventLine::Leaving) => return Some(End::Left),
            Ok(EventLine::Heartbeat | EventLine::Unknown) => return None,
            Err(_) => return Some(End::Lost),
        };
        self.sender.send(event).await.is_err().then_some(End::Unheard)
    }
}

/// Splits what arrives into lines.
#[derive(Debug, Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn push(&mut self, data: &[u8]) {
        self.0.extend_from_slice(data);
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        let end = self.0.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.0.drain(..=end).collect();
        line.pop();
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_put_together_across_pieces() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for piece in ["a", "b\nc", "\n", "\nd"] {
            lines.push(piece.as_bytes());
            while let Some(line) = lines.next() {
                seen.push(String::from_utf8(line).unwrap());
            }
        }
        assert_eq!(seen, ["ab", "c", ""]);
    }
}
