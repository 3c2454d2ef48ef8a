//! Locks: with other software, between our own engines, and after the death of a holder.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::super::disk::Step;
use super::super::kernel_lock::KernelLock;
use super::super::lock_directory::{self, LockDirectory, Pulse, Taken};
use super::super::place::Place;
use super::*;

impl Bench {
    fn lock(&self) -> PathBuf {
        self.folder().join(".worklist.lock")
    }

    /// Another program's lock, as `proper-lockfile` makes it.
    fn foreign_lock(&self) {
        std::fs::create_dir_all(self.folder()).unwrap();
        std::fs::create_dir(self.lock()).unwrap();
    }

    fn place(&self) -> Place {
        Place::of(&self.file()).unwrap()
    }

    fn kernel_lock(&self) -> Option<KernelLock> {
        KernelLock::take(&Disk::default(), &self.dir.path().join("state"), &self.place().key).unwrap()
    }

    /// Makes a change, and does something else at the time when it has met the lock for the third time.
    fn change_while_locked(&self, job: Job, meanwhile: impl FnOnce()) -> Result<Envelope, StoreError> {
        let store = self.open();
        let lock = self.lock();
        let met = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&met);
        self.rig.hook(move |step, at, _| {
            let counts = (step == Step::Look && at == lock) || step == Step::Lock;
            counted.fetch_add(usize::from(counts), Ordering::Relaxed);
            Ok(())
        });
        self.runtime.block_on(async {
            let waiting = tokio::spawn(async move { store.change(job).await });
            while met.load(Ordering::Relaxed) < 6 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert!(!waiting.is_finished());
            meanwhile();
            waiting.await.unwrap()
        })
    }
}

