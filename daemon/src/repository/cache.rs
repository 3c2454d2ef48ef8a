//! What Git answered, per directory, for as long as nothing that the answer depends on has changed.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stepstone_proto::state::Identity;

use super::Located;

/// After this time Git is asked again in any case: its answer also depends on the user's configuration.
const KEPT: Duration = Duration::from_secs(10);
/// A file that changed less than this before Git was asked might have changed again within the same time stamp.
const YOUNG_NS: i128 = 50_000_000;

/// The answers that are kept, by the directory as it was given: each caller names its own in the same way each time.
#[derive(Debug, Default)]
pub(super) struct Cache {
    answers: Mutex<HashMap<PathBuf, Vec<Arc<Kept>>>>,
}

/// One answer of Git, and what it depends on.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) located: Located,
    /// The directory that was asked about.
    pub(super) directory: Identity,
    /// What Git saw of the caller's environment.
    pub(super) git_env: BTreeMap<String, String>,
    pub(super) stamps: Stamps,
    pub(super) asked: Instant,
    /// Everything lies on file systems that answer at once.
    pub(super) near: bool,
}

impl Kept {
    fn is_recent(&self) -> bool {
        self.asked.elapsed() < KEPT
    }

    /// Whether it still is the answer for those who ask from the directory `given`. Looks at the file system.
    ///
    /// A path that leads to the same directory is enough. Should it lead there by another way than before, the names in
    /// the answer still lead to the same files, or the stamps do not hold.
    pub(super) fn holds_in(&self, given: &Path) -> bool {
        given.metadata().is_ok_and(|found| Identity::of(&found) == self.directory) && self.stamps.hold()
    }
}

impl Cache {
    /// The answer that is kept for callers that name this directory, which may not hold any more.
    pub(super) fn look(&self, given: &Path, git_env: &BTreeMap<String, String>) -> Option<Arc<Kept>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = answers.get(given)?.iter().find(|kept| kept.git_env == *git_env)?;
        kept.is_recent().then(|| Arc::clone(kept))
    }

    /// Keeps an answer, and lets go of those that are too old to be used.
    pub(super) fn keep(&self, given: &Path, answer: Kept) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, kept| {
            kept.retain(|kept| kept.is_recent());
            !kept.is_empty()
        });
        let kept = answers.entry(given.to_owned()).or_default();
        kept.retain(|kept| kept.git_env != answer.git_env);
        kept.push(Arc::new(answer));
    }
}

/// The state of the files that an answer depends on.
#[derive(Debug, Default)]
pub(super) struct Stamps(BTreeMap<PathBuf, Option<Stamp>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    is_directory: bool,
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stamps {
    /// Every `.git` entry, or its absence, from `directory` up.
    pub(super) fn of_entries(directory: &Path) -> Self {
        Self::of(directory.ancestors().map(|directory| directory.join(".git")))
    }

    /// Without what lies above the entry that Git took as its answer: it looks no further.
    pub(super) fn up_to(mut self, located: &Located) -> Self {
        let entry = located.work_tree.join(".git");
        // A directory that is no repository is passed over, a file that names none is an error.
        if entry == located.git_dir || entry.symlink_metadata().is_ok_and(|found| found.is_file()) {
            self.0.retain(|path, _| path.parent().is_some_and(|above| above.starts_with(&located.work_tree)));
        }
        self
    }

    /// What decides inside the Git directories: which branch, which configuration, and for linked worktrees which others
    /// there are. For a bare repository the branches of its worktrees decide too.
    pub(super) fn of_git_directories(located: &Located) -> Self {
        let common = &located.common_dir;
        let mut paths = vec![common.join("HEAD"), common.join("config")];
        for name in ["HEAD", "config.worktree", "commondir"] {
            paths.push(located.git_dir.join(name));
        }
        if located.git_dir != *common || located.root != located.work_tree {
            let worktrees = common.join("worktrees");
            let entries = std::fs::read_dir(&worktrees).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path().join("HEAD")));
            paths.extend([worktrees, located.git_dir.join("gitdir")]);
        }
        paths.push(located.root.join(".git"));
        Self::of(paths)
    }

    fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(
            paths
                .into_iter()
                .map(|path| {
                    let stamp = stamp(&path);
                    (path, stamp)
                })
                .collect(),
        )
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Without what is missing in a directory whose own stamp is here too: were it made, that stamp would change.
    ///
    /// Holds for stamps that were old when Git was asked, so that a later change cannot leave them as they were.
    pub(super) fn without_implied(mut self) -> Self {
        let is_stamped =
            |path: &Path| self.0.get(path).is_some_and(|stamp| stamp.is_some_and(|stamp| stamp.is_directory));
        let implied: Vec<PathBuf> = self
            .0
            .iter()
            .filter(|(path, stamp)| stamp.is_none() && path.parent().is_some_and(is_stamped))
            .map(|(path, _)| path.clone())
            .collect();
        for path in implied {
            self.0.remove(&path);
        }
        self
    }

    /// Nothing has changed. Looks at the file system.
    pub(super) fn hold(&self) -> bool {
        self.0.iter().all(|(path, kept)| stamp(path) == *kept)
    }

    /// Every file had been left alone for a while at the time when Git was asked.
    pub(super) fn were_old_at(&self, asked: SystemTime) -> bool {
        let asked = asked.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos().cast_signed());
        self.0.values().flatten().all(|stamp| stamp.modified_ns.max(stamp.changed_ns) < asked - YOUNG_NS)
    }
}

/// `None` when there is no such entry. What cannot be looked at never equals anything seen before by accident: it
/// is told apart by its error.
fn stamp(path: &Path) -> Option<Stamp> {
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    match path.symlink_metadata() {
        Ok(found) => Some(Stamp {
            is_directory: found.is_dir(),
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Stamp {
            is_directory: false,
            device: u64::MAX,
            inode: u64::from(error.raw_os_error().unwrap_or_default().unsigned_abs()),
            size: 0,
            modified_ns: 0,
            changed_ns: 0,
        }),
    }
}
