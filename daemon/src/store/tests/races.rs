//! What others do to the file and its directory at the worst moment.

use std::os::unix::fs::symlink;
use std::time::Duration;

use super::super::disk::Step;
use super::*;

const EDITED: &str = r#"{"version":1,"revision":7,"goals":[{"id":"edit","title":"Edit","status":"open",
"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}]}"#;

/// Does something once, at the first call that matches.
fn once_at(
    bench: &Bench,
    matches: impl Fn(Step, &Path) -> bool + Send + 'static,
    act: impl FnOnce() + Send + 'static,
) {
    let mut act = Some(act);
    bench.rig.hook(move |step, at, _| {
        if act.is_some() && matches(step, at) {
            act.take().unwrap()();
        }
        Ok(())
    });
}

fn is_temporary(at: &Path) -> bool {
    at.extension().is_some_and(|end| end == "tmp")
}

#[test]
fn an_edit_that_is_on_the_disk_at_the_last_check_is_never_overwritten() {
    let steps: [fn(Step, &Path) -> bool; 4] = [
        |step, at| step == Step::Create && is_temporary(at),
        |step, at| step == Step::Sync && is_temporary(at),
        |step, _| step == Step::Append,
        // The look at the lock directory is the last call before the look at the file.
        |step, at| step == Step::Open && at.ends_with("worklist.json"),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        let bench = Bench::new();
        bench.change(add("Old")).unwrap();
        let file = bench.file();
        once_at(&bench, step, move || std::fs::write(file, EDITED).unwrap());
        let envelope = bench.change(with_key(add("New"), "k", "add new")).unwrap();
        assert!(envelope.meta.changed);
        assert_eq!(bench.titles(), ["Edit", "New"], "step {number}");
        assert_eq!(bench.read().unwrap().roadmap.revision(), 8);
        assert_eq!(bench.names(), ["worklist.json"]);
        let again = bench.change(with_key(add("New"), "k", "add new")).unwrap();
        assert!(again.meta.replayed);
    }
}

#[test]
fn an_edit_of_the_same_size_and_time_at_the_last_moment_is_seen_too() {
    let bench = Bench::new();
    bench.write(EDITED);
    let (file, time) = (bench.file(), bench.file().metadata().unwrap().modified().unwrap());
    once_at(
        &bench,
        |step, at| step == Step::Sync && is_temporary(at),
        move || {
            std::fs::write(&file, EDITED.replace("Edit", "Late")).unwrap();
            set_time(&file, time);
        },
    );
    bench.change(add("New")).unwrap();
    assert_eq!(bench.titles(), ["Late", "New"]);
}

