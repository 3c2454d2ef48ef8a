//! Odd home directories, and state directories that cannot be trusted.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;
use stepstone_tests::{Sandbox, skipped};

use super::{note, served_by_the_daemon};

/// A sandbox whose home is `name` below its base.
fn at_home(name: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    let home = sandbox.base().join(name);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::copy(sandbox.base().join("home/.gitconfig"), home.join(".gitconfig")).unwrap();
    sandbox.set_env("HOME", home);
    sandbox
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_home_may_have_any_name_and_any_length() {
    let long = "h".repeat(250);
    let deep = format!("{}/{}", "a".repeat(200), "b".repeat(200));
    for name in ["with a space", "zu Hause bei Jürgen ☃", "quo'te\"s and $dollars", &long, &deep] {
        let sandbox = at_home(name);
        assert_eq!(sandbox.cli(["add", "One"]).json().id(), "one", "{name}");
        let daemon = served_by_the_daemon(&sandbox);
        let status = sandbox.cli(["daemon", "status"]).json();
        let socket = PathBuf::from(status.result()["socket"].as_str().unwrap());
        assert!(socket.exists(), "{}", socket.display());
        assert!(socket.as_os_str().len() <= 107, "{}", socket.display());
        let state = Path::new(status.result()["stateDirectory"].as_str().unwrap());
        assert!(state.starts_with(sandbox.home()), "{}", state.display());
        assert_eq!(sandbox.cli(["daemon", "stop"]).json().result()["pid"], daemon.pid, "{name}");
        assert!(!socket.exists(), "{}", socket.display());
        super::gone(&daemon);
    }
}

#[test]
fn a_state_directory_named_by_hand_is_made_and_used() {
    let mut sandbox = Sandbox::new();
    let state = sandbox.base().join("deep/state");
    sandbox.set_env("STEPSTONE_STATE_DIR", &state);
    served_by_the_daemon(&sandbox);
    assert_eq!(sandbox.cli(["daemon", "status"]).json().result()["stateDirectory"], json!(state));
    assert!(state.join("daemon.lock").exists());
    assert!(!sandbox.home().join(".local").exists());
}

/// Asserts that nothing uses the directory, that the reason names it, and that the answers are the same.
#[track_caller]
fn refused(sandbox: &Sandbox, name: &str) {
    assert_eq!(sandbox.cli(["add", "One"]).json().id(), "one");
    assert_eq!(sandbox.cli(["list"]).json().ids(), ["one"]);
    let plain = sandbox.cli(["list"]).finish();
    plain.ended(0);
    assert_eq!(plain.err(), "");
    let note = note(sandbox);
    assert!(note.contains(name), "{note}");
    assert_eq!(sandbox.daemons(), []);
}

#[test]
fn a_state_directory_that_is_not_ours_alone_is_refused_by_name() {
    for mode in [0o777, 0o770, 0o720, 0o702] {
        let mut sandbox = Sandbox::new();
        let state = sandbox.base().join("state");
        std::fs::create_dir(&state).unwrap();
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(mode)).unwrap();
        sandbox.set_env("STEPSTONE_STATE_DIR", &state);
        refused(&sandbox, state.to_str().unwrap());
        // It is looked at on each use.
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).unwrap();
        served_by_the_daemon(&sandbox);
    }

    let mut sandbox = Sandbox::new();
    let (target, link) = (sandbox.base().join("target"), sandbox.base().join("link"));
    std::fs::create_dir(&target).unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&target, &link).unwrap();
    sandbox.set_env("STEPSTONE_STATE_DIR", &link);
    refused(&sandbox, link.to_str().unwrap());
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);

    let mut sandbox = Sandbox::new();
    let file = sandbox.base().join("file");
    std::fs::write(&file, "precious").unwrap();
    sandbox.set_env("STEPSTONE_STATE_DIR", &file);
    refused(&sandbox, file.to_str().unwrap());
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");

    let mut sandbox = Sandbox::new();
    sandbox.set_env("STEPSTONE_STATE_DIR", "relative/state");
    refused(&sandbox, "STEPSTONE_STATE_DIR");

    if !is_root() {
        return skipped("a state directory of another user", "only root can make one");
    }
    let mut sandbox = Sandbox::new();
    let state = sandbox.base().join("theirs");
    std::fs::create_dir(&state).unwrap();
    std::os::unix::fs::chown(&state, Some(12345), Some(12345)).unwrap();
    sandbox.set_env("STEPSTONE_STATE_DIR", &state);
    refused(&sandbox, state.to_str().unwrap());
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 0);
}

#[test]
fn the_default_state_directory_is_held_to_the_same() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let state = sandbox.state_directory().unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let note = note(&sandbox);
    assert!(note.contains(state.to_str().unwrap()), "{note}");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn the_directory_of_a_long_paths_socket_is_held_to_the_same() {
    if !is_root() {
        return skipped("a foreign directory for sockets", "only root can take another user's name in /tmp");
    }
    // Another user than ours, so that no other test's daemons are met in /tmp.
    let user = 61_234;
    let place = PathBuf::from(format!("/tmp/stepstone-{user}"));
    let mut sandbox = Sandbox::new();
    let state = sandbox.base().join("s".repeat(100));
    sandbox.set_env("STEPSTONE_STATE_DIR", &state);
    std::fs::set_permissions(sandbox.base(), std::fs::Permissions::from_mode(0o777)).unwrap();
    for entry in ["home", "repo", "repo/.git"] {
        std::os::unix::fs::chown(sandbox.base().join(entry), Some(user), Some(user)).unwrap();
    }
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir(&place).unwrap();
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = sandbox.command("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
    command.arg(&sandbox.executables().cli).args(["list", "-v"]);
    let run = stepstone_tests::Run::new(command).finish();
    std::fs::remove_dir_all(&place).unwrap();
    if run.code != Some(0) && run.err().contains("setpriv") {
        return skipped("a foreign directory for sockets", &run.err());
    }
    run.ended(0);
    assert!(run.err().contains(place.to_str().unwrap()), "{}", run.err());
}

#[test]
fn a_home_that_is_missing_or_cannot_be_written_is_no_obstacle() {
    let mut sandbox = Sandbox::new();
    let missing = sandbox.base().join("missing");
    sandbox.set_env("HOME", &missing);
    refused(&sandbox, missing.to_str().unwrap());
    assert!(!missing.exists());

    let mut sandbox = Sandbox::new();
    let file = sandbox.base().join("a-file");
    std::fs::write(&file, "").unwrap();
    sandbox.set_env("HOME", &file);
    refused(&sandbox, file.to_str().unwrap());

    for relative in ["here", "."] {
        let mut sandbox = Sandbox::new();
        sandbox.set_env("HOME", relative);
        refused(&sandbox, "HOME");
    }
}
