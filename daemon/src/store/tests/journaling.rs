//! The journal by itself: torn lines, lapsed keys, changes whose end nobody wrote down.

use std::io;

use serde_json::value::RawValue;

use super::super::disk::Step;
use super::super::journal::{Index, Journal, Record, Remembered};
use super::super::place::{Key, Place};
use super::*;

const HOUR_MS: i64 = 60 * 60 * 1000;

struct Scratch {
    dir: TempDir,
    disk: Disk,
    rig: Arc<Rig>,
    key: Key,
}

impl Scratch {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let rig = Arc::<Rig>::default();
        let key = Place::of(&dir.path().join("worklist.json")).unwrap().key;
        Self { disk: Disk { rig: Some(Arc::clone(&rig)) }, dir, rig, key }
    }

    fn open<'a>(&'a self, index: &'a mut Index, now_ms: i64) -> Journal<'a> {
        Journal::open(&self.disk, self.dir.path(), &self.key, index, now_ms).unwrap()
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("journal").join(self.key.file_name())
    }

    fn size(&self) -> u64 {
        self.file().metadata().unwrap().len()
    }

    /// Settles with this revision in the goal file.
    fn settle(&self, journal: &mut Journal<'_>, revision: u64) {
        journal.settle(self.dir.path(), || Ok::<_, io::Error>(revision)).unwrap();
    }
}

fn key(name: &str, derived: bool) -> IdempotencyKey {
    IdempotencyKey { key: name.to_owned(), digest: format!("do {name}"), derived }
}

fn record(name: &str, at_ms: i64, revision: u64, temporary: &str) -> Record {
    let result = RawValue::from_string(format!("{{\"name\":\"{name}\"}}")).unwrap();
    Record::new(
        &key(name, name.starts_with("derived")),
        at_ms,
        revision,
        temporary,
        &Envelope::success("test", result),
    )
}

fn knows(journal: &Journal<'_>, name: &str) -> bool {
    match journal.look_up(&key(name, false)).unwrap() {
        Remembered::Answered(envelope) => {
            assert_eq!(envelope.result.unwrap().get(), format!("{{\"name\":\"{name}\"}}"));
            true
        }
        Remembered::New => false,
        Remembered::Otherwise => panic!("another digest"),
    }
}

#[test]
fn a_key_is_known_once_its_change_is_done_and_to_everybody_who_opens_the_journal() {
    let scratch = Scratch::new();
    let (mut one, mut two) = (Index::default(), Index::default());
    let mut journal = scratch.open(&mut one, 0);
    journal.write_down(vec![record("a", 0, 1, "t1"), record("b", 0, 1, "t1")]).unwrap();
    assert!(!knows(&journal, "a"));
    journal.end_of("t1", true).unwrap();
    assert!(knows(&journal, "a") && knows(&journal, "b"));
    let mut other = scratch.open(&mut two, 0);
    assert!(knows(&other, "a") && knows(&other, "b"));
    other.write_down(vec![record("c", 0, 2, "t2")]).unwrap();
    other.end_of("t2", true).unwrap();
    assert!(knows(&scratch.open(&mut one, 0), "c"), "what others added is read");
}

#[test]
fn keys_lapse_after_a_day_and_derived_ones_after_ten_minutes() {
    let scratch = Scratch::new();
    let mut index = Index::default();
    let mut journal = scratch.open(&mut index, 0);
    journal.write_down(vec![record("a", 0, 1, "t"), record("derived", 0, 1, "t")]).unwrap();
    journal.end_of("t", true).unwrap();
    for (now_ms, known, derived_known) in [
        (0, true, true),
        (HOUR_MS / 6 - 1, true, true),
        (HOUR_MS / 6, true, false),
        (24 * HOUR_MS - 1, true, false),
        (24 * HOUR_MS, false, false),
    ] {
        let mut fresh = Index::default();
        for index in [&mut index, &mut fresh] {
            let journal = scratch.open(index, now_ms);
            assert_eq!(
                (knows(&journal, "a"), knows(&journal, "derived")),
                (known, derived_known),
                "{now_ms}"
            );
        }
    }
}