#[test]
fn a_file_that_appears_at_the_last_moment_is_not_replaced() {
    let bench = Bench::new();
    let file = bench.file();
    once_at(
        &bench,
        |step, at| step == Step::RenameNew && at.ends_with("worklist.json"),
        move || {
            std::fs::write(file, EDITED).unwrap();
        },
    );
    bench.change(add("New")).unwrap();
    assert_eq!(bench.titles(), ["Edit", "New"]);
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn a_file_that_becomes_malformed_meanwhile_is_not_replaced() {
    let bench = Bench::new();
    bench.write(EDITED);
    let file = bench.file();
    once_at(
        &bench,
        |step, at| step == Step::Sync && is_temporary(at),
        move || std::fs::write(file, "{").unwrap(),
    );
    assert!(matches!(bench.change(add("New")), Err(StoreError::Content { .. })));
    assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), "{");
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn a_file_that_changes_before_every_replacement_is_given_up() {
    let bench = Bench::new();
    bench.write(EDITED);
    let (file, mut round) = (bench.file(), 0);
    bench.rig.hook(move |step, at, _| {
        if step == Step::Sync && is_temporary(at) {
            round += 1;
            std::fs::write(&file, EDITED.replace("Edit", &format!("Edit {round}"))).unwrap();
        }
        Ok(())
    });
    assert!(matches!(bench.change(add("New")), Err(StoreError::Unsteady { .. })));
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn whoever_comes_while_the_directory_is_being_made_shares_its_first_owner() {
    for name in [".worklist/worklist.json", "made/for/it/worklist.json"] {
        let bench = Bench::new();
        let file = bench.root().join(name);
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let mut wait = Some(wait);
        bench.rig.hook(move |step, at, _| {
            // The first change has made the directory, has the locks, and takes its time.
            if step == Step::Sync
                && is_temporary(at)
                && let Some(wait) = wait.take()
            {
                wait.recv().unwrap();
            }
            Ok(())
        });
        let open = || bench.stores.open(Found::at(&file).unwrap(), &bench.root());
        bench.runtime.block_on(async {
            let first = open();
            let first = tokio::spawn(async move { first.change(add("First")).await });
            let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
            while !file.parent().unwrap().exists() {
                assert!(tokio::time::Instant::now() < deadline, "{name}: the directory is not made");
                tokio::task::yield_now().await;
            }
            let later: Vec<_> = (0..4)
                .map(|number| {
                    let store = open();
                    tokio::spawn(async move { store.change(add(&format!("Later {number}"))).await })
                })
                .collect();
            assert!(!open().read().await.unwrap().exists, "{name}: nothing is there before the first change");
            assert_eq!(bench.stores.overview().len(), 1, "{name}");
            go_on.send(()).unwrap();
            first.await.unwrap().unwrap();
            for change in later {
                change.await.unwrap().unwrap();
            }
            assert_eq!(bench.stores.overview().len(), 1, "{name}");
        });
        assert_eq!(titles_in(&file), ["First", "Later 0", "Later 1", "Later 2", "Later 3"]);
        assert_eq!(bench.rig.count(Step::Lock), 2, "{name}: nobody met the lock of another");
    }
}

#[test]
fn a_directory_that_is_replaced_is_another_worklist_at_the_same_path() {
    let bench = Bench::new();
    bench.change(add("Old")).unwrap();
    assert_eq!(bench.stores.overview().len(), 1, "keyed anew when its directory was made");
    let aside = bench.root().join("aside");
    std::fs::rename(bench.folder(), &aside).unwrap();
    assert!(!bench.read().unwrap().exists);
    bench.write(EDITED);
    bench.change(add("New")).unwrap();
    assert_eq!(bench.titles(), ["Edit", "New"]);
    assert_eq!(titles_in(&aside.join("worklist.json")), ["Old"]);
}

#[test]
fn a_directory_that_is_replaced_while_it_is_locked_gets_its_own_lock() {
    let bench = Bench::new();
    bench.change(add("Old")).unwrap();
    let (folder, aside) = (bench.folder(), bench.root().join("aside"));
    let to = aside.clone();
    once_at(
        &bench,
        |step, at| step == Step::Lock && at.to_str().unwrap().contains("locks"),
        move || {
            std::fs::rename(&folder, &to).unwrap();
            std::fs::create_dir(&folder).unwrap();
        },
    );
    bench.change(add("New")).unwrap();
    assert_eq!(bench.titles(), ["New"]);
    assert_eq!(titles_in(&aside.join("worklist.json")), ["Old"]);
}

#[test]
fn a_directory_that_is_moved_away_at_any_moment_of_a_change_takes_it_along_or_does_not_have_it() {
    for moment in 0.. {
        let bench = Bench::new();
        bench.write(EDITED);
        let (folder, aside) = (bench.folder(), bench.root().join("aside"));
        let to = aside.clone();
        bench.rig.hook(move |_, _, number| {
            if number == moment {
                std::fs::rename(&folder, &to).unwrap();
            }
            Ok(())
        });
        let answer = bench.change(add("New"));
        assert!(answer.is_ok(), "moved before call {moment}: {answer:?}");
        if bench.rig.calls().len() <= moment {
            assert!(moment > 20, "a change takes more than {moment} calls");
            return;
        }
        let has = |file: &Path| titles_in(file).iter().filter(|title| *title == "New").count();
        let (there, here) = (has(&aside.join("worklist.json")), has(&bench.file()));
        assert_eq!(there + here, 1, "moved before call {moment}: {there} there and {here} here");
        for folder in [bench.folder(), aside] {
            let names = std::fs::read_dir(folder).into_iter().flatten();
            let left: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
            assert!(left.iter().all(|name| name == "worklist.json"), "moved before call {moment}: {left:?}");
        }
    }
}

#[test]
fn a_change_is_made_once_whenever_everything_else_is_cleaned_out_of_its_directory() {
    for moment in 0.. {
        let bench = Bench::new();
        bench.write(EDITED);
        let folder = bench.folder();
        bench.rig.hook(move |_, _, number| {
            if number == moment {
                // As `git clean -fd` does.
                for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                    if entry.file_type().unwrap().is_dir() {
                        std::fs::remove_dir(entry.path()).unwrap();
                    } else if entry.file_name() != "worklist.json" {
                        std::fs::remove_file(entry.path()).unwrap();
                    }
                }
            }
            Ok(())
        });
        let answer = bench.change(add("New"));
        assert!(answer.is_ok(), "cleaned before call {moment}: {answer:?}");
        assert_eq!(bench.titles(), ["Edit", "New"], "cleaned before call {moment}");
        assert_eq!(bench.names(), ["worklist.json"], "cleaned before call {moment}");
        if bench.rig.calls().len() <= moment {
            assert!(moment > 20, "a change takes more than {moment} calls");
            return;
        }
    }
}

