//! `stepstoned --start`: spawns the daemon, reports, and ends.
//!
//! The daemon becomes nobody's child, because hosts kill the descendants of their servers. It keeps nothing of
//! whoever asked for it: own session, null standard descriptors, directory `/`, a few variables.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use stepstone_proto::protocol::StartReport;

use super::Mode;

/// How long the daemon may take until it reports; it gives up itself before.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the daemon knows of the environment of whoever started it, beside `LC_*`.
const ENVIRONMENT: [&str; 6] =
    ["HOME", "PATH", "LANG", "STEPSTONE_STATE_DIR", "STEPSTONE_IDLE_SECS", "STEPSTONE_LOG"];

/// Spawns the daemon and prints its report as one line of JSON.
pub fn start() -> ExitCode {
    let _ = rustix::process::setsid();
    let report = spawn().unwrap_or_else(|error| StartReport::Failed { error });
    print(&report);
    match report {
        StartReport::Failed { .. } => ExitCode::FAILURE,
        StartReport::Ready { .. } | StartReport::SomeoneElse { .. } => ExitCode::SUCCESS,
    }
}

fn spawn() -> Result<StartReport, String> {
    let (program, name) = own_executable()?;
    let mut child = Command::new(program)
        .arg0(name)
        .arg("--serve")
        .env_clear()
        .envs(environment(std::env::vars_os()))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("the daemon cannot be started: {error}"))?;
    let output = child.stdout.take().ok_or("the daemon has no output")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        // Nobody waits any more when this takes too long.
        let _ = sender.send(read.map(|_| line));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(line)) if !line.is_empty() => {
            serde_json::from_str(&line).map_err(|_| format!("the daemon reported {line:?}"))
        }
        Ok(_) => Err(match child.wait() {
            Ok(status) => format!("the daemon ended before it was ready ({status})"),
            Err(error) => format!("the daemon ended before it was ready ({error})"),
        }),
        Err(_) => Err(format!("the daemon was not ready after {} s", PATIENCE.as_secs())),
    }
}

/// This executable, to be run again, and its name. On Linux it can be run even when its file is gone.
fn own_executable() -> Result<(PathBuf, PathBuf), String> {
    let own = std::env::current_exe().map_err(|error| format!("this executable has no path: {error}"))?;
    let link = PathBuf::from("/proc/self/exe");
    let text = own.to_string_lossy();
    let name = PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text));
    Ok(if own.exists() || !link.exists() { (own.clone(), own) } else { (link, name) })
}

/// What is passed on.
fn environment(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr| {
        name.to_str().is_some_and(|name| ENVIRONMENT.contains(&name) || name.starts_with("LC_"))
    };
    all.filter(|(name, _)| passes(name)).collect()
}

/// Tells whoever started the daemon, and lets go of the standard descriptors.
pub(super) fn report(mode: Mode, report: &StartReport) -> ExitCode {
    match mode {
        Mode::Spawned => {
            print(report);
            release_standard_descriptors();
            ExitCode::SUCCESS
        }
        Mode::Foreground => match report {
            StartReport::Ready { .. } => ExitCode::SUCCESS,
            StartReport::SomeoneElse { pid } => {
                let pid = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
                say(&format!("a daemon{pid} already runs"));
                ExitCode::SUCCESS
            }
            StartReport::Failed { error } => {
                say(error);
                ExitCode::FAILURE
            }
        },
    }
}

/// A closed standard output or error takes nothing from the daemon.
fn print(report: &StartReport) {
    let line = serde_json::to_string(report).unwrap_or_default();
    let mut output = std::io::stdout();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "stepstoned: {text}");
}

fn release_standard_descriptors() {
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return };
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_daemon_knows_is_passed_on() {
        let given = [
            "HOME",
            "PATH",
            "LANG",
            "LC_ALL",
            "LC_TIME",
            "STEPSTONE_STATE_DIR",
            "STEPSTONE_IDLE_SECS",
            "STEPSTONE_LOG",
            "STEPSTONE_WORKLIST",
            "STEPSTONE_NO_DAEMON",
            "GIT_DIR",
            "XDG_RUNTIME_DIR",
            "TMPDIR",
            "LD_PRELOAD",
            "LANGUAGE",
            "AWS_SECRET_ACCESS_KEY",
        ];
        let passed = environment(given.iter().map(|name| ((*name).into(), "x".into())));
        let names: Vec<_> = passed.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, given[..8]);
    }
}
