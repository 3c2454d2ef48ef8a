//! Exactly once: idempotency keys and the journal.

use super::*;

#[test]
fn a_repeated_key_is_answered_with_the_first_envelope() {
    let bench = Bench::new();
    let first = bench.change(with_key(add("One"), "k", "add one")).unwrap();
    assert!(!first.meta.replayed);
    let again = bench.change(with_key(add("One"), "k", "add one")).unwrap();
    assert!(again.meta.replayed);
    assert_eq!(first.result.unwrap().get(), again.result.unwrap().get());
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn another_engine_knows_the_key_too() {
    let bench = Bench::new();
    bench.change(with_key(add("One"), "k", "add one")).unwrap();
    let another = bench.another();
    let again = bench.runtime.block_on(async {
        let store = another.open(Found::at(&bench.file()).unwrap(), &bench.root());
        store.change(with_key(add("One"), "k", "add one")).await.unwrap()
    });
    assert!(again.meta.replayed);
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn a_retry_of_what_cannot_be_done_twice_is_no_refusal() {
    let bench = Bench::new();
    bench.change(add("One")).unwrap();
    bench.change(with_key(delete("one"), "k", "delete one")).unwrap();
    let again = bench.change(with_key(delete("one"), "k", "delete one")).unwrap();
    assert!(again.ok && again.meta.replayed);
    assert!(!bench.change(with_key(delete("one"), "other", "delete one")).unwrap().ok);
}

#[test]
fn a_key_is_good_for_one_operation() {
    let bench = Bench::new();
    bench.change(with_key(add("One"), "k", "add one")).unwrap();
    let error = bench.change(with_key(add("Two"), "k", "add two")).unwrap_err();
    let failure = error.failure();
    assert_eq!(failure.details.unwrap()["resolution"], "use-a-new-idempotency-key");
    assert_eq!(bench.titles(), ["One"]);
}

#[test]
fn refusals_and_no_ops_leave_their_key_unused() {
    let bench = Bench::new();
    bench.write(r#"{"version":1,"revision":1,"goals":[]}"#);
    assert!(!bench.change(with_key(delete("one"), "k", "delete one")).unwrap().ok);
    assert!(bench.change(with_key(add("One"), "k", "add one")).unwrap().meta.changed);
}

#[test]
fn a_key_that_waits_twice_in_one_queue_is_one_change() {
    let bench = Bench::new();
    let store = bench.open();
    let answers = bench.runtime.block_on(async {
        tokio::join!(
            store.change(with_key(add("One"), "k", "add one")),
            store.change(with_key(add("One"), "k", "add one")),
            store.change(with_key(add("Two"), "k", "add two")),
        )
    });
    assert!(!answers.0.unwrap().meta.replayed);
    assert!(answers.1.unwrap().meta.replayed);
    assert!(matches!(answers.2, Err(StoreError::KeyUsed)));
    assert_eq!(bench.titles(), ["One"]);
}
