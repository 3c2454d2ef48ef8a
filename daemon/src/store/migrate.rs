//! Moving a goal file to another directory, under the locks of both.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::attempt::PATIENCE;
use super::content::{self, Content};
use super::disk::Disk;
use super::kernel_lock::KernelLock;
use super::lock_directory::{self, LockDirectory, Pulse, Taken};
use super::owner::Refreshing;
use super::place::Place;
use super::{Settings, StoreError, Stores};

/// The longest pause between two attempts at held locks.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

impl Stores {
    /// Moves the goal file `from` to `to`, where nothing may be. The bytes stay as they are, and so does the file
    /// itself; a link is moved as a link, if it leads to the same file from there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Occupied`] when there is something at `to`; otherwise as for a change. Nothing was moved then.
    pub async fn migrate(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let begun = Instant::now();
        let mut pause = Duration::from_millis(10);
        loop {
            let pulses = [Pulse::default(), Pulse::default()];
            let _refreshing =
                pulses.clone().map(|pulse| Refreshing::start(self.registry.disk.clone(), pulse));
            let (registry, named) = (Arc::clone(&self.registry), (from.to_owned(), to.to_owned()));
            let moved = super::blocking(to, move || {
                let (from, to) = (&named.0, &named.1);
                Migration { disk: &registry.disk, settings: &registry.settings, from, to, pulses: &pulses }
                    .attempt()
            });
            let moved = moved.await;
            let Some(lock) = moved? else {
                self.registry.hub.wrote(from);
                self.registry.hub.wrote(to);
                return Ok(());
            };
            if begun.elapsed() >= PATIENCE {
                return Err(StoreError::Locked { path: to.to_owned(), lock });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

struct Migration<'a> {
    disk: &'a Disk,
    settings: &'a Settings,
    from: &'a Path,
    to: &'a Path,
    pulses: &'a [Pulse; 2],
}

/// Both locks of one directory.
struct Locks {
    kernel: Option<KernelLock>,
    directory: LockDirectory,
}

impl Locks {
    fn release(self) {
        let Self { mut kernel, directory } = self;
        directory.release(kernel.as_mut());
    }
}

impl Migration<'_> {
    /// The lock that somebody else holds, if one stood in the way.
    fn attempt(&self) -> Result<Option<PathBuf>, StoreError> {
        // What can be refused without locks makes nothing.
        self.check(None)?;
        let folder = self.to.parent().unwrap_or(self.to);
        let made = self.make_directory(folder)?;
        // The destination first, always: so two migrations never wait for each other.
        let destination = match self.lock(self.to, &self.pulses[0])? {
            Ok(locks) => locks,
            Err(lock) => return Ok(Some(lock)),
        };
        let source = match self.lock(self.from, &self.pulses[1]) {
            Ok(Ok(locks)) => locks,
            Ok(Err(lock)) => {
                destination.release();
                return Ok(Some(lock));
            }
            Err(error) => {
                destination.release();
                return Err(error);
            }
        };
        let result = self.move_file(&destination, &source);
        source.release();
        destination.release();
        if result.is_err() && made {
            // Only if it is empty.
            let _ = self.disk.remove_directory(folder);
        }
        result
    }

    fn make_directory(&self, folder: &Path) -> Result<bool, StoreError> {
        match self.disk.make_directory(folder) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(StoreError::disk(self.to, "make the directory", folder, error)),
        }
    }

    fn lock(&self, path: &Path, pulse: &Pulse) -> Result<Result<Locks, PathBuf>, StoreError> {
        // Not the file but the name is moved, so links are followed up to its directory only.
        let place = Place::of_name(path).map_err(|error| StoreError::lost(path, error))?;
        let mut kernel = None;
        if let Some(state_dir) = &self.settings.state_dir {
            match KernelLock::take(self.disk, state_dir, &place.key) {
                Ok(Some(taken)) => kernel = Some(taken),
                Ok(None) => return Ok(Err(state_dir.join("locks").join(place.key.file_name()))),
                Err(error) => {
                    tracing::warn!(path = %state_dir.display(), %error, "migrating without a kernel lock");
                }
            }
        }
        let lock = place.folder().join(lock_directory::NAME);
        match LockDirectory::take(self.disk, &place, kernel.as_mut(), pulse, &mut None) {
            Ok(Taken::Held(directory)) => Ok(Ok(Locks { kernel, directory })),
            Ok(Taken::Busy) => Ok(Err(lock)),
            Err(error) => Err(StoreError::disk(path, "make the lock", &lock, error)),
        }
    }

    /// Nothing at the destination, a roadmap at the source, and the same one as before if there was a before.
    fn check(&self, before: Option<&Arc<Content>>) -> Result<Arc<Content>, StoreError> {
        match self.disk.look_no_follow(self.to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::disk(self.to, "look at", self.to, error)),
            Ok(_) => {
                return Err(StoreError::Occupied { path: self.to.to_owned(), other: self.from.to_owned() });
            }
        }
        let content = content::fresh(self.disk, self.from, before)?;
        content.roadmap(self.from)?;
        if content.file.is_none() {
            let missing = io::ErrorKind::NotFound.into();
            return Err(StoreError::disk(self.from, "find", self.from, missing));
        }
        Ok(content)
    }

    fn move_file(&self, destination: &Locks, source: &Locks) -> Result<Option<PathBuf>, StoreError> {
        let refused = |doing, at: &Path, error| StoreError::disk(self.from, doing, at, error);
        let content = self.check(None)?;
        self.check_link(&content)?;
        let file = self.disk.open(self.from).map_err(|error| refused("open", self.from, error))?;
        self.disk.sync(&file, self.from).map_err(|error| refused("sync", self.from, error))?;
        self.check(Some(&content))?;
        for locks in [destination, source] {
            let lock = locks.directory.path();
            let ours = locks.directory.is_ours().map_err(|error| refused("look at the lock", lock, error))?;
            if !ours {
                return Ok(Some(lock.to_owned()));
            }
        }
        match self.disk.rename_new(self.from, self.to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Occupied { path: self.to.to_owned(), other: self.from.to_owned() });
            }
            // The locks are held and nothing was there a moment ago; the system can promise no more.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                self.disk.rename(self.from, self.to).map_err(|error| refused("move to", self.to, error))?;
            }
            Err(error) => return Err(refused("move to", self.to, error)),
        }
        let folder = self.to.parent();
        for directory in [folder, folder.and_then(Path::parent), self.from.parent()].into_iter().flatten() {
            if let Err(error) = self.disk.sync_directory(directory) {
                tracing::warn!(path = %directory.display(), %error, "a directory was not synced");
            }
        }
        Ok(None)
    }

    /// A link keeps its words when it is moved. They must mean the same file from the new place.
    fn check_link(&self, content: &Content) -> Result<(), StoreError> {
        let refused = |error| StoreError::disk(self.from, "look at", self.from, error);
        let itself = self.disk.look_no_follow(self.from).map_err(refused)?;
        if itself.kind != super::stamp::Kind::Link {
            return Ok(());
        }
        let words = std::fs::read_link(self.from).map_err(refused)?;
        let from_there = self.to.parent().unwrap_or(self.to).join(words);
        let same = self
            .disk
            .look(&from_there)
            .is_ok_and(|found| content.stamp().is_some_and(|stamp| stamp.is_same_file(&found.stamp)));
        if same {
            return Ok(());
        }
        Err(StoreError::NotAFile { path: self.from.to_owned(), found: "a link that would lead elsewhere" })
    }
}
