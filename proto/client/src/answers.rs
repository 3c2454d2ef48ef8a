//! The envelopes that a client makes itself: no engine did the work.

use stepstone_proto::envelope::{ErrorCode, Failure};

/// No engine could be reached or started.
pub(crate) fn no_engine(why: &str) -> Failure {
    Failure::new(
        ErrorCode::Unavailable,
        format!(
            "Nothing was done: no Stepstone engine could be reached or started ({why}). Put stepstoned beside this \
             executable or on PATH, and run `stepstone doctor` to see what else stands in the way."
        ),
    )
    .retryable()
    .resolution("repair-stepstone-installation")
}

/// A change was sent, and its answer was lost on the way.
pub(crate) fn fate_unknown(action: &str, why: &str) -> Failure {
    Failure::new(
        ErrorCode::Unavailable,
        format!(
            "It is not known whether {action} was carried out: {why}. Read the roadmap first; repeat the call only if \
             the change is not there."
        ),
    )
    .retryable()
    .resolution("check-outcome-before-retrying")
}

/// A read was sent, and no engine answered it in time.
pub(crate) fn no_answer(action: &str, why: &str) -> Failure {
    Failure::new(
        ErrorCode::Unavailable,
        format!("{action} was not answered: {why}. Nothing was changed; try again."),
    )
    .retryable()
    .resolution("retry-later")
}

/// The request is larger than any engine takes.
pub(crate) fn too_large(bytes: usize, limit: usize) -> Failure {
    Failure::new(
        ErrorCode::InvalidRequest,
        format!(
            "Nothing was done: the request has {bytes} bytes, an engine takes at most {limit}. Split it into smaller \
             ones."
        ),
    )
    .resolution("send-a-smaller-request")
}

/// The engine did not understand the request as such.
pub(crate) fn refused(status: u16, engine: &str, why: &str) -> Failure {
    Failure::new(
        ErrorCode::Unavailable,
        format!(
            "Nothing was done: the engine (version {engine}) did not take the request (status {status}: {why}). Run \
             `stepstone doctor`; it compares the versions of the executables."
        ),
    )
    .resolution("repair-stepstone-installation")
}
