//! No daemon can be had: the same answers through the private engine, and nothing on standard error.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use stepstone_tests::{Finished, Goal, Run, Sandbox, skipped, worklist};

use super::filter::{Forbid, forbid};
use super::{note, served_by_the_daemon};

/// The same questions, put to the command line and to a session; the answers as one value, without instants.
fn interview(sandbox: &Sandbox, hinder: &dyn Fn(&mut std::process::Command)) -> Value {
    let mut answers = Vec::new();
    let mut run = |arguments: &[&str]| {
        let mut run = sandbox.cli(arguments.iter().chain(&["--json"]));
        hinder(run.command());
        let Finished { stdout, stderr, code, .. } = run.finish();
        let text = if code == Some(0) { &stdout } else { &stderr };
        answers.push(serde_json::from_slice(text).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}: {:?}", String::from_utf8_lossy(text));
        }));
        let mut plain = sandbox.cli(["list"]);
        hinder(plain.command());
        let plain = plain.finish();
        plain.ended(0);
        assert_eq!(plain.err(), "");
    };
    run(&["list"]);
    run(&["add", "Two", "--depends-on", "one"]);
    run(&["set_active", "two"]);
    run(&["complete", "one", "--confirm"]);
    run(&["delete", "one"]);
    run(&["show", "nothing"]);
    let mut session = sandbox.session();
    hinder(session.command());
    let mut session = session.start();
    answers.push(session.read("stepstone://worklist/list").0);
    answers.push(session.call("add", json!({"title": "Three"})).0);
    answers.push(session.call("complete", json!({"id": "three", "confirm": true})).0);
    answers.push(session.call("reopen", json!({"id": "three"})).0);
    assert_eq!(session.errors(), "");
    let mut all = Value::Array(answers);
    without_instants(&mut all, sandbox);
    all
}

fn without_instants(value: &mut Value, sandbox: &Sandbox) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(|entry| without_instants(entry, sandbox)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if name.ends_with("At") {
                    *field = json!("an instant");
                }
                without_instants(field, sandbox);
            }
        }
        Value::String(text) => *text = text.replace(sandbox.base().to_str().unwrap(), "BASE"),
        _ => {}
    }
}

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    sandbox
}

fn by_the_daemon() -> Value {
    let sandbox = prepared();
    served_by_the_daemon(&sandbox);
    interview(&sandbox, &|_| {})
}

/// Asserts that a hindered client gives the same answers and that its reason contains `reason`.
#[track_caller]
fn same(sandbox: &Sandbox, reason: &str, hinder: &dyn Fn(&mut std::process::Command)) {
    assert_eq!(interview(sandbox, hinder), by_the_daemon(), "{reason}");
    let mut verbose = sandbox.cli(["list", "-v"]);
    hinder(verbose.command());
    let verbose = verbose.finish();
    verbose.ended(0);
    assert!(verbose.err().contains("private engine"), "{reason}: {}", verbose.err());
    assert!(verbose.err().contains(reason), "{reason}: {}", verbose.err());
    for command in ["doctor", "daemon"] {
        let mut run = sandbox.cli([command]);
        if command == "daemon" {
            run = run.arg("status");
        }
        hinder(run.command());
        let run = run.finish();
        let shown = run.out() + &run.err();
        assert!(shown.contains(reason), "{command}: {reason}: {shown}");
    }
}

#[test]
fn a_daemon_that_is_not_wanted_is_not_used_and_not_started() {
    let mut sandbox = prepared();
    sandbox.set_env("STEPSTONE_NO_DAEMON", "1");
    same(&sandbox, "STEPSTONE_NO_DAEMON", &|_| {});
    assert_eq!(sandbox.daemons(), []);
    for off in ["", "0"] {
        sandbox.set_env("STEPSTONE_NO_DAEMON", off);
        served_by_the_daemon(&sandbox);
    }
}

