//! Repeated measurements of one thing.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Durations in the order in which they were taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples(Vec<Duration>);

impl Samples {
    pub(super) fn push(&mut self, duration: Duration) {
        self.0.push(duration);
    }

    /// Takes one measurement of `work`.
    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let begin = Instant::now();
        let value = work()?;
        self.push(begin.elapsed());
        Ok(value)
    }

    pub(super) fn median(&self) -> Duration {
        self.quantile(50)
    }

    pub(super) fn p99(&self) -> Duration {
        self.quantile(99)
    }

    /// The smallest sample that at least `percent` of all do not exceed; zero when there is none.
    fn quantile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(rank).copied().unwrap_or_default()
    }
}
