//! The books: what was acknowledged, and what is in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use stepstone_tests::Answer;

/// What happened so far.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    /// Goals whose addition was acknowledged. Ids are never given again.
    added: BTreeSet<String>,
    /// Goals whose deletion was acknowledged, perhaps before the one who added them has entered that here.
    deleted: BTreeSet<String>,
    /// Goals whose deletion was asked for with an unknown outcome.
    doubtful: BTreeSet<String>,
    /// Each acknowledged revision, with the change that made it.
    revisions: BTreeMap<u64, String>,
    counts: Counts,
}

/// How many of each.
#[derive(Debug, Default, Clone)]
pub(super) struct Counts {
    changes: u64,
    reads: u64,
    refusals: u64,
    unknown: u64,
    kills: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { changes, reads, refusals, unknown, kills } = self;
        write!(f, "{changes} changes, {reads} reads, {refusals} refusals, {unknown} unknown, {kills} kills")
    }
}

impl Ledger {
    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of each so far.
    pub(super) fn counts(&self) -> Counts {
        self.book().counts.clone()
    }

    /// A read that was answered.
    pub(super) fn read(&self) {
        self.book().counts.reads += 1;
    }

    /// A process that was killed.
    pub(super) fn killed(&self) {
        self.book().counts.kills += 1;
    }

    /// A change whose outcome nobody heard.
    pub(super) fn unheard(&self) {
        self.book().counts.unknown += 1;
    }

    /// A change by somebody else, who knows that it is in the file.
    pub(super) fn foreign(&self, id: &str, revision: u64) {
        self.book().acknowledged("foreign add", revision);
        self.book().added.insert(id.to_owned());
    }

    /// The answer to a change.
    ///
    /// # Panics
    /// When a change got a revision that another one has, or a refusal that it must not get.
    pub(super) fn change(&self, action: &str, id: Option<&str>, answer: &Answer) {
        let mut book = self.book();
        if answer.0["ok"] == false {
            let error = &answer.0["error"];
            let resolution = error["details"]["resolution"].as_str().unwrap_or_default();
            let code = error["code"].as_str().unwrap_or_default();
            let may_be = matches!(
                (code, resolution),
                ("CONFLICT" | "NOT_FOUND" | "VALIDATION_FAILED", _)
                    | ("UNAVAILABLE", "check-outcome-before-retrying")
                    | ("PERSISTENCE_FAILED", "check-repository-and-retry")
            );
            assert!(may_be, "{action} {id:?}: {}", answer.0);
            if code == "UNAVAILABLE" {
                book.counts.unknown += 1;
                book.doubtful.extend(id.filter(|_| action == "delete").map(str::to_owned));
            } else {
                book.counts.refusals += 1;
            }
            return;
        }
        if answer.changed() {
            let revision = answer.revision().unwrap_or_default();
            book.acknowledged(&format!("{action} {id:?}"), revision);
        }
        let goal = answer.0["result"]["goal"]["id"].as_str();
        match (action, goal) {
            ("add", Some(goal)) => assert!(book.added.insert(goal.to_owned()), "{goal} was added twice"),
            ("delete", Some(goal)) => {
                assert!(book.deleted.insert(goal.to_owned()), "{goal} was deleted twice");
            }
            _ => {}
        }
    }

    /// Compares the books with the file, and gives a summary.
    ///
    /// # Errors
    /// When something acknowledged is missing or there twice.
    pub(super) fn balance(&self, file: &Value) -> Result<String> {
        let book = self.book();
        let goals = file["goals"].as_array().context("the file has goals")?;
        let present: Vec<&str> = goals.iter().filter_map(|goal| goal["id"].as_str()).collect();
        let distinct: BTreeSet<&str> = present.iter().copied().collect();
        ensure!(distinct.len() == present.len(), "an id is in the file twice");
        let missing: Vec<&String> = book
            .added
            .difference(&book.deleted)
            .filter(|id| !distinct.contains(id.as_str()) && !book.doubtful.contains(*id))
            .collect();
        ensure!(missing.is_empty(), "acknowledged and not in the file: {missing:?}");
        let undead: Vec<&String> = book.deleted.iter().filter(|id| distinct.contains(id.as_str())).collect();
        ensure!(undead.is_empty(), "deleted and still in the file: {undead:?}");
        let surplus = distinct.iter().filter(|id| !book.added.contains(**id)).count();
        ensure!(
            u64::try_from(surplus)? <= book.counts.unknown,
            "{surplus} goals nobody was told of, but only {} unknown outcomes",
            book.counts.unknown
        );
        let revision = file["revision"].as_u64().context("the file has a revision")?;
        let acknowledged = u64::try_from(book.revisions.len())?;
        ensure!(
            (acknowledged..=acknowledged + book.counts.unknown).contains(&revision),
            "revision {revision} after {acknowledged} acknowledged changes and {} unknown outcomes",
            book.counts.unknown
        );
        Ok(format!("balanced: {}, revision {revision}, {} goals", book.counts, present.len()))
    }
}

impl Book {
    fn acknowledged(&mut self, change: &str, revision: u64) {
        self.counts.changes += 1;
        let before = self.revisions.insert(revision, change.to_owned());
        assert!(before.is_none(), "revision {revision} for {change} and for {before:?}");
    }
}
