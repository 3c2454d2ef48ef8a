//! One worklist on disk: stamp and parse, locks, durable replacement, queue, journal, watching.
//!
//! - [`Stores`] knows every open worklist; each has one task (`owner`) with its parsed state and its queue.
//! - `content` and `stamp` read a file without reading it again each time.
//! - `look` decides without locks. `attempt` carries out what is to be written, in one blocking step: `kernel_lock`,
//!   `journal`, `lock_directory`, the decisions of a `batch`, and `commit`, the replacement.
//! - `turns` says when the next attempt may begin. `leavings` closes what changes leave behind.
//! - `watch` turns changes by anybody into events. It is never needed for a right answer.
//! - `disk` is the seam to the system.

mod attempt;
mod batch;
mod commit;
mod content;
mod disk;
mod error;
mod journal;
mod kernel_lock;
mod leavings;
mod lock_directory;
mod look;
mod migrate;
mod owner;
mod place;
mod stamp;
#[cfg(test)]
mod tests;
mod turns;
mod watch;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stepstone_proto::envelope::Envelope;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::repository::Choice;
use crate::roadmap::Roadmap;

pub use error::StoreError;
pub use watch::WorklistEvent;

use content::Content;
use disk::Disk;
use owner::{Ask, Owner};
use place::{Key, Place};
use watch::Hub;

/// How stores work.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The verified state directory. `None`: no kernel locks and no journal.
    pub state_dir: Option<PathBuf>,
    /// Whether subscribed worklists are watched by the system's means. If not, they are looked at every 2 seconds.
    pub watch: bool,
}

/// All open worklists. Must be used on a tokio runtime with time enabled.
#[derive(Debug)]
pub struct Stores {
    registry: Arc<Registry>,
}

/// One worklist. Open it anew for each operation: a path may come to mean another file.
#[derive(Debug, Clone)]
pub struct Store {
    asks: mpsc::UnboundedSender<Ask>,
    board: Board,
    disk: Disk,
    place: Place,
    /// As the asker named it.
    named: PathBuf,
}

/// Where a goal file is at the moment, links resolved.
#[derive(Debug, Clone)]
pub struct Found {
    place: Place,
    named: PathBuf,
}

impl Found {
    /// What `path` names at the moment. Looks at the file system, so it is called beside the event loop.
    ///
    /// # Errors
    ///
    /// [`StoreError::Disk`] when the path cannot be looked at.
    pub fn at(path: &Path) -> Result<Self, StoreError> {
        let place = Place::of(path).map_err(|error| StoreError::lost(path, error))?;
        Ok(Self { place, named: path.to_owned() })
    }

    /// The same for a file that was chosen just now, so that its links need not be resolved again.
    ///
    /// # Errors
    ///
    /// As [`Found::at`].
    pub fn chosen(choice: &Choice) -> Result<Self, StoreError> {
        let Some(target) = &choice.target else { return Self::at(&choice.path) };
        let place = match choice.folder {
            Some(folder) => Place::in_folder(target.clone(), folder),
            None => Place::at(target.clone()),
        };
        let place = place.map_err(|error| StoreError::lost(&choice.path, error))?;
        Ok(Self { place, named: choice.path.clone() })
    }
}

/// A worklist as it is committed.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its goals; empty when there is no file.
    pub roadmap: Roadmap,
    /// Whether there is a file.
    pub exists: bool,
}

/// A decision on a roadmap, at an instant in milliseconds since 1970.
pub type Decide = Box<dyn FnMut(&Roadmap, i64) -> Verdict + Send>;

