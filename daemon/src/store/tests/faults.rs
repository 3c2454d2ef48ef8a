//! A disk that refuses, at every call of a change, for every reason: the file is the old one or the new one, what
//! was answered is true, and the next change works.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use stepstone_proto::envelope::ErrorCode;

use super::super::disk::Step;
use super::*;

const REASONS: [Errno; 5] = [Errno::NOSPC, Errno::IO, Errno::ACCESS, Errno::PERM, Errno::ROFS];

/// A bench with an old file, or none, and the calls that one more change makes there.
fn bench_with(old: bool) -> (Bench, Vec<&'static str>) {
    let bench = Bench::new();
    if old {
        bench.change(with_key(add("Old"), "old", "add old")).unwrap();
        return (bench, vec!["Old"]);
    }
    (bench, Vec::new())
}

fn calls_of_a_change(old: bool) -> Vec<(Step, PathBuf)> {
    let (bench, _) = bench_with(old);
    bench.rig.heal();
    bench.change(with_key(add("New"), "new", "add new")).unwrap();
    bench.rig.calls()
}

fn fail_at(bench: &Bench, number: usize, reason: Errno) {
    bench.rig.hook(move |_, _, at| {
        if at == number { Err(io::Error::from_raw_os_error(reason.raw_os_error())) } else { Ok(()) }
    });
}

/// Without kernel lock and journal a change goes on; then nobody recognises a retry.
fn is_about_the_state_directory(step: Step, path: &Path) -> bool {
    matches!(step, Step::OpenLock | Step::Lock | Step::Record | Step::Append | Step::Truncate)
        || path.components().any(|part| part.as_os_str() == "state")
}

#[test]
fn a_refusal_at_any_call_leaves_the_old_file_or_the_new_one() {
    for old in [false, true] {
        let calls = calls_of_a_change(old);
        assert!(calls.len() > 20, "{calls:?}");
        for (number, (step, path)) in calls.iter().enumerate() {
            for reason in REASONS {
                let context = format!("call {number}, {step:?} {}, {reason:?}, old: {old}", path.display());
                refuse_once(old, number, reason, is_about_the_state_directory(*step, path), &context);
            }
        }
    }
}

fn refuse_once(old: bool, number: usize, reason: Errno, degrades: bool, context: &str) {
    let (bench, before) = bench_with(old);
    let bytes = std::fs::read(bench.file()).ok();
    fail_at(&bench, number, reason);
    let answer = bench.change(with_key(add("New"), "new", "add new"));
    bench.rig.heal();
    let with_new: Vec<&str> = before.iter().copied().chain(["New"]).collect();
    match &answer {
        Ok(envelope) => {
            assert!(envelope.meta.changed, "{context}");
            assert_eq!(bench.titles(), with_new, "{context}");
        }
        Err(error) => {
            assert_eq!(std::fs::read(bench.file()).ok(), bytes, "{context}");
            let failure = error.failure();
            assert_eq!(failure.code, ErrorCode::PersistenceFailed, "{context}");
            assert!(failure.retryable, "{context}");
            let details = failure.details.unwrap();
            assert_eq!(details["resolution"], "check-repository-and-retry", "{context}");
            assert_eq!(details["path"], bench.file().to_str().unwrap(), "{context}");
            let callers_rights = matches!(reason, Errno::ACCESS | Errno::PERM | Errno::ROFS);
            assert_eq!(error.caller_must().is_some(), callers_rights, "{context}");
        }
    }
    if answer.is_err() || !degrades {
        let again = bench.change(with_key(add("New"), "new", "add new")).unwrap();
        assert_eq!(again.meta.replayed, answer.is_ok(), "{context}");
        assert_eq!(bench.titles(), with_new, "{context}");
    }
    bench.change(add("Last")).unwrap();
    assert_eq!(bench.names(), ["worklist.json"], "{context}");
}

#[test]
fn interrupted_calls_are_made_again() {
    for old in [false, true] {
        for number in 0..calls_of_a_change(old).len() {
            let (bench, before) = bench_with(old);
            fail_at(&bench, number, Errno::INTR);
            let envelope = bench.change(with_key(add("New"), "new", "add new")).unwrap();
            assert_eq!(envelope.meta.durability, None);
            assert_eq!(bench.titles().len(), before.len() + 1);
            assert_eq!(bench.names(), ["worklist.json"]);
        }
    }
}

