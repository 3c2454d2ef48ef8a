//! A long run of clients of all kinds under kills, checkouts and foreign writers, with the books kept.
//!
//! One repository takes changes from everybody; every change that was acknowledged must be in its file at the end,
//! once, under a revision of its own. A second one has its branches switched all the time; every answer about it must
//! be the state of a branch. The daemon is killed at random in the first half and left alone in the second, in which
//! its memory and its descriptors must stay flat.

mod ledger;
mod random;
mod workers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use stepstone_tests::{Sandbox, worklist};

use self::ledger::Ledger;
use self::random::Random;
use crate::say;

/// How often the daemon is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// What everybody who takes part shares.
struct Soak {
    sandbox: Sandbox,
    ledger: Ledger,
    stop: AtomicBool,
    calm: AtomicBool,
}

impl Soak {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Waits for `pause`, or until the end of the run.
    fn pause(&self, pause: Duration) {
        let end = Instant::now() + pause;
        while self.goes_on() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What the daemon uses.
#[derive(Debug, Clone, Copy)]
struct Use {
    /// Resident memory, in kibibytes.
    memory: u64,
    /// Open descriptors.
    descriptors: u64,
}

/// Runs for `minutes`, with a sequence of chances that `seed` decides.
///
/// # Errors
/// When the books do not balance, or the daemon's use of memory or descriptors grew.
///
/// # Panics
/// When a client gets an answer that it must never get; the message shows it.
pub(crate) fn run(minutes: f64, seed: u64) -> Result<()> {
    say::line(format!("soak: {minutes} minutes, seed {seed}"));
    let soak = Soak {
        sandbox: Sandbox::new(),
        ledger: Ledger::default(),
        stop: AtomicBool::new(false),
        calm: AtomicBool::new(false),
    };
    soak.sandbox.write_worklist(worklist(0, []));
    soak.sandbox.commit_all("An empty roadmap");
    let half = Duration::from_secs_f64(minutes * 30.0);
    let mut looks = Vec::new();
    let outcome = std::thread::scope(|scope| {
        // Whatever ends this closure, the workers must hear of it.
        let _end = StopAtTheEnd(&soak.stop);
        let mut seeds = Random::new(seed);
        let handles: Vec<_> = workers::all()
            .into_iter()
            .map(|(name, work)| {
                let (random, soak) = (Random::new(seeds.next()), &soak);
                (name, scope.spawn(move || work(soak, random)))
            })
            .collect();
        let begin = Instant::now();
        while begin.elapsed() < half * 2 {
            std::thread::sleep(LOOK.min(half));
            soak.calm.store(begin.elapsed() >= half, Ordering::Relaxed);
            if let Some((name, _)) = handles.iter().find(|(_, handle)| handle.is_finished()) {
                anyhow::bail!("{name} gave up");
            }
            let counts = soak.ledger.counts();
            let used = soak.sandbox.daemons().first().and_then(|daemon| usage(daemon.pid));
            say::line(format!("{:>5.0} s  {counts}  daemon: {used:?}", begin.elapsed().as_secs_f64()));
            if soak.calm.load(Ordering::Relaxed) {
                looks.extend(used);
            }
        }
        Ok(())
    });
    outcome?;
    let file = serde_json::from_str(&soak.sandbox.read_worklist())?;
    say::line(soak.ledger.balance(&file)?);
    flat(&looks)?;
    drop(soak);
    Ok(())
}

struct StopAtTheEnd<'a>(&'a AtomicBool);

impl Drop for StopAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn usage(pid: u32) -> Option<Use> {
    let memory = crate::memory::resident(pid).ok()? / 1024;
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some(Use { memory, descriptors: u64::try_from(descriptors).ok()? })
}

/// Whether the second part of the calm half used about as much as the first.
fn flat(looks: &[Use]) -> Result<()> {
    if looks.len() < 4 {
        say::line("too short to judge memory and descriptors");
        return Ok(());
    }
    let (early, late) = looks.split_at(looks.len() / 2);
    let most = |looks: &[Use], value: fn(&Use) -> u64| looks.iter().map(value).max().unwrap_or_default();
    let memory = (most(early, |used| used.memory), most(late, |used| used.memory));
    let descriptors = (most(early, |used| used.descriptors), most(late, |used| used.descriptors));
    say::line(format!(
        "memory {memory:?} KiB, descriptors {descriptors:?} (first and second part of the calm half)"
    ));
    ensure!(memory.1 <= memory.0 * 3 / 2 + 8 * 1024, "the daemon's memory grew");
    ensure!(descriptors.1 <= descriptors.0 + 16, "the daemon's descriptors grew");
    Ok(())
}
