//! `migrate_path`: the file goes to another directory, its bytes untouched.

use std::io;
use std::os::unix::fs::{MetadataExt, symlink};

use super::super::disk::Step;
use super::*;

const LEGACY: &str = r#"{"goals":[],   "version":1, "revision": 12}"#;

impl Bench {
    fn legacy(&self) -> PathBuf {
        self.root().join(".pi/worklist.json")
    }

    fn with_legacy() -> Self {
        let bench = Self::new();
        std::fs::create_dir(bench.root().join(".pi")).unwrap();
        std::fs::write(bench.legacy(), LEGACY).unwrap();
        bench
    }

    fn migrate(&self) -> Result<(), StoreError> {
        self.runtime.block_on(self.stores.migrate(&self.legacy(), &self.file()))
    }
}

#[test]
fn the_file_moves_with_its_bytes_and_its_inode() {
    let bench = Bench::with_legacy();
    let inode = bench.legacy().metadata().unwrap().ino();
    bench.migrate().unwrap();
    assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), LEGACY);
    assert_eq!(bench.file().metadata().unwrap().ino(), inode);
    assert_eq!(bench.names(), ["worklist.json"]);
    assert_eq!(std::fs::read_dir(bench.root().join(".pi")).unwrap().count(), 0);
    assert_eq!(bench.read().unwrap().roadmap.revision(), 12);
}

#[test]
fn a_file_at_the_destination_is_in_the_way_also_at_the_last_moment() {
    let bench = Bench::with_legacy();
    bench.write(LEGACY);
    let failure = bench.migrate().unwrap_err().failure();
    let details = failure.details.unwrap();
    assert_eq!(details["resolution"], "merge-worklists-by-hand");
    assert_eq!(details["conflictingPath"], bench.legacy().to_str().unwrap());
    std::fs::remove_dir_all(bench.folder()).unwrap();
    let file = bench.file();
    bench.rig.hook(move |step, at, _| {
        if step == Step::RenameNew && at == file {
            std::fs::write(at, "mine").unwrap();
        }
        Ok(())
    });
    assert!(matches!(bench.migrate(), Err(StoreError::Occupied { .. })));
    assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(bench.legacy()).unwrap(), LEGACY);
}

#[test]
fn a_refused_migration_leaves_everything_as_it_was() {
    let clean = Bench::with_legacy();
    clean.rig.heal();
    clean.migrate().unwrap();
    let calls = clean.rig.calls();
    let renamed =
        calls.iter().position(|(step, at)| *step == Step::RenameNew && *at == clean.file()).unwrap();
    for (number, (step, path)) in calls.iter().enumerate() {
        let context = format!("call {number}, {step:?} {}", path.display());
        let bench = Bench::with_legacy();
        bench
            .rig
            .hook(move |_, _, at| if at == number { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) });
        let answer = bench.migrate();
        bench.rig.heal();
        let there = [bench.legacy().exists(), bench.file().exists()];
        assert_eq!(there, if answer.is_ok() { [false, true] } else { [true, false] }, "{context}");
        assert!(number <= renamed || answer.is_ok(), "{context}");
        if answer.is_err() {
            bench.migrate().unwrap();
        }
        assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), LEGACY, "{context}");
        bench.change(add("New")).unwrap();
        assert_eq!(bench.names(), ["worklist.json"], "{context}");
    }
}

#[test]
fn a_malformed_or_missing_file_is_not_moved() {
    let bench = Bench::with_legacy();
    std::fs::write(bench.legacy(), "{").unwrap();
    assert!(matches!(bench.migrate(), Err(StoreError::Content { .. })));
    std::fs::remove_file(bench.legacy()).unwrap();
    assert!(matches!(bench.migrate(), Err(StoreError::Disk { .. })));
    assert!(!bench.folder().exists());
}

#[test]
fn a_link_is_moved_as_a_link_if_it_leads_to_the_same_file() {
    let bench = Bench::with_legacy();
    std::fs::rename(bench.legacy(), bench.root().join("real.json")).unwrap();
    symlink("../real.json", bench.legacy()).unwrap();
    bench.migrate().unwrap();
    assert!(bench.file().symlink_metadata().unwrap().file_type().is_symlink());
    assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), LEGACY);

    let bench = Bench::with_legacy();
    std::fs::rename(bench.legacy(), bench.root().join(".pi/real.json")).unwrap();
    symlink("real.json", bench.legacy()).unwrap();
    assert!(matches!(bench.migrate(), Err(StoreError::NotAFile { .. })));
    assert_eq!(std::fs::read_to_string(bench.legacy()).unwrap(), LEGACY);
}

#[test]
fn a_held_lock_in_either_directory_is_waited_for() {
    for directory in [".pi", ".worklist"] {
        let bench = Bench::with_legacy();
        let lock = bench.root().join(directory).join(".worklist.lock");
        std::fs::create_dir_all(&lock).unwrap();
        let error = bench.runtime.block_on(async {
            tokio::time::pause();
            bench.stores.migrate(&bench.legacy(), &bench.file()).await.unwrap_err()
        });
        assert!(matches!(error, StoreError::Locked { lock: named, .. } if named == lock));
        std::fs::remove_dir(&lock).unwrap();
        bench.migrate().unwrap();
        assert_eq!(std::fs::read_to_string(bench.file()).unwrap(), LEGACY);
    }
}
