//! `doctor`: what is there, what is wrong, and what to do.
//!
//! The checks look from the caller's side, since that is where things go wrong: executables, state directory, daemon,
//! watcher limits, Git, the repository. What only the engine knows (which goal file, whether it can be read) is
//! asked of the engine.

mod installation;
mod repository;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;
use stepstone_client::Surroundings;
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure};

use super::daemon;
use crate::arguments::Everywhere;
use crate::session::Session;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    level: Level,
    /// What was looked at, in a word or two.
    check: &'static str,
    /// What was found.
    message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; works all the same.
    Note,
    /// Needs doing.
    Problem,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Ok, check, message: message.into(), advice: None }
    }

    fn note(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Note, check, message: message.into(), advice: Some(advice.into()) }
    }

    fn problem(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Problem, check, message: message.into(), advice: Some(advice.into()) }
    }
}

/// Looks at everything. A failure (exit code 1) when something needs doing; the findings are there either way.
pub(crate) async fn carry_out(everywhere: &Everywhere) -> Envelope {
    let surroundings = Surroundings::from_env();
    let directory = everywhere.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut findings = installation::executables(&surroundings);
    findings.extend(installation::state_directory(&surroundings));
    let status = installation::daemon(&surroundings, &mut findings).await;
    findings.extend(installation::watching(status.as_ref()));
    if repository::has_git(&mut findings) {
        let session = Session::new(surroundings, everywhere);
        repository::look(&directory, &session, &mut findings).await;
    }
    envelope(&findings)
}

fn envelope(findings: &[Finding]) -> Envelope {
    let problems = findings.iter().filter(|finding| finding.level == Level::Problem).count();
    if problems == 0 {
        let result = json!({"findings": findings});
        return daemon::success("doctor", result.as_object().unwrap_or(&serde_json::Map::new()));
    }
    let what = if problems == 1 { "1 thing needs".to_owned() } else { format!("{problems} things need") };
    let failure = Failure::new(ErrorCode::Unavailable, format!("{what} doing; each finding says what."));
    daemon::failed("doctor", failure.resolution("follow-the-findings").with("findings", json!(findings)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;

    #[test]
    fn only_what_needs_doing_ends_with_exit_code_1() {
        let fine = [Finding::ok("Git", "there"), Finding::note("Git", "old", "upgrade")];
        assert_eq!(exit::code(&envelope(&fine)), 0);
        let bad = [Finding::ok("Git", "there"), Finding::problem("goal file", "malformed", "mend it")];
        let envelope = envelope(&bad);
        assert_eq!(exit::code(&envelope), 1);
        let failure = serde_json::to_value(&envelope).unwrap();
        assert_eq!(failure.pointer("/error/details/findings/1/level"), Some(&json!("problem")));
        assert_eq!(failure.pointer("/scope"), Some(&json!("daemon")));
    }
}
