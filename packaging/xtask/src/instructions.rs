//! `cargo xtask instructions`: the core's work counted in instructions, which no neighbour on the machine disturbs.
//!
//! Counts are compared with those in `instructions.json` beside this crate. They depend on the compiler, so a new
//! compiler means new numbers: `--update` writes them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use stepstone_tests::workspace_root;

use crate::say;

/// More than this part above what is written down is a regression.
const TOLERANCE: f64 = 0.10;
/// What is counted, each less what the work before it costs.
const WORK: [(&str, &str); 5] =
    [("parse", "text"), ("print", "parse"), ("ready", "parse"), ("waves", "parse"), ("add", "parse")];

/// Counts, and compares or writes.
///
/// # Errors
/// When valgrind or the build fails, or a count has grown beyond the tolerance.
pub(crate) fn run(update: bool) -> Result<()> {
    let program = build()?;
    let mut totals = BTreeMap::new();
    for name in ["text", "parse", "print", "ready", "waves", "add"] {
        totals.insert(name, count(&program, name)?);
    }
    let total = |name: &str| totals.get(name).copied().unwrap_or_default();
    let counts: BTreeMap<&str, u64> =
        WORK.iter().map(|(name, before)| (*name, total(name).saturating_sub(total(before)))).collect();
    let path = workspace_root().join("packaging/xtask/instructions.json");
    if update {
        let text = serde_json::to_string_pretty(&counts)? + "\n";
        return std::fs::write(&path, text).with_context(|| format!("{}", path.display()));
    }
    let known = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let known: BTreeMap<String, u64> = serde_json::from_str(&known)?;
    let mut grown = Vec::new();
    for (name, count) in &counts {
        let before = known.get(*name).copied().unwrap_or_default();
        let ratio = *count as f64 / before.max(1) as f64;
        say::line(format!("{name:<6} {count:>12} instructions, {ratio:.3} of what is written down"));
        if ratio > 1.0 + TOLERANCE {
            grown.push(*name);
        }
    }
    ensure!(grown.is_empty(), "more work than before: {}; if that is meant, --update", grown.join(", "));
    Ok(())
}

fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace_root())
        .args(["bench", "--no-run", "--locked", "--package", "stepstone-daemon", "--bench", "instructions"])
        .args(["--message-format", "json"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be run")?;
    ensure!(output.status.success(), "the bench did not build");
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let named = message["target"]["name"] == "instructions";
        message["executable"].as_str().filter(|_| named).map(PathBuf::from)
    });
    programs.next_back().context("cargo named no program")
}

fn count(program: &PathBuf, work: &str) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(work)
        .stdin(Stdio::null())
        .output()
        .context("valgrind cannot be run; it is a package of that name")?;
    let words = String::from_utf8_lossy(&output.stderr);
    let collected =
        words.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    match collected.and_then(|count| count.parse().ok()) {
        Some(count) => Ok(count),
        None => bail!("valgrind counted nothing: {words}"),
    }
}
