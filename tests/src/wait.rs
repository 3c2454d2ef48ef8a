//! Waiting for something, with a bound; leaving a test out, with a reason.

use std::io::Write;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up. Generous: it is a bound against hanging, not a measure.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Polls until `probe` gives a value, and returns it.
///
/// # Panics
/// When it has not done so within a minute; `what` says what was waited for.
pub fn eventually<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(begin.elapsed() < LIMIT, "waited {} s in vain for: {what}", LIMIT.as_secs());
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}

/// Says why a test cannot be carried out here. Written past the test harness's capture, so that it is seen.
pub fn skipped(test: &str, why: &str) {
    // A closed standard error takes nothing from the test.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}
