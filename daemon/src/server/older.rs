//! An action that the engine does not know, asked for by a client of another version: which side is older.

use std::cmp::Ordering;

use stepstone_proto::envelope::{Envelope, ErrorCode};
use stepstone_proto::protocol::VERSION;

/// Adds the two versions, and what to do about them, to the refusal of an unknown action. Between equal versions the
/// action is simply unknown.
pub(super) fn name_it(envelope: &mut Envelope, client: Option<&str>) {
    let Some(failure) = &mut envelope.error else { return };
    let unknown = failure.code == ErrorCode::InvalidRequest
        && failure.details.as_ref().is_some_and(|details| details.contains_key("supportedActions"));
    let Some(client) = client.filter(|client| unknown && *client != VERSION) else { return };
    let advice = match compare(client, VERSION) {
        Some(Ordering::Greater) => {
            "The engine is older: `stepstone daemon restart` starts the installed one; upgrade it if that is the same"
        }
        Some(Ordering::Less) => "The client is older: upgrade it",
        _ => "Use one version of both",
    };
    failure
        .message
        .push_str(&format!(" The client is version {client}, the engine version {VERSION}. {advice}."));
    let details = failure.details.get_or_insert_default();
    details.insert("clientVersion".to_owned(), client.into());
    details.insert("engineVersion".to_owned(), VERSION.into());
}

/// By the numbers of `<major>.<minor>.<patch>`; what follows a `-` or `+` is not compared.
fn compare(one: &str, other: &str) -> Option<Ordering> {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let core = version.split(['-', '+']).next()?;
        core.split('.').map(|number| number.parse().ok()).collect()
    };
    Some(numbers(one)?.cmp(&numbers(other)?))
}

#[cfg(test)]
mod tests {
    use stepstone_proto::envelope::Failure;

    use super::*;

    fn refusal(code: ErrorCode) -> Envelope {
        let failure = Failure::new(code, "No.").with("supportedActions", vec!["list"]);
        Envelope::failure("novel", failure)
    }

    #[test]
    fn an_unknown_action_between_versions_says_which_side_is_older() {
        for (client, words) in
            [("999.0.0", "The engine is older"), ("0.0.0", "The client is older"), ("x", "one version")]
        {
            let mut envelope = refusal(ErrorCode::InvalidRequest);
            name_it(&mut envelope, Some(client));
            let failure = envelope.error.unwrap();
            assert!(
                failure.message.contains(words) && failure.message.contains(client),
                "{}",
                failure.message
            );
            assert_eq!(failure.details.unwrap()["engineVersion"], VERSION);
        }
    }

    #[test]
    fn everything_else_is_left_as_it_is() {
        let table = [
            (ErrorCode::InvalidRequest, Some(VERSION)),
            (ErrorCode::InvalidRequest, None),
            (ErrorCode::ValidationFailed, Some("999.0.0")),
        ];
        for (code, client) in table {
            let mut envelope = refusal(code);
            name_it(&mut envelope, client);
            assert_eq!(envelope.error, refusal(code).error);
        }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(compare("0.10.0", "0.9.9"), Some(Ordering::Greater));
        assert_eq!(compare("1.0.0-rc.1", "1.0.0"), Some(Ordering::Equal));
        assert_eq!(compare("1.0", "one"), None);
    }
}
