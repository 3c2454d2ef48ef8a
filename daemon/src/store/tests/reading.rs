//! Reading: what is on the disk now, whoever put it there, and only when it must be read.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use stepstone_proto::envelope::ErrorCode;

use super::super::content::LIMIT;
use super::super::disk::Step;
use super::super::stamp::Stamp;
use super::*;

fn roadmap_with(title: &str) -> String {
    format!(
        r#"{{"version":1,"revision":1,"goals":[{{"id":"a","title":"{title}","status":"open",
"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}}]}}"#
    )
}

fn title(snapshot: &Snapshot) -> String {
    snapshot.roadmap.brief("a").unwrap()["title"].as_str().unwrap().to_owned()
}

impl Bench {
    /// Reads until the file is not read again any more, because its stamp is old enough.
    pub(super) fn settle(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            self.rig.heal();
            self.read().unwrap();
            if self.rig.count(Step::Read) == 0 {
                return;
            }
            assert!(Instant::now() < deadline, "read again each time");
        }
    }
}

#[test]
fn a_file_that_did_not_change_is_not_read_again() {
    let bench = Bench::new();
    bench.write(&roadmap_with("One"));
    bench.settle();
    assert_eq!(title(&bench.read().unwrap()), "One");
    assert_eq!(bench.rig.count(Step::Open), 0);
}

#[test]
fn an_edit_of_the_same_size_with_the_old_time_is_seen() {
    let bench = Bench::new();
    bench.write(&roadmap_with("One"));
    bench.settle();
    let time = bench.file().metadata().unwrap().modified().unwrap();
    for title_now in ["Two", "Six"] {
        bench.write(&roadmap_with(title_now));
        set_time(&bench.file(), time);
        assert_eq!(title(&bench.read().unwrap()), title_now);
    }
    // The same by replacing the file.
    let other = bench.folder().join("other");
    std::fs::write(&other, roadmap_with("Ten")).unwrap();
    set_time(&other, time);
    std::fs::rename(&other, bench.file()).unwrap();
    assert_eq!(title(&bench.read().unwrap()), "Ten");
}

#[test]
fn a_stamp_is_young_while_the_file_may_change_without_it() {
    let second = 1_000_000_000;
    let at = |modified_ns, changed_ns| Stamp { device: 1, inode: 1, size: 1, modified_ns, changed_ns };
    let now = 1000 * second + 500_000_000;
    assert!(at(now - 49_000_000, 1).is_young(now));
    assert!(!at(now - 51_000_000, 1).is_young(now));
    assert!(at(1, now - 49_000_000).is_young(now), "the later time counts");
    assert!(at(now + second, 1).is_young(now), "a time in the future says nothing");
    let coarse = 999 * second;
    assert!(at(coarse, coarse).is_young(coarse + second));
    assert!(!at(coarse, coarse).is_young(coarse + 2 * second));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_whole() {
    let bench = Bench::new();
    bench.write(&roadmap_with("One"));
    let file = bench.file();
    let mut left = 3;
    bench.rig.hook(move |step, _, _| {
        if step == Step::Read && left > 0 {
            left -= 1;
            std::fs::write(&file, roadmap_with(&"x".repeat(left))).unwrap();
        }
        Ok(())
    });
    assert_eq!(title(&bench.read().unwrap()), "");
}

#[test]
fn a_file_that_changes_all_the_time_is_said_to() {
    let bench = Bench::new();
    bench.write(&roadmap_with("One"));
    let (file, mut size) = (bench.file(), 1);
    bench.rig.hook(move |step, _, _| {
        if step == Step::Read {
            size += 1;
            std::fs::write(&file, roadmap_with(&"x".repeat(size))).unwrap();
        }
        Ok(())
    });
    assert!(matches!(bench.read(), Err(StoreError::Unsteady { .. })));
}

#[test]
fn only_regular_files_are_read_and_nothing_is_waited_for() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder()).unwrap();
    let refused = || {
        for answer in [bench.read().map(|_| ()), bench.change(add("One")).map(|_| ())] {
            let failure = answer.unwrap_err().failure();
            assert_eq!(failure.code, ErrorCode::PersistenceFailed);
            assert!(!failure.retryable, "{failure:?}");
            assert_eq!(failure.details.unwrap()["resolution"], "repair-project-file");
        }
    };
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.file(), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    refused();
    std::fs::remove_file(bench.file()).unwrap();
    std::fs::create_dir(bench.file()).unwrap();
    refused();
    std::fs::remove_dir(bench.file()).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(bench.root().join("socket")).unwrap();
    for target in ["/dev/null", "/dev/tty", "/", "../socket"] {
        symlink(target, bench.file()).unwrap();
        refused();
        std::fs::remove_file(bench.file()).unwrap();
    }
    drop(socket);
}

