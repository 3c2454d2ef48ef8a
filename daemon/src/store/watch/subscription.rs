//! One (root, override) that somebody subscribes to: when to look, and what to tell.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::WorklistEvent;
use super::hub::Interest;
use crate::repository::{self, Choice, Located};
use crate::roadmap::{self, Roadmap};
use crate::store::place::Place;
use crate::store::{Ask, Registry, Snapshot, StoreError};

/// Changes that follow each other this closely are one event.
const QUIET: Duration = Duration::from_millis(30);
/// But no event waits longer than this.
const LATEST: Duration = Duration::from_millis(80);
/// How often to look where the system does not notify.
const POLL: Duration = Duration::from_secs(2);
/// How often to look otherwise, in case a notification was lost; subscribers that have gone are noticed then too.
const RARELY: Duration = Duration::from_secs(30);

/// What events are about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Subject {
    pub(super) root: PathBuf,
    /// The override, absolute.
    pub(super) explicit: Option<PathBuf>,
}

/// One more subscriber.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) events: mpsc::Sender<WorklistEvent>,
    /// Told when no later change can be missed.
    pub(super) ready: oneshot::Sender<()>,
}

struct Subscriber {
    events: mpsc::Sender<WorklistEvent>,
    /// Did not take an event in time.
    behind: bool,
}

/// What was found by a look.
struct Seen {
    path: PathBuf,
    shadowed: Option<PathBuf>,
    /// Or what is wrong with the file.
    snapshot: Result<Snapshot, String>,
}

pub(super) struct Subscription {
    registry: Arc<Registry>,
    subject: Subject,
    located: Located,
    joins: mpsc::UnboundedReceiver<Join>,
    subscribers: Vec<Subscriber>,
    number: usize,
    signal: Arc<Notify>,
    notified: bool,
    seen: Option<Seen>,
}

impl Subscription {
    pub(super) fn new(
        registry: Arc<Registry>,
        subject: Subject,
        located: Located,
        joins: mpsc::UnboundedReceiver<Join>,
    ) -> Self {
        let (number, signal) = (registry.hub.number(), Arc::default());
        let (subscribers, notified, seen) = (Vec::new(), false, None);
        Self { registry, subject, located, joins, subscribers, number, signal, notified, seen }
    }

    pub(super) async fn run(mut self) {
        loop {
            self.look().await;
            let pause = if self.notified { RARELY } else { POLL };
            tokio::select! {
                () = self.signal.notified() => {
                    quiet(&self.signal).await;
                }
                join = self.joins.recv() => {
                    if let Some(join) = join {
                        self.join(join);
                    }
                }
                () = tokio::time::sleep(pause) => {}
            }
            self.subscribers.retain(|subscriber| !subscriber.events.is_closed());
            if self.subscribers.is_empty() && self.ends() {
                break;
            }
        }
        let _ = tokio::task::spawn_blocking(move || self.registry.hub.forget(self.number)).await;
    }

    /// A subscriber hears of whatever differs from the last look, which must have been made for that.
    fn join(&mut self, join: Join) {
        self.subscribers.push(Subscriber { events: join.events, behind: false });
        let _ = join.ready.send(());
    }

    /// Nobody is left. Somebody who joins at this moment is noticed, for joining needs the same lock.
    fn ends(&mut self) -> bool {
        let registry = Arc::clone(&self.registry);
        let mut subscriptions = crate::store::lock(&registry.hub.subscriptions);
        while let Ok(join) = self.joins.try_recv() {
            self.join(join);
        }
        if !self.subscribers.is_empty() {
            return false;
        }
        subscriptions.remove(&self.subject);
        true
    }

    /// Watches what is there now, then looks at it, and tells what is new.
    async fn look(&mut self) {
        let Some(choice) = self.arrange().await else { return };
        let snapshot = self.read(&choice).await.map_err(|error| error.failure().message);
        let now = Seen { path: choice.path, shadowed: choice.shadowed, snapshot };
        if let Some(event) = self.seen.as_ref().and_then(|before| event(before, &now)) {
            self.tell(&event);
        }
        self.seen = Some(now);
    }

