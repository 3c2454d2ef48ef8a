//! What a store promises, also on a disk that fails and when it is killed.

mod changing;
mod crashes;
mod faults;
mod journaling;
mod keys;
mod locking;
mod migrating;
mod races;
mod reading;
pub(super) mod rig;
mod watching;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::{Change, NewGoal, Target};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::disk::Disk;
use super::{Found, IdempotencyKey, Job, Settings, Snapshot, Store, StoreError, Stores, Verdict};
use crate::roadmap::{self, Decision, Moment, Roadmap};
use rig::Rig;

/// A goal file to be, a state directory, and an engine's stores on a disk that can be made to fail.
struct Bench {
    dir: TempDir,
    rig: Arc<Rig>,
    stores: Arc<Stores>,
    runtime: Runtime,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("state")).unwrap();
        std::fs::create_dir(dir.path().join("repo")).unwrap();
        Self::in_directory(dir)
    }

    fn in_directory(dir: TempDir) -> Self {
        let rig = Arc::<Rig>::default();
        let stores = stores_on(&dir.path().join("state"), &rig);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { dir, rig, stores, runtime }
    }

    /// Another engine on the same files.
    fn another(&self) -> Arc<Stores> {
        stores_on(&self.dir.path().join("state"), &Arc::default())
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("repo")
    }

    fn folder(&self) -> PathBuf {
        self.root().join(".worklist")
    }

    fn file(&self) -> PathBuf {
        self.folder().join("worklist.json")
    }

    fn write(&self, content: &str) {
        std::fs::create_dir_all(self.folder()).unwrap();
        std::fs::write(self.file(), content).unwrap();
    }

    fn titles(&self) -> Vec<String> {
        titles_in(&self.file())
    }

    /// What is in the directory of the file when everything is done.
    fn names(&self) -> Vec<String> {
        self.runtime.block_on(self.stores.finish());
        self.names_now()
    }

    fn names_now(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder())
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn open(&self) -> Store {
        self.runtime.block_on(async { self.stores.open(Found::at(&self.file()).unwrap(), &self.root()) })
    }

    fn read(&self) -> Result<Snapshot, StoreError> {
        self.runtime.block_on(async { self.stores.open(Found::at(&self.file())?, &self.root()).read().await })
    }

    fn change(&self, job: Job) -> Result<Envelope, StoreError> {
        self.runtime.block_on(async {
            let answer = self.stores.open(Found::at(&self.file())?, &self.root()).change(job).await;
            self.stores.finish().await;
            answer
        })
    }
}

fn stores_on(state_dir: &Path, rig: &Arc<Rig>) -> Arc<Stores> {
    let settings = Settings { state_dir: Some(state_dir.to_owned()), watch: true };
    Stores::on(Disk { rig: Some(Arc::clone(rig)) }, settings)
}

fn titles_in(file: &Path) -> Vec<String> {
    let Ok(content) = std::fs::read(file) else { return Vec::new() };
    let content: Value = serde_json::from_slice(&content).unwrap();
    let goals = content["goals"].as_array().unwrap();
    goals.iter().map(|goal| goal["title"].as_str().unwrap().to_owned()).collect()
}

/// A change as the service makes it.
fn job(change: Change) -> Job {
    let decide = move |roadmap: &Roadmap, now_ms: i64| {
        let moment = Moment { now_ms, claimed_by: "a test", branch: None };
        match roadmap::decide(roadmap, &change, &moment) {
            Err(failure) => Verdict::Answer(Envelope::failure("test", failure)),
            Ok(Decision::Answer { result, no_op }) => {
                let mut envelope = Envelope::success("test", result);
                envelope.meta.semantic_no_op = no_op;
                Verdict::Answer(envelope)
            }
            Ok(Decision::Write { next, result, .. }) => {
                let mut envelope = Envelope::success("test", result);
                envelope.meta.changed = true;
                Verdict::Write { next, envelope }
            }
        }
    };
    Job { key: None, decide: Box::new(decide), wanted: Box::new(|| true) }
}

fn add(title: &str) -> Job {
    job(Change::Add(NewGoal { title: title.to_owned(), ..NewGoal::default() }))
}

fn delete(id: &str) -> Job {
    job(Change::Delete(Target { id: id.to_owned(), expected_updated_at: None }))
}

fn with_key(mut job: Job, key: &str, digest: &str) -> Job {
    job.key = Some(IdempotencyKey { key: key.to_owned(), digest: digest.to_owned(), derived: false });
    job
}

/// Sets the time of a file or directory to so many seconds ago.
fn make_old(path: &Path, seconds: u64) {
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
    set_time(path, time);
}

fn set_time(path: &Path, time: std::time::SystemTime) {
    let times = std::fs::FileTimes::new().set_modified(time).set_accessed(time);
    std::fs::File::open(path).unwrap().set_times(times).unwrap();
}
