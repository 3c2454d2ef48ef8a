//! Stamps: how a store knows that a file is the one it read, without reading it again.

/// Two equal stamps, of which the earlier was old when it was taken, mean the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    /// Nanoseconds since 1970.
    pub(super) modified_ns: i128,
    /// The same, of the last change of content or attributes, which no program can set.
    pub(super) changed_ns: i128,
}

/// A change within this time after the last one may leave the stamp as it was: the kernel's clock for files ticks
/// every few milliseconds.
const TICK_NS: i128 = 50_000_000;
/// The same where the file system keeps no fractions of a second (FAT counts in steps of two).
const COARSE_TICK_NS: i128 = 2_000_000_000;

impl Stamp {
    /// Whether the file may still change without its stamp changing, for a stamp taken at `now_ns`. A time in the
    /// future is young too.
    pub(super) fn is_young(&self, now_ns: i128) -> bool {
        let whole_seconds = |time: i128| time % 1_000_000_000 == 0;
        let coarse = whole_seconds(self.modified_ns) || whole_seconds(self.changed_ns);
        let tick = if coarse { COARSE_TICK_NS } else { TICK_NS };
        now_ns - self.modified_ns.max(self.changed_ns) < tick
    }

    /// The same file or directory, whatever happened to it in between.
    pub(super) const fn is_same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

impl Kind {
    /// In words, with an article.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Other => "a pipe, socket or device",
        }
    }
}

/// What the system says about a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) stamp: Stamp,
    pub(super) kind: Kind,
    /// The twelve bits of permissions.
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// When it was made, where the file system keeps that.
    pub(super) born_ns: Option<i128>,
}
