//! The executables, built for release.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use stepstone_tests::{Executables, workspace_root};

/// Builds the three executables for release, and says where they are.
///
/// # Errors
/// When Cargo cannot be run or refuses; its own words stand on standard error.
pub(crate) fn release() -> Result<Executables> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["build", "--release", "-p", "stepstone", "-p", "stepstone-mcp", "-p", "stepstone-daemon"];
    let status = Command::new(cargo)
        .current_dir(workspace_root())
        .args(arguments)
        .args(["--bins", "--locked"])
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be run")?;
    ensure!(status.success(), "the release build failed");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(Executables::within(&workspace_root().join(target).join("release")))
}