#[test]
fn what_needs_no_lock_is_not_held_up_by_one_that_a_change_beside_it_waits_for() {
    let bench = Bench::new();
    bench.write("{\"version\":1,\"revision\":1,\"goals\":[]}");
    bench.foreign_lock();
    let store = bench.open();
    bench.runtime.block_on(async {
        let mut adding = std::pin::pin!(store.change(add("One")));
        // All are asked for before the first look.
        let refused = async { tokio::join!(store.change(delete("nobody")), store.change(delete("no one"))) };
        let (one, other) = tokio::select! {
            biased;
            _ = &mut adding => panic!("the lock is held"),
            refused = refused => refused,
        };
        assert!(!one.unwrap().ok && !other.unwrap().ok);
        std::fs::remove_dir(bench.lock()).unwrap();
        assert!(adding.await.unwrap().ok);
    });
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn a_lock_of_other_software_is_waited_for() {
    let bench = Bench::new();
    bench.foreign_lock();
    let envelope = bench.change_while_locked(add("One"), || {
        assert!(!bench.file().exists());
        std::fs::remove_dir(bench.lock()).unwrap();
    });
    assert!(envelope.unwrap().meta.changed);
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn a_lock_is_taken_over_after_ten_seconds_and_not_before() {
    let bench = Bench::new();
    bench.foreign_lock();
    make_old(&bench.lock(), 8);
    bench.change_while_locked(add("One"), || make_old(&bench.lock(), 11)).unwrap();
    assert_eq!(bench.names(), ["worklist.json"]);
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn a_held_lock_is_waited_for_twelve_seconds_and_then_named() {
    let bench = Bench::new();
    bench.foreign_lock();
    let store = bench.open();
    let error = bench.runtime.block_on(async {
        tokio::time::pause();
        store.change(add("One")).await.unwrap_err()
    });
    let failure = error.failure();
    assert!(failure.retryable);
    assert!(failure.message.contains(bench.lock().to_str().unwrap()), "{}", failure.message);
    assert!(bench.lock().exists() && !bench.file().exists());
}

#[test]
fn what_is_no_lock_of_the_convention_is_nobodys_to_remove() {
    let bench = Bench::new();
    bench.foreign_lock();
    std::fs::write(bench.lock().join("something"), "").unwrap();
    make_old(&bench.lock(), 100);
    let taken =
        LockDirectory::take(&Disk::default(), &bench.place(), None, &Pulse::default(), &mut None).unwrap();
    assert!(matches!(taken, Taken::Busy));
    std::fs::remove_dir_all(bench.lock()).unwrap();
    std::fs::write(bench.lock(), "").unwrap();
    make_old(&bench.lock(), 100);
    let taken =
        LockDirectory::take(&Disk::default(), &bench.place(), None, &Pulse::default(), &mut None).unwrap();
    assert!(matches!(taken, Taken::Busy));
    assert_eq!(bench.names(), [".worklist.lock"]);
}

#[test]
fn reads_and_refusals_do_not_wait_for_a_held_lock() {
    let bench = Bench::new();
    bench.write(r#"{"version":1,"revision":3,"goals":[]}"#);
    bench.foreign_lock();
    let store = bench.open();
    bench.runtime.block_on(async {
        let other = store.clone();
        let waiting = tokio::spawn(async move { other.change(add("One")).await });
        tokio::task::yield_now().await;
        assert_eq!(store.read().await.unwrap().roadmap.revision(), 3);
        assert!(!store.change(delete("nobody")).await.unwrap().ok);
        assert!(!waiting.is_finished());
        std::fs::remove_dir(bench.lock()).unwrap();
        waiting.await.unwrap().unwrap();
    });
}

#[test]
fn a_lock_that_was_taken_over_is_noticed_before_the_rename() {
    let bench = Bench::new();
    bench.write(r#"{"version":1,"revision":3,"goals":[]}"#);
    let lock = bench.lock();
    let mut once = true;
    bench.rig.hook(move |step, at, _| {
        if step == Step::Sync && at.extension().is_some_and(|end| end == "tmp") && once {
            once = false;
            // We looked dead, and somebody else has it now.
            std::fs::remove_dir(&lock).unwrap();
            std::fs::create_dir(&lock).unwrap();
        }
        Ok(())
    });
    let store = bench.open();
    bench.runtime.block_on(async {
        let waiting = tokio::spawn(async move { store.change(add("One")).await });
        while bench.rig.count(Step::Lock) < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(bench.titles().is_empty(), "replaced without a lock");
        assert_eq!(bench.names_now(), [".worklist.lock", "worklist.json"], "the other's lock stays");
        std::fs::remove_dir(bench.lock()).unwrap();
        waiting.await.unwrap().unwrap();
    });
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn a_held_lock_is_refreshed_and_nobody_elses_is() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder()).unwrap();
    let pulse = Pulse::default();
    let disk = Disk::default();
    let Taken::Held(held) = LockDirectory::take(&disk, &bench.place(), None, &pulse, &mut None).unwrap()
    else {
        panic!("busy")
    };
    let long_ago = SystemTime::now() - Duration::from_secs(9);
    let time = |path: &Path| path.metadata().unwrap().modified().unwrap();
    set_time(&bench.lock(), long_ago);
    lock_directory::refresh(&disk, &pulse);
    assert!(time(&bench.lock()) > long_ago + Duration::from_secs(5));
    std::fs::remove_dir(bench.lock()).unwrap();
    std::fs::create_dir(bench.lock()).unwrap();
    set_time(&bench.lock(), long_ago);
    lock_directory::refresh(&disk, &pulse);
    assert_eq!(time(&bench.lock()), long_ago);
    assert!(!held.is_ours().unwrap());
    held.release(None);
    assert!(bench.lock().exists(), "another's lock was removed");
    set_time(&bench.lock(), long_ago);
    lock_directory::refresh(&disk, &pulse);
    assert_eq!(time(&bench.lock()), long_ago);
}

#[test]
fn a_long_replacement_keeps_its_lock_fresh() {
    let bench = Bench::new();
    bench.write(r#"{"version":1,"revision":3,"goals":[]}"#);
    let lock = bench.lock();
    bench.rig.hook(move |step, at, _| {
        if step == Step::Sync && at.extension().is_some_and(|end| end == "tmp") {
            // A disk that takes its time. The lock is refreshed from beside.
            let long_ago = SystemTime::now() - Duration::from_secs(9);
            set_time(&lock, long_ago);
            let deadline = Instant::now() + Duration::from_secs(20);
            while lock.metadata()?.modified()? <= long_ago {
                assert!(Instant::now() < deadline, "not refreshed");
                std::thread::yield_now();
            }
        }
        Ok(())
    });
    bench.change(add("One")).unwrap();
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn the_lock_of_a_dead_engine_is_removed_at_once_and_only_that() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder()).unwrap();
    let disk = Disk::default();
    let mut kernel = bench.kernel_lock().unwrap();
    let taken =
        LockDirectory::take(&disk, &bench.place(), Some(&mut kernel), &Pulse::default(), &mut None).unwrap();
    // Dies: the kernel lets the file go, the directory stays.
    std::mem::forget(taken);
    drop(kernel);
    let kernel = bench.kernel_lock().unwrap();
    if kernel.left_behind.is_none() {
        println!("skipped: this file system does not know when a directory was made");
        return;
    }
    drop(kernel);
    // Somebody else's directory of that name is not the dead engine's.
    let aside = bench.root().join("aside");
    std::fs::rename(bench.lock(), &aside).unwrap();
    std::fs::create_dir(bench.lock()).unwrap();
    let mut kernel = bench.kernel_lock().unwrap();
    let taken =
        LockDirectory::take(&disk, &bench.place(), Some(&mut kernel), &Pulse::default(), &mut None).unwrap();
    assert!(matches!(taken, Taken::Busy));
    drop(kernel);
    std::fs::remove_dir(bench.lock()).unwrap();
    std::fs::rename(&aside, bench.lock()).unwrap();
    let mut kernel = bench.kernel_lock().unwrap();
    let taken =
        LockDirectory::take(&disk, &bench.place(), Some(&mut kernel), &Pulse::default(), &mut None).unwrap();
    let Taken::Held(held) = taken else { panic!("not removed at once") };
    held.release(Some(&mut kernel));
    assert!(!bench.lock().exists());
    drop(kernel);
    assert!(!bench.kernel_lock().unwrap().unclean);
}

#[test]
fn a_kernel_lock_of_another_engine_is_waited_for() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder()).unwrap();
    let held = bench.kernel_lock().unwrap();
    assert!(bench.kernel_lock().is_none());
    bench.change_while_locked(add("One"), || drop(held)).unwrap();
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn a_kernel_lock_whose_file_was_cleaned_away_is_taken_again() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder()).unwrap();
    let state = bench.dir.path().join("state");
    let file = state.join("locks").join(bench.place().key.file_name());
    drop(bench.kernel_lock().unwrap());
    let mut once = true;
    bench.rig.hook(move |step, at, _| {
        if step == Step::Lock && once {
            once = false;
            std::fs::remove_file(at)?;
        }
        Ok(())
    });
    let disk = Disk { rig: Some(Arc::clone(&bench.rig)) };
    let held = KernelLock::take(&disk, &state, &bench.place().key).unwrap();
    assert!(held.is_some() && file.exists());
    assert!(bench.kernel_lock().is_none(), "two hold it");
}

/// Another program that follows the convention: it adds goals to the file by itself, under the lock directory.
fn write_like_other_software(file: &Path, goals: usize) {
    let folder = file.parent().unwrap();
    let lock = folder.join(".worklist.lock");
    let deadline = Instant::now() + Duration::from_secs(60);
    for number in 0..goals {
        while std::fs::create_dir(&lock).is_err() {
            assert!(Instant::now() < deadline, "the lock was never free");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut content: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let revision = content["revision"].as_u64().unwrap();
        content["revision"] = (revision + 1).into();
        let goal = serde_json::json!({
            "id": format!("foreign-{number}"), "title": format!("Foreign {number}"), "status": "open",
            "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
        });
        content["goals"].as_array_mut().unwrap().push(goal);
        let temporary = folder.join("foreign.tmp");
        std::fs::write(&temporary, serde_json::to_vec(&content).unwrap()).unwrap();
        std::fs::rename(&temporary, file).unwrap();
        std::fs::remove_dir(&lock).unwrap();
    }
}

#[test]
fn nobodys_change_is_lost_between_two_engines_and_other_software() {
    let bench = Bench::new();
    bench.write(r#"{"version":1,"revision":0,"goals":[]}"#);
    let (file, root) = (bench.file(), bench.root());
    let state = bench.dir.path().join("state");
    let engine = |name: &'static str| {
        let (state, file, root) = (state.clone(), file.clone(), root.clone());
        std::thread::spawn(move || {
            let stores = stores_on(&state, &Arc::default());
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut writers = Vec::new();
                for writer in 0..4 {
                    let store = stores.open(Found::at(&file).unwrap(), &root);
                    writers.push(tokio::spawn(async move {
                        for number in 0..10 {
                            let title = format!("{name} {writer} {number}");
                            store.change(with_key(add(&title), &title, &title)).await.unwrap();
                        }
                    }));
                }
                for writer in writers {
                    writer.await.unwrap();
                }
                stores.finish().await;
            });
        })
    };
    let engines = [engine("One"), engine("Two")];
    write_like_other_software(&file, 10);
    for engine in engines {
        engine.join().unwrap();
    }
    let titles = bench.titles();
    assert_eq!(titles.len(), 90);
    assert_eq!(bench.read().unwrap().roadmap.revision(), 90);
    assert_eq!(titles.iter().filter(|title| title.starts_with("Foreign")).count(), 10);
    assert_eq!(bench.names(), ["worklist.json"]);
}

