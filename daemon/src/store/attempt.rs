//! One attempt to carry out what waits: both locks, fresh content, decisions, one replacement. All of it is one
//! blocking step, so nothing of ours comes between the last check and the rename.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use stepstone_proto::envelope::Envelope;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::batch;
use super::commit::{Replaced, Replacement};
use super::content::{self, Content};
use super::disk::{Disk, since_1970_ns};
use super::journal::{Index, Journal, Remembered};
use super::kernel_lock::KernelLock;
use super::lock_directory::{self, LockDirectory, Pulse, Spare, Taken};
use super::look::{self, Known};
use super::place::Place;
use super::{Job, StoreError};

/// How long a change waits for locks in all.
pub(super) const PATIENCE: Duration = Duration::from_secs(12);

/// How often a file that changes between decision and replacement is decided on again.
const ROUNDS: usize = 100;

/// A change that waits for its turn.
pub(super) struct Pending {
    pub(super) job: Job,
    pub(super) reply: oneshot::Sender<Result<Envelope, StoreError>>,
    pub(super) since: Instant,
    /// What the look without locks came to.
    pub(super) known: Known,
}

/// A change with its answer.
pub(super) type Answered = (Pending, Result<Envelope, StoreError>);

/// What an owner works with. It is lent to each attempt.
#[derive(Debug)]
pub(super) struct Workbench {
    pub(super) disk: Disk,
    pub(super) state_dir: Option<PathBuf>,
    /// For the refreshing of the lock directory while an attempt runs.
    pub(super) pulse: Pulse,
    /// The lock directory of the attempt before.
    pub(super) spare: Option<Spare>,
    pub(super) index: Index,
    pub(super) known: Option<Arc<Content>>,
    /// Directories whose names may not have reached the disk yet.
    pub(super) unsynced: Vec<PathBuf>,
    /// Left-overs of dead engines have been looked for.
    pub(super) cleaned: bool,
    /// That there is no kernel lock or journal has been logged.
    pub(super) told: bool,
}

/// How an attempt ended. Everybody who took part has their answer by then.
#[derive(Default)]
pub(super) struct Outcome {
    /// How many have been answered, and when the last of them was.
    pub(super) told: usize,
    pub(super) told_at: Option<Instant>,
    /// What must be tried again, because somebody else holds this lock.
    pub(super) left: Vec<Pending>,
    pub(super) lock: Option<PathBuf>,
    /// Where the file turned out to be.
    pub(super) place: Option<Place>,
    /// The file was replaced.
    pub(super) replaced: bool,
    /// Open files that the system frees when they are closed, which takes it a while. Nobody has to wait for that.
    pub(super) closing: Vec<Arc<File>>,
}

/// Tries to carry out a batch on the goal file that is, or was until just now, at `place`. `show` is given what the file
/// holds, before anybody is answered.
pub(super) fn attempt(
    bench: &mut Workbench,
    place: &Place,
    batch: Vec<Pending>,
    show: &dyn Fn(Option<Arc<Content>>),
) -> Outcome {
    let mut run = Run { bench, show, answers: Vec::new(), looked: false, outcome: Outcome::default() };
    let batch = run.look(&place.target, batch);
    // What only the journal has to be asked about must not fail because a directory cannot be made.
    let (prepared, changes): (Vec<_>, Vec<_>) =
        batch.into_iter().partition(|pending| !pending.known.writes());
    for part in [prepared, changes] {
        if let Err((error, failed)) = run.carry_out(place, part) {
            run.fail(failed, &error);
        }
    }
    run.tell();
    run.outcome
}

type Failed = (StoreError, Vec<Pending>);

struct Run<'a> {
    bench: &'a mut Workbench,
    show: &'a dyn Fn(Option<Arc<Content>>),
    /// Not given yet.
    answers: Vec<Answered>,
    /// The file was looked at, and not shown yet.
    looked: bool,
    outcome: Outcome,
}

