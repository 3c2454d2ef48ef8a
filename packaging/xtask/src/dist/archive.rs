//! Archives whose bytes depend on nothing but what is packed: sorted, owned by root, one instant for everything.

use std::io::Write;

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::tree::Tree;

/// A gzip-compressed tar archive; all paths get `prefix` in front, and the directories have entries of their own when
/// `directories` says so.
///
/// # Errors
/// When a path does not fit into an archive.
pub(crate) fn tar_gz(tree: &Tree, prefix: &str, directories: bool, epoch: u64) -> Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    if directories {
        for directory in std::iter::once(String::new()).chain(tree.directories()) {
            let path = format!("{prefix}{directory}");
            let path = path.trim_end_matches('/');
            if !path.is_empty() {
                let mut header = header(EntryType::Directory, 0o755, 0, epoch);
                builder.append_data(&mut header, format!("{path}/"), std::io::empty())?;
            }
        }
    }
    for (path, file) in tree.files() {
        let mut header = header(EntryType::Regular, file.mode(), u64::try_from(file.bytes.len())?, epoch);
        builder.append_data(&mut header, format!("{prefix}{path}"), file.bytes.as_slice())?;
    }
    gzip(&builder.into_inner()?)
}

/// Compressed, without a name or a time of its own.
///
/// # Errors
/// None that memory does not give.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// The `ar` archive that a Debian package is.
pub(crate) fn ar(members: &[(&str, Vec<u8>)], epoch: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        // Name, time, owner, group, mode, size: padded text, as `man 5 ar` has it.
        let head = format!("{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        archive.extend_from_slice(head.as_bytes());
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

fn header(kind: EntryType, mode: u32, size: u64, epoch: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(epoch);
    header.set_uid(0);
    header.set_gid(0);
    header
}
