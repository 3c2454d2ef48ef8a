//! An operation in, an envelope out, whatever happens to the daemon meanwhile.

use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use serde_json::{Map, Value};
use stepstone_proto::contract::{self, Kind};
use stepstone_proto::envelope::{Envelope, Failure};
use stepstone_proto::operation::{Context, Request};
use stepstone_proto::protocol::{self, Elsewhere, NotUnderstood, RANGE, Range, Status};
use stepstone_proto::state;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::context::git_environment;
use crate::find::{self, Why};
use crate::pool::{Pool, Way};
use crate::private;
use crate::surroundings::Surroundings;
use crate::wire::{Answer, Connection, Engine, Unanswered};
use crate::{answers, control};

/// From the first connect to the answer's head, a start included: this much for the daemon. What remains of two
/// seconds is for the private engine.
pub(crate) const DAEMON_PATIENCE: Duration = Duration::from_millis(1700);
/// To the head of a private engine's answer. There is nobody else to ask, so it is generous.
const PRIVATE_PATIENCE: Duration = Duration::from_secs(10);
/// Connections for requests.
const CONNECTIONS: usize = 4;
/// How often one request is sent at most.
const ATTEMPTS: usize = 6;

/// A client of the engine: of the daemon if it can be had, else of a private engine.
#[derive(Debug)]
pub struct Client {
    pub(crate) surroundings: Surroundings,
    pool: Pool,
    /// One at a time finds or starts the daemon.
    finding: tokio::sync::Mutex<()>,
    slots: Semaphore,
    /// Fewer than slots, so that waiting changes never hold up a read.
    changes: Semaphore,
    this: Weak<Self>,
}

/// Where one request is to be sent, and what is known about earlier sendings.
struct Sending<'a> {
    action: &'a str,
    body: Bytes,
    is_read: bool,
    /// This request is for the private engine alone.
    private_only: bool,
    /// It may have been carried out by an engine with this journal.
    lost: Option<Lost>,
    replaced: bool,
    deadline: Instant,
}

/// A sending whose outcome is unknown.
#[derive(Debug, Clone)]
struct Lost {
    journal: Option<String>,
    why: &'static str,
}

