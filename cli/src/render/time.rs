//! Instants as people say them.

use jiff::{SignedDuration, Timestamp};

/// How long ago an instant is, in one unit: `3 hours ago`, `in 2 days`. `None` for what is no instant.
pub(crate) fn ago(instant: &str, now: Timestamp) -> Option<String> {
    let then: Timestamp = instant.parse().ok()?;
    let past = now.duration_since(then);
    let words = unit(past.abs());
    Some(match words {
        None => "just now".to_owned(),
        Some(words) if past > SignedDuration::ZERO => format!("{words} ago"),
        Some(words) => format!("in {words}"),
    })
}

/// One unit, rounded down; `None` below a minute.
fn unit(duration: SignedDuration) -> Option<String> {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = duration.as_secs();
    let (count, name) = match seconds {
        ..MINUTE => return None,
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        _ => match seconds / DAY {
            days @ ..14 => (days, "day"),
            days @ 14..60 => (days / 7, "week"),
            days @ 60..730 => (days / 30, "month"),
            days => (days / 365, "year"),
        },
    };
    Some(if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") })
}

/// A length of time in one unit: `3 hours`; below a minute in seconds.
pub(crate) fn span(milliseconds: u64) -> String {
    let duration = SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX));
    unit(duration).unwrap_or_else(|| match duration.as_secs() {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    })
}

/// An instant to the minute, in UTC: `2026-01-31 17:05 UTC`. What is no instant stays as it is.
pub(crate) fn absolute(instant: &str) -> String {
    match instant.parse::<Timestamp>() {
        Ok(then) => then.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => super::text::line(instant),
    }
}

/// Both: `2 days ago (2026-01-31 17:05 UTC)`.
pub(crate) fn both(instant: &str, now: Timestamp) -> String {
    match ago(instant, now) {
        Some(ago) => format!("{ago} ({})", absolute(instant)),
        None => absolute(instant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_said_in_one_unit() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().unwrap();
        for (instant, said) in [
            ("2026-06-15T11:59:30.000Z", "just now"),
            ("2026-06-15T11:59:00.000Z", "1 minute ago"),
            ("2026-06-15T09:30:00.000Z", "2 hours ago"),
            ("2026-06-14T12:00:00.000Z", "1 day ago"),
            ("2026-06-03T12:00:00.000Z", "12 days ago"),
            ("2026-05-20T12:00:00.000Z", "3 weeks ago"),
            ("2026-02-15T12:00:00.000Z", "4 months ago"),
            ("2023-06-15T12:00:00.000Z", "3 years ago"),
            ("2026-06-15T13:00:00.000Z", "in 1 hour"),
        ] {
            assert_eq!(ago(instant, now).as_deref(), Some(said), "{instant}");
        }
        assert_eq!(both("2026-06-15T09:30:00.000Z", now), "2 hours ago (2026-06-15 09:30 UTC)");
    }

    #[test]
    fn lengths_of_time_are_said_in_one_unit_too() {
        assert_eq!(span(999), "0 seconds");
        assert_eq!(span(1_500), "1 second");
        assert_eq!(span(59_000), "59 seconds");
        assert_eq!(span(7_300_000), "2 hours");
        assert!(span(u64::MAX).ends_with(" years"));
    }

    #[test]
    fn what_is_no_instant_is_shown_as_it_stands() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(ago("yesterday", now), None);
        assert_eq!(both("yester\u{1b}day", now), "yester␛day");
    }
}
