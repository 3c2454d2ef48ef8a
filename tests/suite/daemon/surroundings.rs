//! The daemon keeps nothing of whoever started it, and is the same one for everybody.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use stepstone_tests::{Process, Run, Sandbox};

use super::served_by_the_daemon;

fn descriptors(process: &Process) -> Vec<(u32, PathBuf)> {
    let entries = std::fs::read_dir(format!("/proc/{}/fd", process.pid)).unwrap().flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, std::fs::read_link(entry.path()).ok()?))
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn the_daemon_has_a_session_a_directory_and_descriptors_of_its_own() {
    let sandbox = Sandbox::new();
    let inherited = sandbox.base().join("inherited");
    std::fs::write(&inherited, "").unwrap();
    let mut shell = sandbox.command("sh");
    shell.args(["-c", "exec 3>>\"$FILE\" 9<\"$FILE\"; \"$CLI\" list"]);
    shell.env("CLI", &sandbox.executables().cli).env("FILE", &inherited);
    Run::new(shell).finish().ended(0);
    let daemon = sandbox.daemon();

    let stat = std::fs::read_to_string(format!("/proc/{}/stat", daemon.pid)).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let pid = daemon.pid.to_string();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!((group, session, terminal), (pid.as_str(), pid.as_str(), "0"));
    assert_ne!(fields[1], std::process::id().to_string(), "the daemon is nobody's child");
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));

    let state = sandbox.state_directory().unwrap();
    for (number, target) in descriptors(&daemon) {
        let text = target.to_string_lossy().into_owned();
        let own = match number {
            0..=2 => text == "/dev/null",
            _ => target.starts_with(&state) || text.starts_with("anon_inode:") || text.starts_with("socket:"),
        };
        assert!(own, "{number} is {text}");
    }
}

#[test]
fn the_daemons_environment_is_what_it_knows() {
    let mut sandbox = Sandbox::new();
    for (name, value) in [
        ("GIT_DIR", "/nowhere"),
        ("GIT_AUTHOR_NAME", "x"),
        ("XDG_RUNTIME_DIR", "/nowhere"),
        ("TMPDIR", "/nowhere"),
        ("SECRET_TOKEN", "x"),
        ("STEPSTONE_WORKLIST", ""),
        ("LANG", "C.UTF-8"),
        ("LC_TIME", "C"),
    ] {
        sandbox.set_env(name, value);
    }
    let daemon = served_by_the_daemon(&sandbox);
    let environment = std::fs::read_to_string(format!("/proc/{}/environ", daemon.pid)).unwrap();
    let mut names: Vec<_> = environment.split('\0').filter_map(|entry| entry.split('=').next()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "LC_TIME", "PATH"]);
}

#[test]
fn everyone_arrives_at_the_same_daemon_whatever_their_environment() {
    let sandbox = Sandbox::new();
    let unwritable = sandbox.base().join("unwritable");
    std::fs::create_dir(&unwritable).unwrap();
    std::fs::set_permissions(&unwritable, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
    let daemon = served_by_the_daemon(&sandbox);
    let somewhere = sandbox.base().to_string_lossy().into_owned();
    for value in [somewhere.as_str(), "", "relative", "/nowhere", unwritable.to_str().unwrap()] {
        for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME", "TMPDIR", "PWD", "USER", "LOGNAME"]
        {
            let run = sandbox.cli(["list", "-v"]).env(name, value).finish();
            run.ended(0);
            assert!(run.err().contains("answered by the daemon"), "{name}={value}: {}", run.err());
        }
    }
    let mut login = sandbox.command("sh");
    login.args(["-lc", "\"$CLI\" list -v"]).env("CLI", &sandbox.executables().cli);
    let run = Run::new(login).finish();
    run.ended(0);
    assert!(run.err().contains("answered by the daemon"), "{}", run.err());
    assert_eq!(sandbox.daemon(), daemon);
}

#[test]
fn what_the_daemon_writes_into_its_directory_is_for_its_user_alone() {
    let sandbox = Sandbox::new();
    let mut shell = sandbox.command("sh");
    shell.args(["-c", "umask 000; \"$CLI\" add One"]).env("CLI", &sandbox.executables().cli);
    Run::new(shell).finish().ended(0);
    let state = sandbox.state_directory().unwrap();
    let mut directories = vec![state.clone()];
    while let Some(directory) = directories.pop() {
        assert_eq!(directory.metadata().unwrap().mode() & 0o7777, 0o700, "{}", directory.display());
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                directories.push(entry.path());
            } else if metadata.is_file() {
                assert_eq!(metadata.mode() & 0o7777, 0o600, "{}", entry.path().display());
            }
        }
    }
}

