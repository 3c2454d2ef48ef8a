//! What changes leave behind: files and directories that have no name any more. The system frees them when they are
//! closed, which takes it about as long as a change's own way to the disk. So they are closed while nobody waits. And
//! the lock directory, which the next change can have, if it comes soon.

use std::fs::File;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep};

use super::lock_directory::Spare;

/// Nobody has changed anything for this long: the next change is not about to come.
const QUIET: Duration = Duration::from_millis(50);
/// However busy it is, fewer than so many are kept, and of so many bytes.
const MOST: (usize, u64) = (32, 16 << 20);

/// What is left of the changes that follow each other.
#[derive(Debug)]
pub(super) struct Leavings {
    /// Open files whose names are gone.
    files: Vec<Arc<File>>,
    bytes: u64,
    spare: Option<Spare>,
    quiet: Pin<Box<Sleep>>,
}

impl Leavings {
    pub(super) fn new() -> Self {
        Self { files: Vec::new(), bytes: 0, spare: None, quiet: Box::pin(sleep(Duration::ZERO)) }
    }

    /// Keeps these too, until it is quiet or there are too many.
    pub(super) fn keep(&mut self, files: Vec<Arc<File>>, spare: Option<Spare>) {
        self.bytes +=
            files.iter().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum::<u64>();
        self.files.extend(files);
        self.spare = spare;
        if self.files.len() >= MOST.0 || self.bytes >= MOST.1 {
            let files = self.take_files();
            tokio::task::spawn_blocking(move || drop(files));
        }
        self.quiet.as_mut().reset(Instant::now() + QUIET);
    }

    /// The lock directory, for the next change.
    pub(super) fn spare(&mut self) -> Option<Spare> {
        self.spare.take()
    }

    /// Whether there is nothing to clear away.
    pub(super) const fn is_empty(&self) -> bool {
        self.files.is_empty() && self.spare.is_none()
    }

    /// Returns when they had better be cleared away, and never while there are none.
    pub(super) async fn due(&mut self) {
        if self.is_empty() {
            std::future::pending::<()>().await;
        }
        self.quiet.as_mut().await;
    }

    /// Clears all of them away, beside the event loop. Whether nothing is left.
    pub(super) fn clear(&mut self) -> JoinHandle<bool> {
        let spare = self.spare.take();
        let files = self.take_files();
        tokio::task::spawn_blocking(move || {
            drop(files);
            spare.is_none_or(Spare::remove)
        })
    }

    fn take_files(&mut self) -> Vec<Arc<File>> {
        self.bytes = 0;
        std::mem::take(&mut self.files)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    fn opened() -> (Arc<File>, std::sync::Weak<File>) {
        let file = Arc::new(tempfile::tempfile().unwrap());
        (Arc::clone(&file), Arc::downgrade(&file))
    }

    async fn is_closed(file: &std::sync::Weak<File>) -> bool {
        for _ in 0..1000 {
            if file.strong_count() == 0 {
                return true;
            }
            tokio::task::spawn_blocking(|| {}).await.unwrap();
        }
        false
    }

    #[tokio::test(start_paused = true)]
    async fn they_are_closed_when_it_is_quiet_and_not_while_changes_follow_each_other() {
        let mut leavings = Leavings::new();
        assert!(timeout(10 * QUIET, leavings.due()).await.is_err(), "there is nothing");
        let (first, first_seen) = opened();
        leavings.keep(vec![first], None);
        for _ in 0..10 {
            advance(QUIET / 2).await;
            leavings.keep(vec![opened().0], None);
        }
        assert!(timeout(QUIET / 2, leavings.due()).await.is_err());
        timeout(QUIET, leavings.due()).await.unwrap();
        drop(leavings.clear());
        assert!(is_closed(&first_seen).await);
        assert!(timeout(10 * QUIET, leavings.due()).await.is_err(), "there is nothing left");
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_never_many_of_them_nor_large_ones() {
        let mut leavings = Leavings::new();
        let mut seen = Vec::new();
        for _ in 0..MOST.0 {
            let (file, weak) = opened();
            leavings.keep(vec![file], None);
            seen.push(weak);
        }
        let (large, weak) = opened();
        large.set_len(MOST.1).unwrap();
        leavings.keep(vec![large], None);
        seen.push(weak);
        for weak in &seen {
            assert!(is_closed(weak).await);
        }
    }
}
