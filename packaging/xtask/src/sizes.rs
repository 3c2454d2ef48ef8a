//! The sizes that are kept in sight, and what they are made of.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use stepstone_tests::{Executables, workspace_root};

use crate::{build, say};

/// Bytes in a megabyte, as sizes are usually told.
const MEGABYTE: u64 = 1_000_000;

/// Builds for release, compares, and counts the crates that each executable is built from.
///
/// # Errors
/// When an executable is larger than its limit.
pub(crate) fn run() -> Result<()> {
    for package in ["stepstone", "stepstone-mcp", "stepstone-daemon"] {
        say::line(format!("{package:<16} {:>4} crates", crates(package)?));
    }
    compare(&build::release()?)
}

/// How many crates a package is built from, itself included; build-time ones are not counted.
fn crates(package: &str) -> Result<usize> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--package", package];
    let output = Command::new(cargo).current_dir(workspace_root()).args(arguments).output();
    let output = output.context("cargo cannot be run")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let names: BTreeSet<&[u8]> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    Ok(names.len())
}

/// Compares the executables with their limits.
///
/// # Errors
/// As [`run`].
pub(crate) fn compare(built: &Executables) -> Result<()> {
    let limits =
        [(&built.cli, 5 * MEGABYTE / 2), (&built.mcp, 5 * MEGABYTE / 2), (&built.daemon, 5 * MEGABYTE)];
    let mut over = Vec::new();
    for (path, limit) in limits {
        let size = path.metadata().with_context(|| path.display().to_string())?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        say::line(format!("{name:<14} {size:>9} bytes of at most {limit}"));
        if size > limit {
            over.push(name);
        }
    }
    ensure!(over.is_empty(), "over the limit: {}", over.join(", "));
    Ok(())
}
