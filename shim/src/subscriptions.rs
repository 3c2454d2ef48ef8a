//! Who wants to know of which resources, and telling them once when an answer may have changed.
//!
//! One watch of the roadmap serves every subscriber of this process, in both eras. It begins with the first
//! subscription and ends with the last. Collections change with nearly every change of the roadmap, so that any
//! change is told; a single goal is read again and told of only when its answer differs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use stepstone_proto::operation::ClientInfo;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::call::Caller;
use crate::engine::{Event, Watch};
use crate::uri::Resource;

/// Events that follow each other this closely are told once.
const TOGETHER: Duration = Duration::from_millis(15);
/// No event waits longer than this for others.
const AT_MOST: Duration = Duration::from_millis(60);

/// One subscriber: what it wants, and what it must be told.
#[derive(Debug, Default)]
pub struct Subscriber {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    wanted: BTreeSet<String>,
    due: BTreeSet<String>,
}

impl Subscriber {
    /// Waits until something must be told, and gives the URIs.
    pub async fn due(&self) -> BTreeSet<String> {
        loop {
            let woken = self.wake.notified();
            let due = std::mem::take(&mut lock(&self.state).due);
            if !due.is_empty() {
                return due;
            }
            woken.await;
        }
    }

    /// No longer wants to know of this URI.
    pub fn drop_uri(&self, uri: &str) {
        let mut state = lock(&self.state);
        state.wanted.remove(uri);
        state.due.remove(uri);
    }

    fn tell(&self, changed: impl Fn(&str) -> bool) {
        let mut state = lock(&self.state);
        let due: Vec<String> = state.wanted.iter().filter(|uri| changed(uri)).cloned().collect();
        if !due.is_empty() {
            state.due.extend(due);
            self.wake.notify_one();
        }
    }
}

/// All subscribers of this process.
pub struct Subscriptions {
    caller: Arc<Caller>,
    hub: Mutex<Hub>,
    /// Somebody came or went.
    moved: Notify,
}

#[derive(Default)]
struct Hub {
    subscribers: Vec<Weak<Subscriber>>,
    /// How many subscriptions are being made.
    joining: usize,
    /// Set while the watch runs: whether it stands.
    watch: Option<watch::Receiver<bool>>,
    /// The last answer about each single goal that somebody wants to know of.
    answers: BTreeMap<String, Option<String>>,
}

impl Subscriptions {
    /// Nobody yet.
    #[must_use]
    pub fn new(caller: Arc<Caller>) -> Arc<Self> {
        Arc::new(Self { caller, hub: Mutex::default(), moved: Notify::new() })
    }

    /// Adds URIs to what a subscriber wants. They must be resources. Ready once no later change can be missed.
    pub async fn add(self: &Arc<Self>, subscriber: &Arc<Subscriber>, uris: impl IntoIterator<Item = String>) {
        let uris: Vec<String> = uris.into_iter().collect();
        if uris.is_empty() {
            return;
        }
        let (mut stands, _joining) = self.enter(subscriber);
        // An error says that the watch has ended already; the next subscription tries again.
        let _ = stands.wait_for(|stands| *stands).await;
        for uri in &uris {
            if !self.wanted().contains(uri)
                && let Some(resource) = Resource::at(uri).filter(Resource::is_one_goal)
            {
                let answer = self.answer(&resource).await;
                lock(&self.hub).answers.insert(uri.clone(), answer);
            }
        }
        lock(&subscriber.state).wanted.extend(uris);
    }

    /// A subscriber wants less than before, or is no more.
    pub fn left(&self) {
        self.moved.notify_one();
    }

