//! When the next attempt may begin, so that others who want the locks have their turn too.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// The first and the longest pause between two attempts at a held lock.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));
/// Somebody else who held the lock this recently is likely to want it again.
const RECENT: Duration = Duration::from_secs(2);
/// How long the locks are left free at least and at most between batches that follow each other at once. A shorter
/// rest is more than the event loop can measure, so it is owed and taken later.
const RESTS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));
/// How long a batch waits for those who took part in the last one. They have their answers by now, and what they want
/// next costs hardly more when it is written together.
const GATHERING: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Turns {
    /// No attempt before this is over.
    rest: Option<Pin<Box<Sleep>>>,
    /// The rest is over sooner when as many changes as this have come.
    enough: Option<usize>,
    /// For how long the locks should have been left free and were not yet.
    owed: Duration,
    /// When the last attempt ended.
    free_since: Instant,
    /// Attempts in a row that met a held lock.
    refused: u32,
    last_refused: Option<Instant>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self {
            rest: None,
            enough: None,
            owed: Duration::ZERO,
            free_since: Instant::now(),
            refused: 0,
            last_refused: None,
        }
    }

    /// Whether an attempt may begin now, with this many changes that wait.
    pub(super) fn may_begin(&mut self, waiting: usize) -> bool {
        if self.enough.is_some_and(|enough| waiting >= enough) {
            self.rested();
        }
        self.rest.is_none()
    }

    /// Whether the rest serves to gather changes, and will be over in no time.
    pub(super) const fn is_gathering(&self) -> bool {
        self.enough.is_some()
    }

    /// An attempt begins.
    pub(super) fn begin(&mut self) {
        self.owed = self.owed.saturating_sub(self.free_since.elapsed());
    }

    /// An attempt met a lock that somebody else holds: the next one comes after a pause.
    pub(super) fn refused(&mut self) {
        let (first, longest) = PAUSES;
        let pause = first.saturating_mul(1 << self.refused.min(8)).min(longest);
        self.refused += 1;
        self.last_refused = Some(Instant::now());
        self.rest_for(pause);
    }

    /// An attempt had the locks for so long. `active` took part in it, or wait by now.
    ///
    /// Writers that poll would never meet a free lock between two batches that follow each other at once. So the locks
    /// are left free for half the time that they were held, and longer when somebody else is known to want them.
    pub(super) fn ended(&mut self, held: Duration, active: usize) {
        self.refused = 0;
        self.free_since = Instant::now();
        if self.last_refused.is_some_and(|last| last.elapsed() < RECENT) {
            return self.rest_for(held.clamp(Duration::from_millis(10), Duration::from_millis(250)));
        }
        if active <= 1 {
            self.owed = Duration::ZERO;
            return;
        }
        self.owed += held / 2;
        let (shortest, longest) = RESTS;
        if self.owed >= shortest {
            let rest = std::mem::take(&mut self.owed);
            self.rest_for(rest.min(longest));
        } else {
            self.rest_for(GATHERING);
            self.enough = Some(active);
        }
    }

    /// Returns when a rest is over, and never while there is none.
    pub(super) async fn over(&mut self) {
        match &mut self.rest {
            Some(rest) => rest.as_mut().await,
            None => std::future::pending().await,
        }
        self.rested();
    }

    fn rest_for(&mut self, pause: Duration) {
        self.rest = Some(Box::pin(sleep(pause)));
        self.enough = None;
    }

    fn rested(&mut self) {
        self.rest = None;
        self.enough = None;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    async fn rest_of(turns: &mut Turns) -> Duration {
        let begun = Instant::now();
        if !turns.may_begin(0) {
            timeout(Duration::from_secs(60), turns.over()).await.unwrap();
        }
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_alone_never_waits() {
        let mut turns = Turns::new();
        for _ in 0..100 {
            assert!(turns.may_begin(1));
            turns.begin();
            advance(10 * MS).await;
            turns.ended(10 * MS, 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_took_part_are_gathered_but_not_waited_for_longer_than_a_moment() {
        let mut turns = Turns::new();
        turns.ended(MS, 8);
        assert!(turns.is_gathering());
        assert!(!turns.may_begin(7));
        assert!(turns.may_begin(8), "all are there");
        turns.ended(MS, 8);
        assert!(rest_of(&mut turns).await <= 2 * MS, "somebody has gone");
        assert!(turns.may_begin(1));
        assert!(!turns.is_gathering());
    }

    #[tokio::test(start_paused = true)]
    async fn the_locks_are_left_free_for_half_the_time_that_they_were_held() {
        let mut turns = Turns::new();
        turns.ended(40 * MS, 2);
        assert!(!turns.is_gathering());
        assert!(!turns.may_begin(1000), "however many wait");
        assert!(rest_of(&mut turns).await >= 20 * MS);

        // Batches too short for a rest of their own, and no time between them.
        let (mut held, mut free) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..100 {
            turns.begin();
            advance(MS).await;
            held += MS;
            turns.ended(MS, 8);
            if !turns.may_begin(8) {
                free += rest_of(&mut turns).await;
            }
        }
        assert!(free * 2 >= held - 4 * MS, "{free:?} of {held:?}");

        // Time that passes between them anyway counts.
        for _ in 0..100 {
            turns.begin();
            turns.ended(MS, 8);
            advance(MS / 2).await;
            assert!(turns.may_begin(8));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_held_lock_is_tried_again_after_growing_pauses_and_left_free_afterwards() {
        let mut turns = Turns::new();
        for pause in [10, 20, 40, 80, 160, 250, 250] {
            turns.refused();
            assert!(!turns.may_begin(1000));
            assert!(rest_of(&mut turns).await >= pause * MS);
        }
        turns.ended(MS, 1);
        assert!(rest_of(&mut turns).await >= 10 * MS, "the other one may want it again");
        advance(RECENT).await;
        turns.ended(MS, 1);
        assert!(turns.may_begin(1), "it does not seem to");
        turns.refused();
        assert!(rest_of(&mut turns).await < 20 * MS, "the pauses begin anew");
    }
}