    async fn arrange(&mut self) -> Option<Choice> {
        let (registry, located, subject) =
            (Arc::clone(&self.registry), self.located.clone(), self.subject.clone());
        let (number, signal) = (self.number, Arc::clone(&self.signal));
        let arranged = tokio::task::spawn_blocking(move || {
            let explicit = subject.explicit.as_deref().and_then(Path::to_str);
            let choice = repository::choose(&located, explicit, &located.root);
            let notified = registry.settings.watch
                && registry.hub.arrange(number, &interests(&located, &choice), &signal);
            (choice, notified)
        });
        let (choice, notified) = arranged.await.ok()?;
        self.notified = notified;
        Some(choice)
    }

    async fn read(&self, choice: &Choice) -> Result<Snapshot, StoreError> {
        let path = choice.path.clone();
        let place = crate::store::blocking(&choice.path, move || {
            Place::of(&path).map_err(|error| StoreError::lost(&path, error))
        });
        let place = place.await?;
        let ended = || StoreError::Ended { path: choice.path.clone() };
        let (asks, _) = self.registry.owner_of(&place, &choice.path, &self.subject.root);
        let (reply, answer) = oneshot::channel();
        asks.send(Ask::Read { place, reply }).map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended())).map_err(|error| error.about(&choice.path))
    }

    fn tell(&mut self, event: &WorklistEvent) {
        for subscriber in &mut self.subscribers {
            let event = if subscriber.behind { WorklistEvent::ReadAgain } else { event.clone() };
            subscriber.behind = subscriber.events.try_send(event).is_err();
        }
    }
}

/// Waits until a burst is over, but not for long.
async fn quiet(signal: &Notify) {
    let latest = Instant::now() + LATEST;
    loop {
        let until = latest.min(Instant::now() + QUIET);
        if timeout_at(until, signal.notified()).await.is_err() || Instant::now() >= latest {
            return;
        }
    }
}

/// What differs, if anything does that a reader could notice.
fn event(before: &Seen, now: &Seen) -> Option<WorklistEvent> {
    let same_file = before.path == now.path && before.shadowed == now.shadowed;
    match (&before.snapshot, &now.snapshot) {
        (Ok(before), Ok(now)) if same_file => changed(&before.roadmap, &now.roadmap),
        (Err(before), Err(now)) if same_file && before == now => None,
        (_, Err(message)) => Some(WorklistEvent::Malformed { message: message.clone() }),
        (_, Ok(_)) => Some(WorklistEvent::ReadAgain),
    }
}

fn changed(before: &Roadmap, now: &Roadmap) -> Option<WorklistEvent> {
    let difference = roadmap::difference(before, now);
    if difference.is_empty() && before.revision() == now.revision() {
        return None;
    }
    let roadmap::Difference { added, removed, changed, order_changed } = difference;
    Some(WorklistEvent::Changed { revision: now.revision(), added, removed, changed, order_changed })
}

/// Every name whose coming, going or changing may change the answer.
fn interests(located: &Located, choice: &Choice) -> Vec<Interest> {
    let mut paths = vec![choice.path.clone()];
    if choice.kind != repository::ChoiceKind::Override {
        paths.push(located.root.join(repository::CANONICAL));
        paths.push(located.root.join(repository::LEGACY));
    }
    if let Ok(resolved) = repository::resolve(&choice.path) {
        paths.push(resolved);
    }
    // A branch switch replaces many files; its end is a new HEAD.
    paths.push(located.git_dir.join("HEAD"));
    paths.push(located.common_dir.join("HEAD"));
    let mut interests = BTreeSet::new();
    for path in &paths {
        interests.extend(interest(path));
        // The directory may be replaced as a whole. A Git directory is not.
        if !path.ends_with("HEAD") {
            interests.extend(path.parent().and_then(interest));
        }
    }
    interests.into_iter().collect()
}

/// The nearest directory that exists, with links resolved, and the name in it that leads to `path`.
fn interest(path: &Path) -> Option<(PathBuf, OsString)> {
    let (mut directory, mut name) = (path.parent()?, path.file_name()?);
    loop {
        match std::fs::canonicalize(directory) {
            Ok(real) if real.is_dir() => return Some((real, name.to_owned())),
            _ => (directory, name) = (directory.parent()?, directory.file_name()?),
        }
    }
}
