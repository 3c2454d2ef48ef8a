//! Not outliving the launcher that started this process in its own stead.
//!
//! The npm package's launcher, where Node cannot replace itself, stays as the parent and names its process id in
//! `STEPSTONE_LAUNCHER_PID`. A host that kills it has killed what it knows as its server, and must not find the native
//! program going on. Signals that the launcher can catch it passes on; this is for SIGKILL.

use rustix::process::{Pid, getppid};

/// Where the launcher says who it is.
pub const LAUNCHER_VARIABLE: &str = "STEPSTONE_LAUNCHER_PID";

/// What is known of the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// This process was started without one.
    None,
    /// It runs; this process ends with it from now on.
    Followed,
    /// It has ended already: this process should end, too.
    Gone,
}

/// Makes this process end when its launcher does, if it has one. Called once, from the main thread, before anything
/// else is done.
#[must_use]
pub fn follow_launcher() -> Launcher {
    let named = std::env::var(LAUNCHER_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    let Some(launcher) = named.and_then(Pid::from_raw) else { return Launcher::None };
    follow(launcher);
    // Asked only now: if it ended in between, nobody would tell us.
    if getppid() == Some(launcher) { Launcher::Followed } else { Launcher::Gone }
}

/// The system does it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn follow(_launcher: Pid) {
    // It knows this signal, so it does not refuse; without the tie this process still ends with its input.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

/// The system has no such tie: look each second.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn follow(launcher: Pid) {
    use rustix::process::{Signal, getpid, kill_process};
    std::thread::spawn(move || {
        while getppid() == Some(launcher) {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        let _ = kill_process(getpid(), Signal::TERM);
    });
}
