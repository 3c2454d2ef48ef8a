//! Exactly once: which changes have been made, under which idempotency key, and what was answered.
//!
//! One file per worklist in the state directory, used only by whoever holds the worklist's kernel lock. Each line is
//! one JSON object. A change's record is written before the goal file is replaced, together with the name of the
//! temporary file; a second line says `done` (or `dropped`) afterwards. A holder that died in between is settled by
//! the next one: if the temporary file is still there, or the goal file's revision is lower than the recorded one,
//! the replacement did not happen.
//!
//! Nothing here is synced: a retry does not outlive a power cut.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stepstone_proto::envelope::Envelope;

use super::IdempotencyKey;
use super::disk::Disk;
use super::kernel_lock::make_private_directory;
use super::place::Key;

/// How long a key is remembered, in milliseconds.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// The same for a key that a host derived from its own call id.
const DERIVED_KEPT_MS: i64 = 10 * 60 * 1000;
/// How often lapsed keys are looked for, in milliseconds.
const FORGET_EVERY_MS: i64 = 60 * 1000;
/// A journal is written anew without its lapsed records when it is larger than this and half of it has lapsed.
const COMPACT: u64 = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line {
    /// About to be made.
    Change(Box<Record>),
    /// The replacement with this temporary file happened.
    Done { temporary: String },
    /// It did not.
    Dropped { temporary: String },
}

/// One change, as it is written down before it is made.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    at_ms: i64,
    key: String,
    digest: String,
    #[serde(default)]
    derived: bool,
    revision: u64,
    temporary: String,
    envelope: Envelope,
}

impl Record {
    pub(super) fn new(
        key: &IdempotencyKey,
        at_ms: i64,
        revision: u64,
        temporary: &str,
        envelope: &Envelope,
    ) -> Self {
        Self {
            at_ms,
            key: key.key.clone(),
            digest: key.digest.clone(),
            derived: key.derived,
            revision,
            temporary: temporary.to_owned(),
            envelope: envelope.clone(),
        }
    }
}

/// What is known of one key without its envelope.
#[derive(Debug, Clone)]
struct Entry {
    digest: String,
    lapses_ms: i64,
    revision: u64,
    temporary: String,
    state: State,
    /// Where its line is.
    start: u64,
    length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
}

/// What the journal says about a key.
#[derive(Debug)]
pub(super) enum Remembered {
    /// Nothing.
    New,
    /// The change was made; this was answered.
    Answered(Box<Envelope>),
    /// The key was used for another operation.
    Otherwise,
}

/// The keys of one worklist, as of the last time the kernel lock was held. Kept in memory between two times.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Which file this is about, with its time of making: it may have been written anew.
    file: (u64, Option<i128>),
    /// Where the last whole line ends.
    end: u64,
    entries: HashMap<String, Entry>,
    /// The keys of changes of which it is not known yet whether they were made.
    open: Vec<String>,
    /// When it is next worth looking for lapsed keys.
    forget_at_ms: i64,
    /// Bytes in lines that nobody needs any more.
    lapsed: u64,
}

/// The open journal of a worklist whose kernel lock is held.
#[derive(Debug)]
pub(super) struct Journal<'a> {
    disk: &'a Disk,
    path: PathBuf,
    file: File,
    index: &'a mut Index,
    now_ms: i64,
}

