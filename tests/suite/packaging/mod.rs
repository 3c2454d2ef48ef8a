//! Every way to get the programs, tried from nothing with the development executables.

mod archive;
mod crates;
mod debian;
mod dependencies;
mod installing;
mod npm;
mod npx;
mod plugin;
mod upgrade;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use stepstone_tests::{Run, Sandbox, executables, skipped};

/// The instant that the packed files carry: 2026-01-01T00:00:00Z.
const EPOCH: &str = "1767225600";

/// The version of this source tree.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folder that `cargo xtask dist` filled: made once, shared, read only.
fn release() -> &'static Path {
    static FILLED: OnceLock<PathBuf> = OnceLock::new();
    FILLED.get_or_init(|| {
        // A runner with one process per test says which run this is.
        let run = std::env::var("NEXTEST_RUN_ID").ok();
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let out = scratch.join(format!("dist-{}", run.as_deref().unwrap_or("cargo")));
        let lock = File::create(scratch.join("dist.lock")).unwrap();
        lock.lock().unwrap();
        if run.is_none() || !out.exists() {
            pack(&Sandbox::without_repository(), &small_executables(scratch), &out).finish().ended(0);
        }
        out
    })
}

/// `cargo xtask dist` on these executables.
fn pack(sandbox: &Sandbox, from: &Path, out: &Path) -> Run {
    let mut run = xtask(sandbox, &["dist", "--from"]).arg(from).arg("--out").arg(out);
    // Cargo tells what was resolved, the compiler what it is; both want their own home.
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "CARGO", "RUSTC"] {
        if let Some(value) = std::env::var_os(name) {
            run = run.env(name, value);
        }
    }
    run.env("SOURCE_DATE_EPOCH", EPOCH)
}

/// The task runner of this source tree.
fn xtask(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    Run::new(sandbox.command(executables().directory.join("xtask"))).within(sandbox.base()).args(arguments)
}

/// The development executables without their symbols, where there is a tool for that: packing them whole takes long.
fn small_executables(scratch: &Path) -> PathBuf {
    let place = scratch.join("dist-from");
    std::fs::create_dir_all(&place).unwrap();
    let built = executables();
    for path in [&built.cli, &built.mcp, &built.daemon] {
        let copy = place.join(path.file_name().unwrap());
        let strip = Command::new("strip").arg("-o").arg(&copy).arg(path).stderr(Stdio::null()).status();
        if !strip.is_ok_and(|status| status.success()) {
            std::fs::copy(path, &copy).unwrap();
        }
    }
    place
}

/// The one file of the release whose name ends like this.
fn artifact(end: &str) -> PathBuf {
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().ends_with(end);
    let found: Vec<PathBuf> =
        contents(release()).into_keys().map(|name| release().join(name)).filter(named).collect();
    match found.as_slice() {
        [one] => one.clone(),
        other => panic!("{} files end with {end}: {other:?}", other.len()),
    }
}

/// Unpacks a gzip-compressed tar archive.
fn unpack(sandbox: &Sandbox, archive: &Path, into: &Path, options: &[&str]) {
    std::fs::create_dir_all(into).unwrap();
    let tar = Run::new(sandbox.command("tar")).arg("-xzf").arg(archive).arg("-C").arg(into).args(options);
    tar.finish().ended(0);
}

/// Every file below a directory, by its path from there.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Whether a program can be run here; says so when not.
fn is_here(test: &str, program: &str) -> bool {
    let runs = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if runs.is_err() {
        skipped(test, &format!("{program} is not here"));
    }
    runs.is_ok()
}