/// A program called `git` that writes down its environment and its parent, and then does what Git does. Gives the
/// `PATH` that leads to it, and the file that it writes to.
fn another_git(sandbox: &Sandbox) -> (String, PathBuf) {
    let bin = sandbox.base().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let real = Run::new(sandbox.command("sh")).args(["-c", "command -v git"]).finish().ended(0);
    let seen = sandbox.base().join("seen");
    let script = format!(
        "#!/bin/sh\nenv > '{0}'\necho parent $PPID >> '{0}'\nexec '{1}' \"$@\"\n",
        seen.display(),
        real.trim()
    );
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    (format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()), seen)
}

#[test]
fn git_sees_the_callers_environment_without_what_git_itself_would_inherit() {
    let mut sandbox = Sandbox::new();
    let (path, seen) = another_git(&sandbox);
    // The daemon's own PATH leads to it too.
    sandbox.set_env("PATH", &path);
    let daemon = served_by_the_daemon(&sandbox);
    // Another directory of the repository: an answer that is known already is not asked for again.
    let below = sandbox.path("below");
    std::fs::create_dir(&below).unwrap();
    let run = sandbox.cli(["list", "-v"]).within(&below);
    let run = run.env("XDG_CONFIG_HOME", "/some/config").env("GIT_DIR", "/nowhere").finish();
    run.ended(0);
    assert!(run.err().contains("answered by the daemon"), "{}", run.err());
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.lines().any(|line| line == format!("PATH={path}")), "{seen}");
    assert!(seen.lines().any(|line| line == "XDG_CONFIG_HOME=/some/config"), "{seen}");
    assert!(seen.lines().any(|line| line == format!("parent {}", daemon.pid)), "{seen}");
    assert!(!seen.lines().any(|line| line.starts_with("GIT_DIR=")), "{seen}");
    assert!(!seen.lines().any(|line| line.starts_with("SECRET")), "{seen}");
}

#[test]
fn the_daemon_runs_no_git_that_only_the_caller_knows() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let (path, seen) = another_git(&sandbox);
    let below = sandbox.path("below");
    std::fs::create_dir(&below).unwrap();
    let answer = sandbox.cli(["add", "Mine"]).within(&below).env("PATH", &path).json();
    assert!(answer.changed());
    // The caller's own engine ran it, with the caller's rights.
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.lines().any(|line| line.starts_with("parent ")), "{seen}");
    assert!(!seen.lines().any(|line| line == format!("parent {}", daemon.pid)), "{seen}");
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn a_host_that_ignores_the_end_of_its_children_gets_answers() {
    let script = "import os, signal, sys\n\
                  signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                  os.execv(sys.argv[1], sys.argv[1:])";
    for private in ["0", "1"] {
        let sandbox = Sandbox::new();
        if let Err(error) = sandbox.command("python3").args(["-c", ""]).status() {
            return stepstone_tests::skipped("ignored SIGCHLD", &format!("python3: {error}"));
        }
        let mut command = sandbox.command("python3");
        command.args(["-c", script]).arg(&sandbox.executables().cli).args(["add", "One", "--json"]);
        command.env("STEPSTONE_NO_DAEMON", private);
        assert_eq!(Run::new(command).finish().envelope().id(), "one");
    }
}
