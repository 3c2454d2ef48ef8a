//! The task that owns one worklist: its parsed state, who waits for a look at it, and the queue of changes.
//!
//! Whatever touches the disk runs beside the task: at most one look and one attempt at a time. A look begins after
//! everybody who waits for it has asked, so what it finds is fresh for all of them.

use std::sync::Arc;
use std::time::Duration;

use stepstone_proto::envelope::Envelope;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;

use super::attempt::{self, Outcome, PATIENCE, Pending, Workbench};
use super::content::{self, Content};
use super::disk::Disk;
use super::leavings::Leavings;
use super::look::{self, Known, Looked};
use super::place::{Key, Place};
use super::turns::Turns;
use super::{Board, Job, Registry, Snapshot, StoreError, lock, lock_directory};

/// A worklist that nobody asked about for this long is dropped from memory.
const UNUSED: Duration = Duration::from_secs(10 * 60);
/// How often one is looked at again that was used meanwhile, or that somebody holds open.
const UNUSED_AGAIN: Duration = Duration::from_secs(60);
/// What an owner is asked.
pub(super) enum Ask {
    Read { place: Place, reply: oneshot::Sender<Result<Snapshot, StoreError>> },
    Change { place: Place, job: Job, reply: oneshot::Sender<Result<Envelope, StoreError>> },
    Finish(oneshot::Sender<()>),
}

type Reader = oneshot::Sender<Result<Snapshot, StoreError>>;
type Attempted = (Workbench, Outcome, Duration);

/// How a look ended.
struct Seen {
    /// What readers wait for.
    read: Option<Result<Arc<Content>, StoreError>>,
    readers: Vec<Reader>,
    /// What it decided on the changes that came since the last one.
    looked: Option<Looked>,
}

pub(super) struct Owner {
    registry: Arc<Registry>,
    key: Key,
    /// Where the file is: as of the last who asked.
    place: Place,
    asks: mpsc::UnboundedReceiver<Ask>,
    /// Also holds the file as it was found or written last.
    board: Board,
    readers: Vec<Reader>,
    newcomers: Vec<Pending>,
    look: Option<JoinHandle<Seen>>,
    /// The look under way decides on changes; later ones must not come before them.
    deciding: bool,
    queue: Vec<Pending>,
    /// Not there while it is lent to an attempt.
    bench: Option<Workbench>,
    attempt: Option<oneshot::Receiver<Attempted>>,
    /// As long as there is an attempt.
    refreshing: Option<Refreshing>,
    leavings: Leavings,
    /// What was left is being cleared away.
    clearing: Option<JoinHandle<bool>>,
    /// Not everything could be.
    unclean: bool,
    turns: Turns,
    finishers: Vec<oneshot::Sender<()>>,
}

impl Owner {
    pub(super) fn new(
        registry: Arc<Registry>,
        place: &Place,
        asks: mpsc::UnboundedReceiver<Ask>,
        board: Board,
    ) -> Self {
        Self {
            key: place.key.clone(),
            place: place.clone(),
            asks,
            board,
            readers: Vec::new(),
            newcomers: Vec::new(),
            look: None,
            deciding: false,
            queue: Vec::new(),
            bench: Some(bench(&registry)),
            attempt: None,
            refreshing: None,
            leavings: Leavings::new(),
            clearing: None,
            unclean: false,
            turns: Turns::new(),
            finishers: Vec::new(),
            registry,
        }
    }

