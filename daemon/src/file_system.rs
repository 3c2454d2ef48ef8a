//! Which file systems can be looked at in passing.

use std::path::Path;

use rustix::fs::StatFs;

/// Whether `path` lies on a file system that other machines write to as well. What cannot be looked at does not.
pub(crate) fn path_is_remote(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| is_remote(&found))
}

/// File systems whose time stamps come from elsewhere, which report no changes by others, and which may take any time
/// to answer: NFS, SMB and CIFS, AFS, Coda, 9P, Ceph, Lustre, and everything behind FUSE, which may be a network too.
#[cfg(target_os = "linux")]
pub(crate) const fn is_remote(found: &StatFs) -> bool {
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
pub(crate) const fn is_remote(found: &StatFs) -> bool {
    /// `MNT_LOCAL` of `<sys/mount.h>`.
    const LOCAL: u32 = 0x1000;
    found.f_flags & LOCAL == 0
}