#[test]
fn a_torn_last_line_counts_as_absent_and_spoils_nothing() {
    let scratch = Scratch::new();
    let mut journal_text = Vec::new();
    {
        let mut index = Index::default();
        let mut journal = scratch.open(&mut index, 0);
        journal.write_down(vec![record("a", 0, 1, "t1")]).unwrap();
        journal.end_of("t1", true).unwrap();
        let whole = scratch.size();
        journal.write_down(vec![record("b", 0, 2, "t2")]).unwrap();
        let text = std::fs::read(scratch.file()).unwrap();
        journal_text.extend_from_slice(&text);
        assert!(whole < text.len() as u64);
    }
    let first = String::from_utf8(journal_text.clone()).unwrap().match_indices('\n').nth(1).unwrap().0 + 1;
    for end in first..journal_text.len() {
        std::fs::write(scratch.file(), &journal_text[..end]).unwrap();
        let mut index = Index::default();
        let mut journal = scratch.open(&mut index, 0);
        scratch.settle(&mut journal, 99);
        assert!(knows(&journal, "a") && !knows(&journal, "b"), "cut at {end}");
        journal.write_down(vec![record("c", 0, 3, "t3")]).unwrap();
        journal.end_of("t3", true).unwrap();
        let mut fresh = Index::default();
        let journal = scratch.open(&mut fresh, 0);
        assert!(knows(&journal, "a") && knows(&journal, "c"), "cut at {end}");
    }
}

#[test]
fn an_open_change_is_settled_by_the_temporary_file_and_the_revision() {
    for (still_there, revision, made) in
        [(true, 9, false), (true, 4, false), (false, 4, false), (false, 5, true), (false, 9, true)]
    {
        let scratch = Scratch::new();
        let mut index = Index::default();
        scratch.open(&mut index, 0).write_down(vec![record("a", 0, 5, "t")]).unwrap();
        if still_there {
            std::fs::write(scratch.dir.path().join("t"), "").unwrap();
        }
        for mut index in [index, Index::default()] {
            let mut journal = scratch.open(&mut index, 0);
            scratch.settle(&mut journal, revision);
            assert_eq!(knows(&journal, "a"), made, "{still_there} {revision}");
            // Settled is settled, whatever the file is later.
            scratch.settle(&mut journal, 0);
            assert_eq!(knows(&journal, "a"), made);
        }
    }
}

#[test]
fn a_failed_write_leaves_no_half_line() {
    let scratch = Scratch::new();
    let mut index = Index::default();
    let mut journal = scratch.open(&mut index, 0);
    journal.write_down(vec![record("a", 0, 1, "t1")]).unwrap();
    journal.end_of("t1", true).unwrap();
    let file = scratch.file();
    scratch.rig.hook(move |step, _, _| {
        if step == Step::Append {
            use std::io::Write;
            // Full after a few bytes.
            std::fs::File::options().append(true).open(&file)?.write_all(b"{\"change\":{\"atMs\"")?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    });
    assert!(journal.write_down(vec![record("b", 0, 2, "t2")]).is_err());
    scratch.rig.heal();
    journal.write_down(vec![record("c", 0, 2, "t3")]).unwrap();
    journal.end_of("t3", true).unwrap();
    let mut fresh = Index::default();
    let journal = scratch.open(&mut fresh, 0);
    assert!(knows(&journal, "a") && !knows(&journal, "b") && knows(&journal, "c"));
}

#[test]
fn a_journal_of_lapsed_keys_is_written_anew() {
    let scratch = Scratch::new();
    let mut index = Index::default();
    let mut other = Index::default();
    {
        let mut journal = scratch.open(&mut index, 0);
        for number in 0..3000 {
            let name = format!("old {number}");
            journal.write_down(vec![record(&name, 0, 1, &name)]).unwrap();
            journal.end_of(&name, true).unwrap();
        }
        journal.compact();
    }
    assert!(knows(&scratch.open(&mut other, 0), "old 2999"));
    let large = scratch.size();
    let now = 25 * HOUR_MS;
    {
        let mut journal = scratch.open(&mut index, now);
        journal.write_down(vec![record("new", now, 1, "t")]).unwrap();
        journal.end_of("t", true).unwrap();
        journal.compact();
        assert!(knows(&journal, "new"));
        journal.write_down(vec![record("newer", now, 1, "t2")]).unwrap();
        journal.end_of("t2", true).unwrap();
    }
    assert!(scratch.size() < large / 10, "{} of {large}", scratch.size());
    for mut index in [other, Index::default()] {
        let journal = scratch.open(&mut index, now);
        assert!(knows(&journal, "new") && knows(&journal, "newer") && !knows(&journal, "old 2999"));
    }
}