#[test]
fn a_forbidden_kind_of_socket_or_connection_is_no_obstacle() {
    let table = [
        (Forbid::Sockets, libc::EPERM),
        (Forbid::Sockets, libc::EACCES),
        (Forbid::Sockets, libc::EAFNOSUPPORT),
        (Forbid::Connect, libc::EPERM),
        (Forbid::Connect, libc::EACCES),
    ];
    for (what, errno) in table {
        let sandbox = prepared();
        let mut tried = sandbox.command("true");
        forbid(&mut tried, what, errno);
        if let Err(error) = tried.status() {
            return skipped("system call filters", &error.to_string());
        }
        // One that is there for others, and none: the same.
        for with_daemon in [false, true] {
            let sandbox = prepared();
            if with_daemon {
                served_by_the_daemon(&sandbox);
            }
            same(&sandbox, "may not use", &|command| forbid(command, what, errno));
            assert_eq!(sandbox.daemons().len(), usize::from(with_daemon));
        }
    }
}

#[test]
fn inside_a_known_sandbox_a_daemon_is_used_but_not_started() {
    for name in ["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "SANDBOX_RUNTIME"] {
        let sandbox = prepared();
        same(&sandbox, name, &|command| {
            command.env(name, "seatbelt");
        });
        assert_eq!(sandbox.daemons(), []);
        let daemon = served_by_the_daemon(&sandbox);
        let inside = sandbox.cli(["list", "-v"]).env(name, "seatbelt").finish();
        inside.ended(0);
        assert!(inside.err().contains("answered by the daemon"), "{}", inside.err());
        assert_eq!(sandbox.daemon(), daemon);
    }
}

/// A shell command that mounts something first, in a mount namespace of its own, and then becomes the command line.
fn mounted(sandbox: &Sandbox, mounts: &str, arguments: &[&str]) -> Option<Finished> {
    let mut command = sandbox.command("unshare");
    let state = sandbox.home().join(".local/state/stepstone");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).unwrap();
    command.args(["--mount", "sh", "-ec", &format!("{mounts}\nexec \"$CLI\" \"$@\""), "sh"]);
    command.args(arguments).env("CLI", &sandbox.executables().cli).env("STATE", &state);
    command.env("ROOT", sandbox.root()).env("BASE", sandbox.base()).env("HOME_DIR", sandbox.home());
    let run = Run::new(command).finish();
    let refused = run.err().contains("unshare:") || run.err().contains("mount:");
    if refused {
        skipped("mounts of the test's own", &run.err());
    }
    (!refused).then_some(run)
}

#[test]
fn a_state_directory_on_a_full_or_read_only_disk_is_no_obstacle() {
    let table = [
        // Not one more file.
        ("mount -t tmpfs -o size=64k,nr_inodes=1 tmpfs \"$STATE\"", "no space"),
        // Files, but nothing in them.
        (
            "mount -t tmpfs -o size=16k tmpfs \"$STATE\"\nchmod 700 \"$STATE\"\n\
             dd if=/dev/zero of=\"$STATE/full\" bs=4k 2>/dev/null || true",
            "",
        ),
        ("mount -t tmpfs -o ro tmpfs \"$STATE\"", "read-only"),
        // Where it is on the same disk as the home.
        ("mount --bind \"$HOME_DIR\" \"$HOME_DIR\"\nmount -o remount,ro,bind \"$HOME_DIR\"", "read-only"),
    ];
    for (mounts, reason) in table {
        let sandbox = prepared();
        let run = |arguments: &[&str]| mounted(&sandbox, mounts, arguments);
        let Some(list) = run(&["list", "--json"]) else { return };
        assert_eq!(list.envelope().ids(), ["one"], "{mounts}");
        assert_eq!(run(&["add", "Two", "--json"]).unwrap().envelope().id(), "two", "{mounts}");
        let again = run(&["add", "Two", "--json"]).unwrap().envelope();
        assert_eq!(again.id(), "two-2", "{mounts}");
        let plain = run(&["list"]).unwrap();
        plain.ended(0);
        assert_eq!(plain.err(), "", "{mounts}");
        let verbose = run(&["list", "-v"]).unwrap();
        verbose.ended(0);
        assert!(verbose.err().to_lowercase().contains(reason), "{mounts}: {}", verbose.err());
    }
    let sandbox = prepared();
    assert_ne!(note(&sandbox), "");
}