/// One change that somebody asks for.
pub struct Job {
    /// One key, one change. Leave it out for dry runs, which are never recorded.
    pub key: Option<IdempotencyKey>,
    /// Called on a look without locks, and again under the locks when something else is there by then, or time has
    /// passed. Must do nothing else than decide.
    pub decide: Decide,
    /// `false`: the asker is gone, and the change is not carried out. Asked until the change has had its turn.
    pub wanted: Box<dyn Fn() -> bool + Send>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What was decided on a change.
#[derive(Debug)]
pub enum Verdict {
    /// A refusal, a dry run, or what is asked for already holds: nothing is written.
    Answer(Envelope),
    /// The roadmap becomes `next`; `envelope` is answered once that is on the disk.
    Write {
        /// With the next revision.
        next: Roadmap,
        /// The answer. The store adds `meta.durability` and `meta.replayed`.
        envelope: Envelope,
    },
}

/// Makes one change out of one operation that is sent twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// As the client gave it.
    pub key: String,
    /// Of the operation: a key is good for one only.
    pub digest: String,
    /// Derived from a host's call id: remembered for 10 minutes instead of 24 hours.
    pub derived: bool,
}

/// An open worklist, for `daemon status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOverview {
    /// The goal file, as it was named last.
    pub path: PathBuf,
    /// The root that it was opened for last.
    pub root: PathBuf,
    /// As of the last look.
    pub revision: u64,
    /// As of the last look.
    pub goals: usize,
    /// Changes that wait.
    pub queued: usize,
}

#[derive(Debug)]
struct Registry {
    settings: Settings,
    disk: Disk,
    open: Mutex<HashMap<Key, Entry>>,
    hub: Hub,
}

#[derive(Debug)]
struct Entry {
    /// Where the file is, links resolved, as of the first who asked.
    target: PathBuf,
    asks: mpsc::UnboundedSender<Ask>,
    board: Board,
}

/// What an owner shows to everybody, without being asked.
type Board = Arc<Mutex<Shown>>;

#[derive(Debug)]
struct Shown {
    overview: StoreOverview,
    /// The file as it was found or written last.
    known: Option<Arc<Content>>,
    /// When somebody last used the worklist.
    used: Instant,
}

impl Stores {
    /// Nothing open yet.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Self> {
        Self::on(Disk::default(), settings)
    }

    fn on(disk: Disk, settings: Settings) -> Arc<Self> {
        let (open, hub) = (Mutex::default(), Hub::default());
        Arc::new(Self { registry: Arc::new(Registry { settings, disk, open, hub }) })
    }

    /// The worklist that was found, for a caller whose root is `root`.
    #[must_use]
    pub fn open(&self, found: Found, root: &Path) -> Store {
        let Found { place, named } = found;
        let (asks, board) = self.registry.owner_of(&place, &named, root);
        Store { asks, board, disk: self.registry.disk.clone(), place, named }
    }

    /// The worklists that are open.
    #[must_use]
    pub fn overview(&self) -> Vec<StoreOverview> {
        let mut all: Vec<StoreOverview> =
            self.registry.lock().values().map(|entry| lock(&entry.board).overview.clone()).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }

    /// Returns when everything accepted so far has been carried out.
    pub async fn finish(&self) {
        let owners: Vec<_> = self.registry.lock().values().map(|entry| entry.asks.clone()).collect();
        for owner in owners {
            let (reply, finished) = oneshot::channel();
            if owner.send(Ask::Finish(reply)).is_ok() {
                // An error means that the owner is gone, and its work with it.
                let _ = finished.await;
            }
        }
    }
}

impl Store {
    /// What is committed. Fresh, and never held up by changes that wait.
    ///
    /// # Errors
    ///
    /// When the file is no roadmap, no file, or cannot be read.
    pub async fn read(&self) -> Result<Snapshot, StoreError> {
        match self.at_hand() {
            Some(snapshot) => Ok(snapshot),
            None => self.ask(|reply| Ask::Read { place: self.place.clone(), reply }).await,
        }
    }

    /// What was found before, when one look at the file's stamp shows that it stands. Content can only be settled on a
    /// file system that answers at once, so the event loop may take that look.
    fn at_hand(&self) -> Option<Snapshot> {
        let known = lock(&self.board).known.clone().filter(|known| known.is_settled());
        let known = content::glance(&self.disk, &self.place.target, known.as_ref())?;
        let roadmap = known.roadmap.as_ref().ok()?.clone();
        Some(Snapshot { roadmap, exists: true })
    }

