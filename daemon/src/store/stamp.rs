//! Stamps: how a store knows that a file is the one it read, without reading it again.

use std::path::Path;

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

/// Whether `path` lies on a file system that other machines write to as well.
pub(super) fn path_is_remote(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| is_remote(&found))
}

/// File systems whose time stamps come from elsewhere, and which report no changes by others: NFS, SMB and CIFS, AFS,
/// Coda, 9P, Ceph, Lustre, and everything behind FUSE, which may be a network too.
#[cfg(target_os = "linux")]
pub(super) const fn is_remote(found: &rustix::fs::StatFs) -> bool {
    // The type's width and sign differ between architectures; the numbers have 32 bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "magic numbers have 32 bits")]
    let magic = found.f_type as u32;
    matches!(
        magic,
        0x6969
            | 0x517b
            | 0xff53_4d42
            | 0xfe53_4d42
            | 0x5346_414f
            | 0x6b41_4653
            | 0x7375_7245
            | 0x0102_1997
            | 0x00c3_6400
            | 0x0bd0_0bd0
            | 0x6573_5546
    )
}

/// On other systems the mount says so itself.
#[cfg(not(target_os = "linux"))]
pub(super) const fn is_remote(found: &rustix::fs::StatFs) -> bool {
    /// `MNT_LOCAL` of `<sys/mount.h>`.
    const LOCAL: u32 = 0x1000;
    found.f_flags & LOCAL == 0
}
