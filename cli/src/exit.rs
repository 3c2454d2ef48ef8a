//! Exit codes. They come from the envelope, and from nowhere else.

use stepstone_proto::envelope::{Envelope, ErrorCode};

/// The exit code of a usage error.
pub(crate) const USAGE: u8 = 2;
/// The exit code of any other failure that has no code of its own.
const ERROR: u8 = 1;

/// `details.resolution` of a usage error. The engine refuses a request that it does not know with the same code but
/// never with this resolution.
pub(crate) const CORRECT_THE_COMMAND_LINE: &str = "correct-the-command-line";

/// The code with which the program ends after this answer.
pub(crate) fn code(envelope: &Envelope) -> u8 {
    if envelope.ok {
        return 0;
    }
    let Some(failure) = &envelope.error else { return ERROR };
    let resolution = failure.details.as_ref().and_then(|details| details.get("resolution")?.as_str());
    if failure.code == ErrorCode::InvalidRequest && resolution == Some(CORRECT_THE_COMMAND_LINE) {
        return USAGE;
    }
    failure.code.exit_code()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use stepstone_proto::envelope::Failure;

    use super::*;

    #[test]
    fn each_kind_of_answer_has_its_code() {
        let done = Envelope::success("list", RawValue::from_string("{}".to_owned()).unwrap());
        assert_eq!(code(&done), 0);
        for (kind, expected) in [
            (ErrorCode::Unavailable, 1),
            (ErrorCode::InvalidRequest, 1),
            (ErrorCode::ValidationFailed, 1),
            (ErrorCode::NotFound, 1),
            (ErrorCode::DependencyCycle, 1),
            (ErrorCode::PersistenceFailed, 1),
            (ErrorCode::ApprovalRequired, 3),
            (ErrorCode::Conflict, 4),
        ] {
            assert_eq!(code(&Envelope::failure("x", Failure::new(kind, "m"))), expected, "{kind:?}");
        }
        let usage = Failure::new(ErrorCode::InvalidRequest, "m").resolution(CORRECT_THE_COMMAND_LINE);
        assert_eq!(code(&Envelope::failure("x", usage)), USAGE);
        let wrong_kind = Failure::new(ErrorCode::ValidationFailed, "m").resolution(CORRECT_THE_COMMAND_LINE);
        assert_eq!(code(&Envelope::failure("x", wrong_kind)), 1);
    }
}