    /// Carries out one change, or answers that there is nothing to write. Returns when the answer is on the disk.
    ///
    /// # Errors
    ///
    /// As [`Store::read`], and when the disk or a lock refuses; nothing was changed then.
    pub async fn change(&self, job: Job) -> Result<Envelope, StoreError> {
        self.ask(|reply| Ask::Change { place: self.place.clone(), job, reply }).await
    }

    async fn ask<T>(
        &self,
        ask: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Ask,
    ) -> Result<T, StoreError> {
        let ended = || StoreError::Ended { path: self.named.clone() };
        let (reply, answer) = oneshot::channel();
        self.asks.send(ask(reply)).map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended())).map_err(|error| error.about(&self.named))
    }
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        lock(&self.open)
    }

    /// The owner of a worklist, started if there is none.
    fn owner_of(
        self: &Arc<Self>,
        place: &Place,
        path: &Path,
        root: &Path,
    ) -> (mpsc::UnboundedSender<Ask>, Board) {
        let mut open = self.lock();
        // While the first change makes the directory, its owner still is known under the key from before.
        let provisional = || {
            let mut others = open.iter();
            others.find(|(key, entry)| key.is_provisional() && entry.target == place.target)
        };
        let found = open.get(&place.key).or_else(|| provisional().map(|(_, entry)| entry));
        if let Some(entry) = found {
            let mut shown = lock(&entry.board);
            path.clone_into(&mut shown.overview.path);
            root.clone_into(&mut shown.overview.root);
            shown.used = Instant::now();
            return (entry.asks.clone(), Arc::clone(&entry.board));
        }
        let (asks, asked) = mpsc::unbounded_channel();
        let overview =
            StoreOverview { path: path.to_owned(), root: root.to_owned(), revision: 0, goals: 0, queued: 0 };
        let board = Arc::new(Mutex::new(Shown { overview, known: None, used: Instant::now() }));
        tokio::spawn(Owner::new(Arc::clone(self), place, asked, Arc::clone(&board)).run());
        let target = place.target.clone();
        open.insert(place.key.clone(), Entry { target, asks: asks.clone(), board: Arc::clone(&board) });
        (asks, board)
    }

    /// Lets an owner end that nobody has open. Whether it may.
    fn retire(&self, key: &Key, board: &Board) -> bool {
        let mut open = self.lock();
        match open.get(key) {
            Some(entry) if Arc::ptr_eq(&entry.board, board) => {
                let unused = entry.asks.strong_count() == 1;
                if unused {
                    open.remove(key);
                }
                unused
            }
            // It is not listed any more: it ends when the last of its stores does.
            _ => false,
        }
    }

    /// A worklist's directory was made or replaced: its owner gets the new key, unless that has an owner already.
    fn rekey(&self, old: &Key, new: &Key, board: &Board) {
        let mut open = self.lock();
        if open.get(old).is_some_and(|entry| Arc::ptr_eq(&entry.board, board))
            && let Some(entry) = open.remove(old)
        {
            open.entry(new.clone()).or_insert(entry);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs work that may wait for the disk, so that nobody else waits.
async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let ended = || StoreError::Ended { path: path.to_owned() };
    tokio::task::spawn_blocking(work).await.map_err(|_| ended())?
}

fn random_hex_16() -> String {
    let mut bytes = [0_u8; 8];
    // Names need to be unlikely to clash, not to be secret; a clash is noticed and another name taken.
    if rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).is_err() {
        let now = disk::since_1970_ns(std::time::SystemTime::now());
        bytes = (now.unsigned_abs() as u64 ^ u64::from(std::process::id()).rotate_left(40)).to_le_bytes();
    }
    format!("{:016x}", u64::from_le_bytes(bytes))
}

fn is_hex_16(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
