//! The npm packages, from packed tarballs installed into an empty folder without a network.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use stepstone_tests::{Run, Sandbox, eventually, skipped, workspace_root};

use super::{artifact, contents, is_here, unpack};

/// Installs both packages into an empty folder; gives the folder. Nothing when npm is not here.
fn installed(sandbox: &Sandbox) -> Option<PathBuf> {
    if !is_here("npm", "npm") {
        return None;
    }
    let folder = sandbox.base().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let install = npm(sandbox, &folder, &["install", "--offline", "--no-audit", "--no-fund"]);
    install.arg(launcher_package()).arg(program_package()).finish().ended(0);
    Some(folder)
}

fn launcher_package() -> PathBuf {
    artifact(&format!("stepstone-{}.tgz", super::VERSION))
}

fn program_package() -> PathBuf {
    let cpu = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
    artifact(&format!("-{cpu}-{}.tgz", super::VERSION))
}

/// `npm`, on this folder even where one above it is a package.
fn npm(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> Run {
    Run::new(sandbox.command("npm")).within(folder).args(arguments).arg("--prefix").arg(folder)
}

fn program(folder: &Path, name: &str) -> PathBuf {
    folder.join("node_modules/.bin").join(name)
}

/// The official client's own session with the server that `command` starts; nothing when the client is not here.
pub(super) fn official_session(sandbox: &Sandbox, command: &[&std::ffi::OsStr]) -> Option<Value> {
    let interop = workspace_root().join("tests/interop");
    if !interop.join("node_modules/@modelcontextprotocol/sdk").exists() {
        skipped("npm", "run `npm ci --prefix tests/interop` first");
        return None;
    }
    let session = Run::new(sandbox.command("node")).arg(interop.join("session.mjs")).args(command);
    Some(serde_json::from_str(&session.finish().ended(0)).unwrap())
}

/// What the official client must have seen.
pub(super) fn assert_whole_session(seen: &Value) {
    assert_eq!(seen["server"], "stepstone");
    assert_eq!(seen["tools"].as_array().unwrap().len(), 11, "{seen}");
    assert_eq!(seen["resources"].as_array().unwrap().len(), 4, "{seen}");
    assert_eq!(seen["id"], "by-the-official-client");
    assert_eq!(seen["next"], seen["id"]);
    assert_eq!(seen["refused"], json!({ "isError": true, "code": "APPROVAL_REQUIRED" }));
}

#[test]
fn what_npm_would_pack_is_what_is_packed() {
    if !is_here("npm", "npm") {
        return;
    }
    let sandbox = Sandbox::without_repository();
    let folder = workspace_root().join("packaging/npm/stepstone");
    let printed = npm(&sandbox, &folder, &["pack", "--dry-run", "--json"]).finish().ended(0);
    let told: Value = serde_json::from_str(&printed).unwrap();
    // Some versions of npm answer a list, others an object by name.
    let told = if told.is_array() { &told[0] } else { &told["stepstone"] };
    let mut npms: Vec<String> = told["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect();
    // Added when it is packed: the repository has one for all.
    npms.push("LICENSE".to_owned());
    npms.sort();
    let unpacked = sandbox.base().join("unpacked");
    unpack(&sandbox, &launcher_package(), &unpacked, &["--strip-components=1"]);
    assert_eq!(contents(&unpacked).into_keys().collect::<Vec<_>>(), npms);
}

#[test]
fn the_command_line_works_through_the_launcher() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox) else { return };
    let stepstone =
        |arguments: &[&str]| Run::new(sandbox.command(program(&folder, "stepstone"))).args(arguments);
    assert_eq!(stepstone(&["--version"]).finish().ended(0), sandbox.cli(["--version"]).finish().ended(0));
    stepstone(&["add", "Through npm"]).finish().ended(0);
    stepstone(&["complete", "through-npm"]).finish().ended(3);
    stepstone(&["no-such-command"]).finish().ended(2);
    let plan = stepstone(&["apply-plan", "-", "--json"]).input(r#"[{"title": "From standard input"}]"#);
    plan.finish().envelope().result();
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["through-npm", "from-standard-input"]);
}

#[test]
fn the_official_client_works_through_the_launcher() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox) else { return };
    if let Some(seen) = official_session(&sandbox, &[program(&folder, "stepstone-mcp").as_os_str()]) {
        assert_whole_session(&seen);
    }
    eventually("the server's end", || servers(&sandbox).is_empty().then_some(()));
}

#[test]
fn a_session_through_the_launcher_ends_with_its_input() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox) else { return };
    let mut session = sandbox.session_of(program(&folder, "stepstone-mcp")).start();
    assert_eq!(session.call("add", json!({ "title": "Through npm" })).id(), "through-npm");
    assert!(session.close().0.success());
}

#[test]
fn a_launcher_that_is_told_to_end_or_killed_leaves_no_server_behind() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox) else { return };
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::KILL] {
        let session = sandbox.session_of(program(&folder, "stepstone-mcp")).start();
        eventually("the native program", || (!servers(&sandbox).is_empty()).then_some(()));
        kill_process(Pid::from_raw(session.pid().cast_signed()).unwrap(), signal).unwrap();
        // The session's pipes stay open: the end of the input must not be what ends the server.
        eventually("the native program's end", || servers(&sandbox).is_empty().then_some(()));
        drop(session);
    }
}

/// The native MCP servers that run in this sandbox's home.
fn servers(sandbox: &Sandbox) -> Vec<u32> {
    let home = format!("HOME={}", sandbox.home().display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let is_ours = |pid: &u32| {
        let is_server = std::fs::read_link(format!("/proc/{pid}/exe"))
            .is_ok_and(|path| path.file_name().is_some_and(|name| name == "stepstone-mcp"));
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        is_server && environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
    };
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

#[test]
fn a_missing_platform_package_is_said_plainly() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox) else { return };
    std::fs::remove_dir_all(folder.join("node_modules/@stepstone-dev")).unwrap();
    for name in ["stepstone", "stepstone-mcp"] {
        let ended = Run::new(sandbox.command(program(&folder, name))).finish();
        assert_eq!(ended.ended(1), "");
        assert!(
            ended.err().contains("is not installed") && ended.err().contains("npm install"),
            "{}",
            ended.err()
        );
    }
}

#[test]
fn removing_the_package_leaves_an_empty_folder() {
    let sandbox = Sandbox::new();
    let Some(folder) = installed(&sandbox) else { return };
    npm(&sandbox, &folder, &["uninstall", "--offline", "stepstone"]).finish().ended(0);
    let installed = ["uninstall", "--offline"].into_iter();
    let packages = std::fs::read_dir(folder.join("node_modules/@stepstone-dev")).unwrap().flatten();
    let names: Vec<String> =
        packages.map(|entry| format!("@stepstone-dev/{}", entry.file_name().to_string_lossy())).collect();
    npm(&sandbox, &folder, &installed.collect::<Vec<_>>()).args(names).finish().ended(0);
    let left: Vec<String> = contents(&folder).into_keys().filter(|name| name.contains("stepstone")).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn the_launcher_keeps_its_promises_with_a_stand_in() {
    if !is_here("npm", "node") {
        return;
    }
    let sandbox = Sandbox::without_repository();
    let tests = workspace_root().join("packaging/npm/test/launch.test.mjs");
    let ended = Run::new(sandbox.command("node")).arg("--test").arg(tests).finish();
    assert_eq!(ended.code, Some(0), "{}{}", ended.out(), ended.err());
}