    /// Registers a subscriber and sees to it that the watch runs, and goes on while the guard lives.
    fn enter(self: &Arc<Self>, subscriber: &Arc<Subscriber>) -> (watch::Receiver<bool>, Joining) {
        let mut hub = lock(&self.hub);
        hub.joining += 1;
        let joining = Joining(Arc::clone(self));
        hub.subscribers.retain(|known| known.strong_count() > 0);
        if !hub.subscribers.iter().any(|known| known.as_ptr() == Arc::as_ptr(subscriber)) {
            hub.subscribers.push(Arc::downgrade(subscriber));
        }
        if let Some(watch) = &hub.watch {
            return (watch.clone(), joining);
        }
        let (stands, watch) = watch::channel(false);
        hub.watch = Some(watch.clone());
        tokio::spawn(Arc::clone(self).run(stands));
        (watch, joining)
    }

    async fn run(self: Arc<Self>, stands: watch::Sender<bool>) {
        let (engine, place) = self.caller.engine();
        let context = place.context(ClientInfo::default());
        let mut watch = engine.watch(context).await;
        stands.send_replace(true);
        loop {
            tokio::select! {
                event = watch.next() => match event {
                    Some(event) => {
                        let event = gather(event, watch.as_mut()).await;
                        self.announce(event).await;
                    }
                    None => break,
                },
                () = self.moved.notified() => {}
            }
            if self.leave_if_alone() {
                return;
            }
        }
        // The watch gave up for good. The next subscription tries again.
        lock(&self.hub).watch = None;
    }

    /// Everything that anybody wants to know of.
    fn wanted(&self) -> BTreeSet<String> {
        self.subscribers().iter().flat_map(|subscriber| lock(&subscriber.state).wanted.clone()).collect()
    }

    /// Ends the watch when nobody is left. Under one lock with [`Subscriptions::enter`], so that nobody enters a
    /// watch that is about to end.
    fn leave_if_alone(&self) -> bool {
        let mut hub = lock(&self.hub);
        let is_wanting = |known: &Weak<Subscriber>| {
            known.upgrade().is_some_and(|subscriber| !lock(&subscriber.state).wanted.is_empty())
        };
        let alone = hub.joining == 0 && !hub.subscribers.iter().any(is_wanting);
        if alone {
            hub.watch = None;
            hub.answers.clear();
        }
        alone
    }

    fn subscribers(&self) -> Vec<Arc<Subscriber>> {
        lock(&self.hub).subscribers.iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells every subscriber what may have changed.
    async fn announce(&self, event: Event) {
        let mut unchanged = BTreeSet::new();
        for uri in self.wanted() {
            let Some(resource) = Resource::at(&uri).filter(Resource::is_one_goal) else { continue };
            let now = self.answer(&resource).await;
            let before = lock(&self.hub).answers.insert(uri.clone(), now.clone()).flatten();
            if event == Event::Changed && now.is_some() && now == before {
                unchanged.insert(uri);
            }
        }
        for subscriber in self.subscribers() {
            subscriber.tell(|uri| !unchanged.contains(uri));
        }
    }

    /// What is answered about a goal now, without what stands beside the answer.
    async fn answer(&self, resource: &Resource) -> Option<String> {
        let envelope = self.caller.read(resource.operation(), ClientInfo::default()).await;
        match (&envelope.result, &envelope.error) {
            (Some(result), _) => Some(result.get().to_owned()),
            (None, Some(failure)) => serde_json::to_string(failure).ok(),
            (None, None) => None,
        }
    }
}

/// A subscription that is being made.
struct Joining(Arc<Subscriptions>);

impl Drop for Joining {
    fn drop(&mut self) {
        let mut hub = lock(&self.0.hub);
        hub.joining = hub.joining.saturating_sub(1);
        drop(hub);
        // It may have been given up half-way.
        self.0.left();
    }
}

/// What these events are together.
async fn gather(first: Event, watch: &mut dyn Watch) -> Event {
    let mut event = first;
    // Ends by itself when nothing follows; the bound is for a roadmap that changes without pause.
    let rest = async {
        while let Ok(Some(next)) = timeout(TOGETHER, watch.next()).await {
            if next == Event::ReadAgain {
                event = next;
            }
        }
    };
    let _ = timeout(AT_MOST, rest).await;
    event
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
