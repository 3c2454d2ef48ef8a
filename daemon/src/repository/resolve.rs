//! Symbolic links resolved, also in the part of a path that does not exist yet.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows.
const LINKS: usize = 40;

/// The path that a file would be created at by opening `path`: links are followed as far as there are any, also a
/// link to nothing, and what does not exist stays as it was named. `path` must be absolute.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    // The whole path exists: one system call.
    match std::fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let mut resolved = PathBuf::from("/");
    let mut ahead: VecDeque<OsString> = VecDeque::new();
    push(&mut ahead, path);
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&name);
        let found = match std::fs::symlink_metadata(&next) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                resolved = next;
                continue;
            }
            Err(error) => return Err(error),
        };
        if !found.file_type().is_symlink() {
            resolved = next;
            continue;
        }
        links += 1;
        if links > LINKS {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many levels of symbolic links"));
        }
        let target = std::fs::read_link(&next)?;
        if target.is_absolute() {
            resolved = PathBuf::from("/");
        }
        push(&mut ahead, &target);
    }
    Ok(resolved)
}

/// Puts the names of `path` before those that are still ahead.
fn push(ahead: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => ahead.push_front(name.to_owned()),
            Component::ParentDir => ahead.push_front(OsString::from("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}
