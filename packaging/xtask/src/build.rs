//! The executables, built for release.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use stepstone_tests::{Executables, workspace_root};

/// What Cargo has between the flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// Builds the three executables for release, and says where they are.
///
/// No path of this machine gets into them, so that the same source, compiler and lock file give the same bytes wherever
/// they are built. They have a target directory of their own: the flags that do this differ from those of a plain
/// `cargo build --release`, and would make Cargo build everything anew at each change between the two.
///
/// # Errors
/// When Cargo cannot be run or refuses; its own words stand on standard error.
pub(crate) fn release() -> Result<Executables> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let target = workspace_root().join(target).join("released");
    let arguments =
        ["build", "--release", "-p", "stepstone", "-p", "stepstone-mcp", "-p", "stepstone-daemon"];
    let status = Command::new(cargo)
        .current_dir(workspace_root())
        .args(arguments)
        .args(["--bins", "--locked", "--target-dir"])
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags()?)
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be run")?;
    ensure!(status.success(), "the release build failed");
    Ok(Executables::within(&target.join("release")))
}

/// The caller's flags for the compiler, and one that names each directory of this machine by something else.
fn flags() -> Result<OsString> {
    let home = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cargo_home = home("CARGO_HOME")
        .or_else(|| Some(home("HOME")?.join(".cargo")))
        .context("neither CARGO_HOME nor HOME is set")?;
    let mut flags = OsString::new();
    if let Some(given) = std::env::var_os("CARGO_ENCODED_RUSTFLAGS") {
        flags = given;
    } else if let Some(given) = std::env::var_os("RUSTFLAGS") {
        let given = given.into_string().ok().context("RUSTFLAGS is not UTF-8")?;
        flags = given.split_whitespace().collect::<Vec<_>>().join(SEPARATOR).into();
    }
    for (path, name) in [(cargo_home.as_path(), "/cargo"), (workspace_root(), "/stepstone")] {
        if !flags.is_empty() {
            flags.push(SEPARATOR);
        }
        flags.push("--remap-path-prefix=");
        flags.push(path);
        flags.push("=");
        flags.push(name);
    }
    Ok(flags)
}