/// The calls that make, name and remove lock directories.
fn calls_about_locks(bench: &Bench) -> Vec<Step> {
    let is_lock = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".lock"));
    let wanted = |step: Step| matches!(step, Step::MakeDirectory | Step::RemoveDirectory | Step::RenameNew);
    let calls = bench.rig.calls().into_iter();
    calls.filter(|(step, at)| wanted(*step) && is_lock(at)).map(|(step, _)| step).collect()
}

#[test]
fn changes_that_follow_each_other_use_one_lock_directory_which_is_gone_when_it_is_quiet() {
    let bench = Bench::new();
    let store = bench.open();
    bench.runtime.block_on(async {
        for title in ["One", "Two", "Three"] {
            store.change(add(title)).await.unwrap();
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        while bench.names_now() != ["worklist.json"] {
            assert!(Instant::now() < deadline, "something stays in the directory");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        store.change(add("Four")).await.unwrap();
    });
    assert_eq!(bench.names(), ["worklist.json"]);
    let made = calls_about_locks(&bench).iter().filter(|step| **step == Step::MakeDirectory).count();
    let removed = calls_about_locks(&bench).iter().filter(|step| **step == Step::RemoveDirectory).count();
    assert_eq!(made, removed);
    assert!(made < 4, "each change made one");
}

#[test]
fn a_spare_lock_directory_is_fresh_when_it_becomes_a_lock_and_nothing_depends_on_it() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder()).unwrap();
    let (disk, mut spare) = (Disk::default(), None);
    let take = |spare: &mut Option<lock_directory::Spare>| {
        let mut kernel = bench.kernel_lock().unwrap();
        let taken =
            LockDirectory::take(&disk, &bench.place(), Some(&mut kernel), &Pulse::default(), spare).unwrap();
        let Taken::Held(held) = taken else { panic!("busy") };
        assert_eq!(bench.names_now(), [".worklist.lock"]);
        (held, kernel)
    };
    let put_aside = |(held, mut kernel): (LockDirectory, KernelLock)| {
        let spare = held.put_aside(Some(&mut kernel)).unwrap();
        let names = bench.names_now();
        assert!(matches!(&names[..], [name] if name.starts_with(".worklist.lock-")), "{names:?}");
        (Some(spare), bench.folder().join(&names[0]))
    };
    let (mut spare_now, passing) = put_aside(take(&mut spare));
    // Its owner slept: nobody may take the lock for stale because of that.
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    set_time(&passing, long_ago);
    let locked = take(&mut spare_now);
    assert!(bench.lock().metadata().unwrap().modified().unwrap() > long_ago + Duration::from_secs(50));
    let (mut spare_now, passing) = put_aside(locked);
    // Cleaned away.
    std::fs::remove_dir(&passing).unwrap();
    let (mut spare_now, _) = put_aside(take(&mut spare_now));
    // The whole directory is another one by now.
    let away = bench.root().join("away");
    std::fs::rename(bench.folder(), &away).unwrap();
    std::fs::create_dir(bench.folder()).unwrap();
    let (spare_now, _) = put_aside(take(&mut spare_now));
    assert_eq!(std::fs::read_dir(&away).unwrap().count(), 0, "it is removed where it is by now");
    std::fs::rename(bench.folder(), bench.root().join("away too")).unwrap();
    assert!(spare_now.unwrap().remove());
    assert_eq!(std::fs::read_dir(bench.root().join("away too")).unwrap().count(), 0);
}

