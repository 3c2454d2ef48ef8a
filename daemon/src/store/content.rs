//! Reading a goal file: by its stamp, and the bytes only when the stamp says nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::StoreError;
use super::disk::{Disk, since_1970_ns};
use super::stamp::{Facts, Kind, Stamp};
use crate::roadmap::{Defect, Roadmap};

/// The largest goal file, in bytes.
pub(super) const LIMIT: u64 = 64 << 20;

/// How often a file that changes while it is read is read again.
const TRIES: usize = 20;

/// Programs that write a file in place, as Git does on a checkout, leave it empty or cut short for a moment. While its
/// stamp is young, but for no longer than this, a file that is no roadmap is read again, with a pause in between.
const UNFINISHED: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(3));

/// A goal file as it was found.
#[derive(Debug, Clone)]
pub(super) struct Content {
    /// `None`: there is no file.
    pub(super) file: Option<Facts>,
    /// The stamp was old when it was taken: as long as it stays the same, so does the content.
    settled: bool,
    pub(super) bytes: Arc<Vec<u8>>,
    /// What the bytes say.
    pub(super) roadmap: Result<Roadmap, Arc<Defect>>,
}

impl Content {
    /// No file: an empty roadmap.
    fn missing() -> Self {
        Self { file: None, settled: false, bytes: Arc::default(), roadmap: Ok(Roadmap::empty()) }
    }

    /// What a file holds that this process has just written.
    pub(super) fn written(file: Facts, bytes: Vec<u8>, roadmap: Roadmap) -> Self {
        // Written a moment ago, so the stamp is young: the next look compares the bytes.
        Self { file: Some(file), settled: false, bytes: Arc::new(bytes), roadmap: Ok(roadmap) }
    }

    /// The roadmap, or what is wrong with the file at `path`.
    pub(super) fn roadmap(&self, path: &Path) -> Result<&Roadmap, StoreError> {
        self.roadmap
            .as_ref()
            .map_err(|defect| StoreError::Content { path: path.to_owned(), defect: Arc::clone(defect) })
    }

    /// Whether an equal stamp means equal content.
    pub(super) const fn is_settled(&self) -> bool {
        self.settled
    }

    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.file.map(|file| file.stamp)
    }
}

/// What was found before, as far as the file's stamp says that it stands. Unless it is settled, that is no proof.
pub(super) fn glance(disk: &Disk, path: &Path, known: Option<&Arc<Content>>) -> Option<Arc<Content>> {
    let known = known.filter(|known| known.file.is_some())?;
    let looked = disk.look(path).ok()?;
    (known.stamp() == Some(looked.stamp)).then(|| Arc::clone(known))
}

/// What the file holds now. `known` is what was found before; it stands as long as the file is the same, and is
/// parsed again only when the bytes differ.
pub(super) fn fresh(
    disk: &Disk,
    path: &Path,
    known: Option<&Arc<Content>>,
) -> Result<Arc<Content>, StoreError> {
    let looked = match disk.look(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(missing(known)),
        Err(error) => return Err(StoreError::disk(path, "look at", path, error)),
    };
    check_kind(path, &looked)?;
    if let Some(known) = known.filter(|known| known.settled && known.stamp() == Some(looked.stamp)) {
        return Ok(Arc::clone(known));
    }
    let (patience, pause) = UNFINISHED;
    let (begun, mut tries) = (Instant::now(), 0);
    while tries < TRIES {
        let Some(found) = read(disk, path, known)? else { return Ok(missing(known)) };
        let Some(Found { file, settled, new }) = found else {
            tries += 1;
            continue;
        };
        let content = match (new, known) {
            (None, Some(known)) => Content { file: Some(file), settled, ..known.as_ref().clone() },
            (bytes, _) => {
                let bytes = bytes.unwrap_or_default();
                let roadmap = Roadmap::parse(&bytes).map_err(Arc::new);
                Content { file: Some(file), settled, bytes: Arc::new(bytes), roadmap }
            }
        };
        if content.roadmap.is_ok() || settled || begun.elapsed() >= patience {
            return Ok(Arc::new(content));
        }
        std::thread::sleep(pause);
    }
    Err(StoreError::Unsteady { path: path.to_owned() })
}

fn missing(known: Option<&Arc<Content>>) -> Arc<Content> {
    match known {
        Some(known) if known.file.is_none() => Arc::clone(known),
        _ => Arc::new(Content::missing()),
    }
}

struct Found {
    file: Facts,
    settled: bool,
    /// `None`: exactly what was known.
    new: Option<Vec<u8>>,
}

/// `None`: there is no file. `Some(None)`: it changed meanwhile.
fn read(disk: &Disk, path: &Path, known: Option<&Arc<Content>>) -> Result<Option<Option<Found>>, StoreError> {
    let file = match disk.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::disk(path, "open", path, error)),
    };
    let inspect =
        || disk.inspect(&file, path).map_err(|error| StoreError::disk(path, "look at", path, error));
    let now = since_1970_ns(SystemTime::now());
    let before = inspect()?;
    check_kind(path, &before)?;
    let size = before.stamp.size;
    let failed = |error| StoreError::disk(path, "read", path, error);
    let known = known.filter(|known| known.file.is_some() && known.bytes.len() as u64 == size);
    let is_known = match known {
        Some(known) => disk.begins_with(&file, path, &known.bytes).map_err(failed)?,
        None => false,
    };
    let new = if is_known { None } else { Some(disk.read(&file, path, size, LIMIT + 1).map_err(failed)?) };
    let after = inspect()?;
    let is_whole = new.as_ref().is_none_or(|bytes| bytes.len() as u64 == size);
    if before.stamp != after.stamp || !is_whole {
        check_kind(path, &after)?;
        return Ok(Some(None));
    }
    let settled = !before.stamp.is_young(now) && !Disk::is_remote(&file);
    Ok(Some(Some(Found { file: after, settled, new })))
}

fn check_kind(path: &Path, facts: &Facts) -> Result<(), StoreError> {
    if facts.kind != Kind::File {
        return Err(StoreError::NotAFile { path: path.to_owned(), found: facts.kind.name() });
    }
    if facts.stamp.size > LIMIT {
        return Err(StoreError::TooLarge { path: path.to_owned(), size: facts.stamp.size });
    }
    Ok(())
}
