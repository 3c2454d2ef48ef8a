//! Which goal file an operation is about. Asked again by every operation; nothing remembers it.

use std::io;
use std::path::{Component, Path, PathBuf};

use stepstone_proto::state::Identity;

use super::{Located, resolve};

/// The goal file, from the root.
pub const CANONICAL: &str = ".worklist/worklist.json";
/// Where older tools kept it.
pub const LEGACY: &str = ".pi/worklist.json";

/// The goal file in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Absolute, as chosen; links are not resolved.
    pub path: PathBuf,
    /// Why this one.
    pub kind: ChoiceKind,
    /// The legacy file that is passed over because the canonical one exists too.
    pub shadowed: Option<PathBuf>,
    /// `path` with links resolved. `None` when that cannot be done: whoever opens the path learns why.
    pub target: Option<PathBuf>,
    /// The directory that `target` is in, if it was looked at on the way.
    pub folder: Option<Identity>,
    /// It is not the canonical file of the caller's own work tree, so `meta.worklistPath` names it.
    pub report: bool,
    /// With links resolved it lies outside the root.
    pub outside_root: bool,
}

/// Why a file was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceKind {
    /// Named by the caller.
    Override,
    /// `<root>/.worklist/worklist.json`, which exists.
    Canonical,
    /// `<root>/.pi/worklist.json`, which exists alone.
    Legacy,
    /// The canonical path, where nothing is yet.
    New,
}

/// The canonical path of the goal file in a repository.
#[must_use]
pub fn canonical_path(located: &Located) -> PathBuf {
    located.root.join(CANONICAL)
}

/// The goal file for a caller: `explicit` (from `base` when relative; blank is ignored), else the canonical file, else
/// the legacy file, else the canonical path.
#[must_use]
pub fn choose(located: &Located, explicit: Option<&str>, base: &Path) -> Choice {
    let canonical = canonical_path(located);
    let legacy = located.root.join(LEGACY);
    let explicit = explicit.filter(|given| !given.trim().is_empty());
    let (path, kind, shadowed, is_plain) = match explicit {
        Some(given) => (tidy(&base.join(given)), ChoiceKind::Override, None, false),
        None => match (Entry::at(&canonical), Entry::at(&legacy)) {
            (Entry::Missing, Entry::Missing) => (canonical, ChoiceKind::New, None, false),
            (Entry::Missing, found) => (legacy, ChoiceKind::Legacy, None, found == Entry::File),
            (found, Entry::Missing) => (canonical, ChoiceKind::Canonical, None, found == Entry::File),
            (found, _) => (canonical, ChoiceKind::Canonical, Some(legacy), found == Entry::File),
        },
    };
    // Below a root, whose links are resolved, the path of a file in a directory, neither of them a link, is too.
    let folder = if is_plain { plain_folder(&path) } else { None };
    let target = if folder.is_some() { Some(path.clone()) } else { resolve(&path).ok() };
    let outside_root = target.as_ref().is_some_and(|target| !target.starts_with(&located.root));
    let own = located.work_tree.join(CANONICAL);
    // The same words are the usual case; comparing paths takes them apart.
    let is_own = path.as_os_str() == own.as_os_str() || path == own;
    let report = !is_own && (target.is_none() || target != resolve(&own).ok());
    Choice { path, kind, shadowed, target, folder, report, outside_root }
}

/// What has a name, links not followed.
#[derive(PartialEq, Eq)]
enum Entry {
    Missing,
    File,
    /// Also what cannot be looked at: it must not be passed over for another file.
    Other,
}

impl Entry {
    fn at(path: &Path) -> Self {
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => Self::File,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Self::Missing
            }
            _ => Self::Other,
        }
    }
}

/// The directory of a file, unless it is a link.
fn plain_folder(path: &Path) -> Option<Identity> {
    let found = path.parent()?.symlink_metadata().ok()?;
    found.is_dir().then(|| Identity::of(&found))
}

/// Without `.` and doubled slashes; `..` stays, for a link may stand before it.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}
