//! The installation: executables, state directory, daemon, watcher.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stepstone_client::Surroundings;
use stepstone_client::control::{self, ControlError};
use stepstone_proto::protocol::{RANGE, Range, Status, VERSION};
use stepstone_proto::state;

use super::Finding;
use crate::commands::daemon::private_engine;

/// Fewer watches than this are used up by one editor.
const FEW_WATCHES: u64 = 8_192;
/// One per watching program; the usual default is 128.
const FEW_INSTANCES: u64 = 64;

/// The three executables: beside this one, else on `PATH`.
pub(super) fn executables(surroundings: &Surroundings) -> Vec<Finding> {
    let here = env::current_exe().ok();
    let mut findings = Vec::new();
    if let Some(here) = &here {
        findings.push(Finding::ok("stepstone", format!("version {VERSION}, {}", here.display())));
    }
    for (name, why) in
        [("stepstoned", "nothing can be read or changed"), ("stepstone-mcp", "no MCP host can connect")]
    {
        findings.push(match find(name, here.as_ref(), surroundings.path.as_deref()) {
            Some(path) if name == "stepstoned" => engine(&path),
            Some(path) => Finding::ok(name, path.display().to_string()),
            None => Finding::problem(
                name,
                format!("not found beside stepstone or on PATH; without it {why}"),
                "install all three executables in one directory",
            ),
        });
    }
    findings
}

/// The engine's executable: whether it runs, and is of this version.
fn engine(path: &Path) -> Finding {
    const CHECK: &str = "stepstoned";
    const ADVICE: &str = "install all three executables of one version in one directory";
    let shown = path.display();
    match Command::new(path).arg("--version").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            let version = said.trim().trim_start_matches("stepstoned ").to_owned();
            if version == VERSION {
                Finding::ok(CHECK, format!("version {version}, {shown}"))
            } else {
                Finding::problem(
                    CHECK,
                    format!("{shown} is version {version}, and this is {VERSION}"),
                    ADVICE,
                )
            }
        }
        Ok(output) => {
            Finding::problem(CHECK, format!("{shown} --version ends with {}", output.status), ADVICE)
        }
        Err(error) => Finding::problem(CHECK, format!("{shown} cannot be run: {error}"), ADVICE),
    }
}

fn find(name: &str, here: Option<&PathBuf>, path: Option<&OsStr>) -> Option<PathBuf> {
    let target = here.and_then(|here| here.canonicalize().ok());
    let beside = here.into_iter().chain(&target).filter_map(|path| Some(path.parent()?.to_owned()));
    let on_path = path.map(env::split_paths).into_iter().flatten();
    beside.chain(on_path).map(|directory| directory.join(name)).find(|candidate| candidate.is_file())
}

/// Where the daemon's socket and locks are.
pub(super) fn state_directory(surroundings: &Surroundings) -> Vec<Finding> {
    const CHECK: &str = "state directory";
    let layout = match &surroundings.layout {
        Ok(layout) => layout,
        Err(error) => {
            return vec![Finding::problem(
                CHECK,
                error.to_string(),
                "set HOME to a directory of yours; until then each process answers from its own engine",
            )];
        }
    };
    let directory = layout.directory().display();
    let mut findings = vec![match state::verify_layout(layout) {
        Ok(_) => Finding::ok(CHECK, directory.to_string()),
        Err(error) if error.is_missing() => {
            Finding::ok(CHECK, format!("{directory} is made when it is needed"))
        }
        Err(error) => Finding::problem(
            CHECK,
            error.to_string(),
            "mend its owner and mode, or move it away; until then each process answers from its own engine",
        ),
    }];
    let socket = layout.socket().display();
    findings.push(if layout.socket().starts_with(layout.directory()) {
        Finding::ok("socket", socket.to_string())
    } else {
        Finding::ok("socket", format!("{socket} (the path in the state directory would be too long)"))
    });
    findings
}

/// The daemon, and whether this process uses it.
pub(super) async fn daemon(surroundings: &Surroundings, findings: &mut Vec<Finding>) -> Option<Status> {
    const CHECK: &str = "daemon";
    let status = control::status(surroundings).await;
    match &status {
        Ok(Some(status)) => findings.push(running(status)),
        Ok(None) if surroundings.layout.as_ref().is_ok_and(|layout| layout.socket().exists()) => {
            findings.push(Finding::note(
                CHECK,
                "does not run, and left its socket behind",
                "nothing: the next start clears it away",
            ));
        }
        Ok(None) => findings.push(Finding::ok(CHECK, "does not run; it is started when it is needed")),
        Err(error @ ControlError::Unreachable(_)) => findings.push(Finding::note(
            CHECK,
            error.to_string(),
            "nothing, if this is a sandbox: goals are read and changed by a private engine",
        )),
        Err(error) => findings.push(Finding::problem(CHECK, error.to_string(), "stepstone daemon restart")),
    }
    if let (Ok(_), Some(reason)) = (&surroundings.layout, private_engine(surroundings)) {
        findings.push(Finding::note(
            "engine",
            reason,
            "nothing, if that is meant: answers are the same, from a private engine",
        ));
    }
    status.ok().flatten()
}

fn running(status: &Status) -> Finding {
    let about = format!("runs as process {}, version {}", status.pid, status.version);
    if status.version == VERSION {
        return Finding::ok("daemon", about);
    }
    let meets = Range::parse(&status.protocol).is_some_and(|range| range.meets(RANGE));
    let (is, advice) = if meets {
        ("another version than this one, and understands it", "stepstone daemon restart, when it suits")
    } else {
        (
            "another version than this one, and does not understand it",
            "install one version everywhere; then stepstone daemon restart",
        )
    };
    Finding::note("daemon", format!("{about}: {is} (protocol {}, here {})", status.protocol, RANGE), advice)
}

/// Whether changes by others are noticed at once.
pub(super) fn watching(status: Option<&Status>) -> Vec<Finding> {
    const CHECK: &str = "watching";
    let limit = |name: &str| -> Option<u64> {
        fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
    };
    let mut findings = Vec::new();
    match status.map(|status| status.watching.as_str()) {
        Some("polling") => findings.push(Finding::note(
            CHECK,
            "the system's watches are used up or the file system has none; files are looked at every 2 seconds",
            "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances, if this is a local disk",
        )),
        Some("off") => findings.push(Finding::ok(CHECK, "is off; every answer looks at the file itself")),
        Some(mode) if !mode.is_empty() => findings.push(Finding::ok(CHECK, format!("by {mode}"))),
        _ => {}
    }
    for (name, few) in [("max_user_watches", FEW_WATCHES), ("max_user_instances", FEW_INSTANCES)] {
        if let Some(found) = limit(name).filter(|found| *found < few) {
            findings.push(Finding::note(
                CHECK,
                format!("fs.inotify.{name} is {found}, which editors alone may use up"),
                format!("raise it: sysctl fs.inotify.{name}={}", few * 8),
            ));
        }
    }
    findings
}
