//! Both wire eras in one process.

use serde_json::{Value, json};
use stepstone_tests::{Sandbox, worklist};

use super::modern;

fn list() -> Value {
    json!({ "name": "read_goals", "arguments": { "view": "list" } })
}

#[test]
fn every_revision_with_a_handshake_lists_reads_and_calls() {
    let sandbox = Sandbox::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = sandbox.session().protocol(revision).start();
        assert_eq!(session.server()["protocolVersion"], revision);
        assert_eq!(session.request("tools/list", json!({})).unwrap()["tools"].as_array().unwrap().len(), 11);
        session.read("stepstone://worklist/list").result();
        session.call("read_goals", json!({ "view": "list" })).result();
        let unknown =
            session.request("resources/read", json!({ "uri": "stepstone://worklist/x" })).unwrap_err();
        assert_eq!(
            (&unknown["code"], &unknown["data"]["uri"]),
            (&json!(-32002), &json!("stepstone://worklist/x"))
        );
        assert_eq!(session.close().0.code(), Some(0));
    }
}

#[test]
fn the_revision_without_a_handshake_discovers_lists_reads_and_calls() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.session().start_silent();
    let server = session.request("server/discover", modern(json!({}))).unwrap();
    assert!(server["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    let tools = session.request("tools/list", modern(json!({}))).unwrap();
    assert_eq!((&tools["resultType"], &tools["cacheScope"]), (&json!("complete"), &json!("public")));
    let uri = json!({ "uri": "stepstone://worklist/list" });
    let read = session.request("resources/read", modern(uri)).unwrap();
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(0), &json!("private")));
    let called = session.request("tools/call", modern(list())).unwrap();
    assert_eq!(
        (&called["resultType"], &called["structuredContent"]["ok"]),
        (&json!("complete"), &json!(true))
    );
    let unknown = json!({ "uri": "stepstone://worklist/x" });
    let unknown = session.request("resources/read", modern(unknown)).unwrap_err();
    assert_eq!(
        (&unknown["code"], &unknown["data"]["uri"]),
        (&json!(-32602), &json!("stepstone://worklist/x"))
    );
    let unknown = session.request("tools/call", modern(json!({ "name": "nothing" }))).unwrap_err();
    assert_eq!(unknown["code"], -32602);
    assert_eq!(session.close().0.code(), Some(0));
}

#[test]
fn a_claim_carries_the_name_of_the_host_that_asked_in_both_eras() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, ["one", "two"].map(stepstone_tests::Goal::open)));
    let mut session = sandbox.session().client("older-host").start();
    assert_eq!(session.call("start", json!({ "branch": "a" })).text("claimedBy"), "older-host");
    let call = json!({ "name": "start", "arguments": { "branch": "b" } });
    let taken = session.request("tools/call", modern(call)).unwrap();
    assert_eq!(taken["structuredContent"]["result"]["goal"]["claimedBy"], "modern-host");
}

#[test]
fn a_key_of_the_host_makes_a_repeated_call_one_change() {
    let sandbox = Sandbox::new();
    for (meta, shared) in [
        (json!({ "io.stepstone/idempotency-key": "mine" }), true),
        (json!({ "claudecode/toolUseId": "toolu_01" }), true),
        (json!({ "callId": "call_1" }), false),
    ] {
        let params = json!({ "name": "add", "arguments": { "title": format!("By {meta}") }, "_meta": meta });
        let mut first = sandbox.mcp();
        let once = first.request("tools/call", params.clone()).unwrap()["structuredContent"].take();
        let again = first.request("tools/call", params.clone()).unwrap()["structuredContent"].take();
        assert_eq!(once["ok"], true, "{once}");
        assert_eq!((&again["meta"]["replayed"], &again["result"]), (&json!(true), &once["result"]), "{meta}");
        let elsewhere = sandbox.mcp().request("tools/call", params).unwrap()["structuredContent"].take();
        assert_eq!(elsewhere["meta"].get("replayed") == Some(&json!(true)), shared, "{meta}");
    }
    for wrong in [json!(null), json!(7), json!(" "), json!({})] {
        let meta = json!({ "io.stepstone/idempotency-key": wrong, "claudecode/toolUseId": "toolu_02" });
        let params = json!({ "name": "add", "arguments": { "title": "Never" }, "_meta": meta });
        let refused = sandbox.mcp().request("tools/call", params).unwrap()["structuredContent"].take();
        assert_eq!(refused["error"]["code"], "VALIDATION_FAILED", "{wrong}");
        assert_eq!(refused["error"]["details"]["resolution"], "provide-non-blank-idempotency-key", "{wrong}");
    }
}

#[test]
fn where_there_is_no_repository_the_answer_says_how_to_point_the_server_at_one() {
    let sandbox = Sandbox::without_repository();
    let mut session = sandbox.mcp();
    for answer in [
        session.call("add", json!({ "title": "One" })),
        session.call("read_goals", json!({ "view": "list" })),
        session.read("stepstone://worklist/list"),
    ] {
        let error = answer.refused("UNAVAILABLE");
        assert_eq!(error["details"]["resolution"], "run-inside-git-repository");
        assert!(error["message"].as_str().unwrap().contains("cwd"), "{error}");
    }
    // It is looked for again each time.
    sandbox.git(["init", "-q", "-b", "main"]);
    session.call("add", json!({ "title": "One" })).goal();
}

#[test]
fn the_plugin_s_project_goes_before_the_working_directory() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [stepstone_tests::Goal::open("one")]));
    let elsewhere = sandbox.base().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let session = || sandbox.session().within(&elsewhere);
    let mut session_there = session().env("STEPSTONE_PLUGIN_PROJECT_ROOT", sandbox.root()).start();
    assert_eq!(session_there.read("stepstone://worklist/list").ids(), ["one"]);
    let mut blank = session().env("STEPSTONE_PLUGIN_PROJECT_ROOT", " ").start();
    blank.read("stepstone://worklist/list").refused("UNAVAILABLE");
    sandbox.write("other.json", worklist(1, [stepstone_tests::Goal::open("two")]));
    let mut override_there = session()
        .env("STEPSTONE_PLUGIN_PROJECT_ROOT", sandbox.root())
        .env("STEPSTONE_WORKLIST", "other.json")
        .start();
    let listed = override_there.read("stepstone://worklist/list");
    assert_eq!(listed.ids(), ["two"]);
    assert_eq!(listed.meta()["worklistPath"], json!(sandbox.path("other.json")));
}
