//! Instants as they are written: `YYYY-MM-DDTHH:MM:SS.mmmZ`, UTC.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

/// Milliseconds since 1970 as an instant's text. Values beyond the calendar are moved to its nearest end.
pub(super) fn written(ms: i64) -> String {
    let instant =
        Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX });
    DateTimePrinter::new().precision(Some(3)).timestamp_to_string(&instant)
}

/// Nanoseconds since 1970 of an instant in any spelling with an offset; `None` when it is no instant.
#[must_use]
pub fn nanoseconds(text: &str) -> Option<i128> {
    text.trim().parse::<Timestamp>().ok().map(Timestamp::as_nanosecond)
}

/// The instant that a change gives to a goal: now, but later than what is stored, also when the clock is not.
pub(super) fn following(stored: &str, now_ms: i64) -> String {
    let next = nanoseconds(stored)
        .and_then(|ns| i64::try_from(ns.div_euclid(1_000_000)).ok())
        .map_or(now_ms, |ms| now_ms.max(ms.saturating_add(1)));
    written(next)
}
