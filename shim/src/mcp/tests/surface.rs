//! Tools, resources, prompts and completions as a client meets them.

use serde_json::{Value, json};

use super::{Client, Fake, call};

async fn client(engine: &std::sync::Arc<Fake>) -> Client {
    Client::with_handshake(engine, "2025-06-18").await
}

#[tokio::test]
async fn lists_are_answered_while_no_engine_answers() {
    let mut client = client(&Fake::held()).await;
    for (method, member, count) in [
        ("tools/list", "tools", 11),
        ("resources/list", "resources", 4),
        ("resources/templates/list", "resourceTemplates", 2),
        ("prompts/list", "prompts", 2),
    ] {
        let result = client.ask(1, method, json!({})).await.unwrap();
        assert_eq!(result[member].as_array().unwrap().len(), count, "{method}");
        assert!(result.get("nextCursor").is_none());
    }
}

#[tokio::test]
async fn a_cursor_that_was_never_given_is_refused() {
    let mut client = client(&Fake::new()).await;
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for cursor in ["", "x", "10"] {
            let error = client.ask(1, method, json!({ "cursor": cursor })).await.unwrap_err();
            assert_eq!(error["code"], -32602, "{method}");
        }
        client.ask(2, method, json!({ "cursor": null })).await.unwrap();
    }
}

#[tokio::test]
async fn a_call_is_passed_on_as_it_is_and_answered_twice_over() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    let arguments = json!({ "id": 5, "nobody": [null, { "knows": true }], "title": "" });
    let result = client.ask(1, "tools/call", call("update", arguments)).await.unwrap();
    assert_eq!(
        engine.operations(),
        [json!({ "action": "update", "id": 5, "nobody": [null, { "knows": true }], "title": "" })]
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    assert!(!text.contains(": "), "compact: {text}");
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["ok"], true);
    let context = engine.performed.lock().unwrap()[0].0.clone();
    assert_eq!(
        (context.cwd.as_str(), context.client.name.as_str(), context.client.version.as_str()),
        ("/project", "tests", "3")
    );
}

#[tokio::test]
async fn a_refusal_is_a_result_that_says_so() {
    let mut client = client(&Fake::new()).await;
    let result = client.ask(1, "tools/call", call("complete", json!({ "id": "refused" }))).await.unwrap();
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"]["error"]["code"], "NOT_FOUND");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_also_one_that_the_engine_knows() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    for tool in ["", "nothing", "list", "migrate_path", "init", "ids", "Add", "apply_plan"] {
        let error = client.ask(1, "tools/call", call(tool, json!({}))).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{tool}");
    }
    assert!(engine.operations().is_empty());
}

#[tokio::test]
async fn absent_and_null_arguments_are_none() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    client.ask(1, "tools/call", json!({ "name": "start" })).await.unwrap();
    client.ask(2, "tools/call", json!({ "name": "start", "arguments": null })).await.unwrap();
    assert_eq!(engine.operations(), [json!({ "action": "start" }), json!({ "action": "start" })]);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused_in_an_envelope() {
    let mut client = client(&Fake::new()).await;
    for arguments in [json!([]), json!("{}"), json!(1), json!(true)] {
        let result = client.ask(1, "tools/call", call("add", arguments)).await.unwrap();
        let envelope = &result["structuredContent"];
        assert_eq!(envelope["action"], "add");
        assert_eq!(envelope["error"]["code"], "VALIDATION_FAILED");
        assert_eq!(envelope["error"]["details"]["fields"], json!(["arguments"]));
        assert_eq!(envelope["meta"]["revisions"]["project"], "7");
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn an_argument_cannot_make_a_tool_do_something_else() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    let arguments = json!({ "action": "migrate_path", "confirm": true });
    let result = client.ask(1, "tools/call", call("read_goals", arguments)).await.unwrap();
    let envelope = &result["structuredContent"];
    assert_eq!(envelope["action"], "read_goals");
    assert_eq!(envelope["error"]["code"], "VALIDATION_FAILED");
    assert_eq!(envelope["error"]["details"]["fields"], json!(["action"]));
    assert_eq!(engine.operations(), [json!({ "action": "next" })]);
}

#[tokio::test]
async fn the_host_s_own_argument_is_dropped() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    let arguments = json!({ "id": "a", "wait_for_previous": true });
    client.ask(1, "tools/call", call("start", arguments)).await.unwrap();
    assert_eq!(engine.operations(), [json!({ "action": "start", "id": "a" })]);
}

