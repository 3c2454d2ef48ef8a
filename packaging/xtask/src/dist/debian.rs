//! The Debian package: an `ar` archive of two tar archives, as `man 5 deb` has it.

use anyhow::{Context, Result};
use memchr::memmem;
use stepstone_tests::workspace_root;

use super::tree::Tree;
use super::{AUTHORS, DESCRIPTION, REPOSITORY, archive, clock};

/// Where the maintainers of the package are reached.
const MAINTAINER: &str = "stepstone-dev@users.noreply.github.com";

/// The package for this architecture, of what is installed below a prefix.
///
/// There is no maintainer script: nothing has to be done when it is installed, and a daemon that runs notices by
/// itself that another build lies at its path, and ends when it is idle.
///
/// # Errors
/// When a file of the workspace cannot be read.
pub(crate) fn package(
    architecture: &str,
    version: &str,
    installation: &Tree,
    licences: &str,
    epoch: u64,
) -> Result<Vec<u8>> {
    let data = data(installation, version, licences, epoch)?;
    let mut control = Tree::default();
    control.add("control", control_file(architecture, version, &data));
    Ok(archive::ar(
        &[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", archive::tar_gz(&control, "./", true, epoch)?),
            ("data.tar.gz", archive::tar_gz(&data, "./", true, epoch)?),
        ],
        epoch,
    ))
}

/// The files where Debian's policy wants them.
fn data(installation: &Tree, version: &str, licences: &str, epoch: u64) -> Result<Tree> {
    let mut data = Tree::default();
    for (path, file) in installation.files() {
        if file.executable {
            data.add_program(format!("usr/{path}"), file.bytes.clone());
        } else if let Some(page) = path.strip_prefix("share/man/") {
            data.add(format!("usr/share/man/{page}.gz"), archive::gzip(&file.bytes)?);
        } else if let Some(name) = path.strip_prefix("share/zsh/site-functions/") {
            data.add(format!("usr/share/zsh/vendor-completions/{name}"), file.bytes.clone());
        } else if !path.starts_with("share/doc/") {
            data.add(format!("usr/{path}"), file.bytes.clone());
        }
    }
    let changelog = format!(
        "stepstone ({version}) unstable; urgency=medium\n\n  * See {REPOSITORY}/blob/v{version}/CHANGELOG.md\n\n -- {AUTHORS} <{MAINTAINER}>  {}\n",
        clock::mail_date(epoch)?
    );
    let documents = "usr/share/doc/stepstone";
    data.add(format!("{documents}/changelog.gz"), archive::gzip(changelog.as_bytes())?);
    data.add(format!("{documents}/copyright"), copyright()?);
    data.add(format!("{documents}/THIRD-PARTY-LICENSES.txt.gz"), archive::gzip(licences.as_bytes())?);
    Ok(data)
}

fn control_file(architecture: &str, version: &str, data: &Tree) -> String {
    let bytes: usize = data.files().map(|(_, file)| file.bytes.len().next_multiple_of(1024)).sum();
    let size = bytes / 1024 + data.directories().len();
    format!(
        "Package: stepstone\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: {AUTHORS} <{MAINTAINER}>\n\
         Installed-Size: {size}\n\
         Depends: {}\n\
         Section: devel\n\
         Priority: optional\n\
         Homepage: {REPOSITORY}\n\
         Description: {DESCRIPTION}\n \
         Project Goals in .worklist/worklist.json, with dependencies, claims and\n \
         waves. Brings the command line stepstone, the MCP server stepstone-mcp and\n \
         the daemon stepstoned, which both start on demand.\n",
        depends(data)
    )
}

/// Git, which the daemon asks for roots and branches, and the libraries that the programs are linked with.
fn depends(data: &Tree) -> String {
    let programs: Vec<&[u8]> =
        data.files().filter(|(_, file)| file.executable).map(|(_, file)| file.bytes.as_slice()).collect();
    let mut needed = vec!["git".to_owned()];
    if let Some(minor) = programs.iter().filter_map(|program| glibc_minor(program)).max() {
        needed.push(format!("libc6 (>= 2.{minor})"));
    }
    if programs.iter().any(|program| memmem::find(program, b"libgcc_s.so.1").is_some()) {
        needed.push("libgcc-s1".to_owned());
    }
    needed.join(", ")
}

/// The newest `GLIBC_2.<minor>` whose symbols a program asks for, as its table of needed versions names it.
fn glibc_minor(program: &[u8]) -> Option<u32> {
    const MARK: &[u8] = b"GLIBC_2.";
    let minor = |at: usize| {
        let rest = program.get(at + MARK.len()..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
    };
    memmem::find_iter(program, MARK).filter_map(minor).max()
}

fn copyright() -> Result<String> {
    let licence = fs_err::read_to_string(workspace_root().join("LICENSE"))?;
    let (head, terms) = licence.split_once("\n\nPermission").context("LICENSE does not read as it did")?;
    let holders = head
        .lines()
        .find_map(|line| line.strip_prefix("Copyright (c) "))
        .context("LICENSE names no holder")?;
    let terms: Vec<String> = format!("Permission{terms}")
        .lines()
        .map(|line| if line.is_empty() { " .".to_owned() } else { format!(" {line}") })
        .collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: stepstone\n\
         Source: {REPOSITORY}\n\
         Comment: The packages that the programs are linked with, and their licences, are in\n \
         THIRD-PARTY-LICENSES.txt.gz beside this file.\n\n\
         Files: *\n\
         Copyright: {holders}\n\
         License: Expat\n\n\
         License: Expat\n{}\n",
        terms.join("\n")
    ))
}