    pub(super) async fn run(mut self) {
        let mut closed = false;
        let mut unused_at = Instant::now() + UNUSED;
        loop {
            self.start_attempt();
            self.start_look();
            let idle = self.is_idle();
            if idle && (closed || !self.finishers.is_empty()) {
                // Nothing of ours is to be found in the directory afterwards.
                if self.clearing.is_none() && !self.leavings.is_empty() {
                    self.clearing = Some(self.leavings.clear());
                }
                if self.clearing.is_some() {
                    let cleared = ended(&mut self.clearing).await;
                    self.cleared(cleared);
                }
                for finisher in self.finishers.drain(..) {
                    let _ = finisher.send(());
                }
                if closed {
                    return;
                }
            }
            tokio::select! {
                ask = self.asks.recv(), if !closed => match ask {
                    // Whatever else has come by now shares the look.
                    Some(ask) => {
                        self.take(ask);
                        while let Ok(ask) = self.asks.try_recv() {
                            self.take(ask);
                        }
                    }
                    None => closed = true,
                },
                seen = ended(&mut self.look) => {
                    self.look = None;
                    self.deciding = false;
                    self.seen(seen);
                }
                attempted = ended(&mut self.attempt) => {
                    self.attempt = None;
                    self.refreshing = None;
                    self.attempted(attempted);
                }
                () = self.turns.over() => {}
                () = self.leavings.due(), if self.clearing.is_none() => {
                    self.clearing = Some(self.leavings.clear());
                }
                cleared = ended(&mut self.clearing) => self.cleared(cleared),
                () = tokio::time::sleep_until(unused_at), if idle => {
                    let used = lock(&self.board).used;
                    if used.elapsed() >= UNUSED && self.registry.retire(&self.key, &self.board) {
                        return;
                    }
                    unused_at = (used + UNUSED).max(Instant::now() + UNUSED_AGAIN);
                }
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.readers.is_empty()
            && self.newcomers.is_empty()
            && self.queue.is_empty()
            && self.look.is_none()
            && self.attempt.is_none()
    }

    fn take(&mut self, ask: Ask) {
        match ask {
            Ask::Read { place, reply } => {
                self.is_at(place);
                self.readers.push(reply);
            }
            Ask::Change { place, job, reply } => {
                self.is_at(place);
                self.newcomers.push(Pending { job, reply, since: Instant::now(), known: Known::Nothing });
                self.count();
            }
            Ask::Finish(finisher) => self.finishers.push(finisher),
        }
    }

    /// Somebody found the file here.
    fn is_at(&mut self, place: Place) {
        if self.key.is_provisional() {
            self.rekey(&place.key);
        }
        self.place = place;
    }

    fn rekey(&mut self, key: &Key) {
        if *key != self.key {
            self.registry.rekey(&self.key, key, &self.board);
            self.key = key.clone();
        }
    }

    fn count(&self) {
        lock(&self.board).overview.queued = self.newcomers.len() + self.queue.len();
    }

    fn start_look(&mut self) {
        // Whoever is gathered is looked at by the attempt.
        let looked_at = if self.turns.is_gathering() { 0 } else { self.newcomers.len() };
        if self.look.is_some() || (self.readers.is_empty() && looked_at == 0) {
            return;
        }
        let readers = std::mem::take(&mut self.readers);
        let newcomers: Vec<_> = self.newcomers.drain(..looked_at).collect();
        let (disk, path) = (self.registry.disk.clone(), self.place.target.clone());
        let known = self.known();
        let has_journal = self.registry.settings.state_dir.is_some();
        self.deciding = !newcomers.is_empty();
        self.look = Some(tokio::task::spawn_blocking(move || {
            let read = (!readers.is_empty()).then(|| content::fresh(&disk, &path, known.as_ref()));
            let known = match &read {
                Some(Ok(content)) => Some(Arc::clone(content)),
                _ => known,
            };
            let looked = (!newcomers.is_empty())
                .then(|| look::look(&disk, &path, known.as_ref(), newcomers, has_journal));
            Seen { read, readers, looked }
        }));
    }

    fn seen(&mut self, seen: Result<Seen, JoinError>) {
        // Who asked a look that broke off is told so by the end of its channel.
        let Ok(Seen { read, readers, looked }) = seen else { return };
        if let Some(read) = read {
            let snapshot = read.as_ref().map_err(Clone::clone).and_then(|content| {
                let roadmap = content.roadmap(&self.place.target)?.clone();
                Ok(Snapshot { roadmap, exists: content.file.is_some() })
            });
            for reader in readers {
                let _ = reader.send(snapshot.clone());
            }
            if let Ok(content) = read {
                know(&self.board, Some(content));
            }
        }
        if let Some(Looked { content, answered, to_do }) = looked {
            attempt::answer(answered);
            self.queue.extend(to_do);
            // It is not known when they have their turn.
            self.queue.iter_mut().for_each(|pending| pending.known.let_go());
            if let Ok(content) = content {
                know(&self.board, Some(content));
            }
        }
        self.count();
    }

    fn known(&self) -> Option<Arc<Content>> {
        lock(&self.board).known.clone()
    }

    fn start_attempt(&mut self) {
        if self.attempt.is_some() || !self.turns.may_begin(self.queue.len() + self.newcomers.len()) {
            return;
        }
        let mut batch = std::mem::take(&mut self.queue);
        if !self.deciding {
            // Nobody looks at them first: the attempt does that too, which spares them a way through another thread.
            batch.append(&mut self.newcomers);
        }
        if batch.is_empty() {
            return;
        }
        self.turns.begin();
        let mut bench = self.bench.take().unwrap_or_else(|| bench(&self.registry));
        bench.known = self.known();
        bench.spare = self.leavings.spare();
        bench.cleaned &= !std::mem::take(&mut self.unclean);
        let place = self.place.clone();
        self.refreshing = Some(Refreshing::start(bench.disk.clone(), Arc::clone(&bench.pulse)));
        let (done, attempt) = oneshot::channel();
        self.attempt = Some(attempt);
        let board = Arc::clone(&self.board);
        tokio::task::spawn_blocking(move || {
            let begun = std::time::Instant::now();
            let before = bench.known.clone();
            let outcome = attempt::attempt(&mut bench, &place, batch, &|content| know(&board, content));
            // Should there be no owner any more, nobody waits for this.
            let _ = done.send((bench, outcome, begun.elapsed()));
            // A large roadmap takes a while to free. It is done here, where nobody waits for it.
            drop(before);
        });
    }

    fn attempted(&mut self, attempted: Result<Attempted, RecvError>) {
        // Who asked for an attempt that broke off is told so by the end of its channel.
        let Ok((mut bench, outcome, took)) = attempted else { return };
        if outcome.replaced {
            self.registry.hub.wrote(&self.place.target);
        }
        if let Some(place) = &outcome.place {
            self.rekey(&place.key);
        }
        self.leavings.keep(outcome.closing, bench.spare.take());
        self.bench = Some(bench);
        let waiting = std::mem::take(&mut self.queue);
        self.queue = outcome.left;
        self.queue.extend(waiting);
        match outcome.lock {
            Some(lock) => self.wait_for(&lock),
            None => self.turns.ended(took, outcome.told + self.waiting_since_before(outcome.told_at)),
        }
        self.count();
    }

    fn cleared(&mut self, cleared: Result<bool, JoinError>) {
        self.clearing = None;
        self.unclean |= !cleared.unwrap_or(false);
    }

    /// How many wait who cannot be among those that were answered at that time, and have come back.
    fn waiting_since_before(&self, told_at: Option<Instant>) -> usize {
        let waiting = self.queue.iter().chain(&self.newcomers);
        waiting.filter(|pending| told_at.is_none_or(|told_at| pending.since <= told_at)).count()
    }

    /// Somebody holds a lock: try again after a pause, but not for longer than anybody is willing to wait.
    fn wait_for(&mut self, lock: &std::path::Path) {
        let (out_of_patience, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.queue)
            .into_iter()
            .partition(|pending| pending.since.elapsed() >= PATIENCE);
        self.queue = waiting;
        for pending in out_of_patience {
            let error = StoreError::Locked { path: self.place.target.clone(), lock: lock.to_owned() };
            let _ = pending.reply.send(Err(error));
        }
        self.turns.refused();
    }
}

/// Shows what was found or written last.
fn know(board: &Board, content: Option<Arc<Content>>) {
    let mut shown = lock(board);
    if let Some(Ok(roadmap)) = content.as_ref().map(|content| content.roadmap.as_ref()) {
        shown.overview.revision = roadmap.revision();
        shown.overview.goals = roadmap.len();
    }
    shown.known = content;
}

fn bench(registry: &Registry) -> Workbench {
    Workbench {
        disk: registry.disk.clone(),
        state_dir: registry.settings.state_dir.clone(),
        pulse: Arc::default(),
        spare: None,
        index: super::journal::Index::default(),
        known: None,
        unsynced: Vec::new(),
        cleaned: false,
        told: false,
    }
}

/// Keeps the lock directory of a long attempt from looking stale, as long as it lives.
pub(super) struct Refreshing(JoinHandle<()>);

impl Refreshing {
    pub(super) fn start(disk: Disk, pulse: lock_directory::Pulse) -> Self {
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(lock_directory::REFRESH).await;
                let (disk, pulse) = (disk.clone(), Arc::clone(&pulse));
                let _ = tokio::task::spawn_blocking(move || lock_directory::refresh(&disk, &pulse)).await;
            }
        }))
    }
}

impl Drop for Refreshing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The end of work beside the task; never, when there is none.
async fn ended<W: Future + Unpin>(work: &mut Option<W>) -> W::Output {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}