#[test]
fn the_spare_lock_directory_of_a_dead_engine_is_removed_by_the_next_change_of_anybody() {
    let bench = Bench::new();
    // This engine has looked for left-overs already.
    bench.change(add("One")).unwrap();
    let mut kernel = bench.kernel_lock().unwrap();
    let taken = LockDirectory::take(
        &Disk::default(),
        &bench.place(),
        Some(&mut kernel),
        &Pulse::default(),
        &mut None,
    );
    let Taken::Held(held) = taken.unwrap() else { panic!("busy") };
    // Dies.
    std::mem::forget(held.put_aside(Some(&mut kernel)).unwrap());
    drop(kernel);
    assert_eq!(bench.names().len(), 2);
    bench.change(add("Two")).unwrap();
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn a_spare_lock_directory_that_cannot_be_removed_is_removed_with_the_next_change() {
    let bench = Bench::new();
    bench.rig.hook(|step, _, _| match step {
        Step::RemoveDirectory => Err(std::io::ErrorKind::ReadOnlyFilesystem.into()),
        _ => Ok(()),
    });
    bench.change(add("One")).unwrap();
    assert_eq!(bench.names().len(), 2);
    bench.rig.heal();
    bench.change(add("Two")).unwrap();
    assert_eq!(bench.names(), ["worklist.json"]);
}
