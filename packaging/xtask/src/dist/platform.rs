//! The names that one platform has in the various worlds.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// The platforms that releases are made for: Rust's triple, npm's `os` and `cpu`, Debian's architecture.
const PLATFORMS: &[Platform] = &[
    Platform { triple: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64", debian: Some("amd64") },
    Platform { triple: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64", debian: Some("arm64") },
    Platform { triple: "x86_64-apple-darwin", os: "darwin", cpu: "x64", debian: None },
    Platform { triple: "aarch64-apple-darwin", os: "darwin", cpu: "arm64", debian: None },
];

/// One platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Platform {
    /// As Rust has it.
    pub(crate) triple: &'static str,
    /// As Node's `process.platform` and npm's `os` have it.
    pub(crate) os: &'static str,
    /// As Node's `process.arch` and npm's `cpu` have it.
    pub(crate) cpu: &'static str,
    /// As Debian has it, where there is Debian.
    pub(crate) debian: Option<&'static str>,
}

impl Platform {
    /// Every platform, in the order in which they are listed.
    pub(crate) fn all() -> &'static [Self] {
        PLATFORMS
    }

    /// The one that this machine's compiler builds for.
    ///
    /// # Errors
    /// When the compiler cannot be asked, or no release is made for its platform.
    pub(crate) fn host() -> Result<Self> {
        let compiler = compiler()?;
        let host = compiler.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc -vV names no host")?;
        let known = PLATFORMS.iter().find(|platform| platform.triple == host).copied();
        known.with_context(|| format!("no release is made for {host}: add it to dist/platform.rs"))
    }

    /// The npm package with this platform's programs.
    pub(crate) fn npm_package(self) -> String {
        format!("@stepstone-dev/{}-{}", self.os, self.cpu)
    }
}

/// What `rustc -vV` says.
///
/// # Errors
/// When it cannot be run.
pub(crate) fn compiler() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output =
        Command::new(rustc).arg("-vV").stdin(Stdio::null()).output().context("rustc cannot be run")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