#[test]
fn a_huge_file_is_refused_unread() {
    let bench = Bench::new();
    bench.write("");
    let file = std::fs::File::options().write(true).open(bench.file()).unwrap();
    file.set_len(LIMIT + 1).unwrap();
    bench.rig.heal();
    assert!(matches!(bench.read(), Err(StoreError::TooLarge { size, .. }) if size == LIMIT + 1));
    assert!(matches!(bench.change(add("One")), Err(StoreError::TooLarge { .. })));
    assert_eq!(bench.rig.count(Step::Read), 0);
    file.set_len(LIMIT).unwrap();
    assert!(matches!(bench.read(), Err(StoreError::Content { .. })), "small enough, but no roadmap");
}

#[test]
fn a_roadmap_never_grows_beyond_what_is_read() {
    let bench = Bench::new();
    bench.change(add("One")).unwrap();
    let bytes = std::fs::read(bench.file()).unwrap();
    let huge = Some("x".repeat(usize::try_from(LIMIT).unwrap()));
    let huge = NewGoal { title: "Huge".to_owned(), description: huge, ..NewGoal::default() };
    assert!(matches!(bench.change(job(Change::Add(huge))), Err(StoreError::TooLarge { .. })));
    assert_eq!(std::fs::read(bench.file()).unwrap(), bytes);
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn a_file_that_is_being_written_in_place_is_read_when_it_is_whole() {
    let whole = roadmap_with("One");
    for cut in [0, 1, whole.len() / 2, whole.len() - 3] {
        for is_change in [false, true] {
            let bench = Bench::new();
            bench.write(whole.get(..cut).unwrap());
            // As young as a file can be, however slow this machine is.
            set_time(&bench.file(), std::time::SystemTime::now() + Duration::from_secs(60));
            let (file, whole, mut opened) = (bench.file(), whole.clone(), 0);
            bench.rig.hook(move |step, at, _| {
                opened += usize::from(step == Step::Open && at == file);
                if opened == 3 {
                    opened += 1;
                    std::fs::write(&file, &whole).unwrap();
                }
                Ok(())
            });
            if is_change {
                bench.change(add("New")).unwrap();
                assert_eq!(bench.titles(), ["One", "New"], "cut at {cut}");
            } else {
                assert_eq!(title(&bench.read().unwrap()), "One", "cut at {cut}");
            }
        }
    }
}

#[test]
fn a_malformed_file_is_never_written_and_is_read_once_repaired() {
    let bench = Bench::new();
    bench.change(with_key(add("One"), "k", "add one")).unwrap();
    for content in ["", "{", "[]", r#"{"version":2,"goals":[]}"#, "<<<<<<< HEAD\n"] {
        bench.write(content);
        for job in [add("Two"), with_key(add("One"), "k", "add one"), delete("one")] {
            let failure = bench.change(job).unwrap_err().failure();
            assert_eq!(failure.code, ErrorCode::PersistenceFailed);
            assert_eq!(failure.details.unwrap()["path"], bench.file().to_str().unwrap());
        }
        assert!(bench.read().is_err());
        assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), content);
    }
    bench.write(&roadmap_with("One"));
    assert_eq!(title(&bench.read().unwrap()), "One");
    bench.change(add("Two")).unwrap();
    assert_eq!(bench.titles(), ["One", "Two"]);
}

#[test]
fn a_file_that_may_not_be_read_is_left_to_the_caller() {
    let bench = Bench::new();
    bench.write(&roadmap_with("One"));
    std::fs::set_permissions(bench.file(), Permissions::from_mode(0o000)).unwrap();
    if rustix::process::geteuid().is_root() {
        println!("skipped: nothing is forbidden to root");
        return;
    }
    let error = bench.read().unwrap_err();
    assert!(error.caller_must().is_some());
    assert_eq!(error.failure().details.unwrap()["resolution"], "check-repository-and-retry");
}

#[test]
fn two_paths_to_one_file_are_one_worklist() {
    let bench = Bench::new();
    bench.write(&roadmap_with("One"));
    symlink(".worklist/worklist.json", bench.root().join("alias.json")).unwrap();
    symlink(".worklist", bench.root().join("folder")).unwrap();
    bench.runtime.block_on(async {
        for path in ["alias.json", "folder/worklist.json", ".worklist/worklist.json"] {
            let store = bench.stores.open(Found::at(&bench.root().join(path)).unwrap(), &bench.root());
            assert!(store.read().await.unwrap().exists);
        }
    });
    assert_eq!(bench.stores.overview().len(), 1);
    assert_eq!(bench.stores.overview()[0].goals, 1);
}
