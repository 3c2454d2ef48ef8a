//! What makes two paths the same worklist, and how it is known when the path comes to mean another one.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use stepstone_proto::state::Identity;

use crate::repository::resolve;

/// One worklist: the nearest directory that exists, and the names below it. Two engines, or two paths to one file,
/// arrive at the same key; a directory that was replaced has another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    directory: Identity,
    names: PathBuf,
}

impl Key {
    /// The directory of the file does not exist yet. Once it does, the key is another one.
    pub(super) fn is_provisional(&self) -> bool {
        self.names.components().nth(1).is_some()
    }

    /// The name of the lock and of the journal in the state directory.
    pub(super) fn file_name(&self) -> String {
        let mut hash = Sha256::new();
        for number in self.directory.numbers() {
            hash.update(number.to_le_bytes());
        }
        hash.update(self.names.as_os_str().as_bytes());
        hash.finalize().iter().take(16).fold(String::new(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        })
    }
}

/// Passing names, of temporary files for one, have 16 hexadecimal digits. The first half says which worklist of a
/// directory they belong to: whoever holds its kernel lock knows that nobody else uses them.
const OWN_DIGITS: usize = 8;

/// A worklist and where it is at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) key: Key,
    /// The nearest directory that exists.
    directory: PathBuf,
    /// The file, links resolved.
    pub(super) target: PathBuf,
}

impl Place {
    /// Where the file that `path` names is, or would be made.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Self::at(resolve(path)?)
    }

    /// The same for the name itself, which may be a link.
    pub(super) fn of_name(path: &Path) -> io::Result<Self> {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Self::at(resolve(folder)?.join(name)),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// The same for a path whose links are resolved already.
    pub(super) fn at(target: PathBuf) -> io::Result<Self> {
        let mut names: Vec<OsString> = Vec::new();
        let mut below = target.as_path();
        while let (Some(directory), Some(name)) = (below.parent(), below.file_name()) {
            names.push(name.to_owned());
            match std::fs::metadata(directory) {
                Ok(found) if found.is_dir() => {
                    let names = names.iter().rev().collect();
                    let key = Key { directory: Identity::of(&found), names };
                    return Ok(Self { key, directory: directory.to_owned(), target });
                }
                Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => below = directory,
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::IsADirectory.into())
    }

    /// The same for a file in a directory that was looked at.
    pub(super) fn in_folder(target: PathBuf, folder: Identity) -> io::Result<Self> {
        let (Some(directory), Some(name)) = (target.parent().map(Path::to_owned), target.file_name()) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let key = Key { directory: folder, names: PathBuf::from(name) };
        Ok(Self { key, directory, target })
    }

    /// Whether the directory of the file still is the same one under the same name, and the file, if there is one, no
    /// link. Says no when it cannot be told, and when the directory does not exist yet.
    pub(super) fn is_unmoved(&self) -> bool {
        let is_no_link = || match std::fs::symlink_metadata(&self.target) {
            Ok(found) => !found.is_symlink(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        self.folder() == self.directory && self.has_same_folder().unwrap_or(false) && is_no_link()
    }

    /// Whether the directory of the file is another one by now, or gone. Says no when it cannot be told.
    pub(super) fn is_moved(&self) -> bool {
        self.has_same_folder().map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |same| !same)
    }

    fn has_same_folder(&self) -> io::Result<bool> {
        let found = std::fs::symlink_metadata(self.folder())?;
        Ok(found.is_dir() && Identity::of(&found) == self.key.directory)
    }

    /// The directory of the file.
    pub(super) fn folder(&self) -> &Path {
        self.target.parent().unwrap_or(&self.directory)
    }

    /// Sixteen hexadecimal digits for a new passing name.
    pub(super) fn new_digits(&self) -> String {
        let mut digits = self.own_digits();
        digits.extend(super::random_hex_16().chars().skip(OWN_DIGITS));
        digits
    }

    /// The half that this worklist's passing names begin with.
    pub(super) fn own_digits(&self) -> String {
        self.key.file_name().chars().take(OWN_DIGITS).collect()
    }

    /// The directories above the file that do not exist yet, outermost first.
    pub(super) fn missing_directories(&self) -> Vec<PathBuf> {
        let folder = self.folder();
        let above = folder.ancestors().take_while(|directory| *directory != self.directory);
        let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
        missing.reverse();
        missing
    }
}
