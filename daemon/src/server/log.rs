//! The daemon's log: a file of its own, small, without goal texts and without the environment.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;

use stepstone_proto::paths::Layout;
use tracing::level_filters::LevelFilter;

/// A longer log becomes the predecessor when a daemon begins; one predecessor is kept.
const LIMIT: u64 = 1024 * 1024;

/// Opens the log for the life of the process. Without one the daemon lives as well.
pub(super) fn begin(layout: &Layout) {
    let Ok(file) = open(layout) else { return };
    let level = std::env::var("STEPSTONE_LOG").ok().and_then(|name| name.parse().ok());
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_max_level(level.unwrap_or(LevelFilter::INFO))
        .with_target(false)
        .log_internal_errors(false)
        .finish();
    // Only a second call in one process fails; the first log then stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn open(layout: &Layout) -> io::Result<File> {
    let path = layout.log();
    if path.symlink_metadata().is_ok_and(|found| found.len() > LIMIT) {
        std::fs::rename(&path, layout.previous_log())?;
    }
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_long_log_becomes_the_one_predecessor() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path().to_owned(), 0);
        let length = |path: &std::path::Path| path.metadata().unwrap().len();
        drop(open(&layout).unwrap());
        assert_eq!(layout.log().metadata().unwrap().mode() & 0o777, 0o600);
        for size in [LIMIT + 1, LIMIT + 2] {
            std::fs::write(layout.log(), vec![b'x'; usize::try_from(size).unwrap()]).unwrap();
            drop(open(&layout).unwrap());
            assert_eq!((length(&layout.log()), length(&layout.previous_log())), (0, size));
        }
        std::fs::write(layout.log(), vec![b'x'; usize::try_from(LIMIT).unwrap()]).unwrap();
        drop(open(&layout).unwrap());
        assert_eq!(length(&layout.log()), LIMIT);
    }

    #[test]
    fn a_log_is_never_written_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path().to_owned(), 0);
        let target = directory.path().join("target");
        std::fs::write(&target, "").unwrap();
        std::os::unix::fs::symlink(&target, layout.log()).unwrap();
        assert!(open(&layout).is_err());
    }
}