impl Run<'_> {
    /// Gives the answers that there are. What they say is on the disk by now.
    fn tell(&mut self) {
        let answers = std::mem::take(&mut self.answers);
        if std::mem::take(&mut self.looked) || answers.iter().any(|(_, answer)| answer.is_ok()) {
            (self.show)(self.bench.known.clone());
        }
        if !answers.is_empty() {
            self.outcome.told += answers.len();
            self.outcome.told_at = Some(Instant::now());
            answer(answers);
            // Should they have to share this processor with what is left to do here, they come first.
            std::thread::yield_now();
        }
    }

    fn fail(&mut self, failed: Vec<Pending>, error: &StoreError) {
        self.answers.extend(failed.into_iter().map(|pending| (pending, Err(error.clone()))));
    }

    fn busy(&mut self, lock: PathBuf, mut left: Vec<Pending>) {
        self.outcome.lock = Some(lock);
        for pending in &mut left {
            pending.known.let_go();
        }
        self.outcome.left.extend(left);
    }

    /// Decides on those that nobody has decided on yet. Who needs nothing written has its answer at once. What is left
    /// stays in its order.
    fn look(&mut self, path: &Path, batch: Vec<Pending>) -> Vec<Pending> {
        let (new, mut batch): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|pending| matches!(pending.known, Known::Nothing));
        if !new.is_empty() {
            let bench = &mut *self.bench;
            let has_journal = bench.state_dir.is_some();
            let looked = look::look(&bench.disk, path, bench.known.as_ref(), new, has_journal);
            if let Ok(content) = looked.content {
                bench.known = Some(content);
                self.looked = true;
            }
            answer(looked.answered);
            batch.extend(looked.to_do);
            batch.sort_by_key(|pending| pending.since);
        }
        batch
    }

    fn carry_out(&mut self, place: &Place, batch: Vec<Pending>) -> Result<(), Failed> {
        let batch = self.only_wanted(batch);
        if batch.is_empty() {
            return Ok(());
        }
        let (place, kernel) = match self.enter(place, &batch) {
            Ok(entered) => entered,
            Err(Closed::Held(lock)) => {
                self.busy(lock, batch);
                return Ok(());
            }
            Err(Closed::Failed(error)) => return Err((error, batch)),
        };
        self.outcome.place = Some(place.clone());
        // Lent to the journal for the rest of this attempt.
        let mut index = std::mem::take(&mut self.bench.index);
        let result = self.under_kernel_lock(&place, kernel, &mut index, batch);
        self.bench.index = index;
        result
    }

    /// Who is gone gets nothing done.
    fn only_wanted(&mut self, batch: Vec<Pending>) -> Vec<Pending> {
        let (wanted, gone): (Vec<_>, Vec<_>) = batch.into_iter().partition(|pending| (pending.job.wanted)());
        self.fail(gone, &StoreError::Abandoned);
        wanted
    }

    /// Makes the directory if something may be written, and takes the kernel lock of what is then there. `place` is where
    /// the file was until just now; whether it still is there is seen when the lock is held.
    fn enter(&mut self, place: &Place, batch: &[Pending]) -> Result<(Place, Option<KernelLock>), Closed> {
        let path = place.target.as_path();
        let writes = batch.iter().any(|pending| pending.known.writes());
        let find = || match Place::of(path) {
            Ok(place) if place.target == path => Ok(place),
            // A link was put there since the asker was told where the file is. It may lead anywhere.
            Ok(_) => Err(Closed::Failed(StoreError::Unsteady { path: path.to_owned() })),
            Err(error) => Err(Closed::Failed(StoreError::lost(path, error))),
        };
        let mut place = place.clone();
        for _ in 0..ROUNDS {
            let missing = if writes { place.missing_directories() } else { Vec::new() };
            if !missing.is_empty() {
                for directory in missing {
                    self.make_directory(path, &directory)?;
                }
                place = find()?;
            }
            let kernel = self.take_kernel_lock(&place)?;
            if place.is_unmoved() {
                return Ok((place, kernel));
            }
            // The directory may have been replaced before it was locked.
            let again = find()?;
            if again.key == place.key && (!writes || again.missing_directories().is_empty()) {
                return Ok((again, kernel));
            }
            place = again;
        }
        Err(Closed::Failed(StoreError::Unsteady { path: path.to_owned() }))
    }

    fn make_directory(&mut self, path: &Path, directory: &Path) -> Result<(), Closed> {
        match self.bench.disk.make_directory(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(Closed::Failed(StoreError::disk(path, "make the directory", directory, error)));
            }
            // Its name in its parent has to reach the disk before a change in it is acknowledged.
            Ok(()) => self.bench.unsynced.extend(directory.parent().map(Path::to_owned)),
        }
        Ok(())
    }

    /// Without a state directory that can be written there is none, and the lock directory has to be enough.
    fn take_kernel_lock(&mut self, place: &Place) -> Result<Option<KernelLock>, Closed> {
        let Some(state_dir) = &self.bench.state_dir else { return Ok(None) };
        match KernelLock::take(&self.bench.disk, state_dir, &place.key) {
            Ok(Some(lock)) => Ok(Some(lock)),
            Ok(None) => Err(Closed::Held(state_dir.join("locks").join(place.key.file_name()))),
            Err(error) => {
                if !std::mem::replace(&mut self.bench.told, true) {
                    tracing::warn!(path = %state_dir.display(), %error, "no kernel lock and journal");
                }
                Ok(None)
            }
        }
    }

    fn under_kernel_lock(
        &mut self,
        place: &Place,
        mut kernel: Option<KernelLock>,
        index: &mut Index,
        batch: Vec<Pending>,
    ) -> Result<(), Failed> {
        let disk = self.bench.disk.clone();
        let mut journal = match self.open_journal(&disk, place, kernel.is_some(), index) {
            Ok(journal) => journal,
            Err(error) => return Err((error, batch)),
        };
        let batch = self.answer_remembered(place, journal.as_ref(), batch);
        if batch.is_empty() {
            if let Err(error) = lock_directory::remove_left_behind(&disk, place, kernel.as_ref()) {
                tracing::warn!(path = %place.target.display(), %error, "a dead engine's lock was not removed");
            }
            return Ok(());
        }
        let folder = place.folder();
        // Whoever has the spare lock directory knows what is left: nothing else.
        let unclean = kernel.as_ref().is_some_and(|kernel| kernel.unclean) && self.bench.spare.is_none();
        let taken =
            LockDirectory::take(&disk, place, kernel.as_mut(), &self.bench.pulse, &mut self.bench.spare);
        let lock = folder.join(lock_directory::NAME);
        let held = match taken {
            Ok(Taken::Held(held)) => held,
            Err(error) if !place.is_moved() => {
                return Err((StoreError::disk(&place.target, "make the lock", &lock, error), batch));
            }
            Ok(Taken::Busy) | Err(_) => {
                self.busy(lock, batch);
                return Ok(());
            }
        };
        if kernel.is_some() && (!self.bench.cleaned || held.took_over || unclean) {
            super::commit::clean(&disk, place);
            self.bench.cleaned = true;
        }
        let result = self.decide_and_replace(place, &held, journal.as_mut(), batch);
        // Letting go of the locks changes nothing about the answers, so nobody waits for it.
        self.tell();
        if let Some(journal) = &mut journal {
            journal.compact();
        }
        match held.put_aside(kernel.as_mut()) {
            Ok(spare) => self.bench.spare = Some(spare),
            Err(removed) => self.outcome.closing.extend(removed),
        }
        result
    }

    fn open_journal<'j>(
        &mut self,
        disk: &'j Disk,
        place: &Place,
        locked: bool,
        index: &'j mut Index,
    ) -> Result<Option<Journal<'j>>, StoreError> {
        let Some(state_dir) = self.bench.state_dir.as_deref().filter(|_| locked) else { return Ok(None) };
        let mut journal = match Journal::open(disk, state_dir, &place.key, index, now_ms()) {
            Ok(journal) => journal,
            Err(error) => {
                if !std::mem::replace(&mut self.bench.told, true) {
                    tracing::warn!(path = %state_dir.display(), %error, "no journal");
                }
                return Ok(None);
            }
        };
        let settled = journal.settle(place.folder(), || {
            let content = content::fresh(disk, &place.target, self.bench.known.as_ref())?;
            Ok(content.roadmap(&place.target)?.revision())
        });
        match settled {
            Ok(()) => Ok(Some(journal)),
            Err(Unsettled::File(error)) => Err(error),
            Err(Unsettled::Journal(error)) => {
                Err(StoreError::disk(&place.target, "settle the journal in", state_dir, error))
            }
        }
    }

    /// Answers what was done before under the same key, and what needed no more than this look.
    fn answer_remembered(
        &mut self,
        place: &Place,
        journal: Option<&Journal<'_>>,
        batch: Vec<Pending>,
    ) -> Vec<Pending> {
        let mut left = Vec::with_capacity(batch.len());
        for mut pending in batch {
            let remembered = match (&journal, &pending.job.key) {
                (Some(journal), Some(key)) => journal.look_up(key),
                _ => Ok(Remembered::New),
            };
            let answer = match remembered {
                Ok(Remembered::Answered(envelope)) => Ok(batch::replayed(*envelope)),
                Ok(Remembered::Otherwise) => Err(StoreError::KeyUsed),
                Err(error) => {
                    Err(StoreError::disk(&place.target, "read the journal of", &place.target, error))
                }
                Ok(Remembered::New) => match std::mem::replace(&mut pending.known, Known::Writes(None)) {
                    Known::Prepared(envelope) => Ok(envelope),
                    known => {
                        pending.known = known;
                        left.push(pending);
                        continue;
                    }
                },
            };
            self.answers.push((pending, answer));
        }
        left
    }

    fn decide_and_replace(
        &mut self,
        place: &Place,
        held: &LockDirectory,
        mut journal: Option<&mut Journal<'_>>,
        mut batch: Vec<Pending>,
    ) -> Result<(), Failed> {
        for _ in 0..ROUNDS {
            let fresh = content::fresh(&self.bench.disk, &place.target, self.bench.known.as_ref());
            let found = fresh.and_then(|content| {
                self.bench.known = Some(Arc::clone(&content));
                let roadmap = content.roadmap(&place.target)?.clone();
                Ok((content, roadmap))
            });
            let (content, roadmap) = match found {
                Ok(found) => found,
                Err(error) => return Err((error, batch)),
            };
            let (decided, next) = batch::decide(&mut batch, roadmap);
            let Some(next) = next else {
                self.answers.extend(batch::made(batch, decided, None));
                return Ok(());
            };
            let revision = next.revision();
            let closing = &mut self.outcome.closing;
            let mut replacement =
                Replacement { bench: self.bench, place, held, journal: journal.as_deref_mut(), closing };
            let records = |temporary: &str| batch::records(&batch, &decided, temporary, revision);
            match replacement.make(&content, next, records) {
                Ok(Replaced::Done { durable }) => {
                    self.outcome.replaced = true;
                    self.answers.extend(batch::made(batch, decided, Some(durable)));
                    return Ok(());
                }
                Ok(Replaced::Changed) => {}
                Err(error) if !place.is_moved() => {
                    self.answers.extend(batch::failed(batch, decided, &error));
                    return Ok(());
                }
                // Nothing was changed. Where the directory was moved away, there is another worklist by now, or none.
                Ok(Replaced::LockLost) | Err(_) => {
                    self.busy(place.folder().join(lock_directory::NAME), batch);
                    return Ok(());
                }
            }
        }
        Err((StoreError::Unsteady { path: place.target.clone() }, batch))
    }
}

/// Gives everybody their answer.
pub(super) fn answer(answered: Vec<Answered>) {
    for (pending, answer) in answered {
        // Who is gone needs none.
        let _ = pending.reply.send(answer);
    }
}

/// Why an attempt did not come as far as the journal.
enum Closed {
    Held(PathBuf),
    Failed(StoreError),
}

enum Unsettled {
    Journal(io::Error),
    File(StoreError),
}

impl From<io::Error> for Unsettled {
    fn from(error: io::Error) -> Self {
        Self::Journal(error)
    }
}

impl From<StoreError> for Unsettled {
    fn from(error: StoreError) -> Self {
        Self::File(error)
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    i64::try_from(since_1970_ns(SystemTime::now()) / 1_000_000).unwrap_or(i64::MAX)
}