#[test]
fn a_directory_that_moves_keeps_its_worklist() {
    let bench = Bench::new();
    bench.change(add("Old")).unwrap();
    let moved = bench.root().join("moved");
    std::fs::rename(bench.folder(), &moved).unwrap();
    bench.runtime.block_on(async {
        let store = bench.stores.open(Found::at(&moved.join("worklist.json")).unwrap(), &bench.root());
        assert_eq!(store.read().await.unwrap().roadmap.len(), 1);
        store.change(add("New")).await.unwrap();
    });
    assert_eq!(titles_in(&moved.join("worklist.json")), ["Old", "New"]);
    assert!(!bench.folder().exists());
}

#[test]
fn a_link_that_is_put_in_the_way_is_not_followed_anywhere() {
    let bench = Bench::new();
    bench.write(EDITED);
    let elsewhere = bench.dir.path().join("elsewhere.json");
    std::fs::write(&elsewhere, EDITED).unwrap();
    let store = bench.open();
    std::fs::remove_file(bench.file()).unwrap();
    symlink(&elsewhere, bench.file()).unwrap();
    let error = bench.runtime.block_on(store.change(add("New"))).unwrap_err();
    assert!(matches!(error, StoreError::Unsteady { .. }));
    assert_eq!(titles_in(&elsewhere), ["Edit"]);
    // Who asks again is told the new place.
    bench.change(add("New")).unwrap();
    assert_eq!(titles_in(&elsewhere), ["Edit", "New"]);
}

#[test]
fn worklists_that_nobody_uses_are_dropped_from_memory() {
    let bench = Bench::new();
    bench.change(add("One")).unwrap();
    let store = bench.open();
    let forgotten = |bench: &Bench| {
        bench.runtime.block_on(async {
            tokio::time::pause();
            tokio::time::sleep(Duration::from_secs(60 * 60)).await;
            tokio::time::resume();
        });
        bench.stores.overview().is_empty()
    };
    assert!(!forgotten(&bench), "somebody has it open");
    drop(store);
    assert!(forgotten(&bench));
    assert_eq!(bench.read().unwrap().roadmap.len(), 1);
}

#[test]
fn a_worklist_that_is_read_now_and_then_stays_in_memory() {
    let bench = Bench::new();
    bench.write("{\"version\":1,\"revision\":1,\"goals\":[]}");
    bench.settle();
    bench.read().unwrap();
    let pass = |minutes: u64| {
        bench.runtime.block_on(async {
            tokio::time::pause();
            tokio::time::sleep(Duration::from_secs(60 * minutes)).await;
            tokio::time::resume();
        });
    };
    for _ in 0..20 {
        pass(7);
        assert_eq!(bench.stores.overview().len(), 1);
        bench.read().unwrap();
        assert_eq!(bench.rig.count(Step::Open), 0, "what was read before stands");
    }
    pass(11);
    assert!(bench.stores.overview().is_empty());
}

#[test]
fn finishing_waits_for_everything_accepted() {
    let bench = Bench::new();
    let store = bench.open();
    bench.runtime.block_on(async {
        let changes: Vec<_> = (0..5)
            .map(|number| {
                let store = store.clone();
                tokio::spawn(async move { store.change(add(&format!("Goal {number}"))).await })
            })
            .collect();
        tokio::task::yield_now().await;
        bench.stores.finish().await;
        assert_eq!(bench.titles().len(), 5);
        for change in changes {
            change.await.unwrap().unwrap();
        }
    });
}
