//! Changes by anybody, as events.
//!
//! The system's notifications only say when to look; what happened is found by comparing what was read before with
//! what is read then. So our own writes are announced once like everybody's, and a notification too many or a lost
//! one tells nothing wrong.

mod hub;
mod subscription;

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::Stores;
use crate::repository::{Choice, ChoiceKind, Located};

pub(super) use hub::Hub;
use subscription::{Join, Subject, Subscription};

/// How many events wait for a subscriber. One that falls behind further is told to read everything again.
const WAITING: usize = 64;

/// What happened to a worklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorklistEvent {
    /// Its content is another.
    Changed {
        /// The file's revision.
        revision: u64,
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
        /// Why, and what to do.
        message: String,
    },
    /// Anything may have changed: another file is in use, a malformed one was repaired, or events were lost.
    ReadAgain,
}

impl Stores {
    /// The events of the worklist that callers in `located` with this choice's override mean, now and whenever a file
    /// comes or goes. Returns when no later change can be missed. Dropping the receiver ends the subscription.
    pub async fn subscribe(&self, located: &Located, choice: &Choice) -> mpsc::Receiver<WorklistEvent> {
        let explicit = (choice.kind == ChoiceKind::Override).then(|| choice.path.clone());
        let subject = Subject { root: located.root.clone(), explicit };
        let (events, received) = mpsc::channel(WAITING);
        let (ready, joined) = oneshot::channel();
        self.join(subject, located, Join { events, ready });
        // An error means that the runtime is ending; so does the receiver then.
        let _ = joined.await;
        received
    }

    fn join(&self, subject: Subject, located: &Located, join: Join) {
        let registry = &self.registry;
        let mut subscriptions = super::lock(&registry.hub.subscriptions);
        let join = match subscriptions.get(&subject) {
            Some(running) => match running.send(join) {
                Ok(()) => return,
                Err(mpsc::error::SendError(join)) => join,
            },
            None => join,
        };
        let (joins, joining) = mpsc::unbounded_channel();
        // The receiver is there, so this cannot fail.
        let _ = joins.send(join);
        subscriptions.insert(subject.clone(), joins);
        tokio::spawn(Subscription::new(Arc::clone(registry), subject, located.clone(), joining).run());
    }

    /// How changes by others are noticed: `system` or `polling`; `off` while nobody subscribes.
    #[must_use]
    pub fn watching(&self) -> &'static str {
        match self.registry.hub.watching() {
            "system" if !self.registry.settings.watch => "polling",
            other => other,
        }
    }
}
