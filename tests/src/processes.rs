//! The engines that were started in one home directory.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// A running `stepstoned`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub pid: u32,
    /// Its arguments, without its own name.
    pub arguments: Vec<String>,
}

impl Process {
    /// Whether it is the shared daemon, and neither a private engine nor a starter.
    #[must_use]
    pub fn is_daemon(&self) -> bool {
        !self.arguments.iter().any(|argument| argument == "--pipe" || argument == "--start")
    }

    /// Sends it a signal; a process that is gone already is none to complain about.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills it, without a chance to tidy up.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Whether it still runs (a zombie does not).
    #[must_use]
    pub fn is_alive(&self) -> bool {
        std::fs::read_to_string(format!("/proc/{}/stat", self.pid))
            .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
    }
}

/// Every `stepstoned` whose home this is, found by its environment, so that no other one is ever taken for it.
pub(crate) fn engines(home: &Path) -> Vec<Process> {
    let wanted = format!("HOME={}", home.display());
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir("/proc") else { return found };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let words = |bytes: Vec<u8>| -> Vec<String> {
            bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
        };
        let command = words(read("cmdline"));
        let is_ours = command.first().is_some_and(|name| name.ends_with("stepstoned"))
            && words(read("environ")).contains(&wanted);
        if is_ours {
            let arguments = command.into_iter().skip(1).filter(|word| !word.is_empty()).collect();
            found.push(Process { pid, arguments });
        }
    }
    found
}