impl<'a> Journal<'a> {
    /// Opens the journal and reads what others have added since `index` was left.
    pub(super) fn open(
        disk: &'a Disk,
        state_dir: &Path,
        key: &Key,
        index: &'a mut Index,
        now_ms: i64,
    ) -> io::Result<Self> {
        let path = state_dir.join("journal").join(key.file_name());
        let file = match disk.open_lock(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_private_directory(&state_dir.join("journal"))?;
                disk.open_lock(&path)?
            }
            other => other?,
        };
        let mut journal = Self { disk, path, file, index, now_ms };
        journal.catch_up()?;
        Ok(journal)
    }

    fn catch_up(&mut self) -> io::Result<()> {
        let facts = self.disk.inspect(&self.file, &self.path)?;
        let (found, file) = (facts.stamp, (facts.stamp.inode, facts.born_ns));
        if file != self.index.file || found.size < self.index.end {
            *self.index = Index { file, ..Index::default() };
        }
        if found.size > self.index.end {
            // Only what is new: the whole journal may be large, and two engines may take turns.
            let (start, length) = (self.index.end, found.size - self.index.end);
            let added = self.disk.read_range(&self.file, &self.path, start, length)?;
            self.index.add(&added);
            if found.size > self.index.end {
                // A line that its writer did not finish. Cut off, or the next one would be glued to it.
                self.disk.truncate(&self.file, &self.path, self.index.end)?;
            }
        }
        self.index.forget(self.now_ms);
        Ok(())
    }

    /// Decides what became of changes whose maker died between writing them down and saying `done`. Must come before
    /// anything is cleaned up. `folder` is the goal file's directory, `revision` reads the file's present one.
    pub(super) fn settle<E: From<io::Error>>(
        &mut self,
        folder: &Path,
        revision: impl FnOnce() -> Result<u64, E>,
    ) -> Result<(), E> {
        let mut open: Vec<(String, u64)> = Vec::new();
        for entry in self.index.open.iter().filter_map(|key| self.index.entries.get(key)) {
            match open.iter_mut().find(|(temporary, _)| *temporary == entry.temporary) {
                Some((_, highest)) => *highest = entry.revision.max(*highest),
                None => open.push((entry.temporary.clone(), entry.revision)),
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        let present = revision()?;
        for (temporary, recorded) in open {
            let still_there = match self.disk.look_no_follow(&folder.join(&temporary)) {
                Ok(_) => true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(error.into()),
            };
            self.end_of(&temporary, !still_there && present >= recorded)?;
        }
        Ok(())
    }

    /// What is remembered of a key.
    pub(super) fn look_up(&self, key: &IdempotencyKey) -> io::Result<Remembered> {
        let valid = |entry: &&Entry| entry.state == State::Done && entry.lapses_ms > self.now_ms;
        let Some(entry) = self.index.entries.get(&key.key).filter(valid) else {
            return Ok(Remembered::New);
        };
        if entry.digest != key.digest {
            return Ok(Remembered::Otherwise);
        }
        let Line::Change(record) = self.line(entry)? else { return Ok(Remembered::New) };
        Ok(Remembered::Answered(Box::new(record.envelope)))
    }

    fn line(&self, entry: &Entry) -> io::Result<Line> {
        let line = self.disk.read_range(&self.file, &self.path, entry.start, entry.length)?;
        Ok(serde_json::from_slice(&line)?)
    }

    /// Writes down changes that are about to be made, in one call.
    pub(super) fn write_down(&mut self, records: Vec<Record>) -> io::Result<()> {
        let lines: Vec<Line> = records.into_iter().map(|record| Line::Change(Box::new(record))).collect();
        self.append(lines)
    }

    /// Says what became of the replacement with this temporary file.
    pub(super) fn end_of(&mut self, temporary: &str, made: bool) -> io::Result<()> {
        let temporary = temporary.to_owned();
        let line = if made { Line::Done { temporary } } else { Line::Dropped { temporary } };
        self.append(vec![line])
    }

    fn append(&mut self, lines: Vec<Line>) -> io::Result<()> {
        let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(lines.len()));
        for line in &lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
            ends.push(text.len() as u64);
        }
        let end = self.index.end;
        if let Err(error) = self.disk.append(&self.file, &self.path, end, &text) {
            // What was written of it must not be taken for a record.
            self.disk.truncate(&self.file, &self.path, end)?;
            return Err(error);
        }
        for (line, line_end) in lines.into_iter().zip(ends) {
            self.index.take(line, end + line_end);
        }
        Ok(())
    }

    /// Leaves out what has lapsed, when that is worth it. Called at the end; a failure loses nothing.
    pub(super) fn compact(&mut self) {
        if self.index.end < COMPACT || self.index.lapsed * 2 < self.index.end {
            return;
        }
        if let Err(error) = self.write_anew() {
            tracing::warn!(path = %self.path.display(), %error, "a journal was not shortened");
        }
    }

    fn write_anew(&mut self) -> io::Result<()> {
        let mut kept: Vec<&Entry> =
            self.index.entries.values().filter(|entry| entry.state == State::Done).collect();
        kept.sort_by_key(|entry| entry.start);
        let mut text = Vec::new();
        for entry in kept {
            let line = self.line(entry)?;
            serde_json::to_writer(&mut text, &line)?;
            text.push(b'\n');
            serde_json::to_writer(&mut text, &Line::Done { temporary: entry.temporary.clone() })?;
            text.push(b'\n');
        }
        let passing = self.path.with_extension("new");
        let file = self.disk.open_lock(&passing)?;
        self.disk.truncate(&file, &passing, 0)?;
        self.disk.append(&file, &passing, 0, &text)?;
        self.disk.rename(&passing, &self.path)?;
        let facts = self.disk.inspect(&file, &self.path)?;
        self.file = file;
        *self.index = Index { file: (facts.stamp.inode, facts.born_ns), ..Index::default() };
        self.index.add(&text);
        Ok(())
    }
}

