//! The one instant that everything in a release carries.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use stepstone_tests::workspace_root;

/// Seconds since 1970: `SOURCE_DATE_EPOCH` when it is set, else when the commit was made that is built.
///
/// # Errors
/// When the variable is no number, or it is not set and Git does not know a commit.
pub(crate) fn epoch() -> Result<u64> {
    if let Some(given) = std::env::var_os("SOURCE_DATE_EPOCH") {
        let given = given.to_string_lossy();
        return given.trim().parse().with_context(|| format!("SOURCE_DATE_EPOCH is no number: {given:?}"));
    }
    let advice = "set SOURCE_DATE_EPOCH to the instant that the release carries, in seconds since 1970";
    let output = Command::new("git")
        .current_dir(workspace_root())
        .args(["log", "-1", "--format=%ct"])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("git cannot be run; {advice}"))?;
    ensure!(
        output.status.success(),
        "git knows no commit ({}); {advice}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("git gave no instant: {text:?}; {advice}"))
}

/// `2026-01-02T03:04:05Z`.
///
/// # Errors
/// When the instant lies beyond the calendar.
pub(crate) fn timestamp(epoch: u64) -> Result<String> {
    Ok(instant(epoch)?.to_string())
}

/// `Fri, 02 Jan 2026 03:04:05 +0000`, as a Debian changelog wants it.
///
/// # Errors
/// When the instant lies beyond the calendar.
pub(crate) fn mail_date(epoch: u64) -> Result<String> {
    Ok(instant(epoch)?.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string())
}

fn instant(epoch: u64) -> Result<Timestamp> {
    Ok(Timestamp::from_second(i64::try_from(epoch)?)?)
}

#[cfg(test)]
mod tests {
    use super::{mail_date, timestamp};

    #[test]
    fn instants_are_told_as_the_calendar_has_them() {
        assert_eq!(timestamp(0).unwrap(), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(1_798_761_599).unwrap(), "2026-12-31T23:59:59Z");
        assert_eq!(mail_date(951_827_696).unwrap(), "Tue, 29 Feb 2000 12:34:56 +0000");
        assert!(timestamp(u64::MAX).is_err());
    }
}