#[tokio::test]
async fn a_call_carries_the_key_that_its_host_gave_it() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    for meta in [
        json!({ "io.stepstone/idempotency-key": "k" }),
        json!({ "claudecode/toolUseId": "toolu_1" }),
        json!({ "progressToken": 4 }),
    ] {
        let mut params = call("add", json!({}));
        params["_meta"] = meta;
        client.ask(1, "tools/call", params).await.unwrap();
    }
    let keys: Vec<_> = engine
        .performed
        .lock()
        .unwrap()
        .iter()
        .map(|(context, _)| (context.idempotency_key.clone(), context.idempotency_key_derived))
        .collect();
    assert_eq!(keys, [(Some(json!("k")), false), (Some(json!("claudecode:toolu_1")), true), (None, false)]);
}

#[tokio::test]
async fn a_resource_is_one_envelope_under_the_uri_that_was_asked_for() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    for (uri, operation) in [
        ("stepstone://worklist/list", json!({ "action": "list" })),
        ("stepstone://worklist/find/needle%20in", json!({ "action": "find", "query": "needle in" })),
        ("stepstone://worklist/find/100%", json!({ "action": "find", "query": "100%" })),
        ("stepstone://worklist/show/refused", json!({ "action": "show", "id": "refused" })),
    ] {
        let result = client.ask(1, "resources/read", json!({ "uri": uri })).await.unwrap();
        let [contents] = result["contents"].as_array().unwrap().as_slice() else { panic!("{result}") };
        assert_eq!(contents["uri"], uri);
        assert_eq!(contents["mimeType"], "application/json");
        let envelope: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(envelope["ok"], operation["id"] != "refused");
        assert_eq!(engine.operations().last(), Some(&operation));
    }
    let error =
        client.ask(1, "resources/read", json!({ "uri": "stepstone://worklist/x" })).await.unwrap_err();
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!("stepstone://worklist/x")));
}

#[tokio::test]
async fn ids_are_completed_by_the_engine() {
    let engine = Fake::new();
    let ids: Vec<String> = (0..100).map(|number| format!("goal-{number}")).collect();
    engine.result("ids", json!({ "ids": ids, "total": 250 }));
    let mut client = client(&engine).await;
    let params = |uri: &str, name: &str| json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": name, "value": "Go" } });
    let template = "stepstone://worklist/show/{id}";
    let result = client.ask(1, "completion/complete", params(template, "id")).await.unwrap();
    assert_eq!(result["completion"], json!({ "values": ids, "total": 250, "hasMore": true }));
    assert_eq!(engine.operations(), [json!({ "action": "ids", "prefix": "Go", "limit": 100 })]);
    engine.result("ids", json!({ "ids": ["goal"], "total": 1 }));
    let result = client.ask(1, "completion/complete", params(template, "id")).await.unwrap();
    assert_eq!(result["completion"], json!({ "values": ["goal"], "total": 1, "hasMore": false }));
    for (uri, name) in [
        ("stepstone://worklist/find/{query}", "query"),
        (template, "other"),
        ("stepstone://worklist/list", "id"),
    ] {
        let result = client.ask(1, "completion/complete", params(uri, name)).await.unwrap();
        assert_eq!(result["completion"]["values"], json!([]), "{uri} {name}");
    }
    let error = client.ask(1, "completion/complete", params("file:///x", "id")).await.unwrap_err();
    assert_eq!(error["code"], -32002);
}

#[tokio::test]
async fn prompts_carry_the_workflow_and_the_goal() {
    let engine = Fake::new();
    let mut client = client(&engine).await;
    let plan = json!({ "name": "plan_roadmap", "arguments": { "topic": "the search page" } });
    let result = client.ask(1, "prompts/get", plan).await.unwrap();
    let text = result["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("the search page") && text.contains("apply-plan") && text.contains("1. "),
        "{text}"
    );
    assert!(!text.contains('{') || text.contains("{title"), "{text}");
    engine.result("next", json!({ "goal": { "id": "first" } }));
    engine.result(
        "show",
        json!({ "goal": { "id": "first", "description": "the details" }, "blocks": ["second"] }),
    );
    let result = client.ask(2, "prompts/get", json!({ "name": "next_goal" })).await.unwrap();
    let text = result["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("the details") && text.contains("second") && text.contains("start"), "{text}");
    assert_eq!(result["messages"][0]["role"], "user");
    engine.result("next", json!({}));
    client.ask(3, "prompts/get", json!({ "name": "next_goal" })).await.unwrap();
    assert_eq!(engine.operations().last().unwrap()["action"], "list");
}

#[tokio::test]
async fn unknown_prompts_and_their_arguments_are_protocol_errors() {
    let mut client = client(&Fake::new()).await;
    for params in [
        json!({ "name": "nothing" }),
        json!({ "name": "next_goal", "arguments": { "x": "y" } }),
        json!({ "name": "plan_roadmap", "arguments": { "topic": 7 } }),
    ] {
        let error = client.ask(1, "prompts/get", params.clone()).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{params}");
    }
}
