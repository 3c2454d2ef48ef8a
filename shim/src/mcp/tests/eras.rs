//! Revisions with a handshake, the one without, and both on one connection.

use serde_json::{Value, json};

use super::{Client, Fake, call, hello, modern};

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn a_handshake_agrees_on_each_revision_that_has_one_and_else_on_the_newest() {
    for revision in HANDSHAKES {
        let result = Client::new(&Fake::new()).ask(1, "initialize", hello(revision)).await.unwrap();
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "stepstone");
        assert!(result["instructions"].as_str().unwrap().len() <= 2000);
        assert_eq!(
            result["capabilities"],
            json!({ "completions": {}, "prompts": {}, "resources": { "subscribe": true }, "tools": {} })
        );
        assert!(result.get("resultType").is_none(), "{result}");
    }
    for revision in ["2026-07-28", "1999-01-01", "2030-01-01", "", "x"] {
        let result = Client::new(&Fake::new()).ask(1, "initialize", hello(revision)).await.unwrap();
        assert_eq!(result["protocolVersion"], "2025-11-25", "{revision}");
    }
}

#[tokio::test]
async fn older_revisions_get_no_members_that_they_do_not_know() {
    for revision in HANDSHAKES {
        let mut client = Client::with_handshake(&Fake::new(), revision).await;
        for (method, params) in [
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("prompts/list", json!({})),
            ("tools/call", call("add", json!({}))),
            ("resources/read", json!({ "uri": "stepstone://worklist/list" })),
            ("prompts/get", json!({ "name": "plan_roadmap" })),
        ] {
            let result = client.ask(1, method, params).await.unwrap();
            assert!(result.get("resultType").is_none(), "{revision} {method}: {result}");
            assert!(result.get("_meta").is_none(), "{revision} {method}: {result}");
        }
    }
}

#[tokio::test]
async fn discovery_names_the_revisions_the_capabilities_and_the_server() {
    let result = Client::new(&Fake::new()).ask(1, "server/discover", modern(json!({}))).await.unwrap();
    assert_eq!(
        result["supportedVersions"],
        json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    );
    assert_eq!(result["capabilities"]["resources"], json!({ "subscribe": true }));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "stepstone");
    assert_eq!(result["resultType"], "complete");
    assert!(result["instructions"].is_string());
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public", "{result}");
}

#[tokio::test]
async fn every_result_of_the_newest_revision_says_what_it_is_and_who_answers() {
    let mut client = Client::new(&Fake::new());
    for (method, params, ttl) in [
        ("tools/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/read", json!({ "uri": "stepstone://worklist/list" }), true),
        ("tools/call", call("add", json!({})), false),
        ("prompts/get", json!({ "name": "plan_roadmap" }), false),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "plan_roadmap" }, "argument": { "name": "topic", "value": "" } }),
            false,
        ),
    ] {
        let result = client.ask(1, method, modern(params)).await.unwrap();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "stepstone", "{method}");
        assert_eq!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), ttl, "{method}: {result}");
    }
}

#[tokio::test]
async fn a_revision_that_nobody_knows_is_refused_with_those_that_are_known() {
    let mut client = Client::new(&Fake::new());
    for method in ["server/discover", "tools/list", "tools/call"] {
        let mut params = modern(call("add", json!({})));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
        let error = client.ask(1, method, params).await.unwrap_err();
        assert_eq!(error["code"], -32022, "{method}");
        assert_eq!(error["data"]["requested"], "2099-01-01");
        assert_eq!(error["data"]["supported"].as_array().unwrap().len(), 5);
    }
}

#[tokio::test]
async fn a_request_without_a_handshake_and_without_a_context_is_refused() {
    let mut client = Client::new(&Fake::new());
    for method in ["tools/list", "tools/call", "resources/read", "server/discover", "subscriptions/listen"] {
        let params = json!({ "name": "add", "uri": "stepstone://worklist/list", "notifications": {} });
        let error = client.ask(1, method, params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{method}: {error}");
        assert!(error["message"].as_str().unwrap().contains("io.modelcontextprotocol/"), "{error}");
    }
    for absent in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        let mut params = modern(json!({}));
        params["_meta"].as_object_mut().unwrap().remove(absent);
        let error = client.ask(2, "tools/list", params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{absent}: {error}");
        assert!(error["message"].as_str().unwrap().contains(absent), "{error}");
    }
    assert_eq!(client.ask(3, "ping", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn methods_belong_to_their_era() {
    let mut client = Client::new(&Fake::new());
    for method in ["ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
        let error =
            client.ask(1, method, modern(json!({ "uri": "stepstone://worklist/list" }))).await.unwrap_err();
        assert_eq!(error["code"], -32601, "{method}");
    }
    let mut client = Client::with_handshake(&Fake::new(), "2025-11-25").await;
    let error = client.ask(1, "subscriptions/listen", json!({ "notifications": {} })).await.unwrap_err();
    assert_eq!(error["code"], -32601);
}

#[tokio::test]
async fn both_eras_work_on_one_connection_each_by_its_own_rules() {
    let engine = Fake::new();
    let mut client = Client::new(&engine);
    client.ask(1, "server/discover", modern(json!({}))).await.unwrap();
    client.ask(2, "tools/call", modern(call("add", json!({})))).await.unwrap();
    client.ask(3, "initialize", hello("2024-11-05")).await.unwrap();
    let old = client.ask(4, "tools/call", call("add", json!({}))).await.unwrap();
    assert!(old.get("resultType").is_none());
    let new = client.ask(5, "tools/call", modern(call("add", json!({})))).await.unwrap();
    assert_eq!(new["resultType"], "complete");
    let mut nameless = modern(call("add", json!({})));
    nameless["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    client.ask(6, "tools/call", nameless).await.unwrap();
    let unknown = json!({ "uri": "stepstone://worklist/nothing" });
    assert_eq!(client.ask(7, "resources/read", unknown.clone()).await.unwrap_err()["code"], -32002);
    assert_eq!(client.ask(8, "resources/read", modern(unknown)).await.unwrap_err()["code"], -32602);
    let performed = engine.performed.lock().unwrap();
    let names: Vec<&str> = performed.iter().map(|(context, _)| context.client.name.as_str()).collect();
    assert_eq!(names, ["modern tests", "tests", "modern tests", "mcp"]);
}

#[tokio::test]
async fn the_revision_with_batches_answers_them_in_one_array() {
    let mut client = Client::with_handshake(&Fake::new(), "2025-03-26").await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": call("add", json!({})) },
        { "jsonrpc": "2.0", "id": 3, "method": "nobody/knows" },
        4,
    ]);
    client.send(&batch).await;
    let answers = client.message().await;
    let mut ids: Vec<Value> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!("two"), json!(1), json!(3), Value::Null]);
    client.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }])).await;
    client.ask(9, "ping", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_request_does_not_hold_up_its_batch() {
    let engine = Fake::held();
    let mut client = Client::with_handshake(&engine, "2025-03-26").await;
    client
        .send(&json!([
            { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("add", json!({})) },
            { "jsonrpc": "2.0", "id": 2, "method": "ping" },
        ]))
        .await;
    client.cancel(1).await;
    assert_eq!(client.message().await, json!([{ "jsonrpc": "2.0", "id": 2, "result": {} }]));
}
