//! Deciding on new changes without locks: most refusals, and what already holds, end here.

use std::path::Path;
use std::sync::Arc;

use stepstone_proto::envelope::Envelope;

use super::attempt::{Answered, Pending, now_ms};
use super::content::{self, Content};
use super::disk::Disk;
use super::{StoreError, Verdict};
use crate::roadmap::Roadmap;

/// What is known of a change that waits for its turn.
pub(super) enum Known {
    /// Nobody has decided on it yet.
    Nothing,
    /// There is nothing to write, and this is the answer, unless the journal knows better: a retry of a change that was
    /// made would look like one that is not needed, or not possible.
    Prepared(Envelope),
    /// There is something to write. On the same content the verdict is the same, as long as no time has passed.
    Writes(Option<Decided>),
}

/// A change that was decided on.
pub(super) struct Decided {
    /// On what.
    on: Roadmap,
    next: Roadmap,
    envelope: Envelope,
}

impl Known {
    /// Whether something may have to be written.
    pub(super) const fn writes(&self) -> bool {
        !matches!(self, Self::Prepared(_))
    }

    /// The verdict of the look, if it was about this very content. It is given away once.
    pub(super) fn verdict_on(&mut self, roadmap: &Roadmap) -> Option<Verdict> {
        let Self::Writes(decided) = self else { return None };
        let Decided { on, next, envelope } = decided.take()?;
        on.is_same(roadmap).then_some(Verdict::Write { next, envelope })
    }

    /// Forgets the verdict: time passes before the change has its turn.
    pub(super) fn let_go(&mut self) {
        if let Self::Writes(decided) = self {
            *decided = None;
        }
    }
}

/// What a look came to.
pub(super) struct Looked {
    /// What the file holds; if nobody had to know for certain, what it held as far as its stamp says.
    pub(super) content: Result<Arc<Content>, StoreError>,
    /// Changes that have their answer.
    pub(super) answered: Vec<Answered>,
    /// Changes that are left to an attempt, in their order.
    pub(super) to_do: Vec<Pending>,
}

/// Decides on changes that nobody has decided on yet. `known` is what was found before. `has_journal`: keys may be
/// remembered.
pub(super) fn look(
    disk: &Disk,
    path: &Path,
    known: Option<&Arc<Content>>,
    changes: Vec<Pending>,
    has_journal: bool,
) -> Looked {
    let (mut changes, gone): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|pending| (pending.job.wanted)());
    let mut answered: Vec<Answered> =
        gone.into_iter().map(|pending| (pending, Err(StoreError::Abandoned))).collect();
    // What is going to be written is decided on again under the locks, on what is then there. So an equal stamp is
    // enough for it, however young; whatever is answered now must be about what is there for certain.
    if let Some(content) = content::glance(disk, path, known)
        && let Ok(roadmap) = &content.roadmap
    {
        let verdicts = decide(&mut changes, roadmap);
        if content.is_settled() || verdicts.iter().all(is_write) {
            let to_do = sort(changes, verdicts, roadmap, has_journal, &mut answered);
            return Looked { content: Ok(content), answered, to_do };
        }
    }
    let content = content::fresh(disk, path, known);
    let roadmap = content.as_ref().map_err(Clone::clone).and_then(|content| content.roadmap(path));
    let to_do = match roadmap {
        Ok(roadmap) => {
            let verdicts = decide(&mut changes, roadmap);
            sort(changes, verdicts, roadmap, has_journal, &mut answered)
        }
        Err(error) => {
            answered.extend(changes.into_iter().map(|pending| (pending, Err(error.clone()))));
            Vec::new()
        }
    };
    Looked { content, answered, to_do }
}

/// The verdicts up to the first change that is written. An attempt is made for its sake, and those behind it are decided
/// on in that attempt, on what it leaves; or looked at again, should the attempt meet a lock.
fn decide(changes: &mut [Pending], roadmap: &Roadmap) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for pending in changes {
        verdicts.push((pending.job.decide)(roadmap, now_ms()));
        if verdicts.last().is_some_and(is_write) {
            break;
        }
    }
    verdicts
}

const fn is_write(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Write { .. })
}

/// Parts those that have their answer from those that are left to an attempt.
fn sort(
    changes: Vec<Pending>,
    verdicts: Vec<Verdict>,
    on: &Roadmap,
    has_journal: bool,
    answered: &mut Vec<Answered>,
) -> Vec<Pending> {
    let mut to_do = Vec::with_capacity(changes.len());
    let mut verdicts = verdicts.into_iter();
    for mut pending in changes {
        pending.known = match verdicts.next() {
            None => Known::Nothing,
            Some(Verdict::Answer(envelope)) if pending.job.key.is_none() || !has_journal => {
                answered.push((pending, Ok(envelope)));
                continue;
            }
            Some(Verdict::Answer(envelope)) => Known::Prepared(envelope),
            Some(Verdict::Write { next, envelope }) => {
                Known::Writes(Some(Decided { on: on.clone(), next, envelope }))
            }
        };
        to_do.push(pending);
    }
    to_do
}
