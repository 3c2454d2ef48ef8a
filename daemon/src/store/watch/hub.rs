//! The one watcher of the system's notifications, and who is to be told of which name in which directory.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, mpsc};

use super::super::lock;
use super::subscription::{Join, Subject};
use crate::file_system::path_is_remote;

/// A name in a directory that somebody wants to hear of.
pub(super) type Interest = (PathBuf, OsString);

/// Shared by all subscriptions of an engine.
#[derive(Debug, Default)]
pub(in super::super) struct Hub {
    pub(super) subscriptions: Mutex<HashMap<Subject, mpsc::UnboundedSender<Join>>>,
    routes: Arc<Mutex<Routes>>,
    watched: Mutex<Watched>,
    numbers: AtomicUsize,
    /// Subscriptions that the system does not notify of everything.
    polling: Mutex<HashSet<usize>>,
    /// The one line about why there are no notifications has been logged.
    told: AtomicBool,
}

/// Read in the watcher's own thread, which must never wait for somebody who waits for the watcher: so `watched` has
/// another lock, and is locked first.
#[derive(Debug, Default)]
struct Routes {
    interested: HashMap<PathBuf, Vec<(usize, OsString, Arc<Notify>)>>,
    /// Directories that went away, or may have: their watches have to be made again.
    lost: HashSet<PathBuf>,
}

#[derive(Debug, Default)]
struct Watched {
    /// `None`: not made yet, or it could not be made.
    watcher: Option<RecommendedWatcher>,
    directories: HashMap<PathBuf, Directory>,
}

#[derive(Debug)]
struct Directory {
    device: u64,
    inode: u64,
    users: HashSet<usize>,
}

impl Hub {
    /// A number for one more subscription.
    pub(super) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn watching(&self) -> &'static str {
        if lock(&self.subscriptions).is_empty() {
            "off"
        } else if lock(&self.polling).is_empty() {
            "system"
        } else {
            "polling"
        }
    }

    /// A file was replaced by this process.
    pub(in super::super) fn wrote(&self, file: &Path) {
        lock(&self.routes).tell(file);
    }

    /// Watches what a subscription wants to hear of from now on, and nothing else for it. `false`: the system cannot
    /// notify of all of it, so it has to be looked at regularly. May wait for the disk.
    pub(super) fn arrange(&self, number: usize, wanted: &[Interest], signal: &Arc<Notify>) -> bool {
        let mut watched = lock(&self.watched);
        let lost = {
            let mut routes = lock(&self.routes);
            routes.replace(number, wanted, signal);
            std::mem::take(&mut routes.lost)
        };
        watched.directories.retain(|directory, _| !lost.contains(directory));
        let wanted: HashSet<&Path> = wanted.iter().map(|(directory, _)| directory.as_path()).collect();
        let mut complete = true;
        for directory in &wanted {
            complete &= self.watch(&mut watched, number, directory);
        }
        watched.leave(number, &wanted);
        if complete {
            lock(&self.polling).remove(&number);
        } else {
            lock(&self.polling).insert(number);
        }
        complete
    }

    /// A subscription has ended.
    pub(super) fn forget(&self, number: usize) {
        let mut watched = lock(&self.watched);
        lock(&self.routes).remove(number);
        lock(&self.polling).remove(&number);
        watched.leave(number, &HashSet::new());
    }

    fn watch(&self, watched: &mut Watched, number: usize, directory: &Path) -> bool {
        let Ok(found) = std::fs::metadata(directory) else { return false };
        if path_is_remote(directory) {
            self.tell_once("the file system does not report changes by other machines");
            return false;
        }
        let known = watched.directories.get_mut(directory);
        if let Some(known) = known.filter(|known| (known.device, known.inode) == (found.dev(), found.ino())) {
            known.users.insert(number);
            return true;
        }
        let watcher = match self.watcher(watched) {
            Ok(watcher) => watcher,
            Err(error) => {
                self.tell_once(&error.to_string());
                return false;
            }
        };
        // A watch on a directory that had this name before would be taken for one on this directory.
        let _ = watcher.unwatch(directory);
        if let Err(error) = watcher.watch(directory, RecursiveMode::NonRecursive) {
            self.tell_once(&error.to_string());
            return false;
        }
        let users = watched.directories.remove(directory).map(|known| known.users).unwrap_or_default();
        let mut known = Directory { device: found.dev(), inode: found.ino(), users };
        known.users.insert(number);
        watched.directories.insert(directory.to_owned(), known);
        true
    }

    fn watcher<'w>(&self, watched: &'w mut Watched) -> notify::Result<&'w mut RecommendedWatcher> {
        if watched.watcher.is_none() {
            let routes = Arc::clone(&self.routes);
            watched.watcher = Some(notify::recommended_watcher(move |event| lock(&routes).take(event))?);
        }
        watched.watcher.as_mut().ok_or_else(|| notify::Error::generic("no watcher"))
    }

    fn tell_once(&self, why: &str) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!("goal files are looked at every 2 seconds: {why}");
        }
    }
}

impl Watched {
    /// Takes a subscription off every directory but these, and stops watching what nobody needs.
    fn leave(&mut self, number: usize, but: &HashSet<&Path>) {
        let watcher = &mut self.watcher;
        self.directories.retain(|directory, known| {
            if !but.contains(directory.as_path()) {
                known.users.remove(&number);
            }
            if known.users.is_empty()
                && let Some(watcher) = watcher
            {
                // An error means that the directory is gone, and its watch with it.
                let _ = watcher.unwatch(directory);
            }
            !known.users.is_empty()
        });
    }
}

impl Routes {
    fn replace(&mut self, number: usize, wanted: &[Interest], signal: &Arc<Notify>) {
        self.remove(number);
        for (directory, name) in wanted {
            let interested = self.interested.entry(directory.clone()).or_default();
            interested.push((number, name.clone(), Arc::clone(signal)));
        }
    }

    fn remove(&mut self, number: usize) {
        self.interested.retain(|_, interested| {
            interested.retain(|(whose, _, _)| *whose != number);
            !interested.is_empty()
        });
    }

    /// Runs in the watcher's thread.
    fn take(&mut self, event: notify::Result<notify::Event>) {
        let event = match event {
            Ok(event) if event.need_rescan() => return self.tell_everybody(),
            Ok(event) => event,
            Err(_) => return self.tell_everybody(),
        };
        // Opening and reading change nothing, and looking for changes is opening and reading.
        if matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write)) {
            return;
        }
        for path in &event.paths {
            self.tell(path);
        }
    }

    fn tell(&mut self, path: &Path) {
        if let Some(interested) = self.interested.get(path) {
            // The watched directory itself: it was removed, moved, or its attributes changed.
            self.lost.insert(path.to_owned());
            interested.iter().for_each(|(_, _, signal)| signal.notify_one());
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Some(interested) = self.interested.get(directory) {
            let interested = interested.iter().filter(|(_, wanted, _)| wanted == name);
            interested.for_each(|(_, _, signal)| signal.notify_one());
        }
    }

    fn tell_everybody(&mut self) {
        self.lost.extend(self.interested.keys().cloned());
        for (_, _, signal) in self.interested.values().flatten() {
            signal.notify_one();
        }
    }
}
