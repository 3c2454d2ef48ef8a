//! Resident memory of a process, as the system accounts for it.

use anyhow::{Context, Result};

/// Resident bytes of the process.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().with_context(|| path)?;
    Ok(kib * 1024)
}
