//! The idempotency key of a tool call: one key, one change.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::{Map, Value};
use stepstone_proto::operation::Context;

/// A key that the caller chose. Passed on as it is; the engine refuses what is no text or blank.
pub const CHOSEN: &str = "io.stepstone/idempotency-key";
/// Claude Code's id of the tool use. It stays the same when the host asks again after it lost its server.
pub const CLAUDE_CODE: &str = "claudecode/toolUseId";
/// Codex's id of the call. Unique within one session only.
pub const CODEX: &str = "callId";

/// Puts the key of a call into its context. Without a source in `meta` none is put there, and the client makes one
/// for this call alone.
pub fn put(context: &mut Context, meta: &Map<String, Value>, process: &str) {
    if let Some(chosen) = meta.get(CHOSEN) {
        // On the way to the engine null would read as absent, and this key is there: it must be refused.
        let chosen = if chosen.is_null() { Value::from("") } else { chosen.clone() };
        context.idempotency_key = Some(chosen);
    } else if let Some(derived) = derived(meta, process) {
        context.idempotency_key = Some(derived.into());
        context.idempotency_key_derived = true;
    }
}

fn derived(meta: &Map<String, Value>, process: &str) -> Option<String> {
    let given = |name| meta.get(name).and_then(Value::as_str).filter(|id| !id.trim().is_empty());
    if let Some(id) = given(CLAUDE_CODE) {
        return Some(format!("claudecode:{id}"));
    }
    given(CODEX).map(|id| format!("codex:{process}:{id}"))
}

/// A name of this process that no other process has or had.
#[must_use]
pub fn process_name() -> String {
    // Seeded by the system's random numbers for each state.
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(meta: &Value) -> (Option<Value>, bool) {
        let mut context = Context::default();
        put(&mut context, meta.as_object().unwrap(), "p1");
        (context.idempotency_key, context.idempotency_key_derived)
    }

    #[test]
    fn a_chosen_key_goes_before_the_host_s_ids_and_is_passed_on_as_it_is() {
        let hosts = json!({ CHOSEN: "k", CLAUDE_CODE: "toolu_1", CODEX: "call_1" });
        assert_eq!(key(&hosts), (Some(json!("k")), false));
        for wrong in [json!(5), json!(" "), json!({}), json!(true), json!([])] {
            assert_eq!(key(&json!({ CHOSEN: wrong, CLAUDE_CODE: "toolu_1" })), (Some(wrong), false));
        }
        assert_eq!(key(&json!({ CHOSEN: null })), (Some(json!("")), false));
    }

    #[test]
    fn claude_code_s_id_is_the_same_key_in_every_process_and_codex_s_in_one() {
        assert_eq!(
            key(&json!({ CLAUDE_CODE: "toolu_1", CODEX: "call_1" })),
            (Some(json!("claudecode:toolu_1")), true)
        );
        assert_eq!(key(&json!({ CODEX: "call_1" })), (Some(json!("codex:p1:call_1")), true));
    }

    #[test]
    fn a_host_s_id_that_is_none_is_passed_over() {
        for none in [json!(null), json!(""), json!(" "), json!(1), json!({})] {
            assert_eq!(key(&json!({ CLAUDE_CODE: none, CODEX: "c" })), (Some(json!("codex:p1:c")), true));
            assert_eq!(key(&json!({ CODEX: none })), (None, false));
        }
        assert_eq!(key(&json!({ "progressToken": 1 })), (None, false));
    }

    #[test]
    fn no_two_processes_have_one_name() {
        assert_ne!(process_name(), process_name());
    }
}
