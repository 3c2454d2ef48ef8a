//! Changes that wait together: decided in order, each on what the one before left, and answered together.

use std::collections::HashMap;

use stepstone_proto::envelope::Envelope;

use super::attempt::{Answered, Pending, now_ms};
use super::journal::Record;
use super::{StoreError, Verdict};
use crate::roadmap::Roadmap;

/// What an attempt decided on one change.
pub(super) enum Decided {
    Answer(Result<Envelope, StoreError>),
    Write(Envelope),
    /// The same key as an earlier change of the batch.
    SameAs(usize),
}

/// Decides a batch in order, each change on what the one before left. The new roadmap, if there is one.
pub(super) fn decide(batch: &mut [Pending], roadmap: Roadmap) -> (Vec<Decided>, Option<Roadmap>) {
    let mut current = roadmap;
    let mut changed = false;
    let mut keys: HashMap<String, (String, usize)> = HashMap::new();
    let mut decided = Vec::with_capacity(batch.len());
    for (position, pending) in batch.iter_mut().enumerate() {
        if !(pending.job.wanted)() {
            decided.push(Decided::Answer(Err(StoreError::Abandoned)));
            continue;
        }
        let key = pending.job.key.as_ref();
        if let Some((digest, first)) = key.and_then(|key| keys.get(&key.key)) {
            let same = key.is_some_and(|key| key.digest == *digest);
            decided.push(if same {
                Decided::SameAs(*first)
            } else {
                Decided::Answer(Err(StoreError::KeyUsed))
            });
            continue;
        }
        let verdict = pending.known.verdict_on(&current);
        match verdict.unwrap_or_else(|| (pending.job.decide)(&current, now_ms())) {
            Verdict::Answer(envelope) => decided.push(Decided::Answer(Ok(envelope))),
            Verdict::Write { next, envelope } => {
                if let Some(key) = &pending.job.key {
                    keys.insert(key.key.clone(), (key.digest.clone(), position));
                }
                current = next;
                changed = true;
                decided.push(Decided::Write(envelope));
            }
        }
    }
    (decided, changed.then_some(current))
}

/// What the journal must know of a batch before it is written.
pub(super) fn records(batch: &[Pending], decided: &[Decided], temporary: &str, revision: u64) -> Vec<Record> {
    let at_ms = now_ms();
    let pairs = batch.iter().zip(decided);
    pairs
        .filter_map(|(pending, decided)| match (&pending.job.key, decided) {
            (Some(key), Decided::Write(envelope)) => {
                Some(Record::new(key, at_ms, revision, temporary, envelope))
            }
            _ => None,
        })
        .collect()
}

/// The answers of a batch whose changes, if there are any, have been made. `durable` says whether they are known to
/// be on the disk.
pub(super) fn made(batch: Vec<Pending>, decided: Vec<Decided>, durable: Option<bool>) -> Vec<Answered> {
    let mut written: Vec<Option<Envelope>> = Vec::with_capacity(decided.len());
    let mut answers = Vec::with_capacity(decided.len());
    for (pending, decided) in batch.into_iter().zip(decided) {
        let mut made = None;
        let answer = match decided {
            Decided::Answer(answer) => answer,
            Decided::Write(mut envelope) => {
                mark(&mut envelope, durable);
                made = Some(envelope.clone());
                Ok(envelope)
            }
            Decided::SameAs(first) => {
                written.get(first).cloned().flatten().map(replayed).ok_or(StoreError::KeyUsed)
            }
        };
        written.push(made);
        answers.push((pending, answer));
    }
    answers
}

/// The answers of a batch whose replacement failed: what was decided before the first change stands, everything from
/// it on does not.
pub(super) fn failed(batch: Vec<Pending>, decided: Vec<Decided>, error: &StoreError) -> Vec<Answered> {
    let mut failed = false;
    let answers = batch.into_iter().zip(decided).map(|(pending, decided)| match decided {
        Decided::Answer(answer) if !failed => (pending, answer),
        _ => {
            failed = true;
            (pending, Err(error.clone()))
        }
    });
    answers.collect()
}

fn mark(envelope: &mut Envelope, durable: Option<bool>) {
    if durable == Some(false) {
        envelope.meta.durability = Some("unsynced".to_owned());
    }
}

/// The same answer once more.
pub(super) fn replayed(mut envelope: Envelope) -> Envelope {
    envelope.meta.replayed = true;
    envelope
}
