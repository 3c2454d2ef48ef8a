//! Cold starts: many at once, captured, killed half-way, started by hand.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use stepstone_tests::{Answer, Run, Sandbox, eventually};

use super::{gone, rounds, served_by_the_daemon};

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn sixty_cold_starts_at_once_make_one_daemon_and_sixty_right_answers() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(stepstone_tests::worklist(1, []));
    let children: Vec<_> = (0..60)
        .map(|number| {
            let mut command = sandbox.command(&sandbox.executables().cli);
            command.args(["add", &format!("Goal {number}"), "--json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ids: BTreeSet<_> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Answer(serde_json::from_slice(&output.stdout).unwrap()).id().to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 60);
    served_by_the_daemon(&sandbox);
    assert_eq!(sandbox.cli(["list"]).json().ids().len(), 60);
    assert_eq!(sandbox.cli(["list"]).json().revision(), Some(61));
}

#[test]
fn a_captured_cold_start_returns() {
    for script in [
        "shown=$(\"$CLI\" list) && printf %s \"$shown\"",
        "\"$CLI\" list | cat",
        "\"$CLI\" list 3>&1 4<&0 7>&2",
        "exec 9>&1; \"$CLI\" list",
    ] {
        let sandbox = Sandbox::new();
        let mut shell = sandbox.command("sh");
        shell.args(["-c", script]).env("CLI", &sandbox.executables().cli);
        // A run fails when somebody still holds its output after it has ended.
        Run::new(shell).finish().ended(0);
        served_by_the_daemon(&sandbox);
    }
}

#[test]
fn a_starter_killed_at_any_point_leaves_nothing_that_stands_in_the_way() {
    // From before the first system call until long after the report, for the starter and for a client around it.
    for round in 0..rounds() {
        for starter in [true, false] {
            let sandbox = Sandbox::new();
            let executables = sandbox.executables().clone();
            let mut command = sandbox.command(if starter { &executables.daemon } else { &executables.cli });
            command.arg(if starter { "--start" } else { "list" });
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let begin = Instant::now();
            let mut child = command.spawn().unwrap();
            let moment = Duration::from_micros(400) * u32::try_from(round).unwrap();
            while begin.elapsed() < moment {
                std::hint::spin_loop();
            }
            end(&mut child);
            if round % 2 == 0 {
                for engine in sandbox.engines() {
                    engine.signal(Signal::KILL);
                    gone(&engine);
                }
            }
            served_by_the_daemon(&sandbox);
        }
    }
}

#[test]
fn the_daemon_survives_the_process_group_and_the_terminal_that_started_it() {
    let sandbox = Sandbox::new();
    let mut shell = sandbox.command("sh");
    shell.args(["-c", "\"$CLI\" list; exec sleep 600"]).env("CLI", &sandbox.executables().cli);
    shell.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = shell.spawn().unwrap();
    let daemon = sandbox.daemon();
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    for signal in [Signal::HUP, Signal::INT, Signal::TERM, Signal::KILL] {
        // A signal may have ended the group already.
        let _ = kill_process_group(group, signal);
    }
    end(&mut child);
    assert_eq!(served_by_the_daemon(&sandbox), daemon);

    let other = Sandbox::new();
    let mut terminal = other.command("script");
    terminal.args(["-qec", "\"$CLI\" list", "/dev/null"]).env("CLI", &other.executables().cli);
    match terminal.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => return stepstone_tests::skipped("a terminal's end", &format!("script: {error}")),
    }
    let daemon = other.daemon();
    assert_eq!(served_by_the_daemon(&other), daemon);
}

#[test]
fn a_second_daemon_started_by_hand_leaves_the_first_alone() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let second = Run::new(sandbox.command(&sandbox.executables().daemon)).finish();
    second.ended(0);
    assert!(second.err().contains(&daemon.pid.to_string()), "{}", second.err());
    let starter = Run::new(sandbox.command(&sandbox.executables().daemon)).arg("--start").finish();
    let report: serde_json::Value = serde_json::from_str(&starter.ended(0)).unwrap();
    assert_eq!(report, serde_json::json!({"report": "someone-else", "pid": daemon.pid}));
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn a_daemon_in_the_foreground_serves_and_ends_with_its_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let sandbox = Sandbox::new();
        let mut child = Run::new(sandbox.command(&sandbox.executables().daemon)).spawn();
        let daemon = eventually("a daemon that answers", || {
            let socket = sandbox.state_directory()?.join("daemon.sock");
            std::os::unix::net::UnixStream::connect(socket).ok()?;
            Some(sandbox.daemon())
        });
        assert_eq!(daemon.pid, child.id());
        daemon.signal(Signal::HUP);
        assert_eq!(served_by_the_daemon(&sandbox), daemon);
        daemon.signal(signal);
        assert!(child.wait().unwrap().success());
        assert!(!super::socket(&sandbox).exists());
    }
}
