//! Which goal file an operation is about. Asked again by every operation; nothing remembers it.

use std::io;
use std::path::{Component, Path, PathBuf};

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
    let (path, kind, shadowed) = match explicit {
        Some(given) => (tidy(&base.join(given)), ChoiceKind::Override, None),
        None => match (exists(&canonical), exists(&legacy)) {
            (true, true) => (canonical, ChoiceKind::Canonical, Some(legacy)),
            (true, false) => (canonical, ChoiceKind::Canonical, None),
            (false, true) => (legacy, ChoiceKind::Legacy, None),
            (false, false) => (canonical, ChoiceKind::New, None),
        },
    };
    let target = if kind != ChoiceKind::Override && is_plain(&path) {
        Some(path.clone())
    } else {
        resolve(&path).ok()
    };
    let outside_root = target.as_ref().is_some_and(|target| !target.starts_with(&located.root));
    let own = located.work_tree.join(CANONICAL);
    let report = path != own && (target.is_none() || target != resolve(&own).ok());
    Choice { path, kind, shadowed, target, report, outside_root }
}

/// Something has that name. What cannot be looked at counts: it must not be passed over for another file.
fn exists(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// A file in a directory, neither of them a link. Below a root, whose links are resolved, its path is resolved too.
fn is_plain(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let folder = path.parent().map(Path::symlink_metadata);
    is_file && folder.is_some_and(|folder| folder.is_ok_and(|folder| folder.is_dir()))
}

/// Without `.` and doubled slashes; `..` stays, for a link may stand before it.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}