impl Client {
    /// A client that has not looked for anything yet.
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            surroundings,
            pool: Pool::default(),
            finding: tokio::sync::Mutex::new(()),
            slots: Semaphore::new(CONNECTIONS),
            changes: Semaphore::new(CONNECTIONS - 1),
            this: Weak::clone(this),
        })
    }

    /// Finds or starts the daemon, so that the first operation finds it warm. What goes wrong is kept, not shown.
    pub async fn warm(&self) {
        let deadline = Instant::now() + DAEMON_PATIENCE;
        if self.pool.is_warm() {
            return;
        }
        if let Ok(connection) = self.connection(deadline).await {
            self.pool.put(connection);
        }
    }

    /// Carries out one operation. What goes wrong on the way is an `UNAVAILABLE` envelope.
    ///
    /// The process id, what Git must see of the environment, and for changes an idempotency key are filled in where
    /// they are missing.
    pub async fn perform(&self, mut context: Context, operation: Map<String, Value>) -> Envelope {
        let action = operation.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_read = contract::action(&action).is_some_and(|action| action.kind == Kind::Read);
        introduce(&mut context);
        if !is_read && context.idempotency_key.is_none() {
            context.idempotency_key = Some(state::fresh_id().into());
        }
        let body = match serde_json::to_vec(&Request { context, operation }) {
            Ok(body) if body.len() <= protocol::BODY_LIMIT => Bytes::from(body),
            Ok(body) => {
                return Envelope::failure(&action, answers::too_large(body.len(), protocol::BODY_LIMIT));
            }
            Err(error) => {
                return Envelope::failure(
                    &action,
                    answers::refused(400, protocol::VERSION, &error.to_string()),
                );
            }
        };
        // The semaphores are never closed; a change takes its place among changes first.
        let _change = if is_read { None } else { self.changes.acquire().await.ok() };
        let _slot = self.slots.acquire().await;
        let deadline = Instant::now() + DAEMON_PATIENCE;
        let sending = Sending {
            action: &action,
            body,
            is_read,
            private_only: false,
            lost: None,
            replaced: false,
            deadline,
        };
        self.send(sending).await.unwrap_or_else(|failure| Envelope::failure(&action, failure))
    }

    /// Why the private engine is used instead of the daemon, if it is: for `-v`, `doctor` and `daemon status`.
    #[must_use]
    pub fn engine_note(&self) -> Option<String> {
        self.pool.why().map(|why| format!("the private engine is used: {}", why.reason))
    }

    /// The same, when it is worth a line that nobody asked for: the versions do not fit together.
    #[must_use]
    pub fn engine_warning(&self) -> Option<String> {
        self.pool
            .why()
            .filter(|why| why.shown)
            .map(|why| format!("the private engine is used: {}", why.reason))
    }

    async fn send(&self, mut sending: Sending<'_>) -> Result<Envelope, Failure> {
        for attempt in 0..ATTEMPTS {
            if attempt > 1 {
                // A daemon that was just killed may take connections for a moment.
                sleep(Duration::from_millis(2 << attempt)).await;
            }
            // What is rare is kept on the heap: a future has room for all that it may ever wait for, and is moved about
            // with every request.
            let engine = if sending.private_only { Engine::Private } else { Engine::Shared };
            let mut connection = match self.pool.take(engine) {
                Some(connection) => connection,
                None if sending.private_only => Box::pin(self.private()).await?,
                None => Box::pin(self.connection(sending.deadline)).await?,
            };
            if let Some(lost) = &sending.lost
                && !sending.is_read
            {
                match Box::pin(journal_of(&mut connection)).await {
                    Ok(journal) if journal.is_some() && journal == lost.journal => {}
                    Ok(_) => return Err(answers::fate_unknown(sending.action, lost.why)),
                    Err(Unanswered::NotSent | Unanswered::Lost) => continue,
                    Err(Unanswered::Late | Unanswered::Unfinished) => {
                        if connection.engine == Engine::Private {
                            return Err(answers::fate_unknown(sending.action, lost.why));
                        }
                        self.pool.keep_away(Why::passing("the daemon does not answer"));
                        continue;
                    }
                }
            }
            let deadline = match connection.engine {
                Engine::Shared => sending.deadline,
                Engine::Private => Instant::now() + PRIVATE_PATIENCE,
            };
            let body = sending.body.clone();
            match connection.ask(Method::POST, protocol::OPERATIONS, body, deadline).await {
                Ok(answer) => {
                    if let Some(envelope) = self.taken(answer, connection, &mut sending).await? {
                        return Ok(envelope);
                    }
                }
                Err(unanswered) => self.unanswered(&unanswered, &connection, &mut sending)?,
            }
        }
        let why = "every engine that was asked ended before it answered";
        Err(match sending.lost {
            Some(lost) if !sending.is_read => answers::fate_unknown(sending.action, lost.why),
            _ => answers::no_answer(sending.action, why),
        })
    }

    /// What an answer means: the envelope, or `None` when the request is to be sent again.
    async fn taken(
        &self,
        mut answer: Answer,
        connection: Connection,
        sending: &mut Sending<'_>,
    ) -> Result<Option<Envelope>, Failure> {
        let meets = answer.range.is_none_or(|range| range.meets(RANGE));
        match answer.status {
            200 if meets || !sending.is_read => {
                if let Ok(envelope) = Envelope::take_from(&mut answer.body) {
                    if connection.engine == Engine::Shared && meets {
                        self.pool.daemon_is_there();
                    }
                    self.pool.put(connection);
                    return Ok(Some(envelope));
                }
                if serde_json::from_slice::<Elsewhere>(&answer.body).is_err() {
                    return Err(match sending.is_read {
                        true => answers::refused(200, &answer.version, "the answer is no envelope"),
                        false => answers::fate_unknown(sending.action, "the engine's answer is no envelope"),
                    });
                }
                self.pool.put(connection);
                sending.private_only = true;
            }
            protocol::CALLER_MUST if connection.engine == Engine::Shared => {
                self.pool.put(connection);
                sending.private_only = true;
            }
            _ if !meets && connection.engine == Engine::Shared => {
                let range = answer.range.unwrap_or(RANGE);
                Box::pin(self.apart(range, &answer.version, sending)).await;
            }
            // Nothing was done, and it is not known for how long.
            protocol::FULL if connection.engine == Engine::Shared => {
                self.pool.keep_away(Why::passing("the daemon takes no more connections"));
            }
            500.. => {
                let why = "the engine failed on it";
                return Err(if sending.is_read {
                    answers::no_answer(sending.action, why)
                } else {
                    answers::fate_unknown(sending.action, why)
                });
            }
            status => {
                let words = serde_json::from_slice::<NotUnderstood>(&answer.body);
                let words = words.map_or_else(|_| "no reason given".to_owned(), |body| body.error);
                return Err(answers::refused(status, &answer.version, &words));
            }
        }
        Ok(None)
    }

    /// The daemon's protocol range does not meet ours. An older daemon is asked to leave, once; a newer one never.
    async fn apart(&self, range: Range, version: &str, sending: &mut Sending<'_>) {
        if range.max < RANGE.min && !sending.replaced {
            sending.replaced = true;
            if control::stop(&self.surroundings).await.is_ok() {
                sending.deadline = Instant::now() + DAEMON_PATIENCE;
                return;
            }
        }
        let reason = format!(
            "the daemon (version {version}) speaks protocol {range}, this client (version {}) speaks {RANGE}; \
             upgrade the older one",
            protocol::VERSION
        );
        self.pool.keep_away(Why { shown: true, ..Why::passing(reason) });
    }

    /// What follows when there is no whole answer: sent again, or reported.
    fn unanswered(
        &self,
        unanswered: &Unanswered,
        connection: &Connection,
        sending: &mut Sending<'_>,
    ) -> Result<(), Failure> {
        let engine = connection.engine;
        let lost = |why| Some(Lost { journal: connection.journal.clone(), why });
        match unanswered {
            Unanswered::NotSent => {}
            Unanswered::Lost => {
                sending.lost = lost("the engine ended before it answered");
                sending.deadline = Instant::now() + DAEMON_PATIENCE;
            }
            Unanswered::Late if engine == Engine::Shared => {
                sending.lost = lost("the daemon did not answer in time");
                self.pool.keep_away(Why::passing("the daemon does not answer"));
            }
            Unanswered::Late | Unanswered::Unfinished if !sending.is_read => {
                return Err(answers::fate_unknown(sending.action, "the engine took too long"));
            }
            Unanswered::Unfinished if engine == Engine::Shared => {
                self.pool.keep_away(Why::passing("the daemon takes too long"));
            }
            Unanswered::Late | Unanswered::Unfinished => {
                return Err(answers::no_answer(sending.action, "the engine took too long"));
            }
        }
        Ok(())
    }

    /// A new connection to the daemon if it can be had by `deadline`, else one to a private engine.
    async fn connection(&self, deadline: Instant) -> Result<Connection, Failure> {
        match self.pool.way() {
            Way::Daemon => {}
            Way::Private => return self.private().await,
            Way::PrivateAndLook => {
                self.look_again();
                return self.private().await;
            }
        }
        let finding = self.finding.lock().await;
        // Somebody may have given up while we waited for our turn.
        if self.pool.way() == Way::Daemon {
            match find::find_or_start(&self.surroundings, deadline).await {
                Ok(connection) => return Ok(connection),
                Err(why) => self.pool.keep_away(why),
            }
        }
        drop(finding);
        self.private().await
    }

    async fn private(&self) -> Result<Connection, Failure> {
        if let Some(connection) = self.pool.take(Engine::Private) {
            return Ok(connection);
        }
        private::start(&self.surroundings).await.map_err(|error| {
            let why = self.pool.why().map(|why| format!("{}; ", why.reason)).unwrap_or_default();
            answers::no_engine(&format!("{why}{error}"))
        })
    }

    /// Sees in the background whether the daemon can be had again.
    fn look_again(&self) {
        let Some(this) = self.this.upgrade() else { return };
        tokio::spawn(async move {
            let deadline = Instant::now() + DAEMON_PATIENCE;
            match find::find_or_start(&this.surroundings, deadline).await {
                Ok(mut connection) => {
                    // A stopped daemon takes connections and does not answer.
                    match connection.ask(Method::GET, protocol::STATUS, Bytes::new(), deadline).await {
                        Ok(answer) if answer.range.is_none_or(|range| range.meets(RANGE)) => {
                            this.pool.daemon_is_there();
                            this.pool.put(connection);
                        }
                        Ok(_) => this.pool.keep_away(Why::passing("the daemon speaks another protocol")),
                        Err(_) => this.pool.keep_away(Why::passing("the daemon does not answer")),
                    }
                }
                Err(why) => this.pool.keep_away(why),
            }
        });
    }
}

/// Fills in what this process knows about itself, where it is missing.
pub(crate) fn introduce(context: &mut Context) {
    context.client.pid = std::process::id();
    if context.git_env.is_empty() {
        context.git_env = git_environment();
    }
}

/// Which directory the engine's journals are in: what an earlier engine did with an idempotency key is known
/// to every engine with the same one.
async fn journal_of(connection: &mut Connection) -> Result<Option<String>, Unanswered> {
    let deadline = Instant::now() + DAEMON_PATIENCE;
    let answer = connection.ask(Method::GET, protocol::STATUS, Bytes::new(), deadline).await?;
    let status = serde_json::from_slice::<Status>(&answer.body).unwrap_or_default();
    connection.journal.clone_from(&status.journal);
    Ok(status.journal)
}
