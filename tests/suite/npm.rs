//! The npm package, from packed tarballs installed into an empty folder.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use stepstone_tests::{Run, Sandbox, eventually, executables, skipped};

/// Packs and installs both packages; the folder that holds `node_modules`. Nothing when npm is not here.
fn installed(sandbox: &Sandbox, test: &str) -> Option<PathBuf> {
    if sandbox.command("npm").arg("--version").output().is_err() {
        skipped(test, "npm is not here");
        return None;
    }
    let packages = sandbox.base().join("packages");
    let built = &executables().directory;
    Run::new(sandbox.command(built.join("xtask")))
        .args(["npm", "--out"])
        .arg(&packages)
        .arg("--executables")
        .arg(built)
        .finish()
        .ended(0);
    let folder = sandbox.base().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("package.json"), "{}").unwrap();
    let mut install = npm(sandbox, &folder, &["install", "--offline", "--ignore-scripts", "--no-audit"]);
    for entry in std::fs::read_dir(&packages).unwrap() {
        let packed =
            npm(sandbox, &folder, &["pack", "--silent"]).arg(entry.unwrap().path()).finish().ended(0);
        install = install.arg(folder.join(packed.trim()));
    }
    install.finish().ended(0);
    Some(folder)
}

fn npm(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> Run {
    Run::new(sandbox.command("npm")).within(folder).args(arguments)
}

fn program(folder: &Path, name: &str) -> PathBuf {
    folder.join("node_modules/.bin").join(name)
}

#[test]
fn the_launcher_passes_on_arguments_streams_and_exit_codes() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox, "npm") else { return };
    let stepstone = |arguments: &[&str]| {
        Run::new(sandbox.command(program(&folder, "stepstone"))).args(arguments).finish()
    };
    assert_eq!(stepstone(&["--version"]).ended(0), sandbox.cli(["--version"]).finish().ended(0));
    stepstone(&["add", "Through npm"]).ended(0);
    stepstone(&["complete", "through-npm"]).ended(3);
    stepstone(&["no-such-command"]).ended(2);
    let plan = Run::new(sandbox.command(program(&folder, "stepstone")))
        .args(["apply-plan", "-", "--json"])
        .input(r#"[{"title": "From standard input"}]"#);
    plan.finish().envelope().result();
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["through-npm", "from-standard-input"]);
}

#[test]
fn a_session_works_through_the_launcher_and_ends_with_its_input() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox, "npm") else { return };
    let mut session = sandbox.session_of(program(&folder, "stepstone-mcp")).start();
    assert_eq!(session.call("add", json!({ "title": "Through npm" })).id(), "through-npm");
    assert_eq!(session.read("stepstone://worklist/next").id(), "through-npm");
    let (status, _) = session.close();
    assert!(status.success());
}

#[test]
fn a_launcher_that_is_told_to_end_or_killed_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox, "npm") else { return };
    for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
        let session = sandbox.session_of(program(&folder, "stepstone-mcp")).start();
        let launcher = session.pid();
        let native = eventually("the native program", || child_of(launcher));
        kill_process(Pid::from_raw(launcher.cast_signed()).unwrap(), signal).unwrap();
        drop(session);
        eventually("the native program's end", || {
            (!Path::new(&format!("/proc/{native}")).exists()).then_some(())
        });
    }
}

/// The process whose parent this is.
fn child_of(parent: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_missing_platform_package_is_said_plainly() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox, "npm") else { return };
    std::fs::remove_dir_all(folder.join("node_modules/@stepstone-dev")).unwrap();
    for name in ["stepstone", "stepstone-mcp"] {
        let ended = Run::new(sandbox.command(program(&folder, name))).finish();
        assert_eq!(ended.ended(1), "");
        assert!(ended.err().contains("is not installed"), "{}", ended.err());
    }
}
