//! Files to be packed: paths, bytes, and whether they may be run.

use std::collections::BTreeMap;

/// A set of files below one directory, in the order of their paths.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    files: BTreeMap<String, File>,
}

/// One regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// What is in it.
    pub(crate) bytes: Vec<u8>,
    /// Whether it may be run.
    pub(crate) executable: bool,
}

impl File {
    /// Its permission bits.
    pub(crate) fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

impl Tree {
    /// Adds a text or other file that is not run.
    pub(crate) fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), File { bytes: bytes.into(), executable: false });
    }

    /// Adds a program.
    pub(crate) fn add_program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), File { bytes: bytes.into(), executable: true });
    }

    /// The files with their paths, sorted.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// Every directory that holds something, sorted, parents first.
    pub(crate) fn directories(&self) -> Vec<String> {
        let mut found = std::collections::BTreeSet::new();
        for path in self.files.keys() {
            for (index, _) in path.match_indices('/') {
                found.insert(path[..index].to_owned());
            }
        }
        found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn directories_are_all_that_lie_above_a_file() {
        let mut tree = Tree::default();
        tree.add("share/man/man1/a.1", "");
        tree.add_program("bin/a", "");
        tree.add("top", "");
        assert_eq!(tree.directories(), ["bin", "share", "share/man", "share/man/man1"]);
    }
}