impl Index {
    /// Takes in whole lines that begin at `end`; stops at one that is not whole.
    fn add(&mut self, text: &[u8]) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let Some(content) = line.strip_suffix(b"\n") else { return };
            let end = self.end + line.len() as u64;
            match serde_json::from_slice(content) {
                Ok(line) => self.take(line, end),
                // Another version's, or damaged: nobody's key.
                Err(_) => {
                    self.lapsed += line.len() as u64;
                    self.end = end;
                }
            }
        }
    }

    /// Takes in the line that lies between the present end and `end`.
    fn take(&mut self, line: Line, end: u64) {
        let start = std::mem::replace(&mut self.end, end);
        let length = end - start;
        match line {
            // Without the line break.
            Line::Change(record) => self.change(*record, start, length - 1),
            Line::Done { temporary } => self.close(&temporary, true, length),
            Line::Dropped { temporary } => self.close(&temporary, false, length),
        }
    }

    fn change(&mut self, record: Record, start: u64, length: u64) {
        let kept = if record.derived { DERIVED_KEPT_MS } else { KEPT_MS };
        let entry = Entry {
            digest: record.digest,
            lapses_ms: record.at_ms.saturating_add(kept),
            revision: record.revision,
            temporary: record.temporary,
            state: State::Open,
            start,
            length,
        };
        self.open.push(record.key.clone());
        if let Some(before) = self.entries.insert(record.key, entry) {
            self.lapsed += before.length;
        }
    }

    fn close(&mut self, temporary: &str, made: bool, length: u64) {
        self.lapsed += length;
        let (entries, lapsed) = (&mut self.entries, &mut self.lapsed);
        self.open.retain(|key| {
            let Some(entry) = entries.get_mut(key) else { return false };
            if entry.temporary != temporary {
                return true;
            }
            if made {
                entry.state = State::Done;
            } else {
                *lapsed += entry.length;
                entries.remove(key);
            }
            false
        });
    }

    fn forget(&mut self, now_ms: i64) {
        if now_ms < self.forget_at_ms {
            return;
        }
        self.forget_at_ms = now_ms.saturating_add(FORGET_EVERY_MS);
        let lapsed = &mut self.lapsed;
        self.entries.retain(|_, entry| {
            let keep = entry.state == State::Open || entry.lapses_ms > now_ms;
            *lapsed += if keep { 0 } else { entry.length };
            keep
        });
    }
}
