//! Changes on a disk that does what it is told.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stepstone_proto::operation::Target;

use super::super::disk::Step;
use super::*;

#[test]
fn a_missing_file_is_an_empty_roadmap_and_reading_makes_nothing() {
    let bench = Bench::new();
    let snapshot = bench.read().unwrap();
    assert!(!snapshot.exists);
    assert_eq!((snapshot.roadmap.revision(), snapshot.roadmap.len()), (0, 0));
    assert!(!bench.folder().exists());
}

#[test]
fn the_first_change_makes_the_directory_and_the_file_and_leaves_nothing_else() {
    let bench = Bench::new();
    let envelope = bench.change(add("One")).unwrap();
    assert!(envelope.ok && envelope.meta.changed);
    assert_eq!(envelope.meta.durability, None);
    assert_eq!(bench.titles(), ["One"]);
    assert_eq!(bench.names(), ["worklist.json"]);
    let snapshot = bench.read().unwrap();
    assert!(snapshot.exists);
    assert_eq!(snapshot.roadmap.revision(), 1);
}

#[test]
fn who_asked_is_answered_before_the_locks_are_let_go_and_the_next_change_waits_for_that() {
    let bench = Bench::new();
    let (told, answered) = std::sync::mpsc::channel();
    bench.rig.hook(move |step, at, _| match step {
        Step::RenameNew if at.to_string_lossy().contains(".worklist.lock-") => {
            answered.recv_timeout(Duration::from_secs(20)).map_err(|_| std::io::ErrorKind::TimedOut.into())
        }
        _ => Ok(()),
    });
    let store = bench.open();
    bench.runtime.block_on(async {
        store.change(add("One")).await.unwrap();
        assert_eq!(bench.names_now(), [".worklist.lock", "worklist.json"]);
        assert_eq!(store.read().await.unwrap().roadmap.len(), 1);
        let next = store.clone();
        let next = tokio::spawn(async move { next.change(add("Two")).await });
        told.send(()).unwrap();
        next.await.unwrap().unwrap();
        told.send(()).unwrap();
    });
    assert_eq!(bench.names(), ["worklist.json"]);
    assert_eq!(bench.titles(), ["One", "Two"]);
}

#[test]
fn what_writes_nothing_makes_nothing() {
    let bench = Bench::new();
    let target = Target { id: "nobody".to_owned(), expected_updated_at: None };
    for key in [None, Some("k")] {
        let mut refused = job(Change::Complete(target.clone()));
        refused.key =
            key.map(|key| IdempotencyKey { key: key.to_owned(), digest: String::new(), derived: false });
        assert!(!bench.change(refused).unwrap().ok);
        let plan = Change::ApplyPlan { entries: Vec::new(), dry_run: true, expected_revision: None };
        assert!(bench.change(job(plan)).unwrap().ok);
        assert!(!bench.folder().exists());
    }
}

#[test]
fn changes_that_wait_together_are_one_replacement_with_a_revision_each() {
    let bench = Bench::new();
    let store = bench.open();
    bench.rig.heal();
    let answers = bench.runtime.block_on(async {
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let store = store.clone();
                tokio::spawn(async move { store.change(add(&format!("Goal {number}"))).await.unwrap() })
            })
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        answers
    });
    assert!(answers.iter().all(|envelope| envelope.ok && envelope.meta.changed));
    let replacements = bench.rig.count(Step::Rename)
        + bench
            .rig
            .calls()
            .iter()
            .filter(|(step, at)| *step == Step::RenameNew && at.ends_with("worklist.json"))
            .count();
    assert_eq!(replacements, 1);
    assert_eq!(bench.read().unwrap().roadmap.revision(), 8);
    let expected: Vec<String> = (0..8).map(|number| format!("Goal {number}")).collect();
    assert_eq!(bench.titles(), expected);
}

#[test]
fn a_change_whose_asker_is_gone_is_not_carried_out() {
    let bench = Bench::new();
    let wanted = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&wanted);
    let mut change = add("Unwanted");
    change.wanted = Box::new(move || asked.load(Ordering::Relaxed));
    bench.rig.hook(move |step, _, _| {
        if step == Step::MakeDirectory {
            wanted.store(false, Ordering::Relaxed);
        }
        Ok(())
    });
    assert!(matches!(bench.change(change), Err(StoreError::Abandoned)));
    assert!(!bench.file().exists());
}

#[test]
fn the_old_files_mode_is_kept() {
    let bench = Bench::new();
    bench.change(add("One")).unwrap();
    for mode in [0o600, 0o664, 0o444] {
        std::fs::set_permissions(bench.file(), std::fs::Permissions::from_mode(mode)).unwrap();
        bench.change(add("More")).unwrap();
        assert_eq!(bench.file().metadata().unwrap().permissions().mode() & 0o7777, mode);
    }
}

#[test]
fn a_link_is_written_through_to_the_file_it_leads_to() {
    let bench = Bench::new();
    let real = bench.root().join("real/goals.json");
    std::fs::create_dir(real.parent().unwrap()).unwrap();
    std::fs::create_dir(bench.folder()).unwrap();
    symlink("../real/goals.json", bench.file()).unwrap();
    for titles in [&["One"][..], &["One", "Two"]] {
        bench.change(add(titles.last().unwrap())).unwrap();
        assert!(bench.file().symlink_metadata().unwrap().file_type().is_symlink());
        assert_eq!(titles_in(&real), titles);
    }
    assert_eq!(bench.names(), ["worklist.json"]);
}