#[test]
fn a_full_disk_is_named_and_leaves_nothing_behind() {
    let (bench, _) = bench_with(true);
    let repository = bench.root();
    bench.rig.hook(move |step, at, _| match step {
        Step::Write if at.starts_with(&repository) => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    let failure = bench.change(add("New")).unwrap_err().failure();
    assert!(failure.details.unwrap()["reason"].as_str().unwrap().contains("storage space"));
    assert_eq!(bench.names(), ["worklist.json"]);
    assert_eq!(bench.titles(), ["Old"]);
}

#[test]
fn when_a_replacement_fails_everything_from_the_first_change_on_fails() {
    let (bench, _) = bench_with(true);
    let store = bench.open();
    let (repository, file) = (bench.root(), bench.file());
    let empty = r#"{"version":1,"revision":7,"goals":[]}"#;
    bench.rig.hook(move |step, at, _| match step {
        // Between the look and the locks somebody empties the file. So what looked like a change is none any more.
        Step::OpenLock => {
            std::fs::write(&file, empty)?;
            Ok(())
        }
        Step::Sync if at.starts_with(&repository) => {
            Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()))
        }
        _ => Ok(()),
    });
    let (before, first, dependent, second) = bench.runtime.block_on(async {
        tokio::join!(
            store.change(delete("old")),
            store.change(add("First")),
            // Depends on the first, which is not written: so it is a change only behind that.
            store.change(with_key(delete("first"), "k", "delete first")),
            store.change(add("Second")),
        )
    });
    assert!(!before.unwrap().ok, "decided on what is on the disk");
    for failed in [first, dependent, second] {
        assert!(matches!(failed, Err(StoreError::Disk { .. })));
    }
    assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), empty);
}

#[test]
fn what_was_decided_on_an_unwritten_change_fails_with_it() {
    let (bench, _) = bench_with(true);
    let store = bench.open();
    let repository = bench.root();
    bench.rig.hook(move |step, at, _| match step {
        Step::Sync if at.starts_with(&repository) => {
            Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()))
        }
        _ => Ok(()),
    });
    // Both delete the same goal: the second finds it gone, but only because of the first.
    let (first, second) = bench
        .runtime
        .block_on(async { tokio::join!(store.change(delete("old")), store.change(delete("old"))) });
    assert!(matches!(first, Err(StoreError::Disk { .. })));
    assert!(matches!(second, Err(StoreError::Disk { .. })));
    assert_eq!(bench.titles(), ["Old"]);
}

#[test]
fn a_failure_after_the_rename_is_a_success_that_says_unsynced_and_is_synced_with_the_next() {
    let (bench, _) = bench_with(true);
    let folder = bench.folder();
    bench.rig.hook(move |step, at, _| match step {
        Step::SyncDirectory if at == folder => Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error())),
        _ => Ok(()),
    });
    let envelope = bench.change(with_key(add("New"), "new", "add new")).unwrap();
    assert!(envelope.ok);
    assert_eq!(envelope.meta.durability.as_deref(), Some("unsynced"));
    assert_eq!(bench.titles(), ["Old", "New"]);
    bench.rig.heal();
    assert_eq!(bench.change(add("Next")).unwrap().meta.durability, None);
}

#[test]
fn a_directory_that_was_made_and_not_synced_is_synced_later() {
    let bench = Bench::new();
    let root = bench.root();
    let failures = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&failures);
    bench.rig.hook(move |step, at, _| {
        if step == Step::SyncDirectory && at == root {
            counted.fetch_add(1, Ordering::Relaxed);
            return Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
        }
        Ok(())
    });
    assert_eq!(bench.change(add("One")).unwrap().meta.durability.as_deref(), Some("unsynced"));
    assert_eq!(bench.change(add("Two")).unwrap().meta.durability.as_deref(), Some("unsynced"));
    assert_eq!(failures.load(Ordering::Relaxed), 2);
    bench.rig.heal();
    assert_eq!(bench.change(add("Three")).unwrap().meta.durability, None);
    assert!(bench.rig.calls().contains(&(Step::SyncDirectory, bench.root())));
}

#[test]
fn a_rename_that_happened_although_it_failed_is_a_success() {
    let (bench, _) = bench_with(true);
    let file = bench.file();
    bench.rig.hook(move |step, at, _| {
        if step == Step::Rename && at == file {
            let folder = at.parent().unwrap();
            let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let temporary = names.into_iter().find(|path| path.extension().is_some_and(|end| end == "tmp"));
            std::fs::rename(temporary.unwrap(), at).unwrap();
            return Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
        }
        Ok(())
    });
    assert!(bench.change(add("New")).unwrap().meta.changed);
    assert_eq!(bench.titles(), ["Old", "New"]);
}

#[test]
fn without_a_usable_state_directory_changes_are_made_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("repo")).unwrap();
    // No directory at all, and none can be made there.
    std::fs::write(dir.path().join("state"), "").unwrap();
    let bench = Bench::in_directory(dir);
    bench.change(with_key(add("One"), "k", "add one")).unwrap();
    bench.change(add("Two")).unwrap();
    assert_eq!(bench.titles(), ["One", "Two"]);
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn where_nothing_can_be_written_reads_refusals_and_no_ops_go_on() {
    let bench = Bench::new();
    let root = bench.root();
    bench.rig.hook(move |step, at, _| match step {
        Step::MakeDirectory | Step::Create | Step::Write if at.starts_with(&root) => {
            Err(io::Error::from_raw_os_error(Errno::ROFS.raw_os_error()))
        }
        _ => Ok(()),
    });
    let store = bench.open();
    let (refused, changed, snapshot) = bench.runtime.block_on(async {
        tokio::join!(
            store.change(with_key(delete("nobody"), "a", "delete nobody")),
            store.change(with_key(add("One"), "b", "add one")),
            store.read(),
        )
    });
    assert!(!refused.unwrap().ok);
    assert!(changed.unwrap_err().caller_must().is_some());
    assert!(!snapshot.unwrap().exists);
}
