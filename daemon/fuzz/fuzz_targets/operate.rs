//! Any operation on any goal file: two JSON texts, one line each. Decided or refused; what is decided can be written
//! and read, and the revision is the next one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use stepstone_daemon::decode::decode;
use stepstone_daemon::roadmap::{Decision, Moment, Roadmap, decide, read};
use stepstone_proto::operation::Operation;

fuzz_target!(|text: &str| {
    let Some((operation, file)) = text.split_once('\n') else { return };
    let Ok(operation) = serde_json::from_str::<Map<String, Value>>(operation) else { return };
    let roadmap = Roadmap::parse(file.as_bytes()).unwrap_or_default();
    let Ok(decoded) = decode(&operation) else { return };
    match decoded.operation {
        Ok(Operation::Read(asked)) => {
            let _ = read(&roadmap, decoded.view_action, &asked);
        }
        Ok(Operation::Change(change)) => {
            let moment = Moment { now_ms: 1_800_000_000_000, claimed_by: "fuzz", branch: Some("main") };
            if let Ok(Decision::Write { next, .. }) = decide(&roadmap, &change, &moment) {
                let again = Roadmap::parse(&next.print()).expect("what is written can be read");
                assert_eq!(again.revision(), roadmap.revision() + 1);
            }
        }
        Ok(Operation::MigratePath { .. } | Operation::Init) => {}
        Err(failure) => assert!(failure.details.is_some(), "a refusal names fields"),
    }
});
