//! Another build is installed over the one that runs.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use stepstone_tests::{Executables, Process, Sandbox, eventually, executables};

use super::xtask;

/// The programs of this source tree as another build: with bytes that no loader looks at behind them.
fn other_build(sandbox: &Sandbox) -> PathBuf {
    let place = sandbox.base().join("other-build");
    std::fs::create_dir(&place).unwrap();
    let built = executables();
    for path in [&built.cli, &built.mcp, &built.daemon] {
        let copy = place.join(path.file_name().unwrap());
        std::fs::copy(path, &copy).unwrap();
        std::fs::OpenOptions::new().append(true).open(&copy).unwrap().write_all(b"another build").unwrap();
    }
    place
}

fn install(sandbox: &Sandbox, prefix: &Path, from: &Path) {
    xtask(sandbox, &["install", "--prefix"]).arg(prefix).arg("--from").arg(from).finish().ended(0);
}

/// The file that a process runs; the system marks one that was replaced.
fn runs(process: &Process) -> String {
    std::fs::read_link(format!("/proc/{}/exe", process.pid)).unwrap().display().to_string()
}

/// The daemon looks after itself each minute, and whenever something is removed beside its socket.
fn make_it_look(sandbox: &Sandbox) {
    let passing = sandbox.state_directory().unwrap().join("passing");
    std::fs::write(&passing, "").unwrap();
    std::fs::remove_file(&passing).unwrap();
}

#[test]
fn an_upgrade_under_a_running_daemon_and_session_loses_neither() {
    let sandbox = Sandbox::new();
    let prefix = sandbox.base().join("prefix");
    install(&sandbox, &prefix, &executables().directory);
    let sandbox = sandbox.with_executables(Executables::within(&prefix.join("bin")));
    let mut old_session = sandbox.mcp();
    old_session.call("add", json!({ "title": "Before" })).result();
    let old_daemon = sandbox.daemon();
    assert_eq!(runs(&old_daemon), prefix.join("bin/stepstoned").display().to_string());

    let other = other_build(&sandbox);
    install(&sandbox, &prefix, &other);

    // Who runs, runs on: the files were replaced, not written over.
    old_session.call("add", json!({ "title": "During" })).result();
    assert!(old_daemon.is_alive());
    assert!(runs(&old_daemon).ends_with(" (deleted)"));

    // The old daemon leaves once it has seen that it is the old one, and everybody gets the new one.
    make_it_look(&sandbox);
    eventually("the old daemon's end", || (!old_daemon.is_alive()).then_some(()));
    old_session.call("add", json!({ "title": "After" })).result();
    assert_eq!(sandbox.mcp().read("stepstone://worklist/list").ids(), ["before", "during", "after"]);
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["before", "during", "after"]);
    let new_daemon = sandbox.daemon();
    assert_ne!(new_daemon.pid, old_daemon.pid);
    let now = std::fs::read(format!("/proc/{}/exe", new_daemon.pid)).unwrap();
    assert!(now.ends_with(b"another build"), "the new daemon is not the new build");
    assert!(old_session.close().0.success());

    // Removed under a running daemon, it serves on until it is stopped or idle.
    xtask(&sandbox, &["uninstall", "--prefix"]).arg(&prefix).finish().ended(0);
    let outside = Executables::within(&executables().directory);
    let sandbox = sandbox.with_executables(outside);
    assert_eq!(sandbox.cli(["list"]).json().ids().len(), 3);
    sandbox.cli(["daemon", "stop"]).finish().ended(0);
    eventually("the end of every engine", || sandbox.engines().is_empty().then_some(()));
}
