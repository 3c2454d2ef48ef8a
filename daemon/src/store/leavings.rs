//! What changes leave behind: files and directories that have no name any more. The system frees them when they are
//! closed, which takes it about as long as a change's own way to the disk. So they are closed while nobody waits.

use std::fs::File;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Nobody has changed anything for this long: the next change is not about to come.
const QUIET: Duration = Duration::from_millis(50);
/// However busy it is, fewer than so many are kept, and of so many bytes.
const MOST: (usize, u64) = (32, 16 << 20);

/// Open files whose names are gone.
#[derive(Debug)]
pub(super) struct Leavings {
    files: Vec<Arc<File>>,
    bytes: u64,
    quiet: Pin<Box<Sleep>>,
}

impl Leavings {
    pub(super) fn new() -> Self {
        Self { files: Vec::new(), bytes: 0, quiet: Box::pin(sleep(Duration::ZERO)) }
    }

    /// Keeps these too, until it is quiet or there are too many.
    pub(super) fn keep(&mut self, files: Vec<Arc<File>>) {
        if files.is_empty() {
            return;
        }
        self.bytes +=
            files.iter().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum::<u64>();
        self.files.extend(files);
        if self.files.len() >= MOST.0 || self.bytes >= MOST.1 {
            self.close();
        } else {
            self.quiet.as_mut().reset(Instant::now() + QUIET);
        }
    }

    /// Returns when they had better be closed, and never while there are none.
    pub(super) async fn due(&mut self) {
        if self.files.is_empty() {
            std::future::pending::<()>().await;
        }
        self.quiet.as_mut().await;
    }

    /// Closes all of them, beside the event loop.
    pub(super) fn close(&mut self) {
        let files = std::mem::take(&mut self.files);
        self.bytes = 0;
        tokio::task::spawn_blocking(move || drop(files));
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
        leavings.keep(vec![first]);
        for _ in 0..10 {
            advance(QUIET / 2).await;
            leavings.keep(vec![opened().0]);
        }
        assert!(timeout(QUIET / 2, leavings.due()).await.is_err());
        timeout(QUIET, leavings.due()).await.unwrap();
        leavings.close();
        assert!(is_closed(&first_seen).await);
        assert!(timeout(10 * QUIET, leavings.due()).await.is_err(), "there is nothing left");
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_never_many_of_them_nor_large_ones() {
        let mut leavings = Leavings::new();
        let mut seen = Vec::new();
        for _ in 0..MOST.0 {
            let (file, weak) = opened();
            leavings.keep(vec![file]);
            seen.push(weak);
        }
        let (large, weak) = opened();
        large.set_len(MOST.1).unwrap();
        leavings.keep(vec![large]);
        seen.push(weak);
        for weak in &seen {
            assert!(is_closed(weak).await);
        }
    }
}
