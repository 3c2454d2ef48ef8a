//! The minute tick, which is all that wakes up a daemon that nobody asks anything.
//!
//! The event loop's own timer sorts what is far away into steps, and wakes up at each step on the way. So the system's
//! clock is waited for like a socket, where there is one that can be.

use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Comes once per period, or later when the event loop is busy; never twice for one period.
#[derive(Debug)]
pub(super) enum Tick {
    System(AsyncFd<OwnedFd>),
    EventLoop(Interval),
}

impl Tick {
    /// The first tick comes after one period. Must be called on a runtime.
    pub(super) fn every(period: Duration) -> Self {
        Self::of_system(period).unwrap_or_else(|| Self::of_event_loop(period))
    }

    fn of_event_loop(period: Duration) -> Self {
        let mut interval = interval_at(Instant::now() + period, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self::EventLoop(interval)
    }

    #[cfg(target_os = "linux")]
    fn of_system(period: Duration) -> Option<Self> {
        use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
        let period = rustix::fs::Timespec::try_from(period).ok()?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let clock = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags).ok()?;
        let ticks = Itimerspec { it_interval: period, it_value: period };
        rustix::time::timerfd_settime(&clock, TimerfdTimerFlags::empty(), &ticks).ok()?;
        #[expect(unsafe_code, reason = "the event loop has to be promised what a descriptor is")]
        // SAFETY: an `OwnedFd` stays open and the same until it is dropped, and nobody else has it.
        let clock = unsafe { AsyncFd::register(clock) };
        clock.ok().map(Self::System)
    }

    #[cfg(not(target_os = "linux"))]
    const fn of_system(_: Duration) -> Option<Self> {
        None
    }

    /// Returns at the next tick. May be dropped while it waits.
    pub(super) async fn next(&mut self) {
        match self {
            Self::EventLoop(interval) => {
                interval.tick().await;
            }
            Self::System(clock) => loop {
                // An error says that the event loop ends.
                let Ok(mut ready) = clock.readable().await else { return std::future::pending().await };
                // What is read is how many periods have passed.
                match ready.try_io(|clock| Ok(rustix::io::read(clock, &mut [0; 8])?)) {
                    Ok(Ok(_)) => return,
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "the system's clock cannot be read");
                        return std::future::pending().await;
                    }
                    Err(_) => {}
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(20);

    async fn ticks_once_per_period(mut tick: Tick) {
        let begun = Instant::now();
        let periods = || begun.elapsed().as_nanos() / PERIOD.as_nanos();
        let mut next = async || tokio::time::timeout(Duration::from_secs(10), tick.next()).await.unwrap();
        for passed in 1..=5 {
            next().await;
            // The event loop's clock counts in milliseconds.
            assert!((begun.elapsed() + Duration::from_millis(1)) >= passed * PERIOD);
        }
        let before = periods();
        // The event loop is busy. However many periods that takes, they are one tick.
        std::thread::sleep(5 * PERIOD);
        for _ in 0..3 {
            next().await;
        }
        assert!(periods() - before >= 3 + 3, "{} periods", periods() - before);
    }

    #[tokio::test]
    async fn the_system_s_clock_ticks_once_per_period() {
        let tick = Tick::every(PERIOD);
        assert_eq!(matches!(tick, Tick::System(_)), cfg!(target_os = "linux"));
        ticks_once_per_period(tick).await;
    }

    #[tokio::test]
    async fn so_does_the_event_loop_s() {
        ticks_once_per_period(Tick::of_event_loop(PERIOD)).await;
    }
}
