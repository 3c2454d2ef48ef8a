//! Whatever is written to it, the next request is answered.

use serde_json::json;

use super::{Client, Fake, call};

/// Sends these bytes as a line, then a ping, and gives what was said before the ping's answer.
async fn said_to(bytes: &[u8]) -> Vec<serde_json::Value> {
    let mut client = Client::with_handshake(&Fake::new(), "2025-06-18").await;
    client.send_bytes(bytes).await;
    client.send_bytes(b"\n").await;
    client.request("after", "ping", json!({})).await;
    let mut said = Vec::new();
    loop {
        let message = client.message().await;
        if message["id"] == "after" {
            assert_eq!(message["result"], json!({}));
            return said;
        }
        said.push(message);
    }
}

async fn refused_with(bytes: &[u8], id: Option<i64>, code: i64) {
    let said = said_to(bytes).await;
    let shown = String::from_utf8_lossy(bytes.get(..80).unwrap_or(bytes));
    assert_eq!(said.len(), 1, "{shown}");
    assert_eq!(said[0].get("id").and_then(serde_json::Value::as_i64), id, "{shown}: {}", said[0]["error"]);
    assert_eq!(said[0]["error"]["code"], code, "{shown}");
}

#[tokio::test]
async fn blank_lines_and_unknown_notifications_are_passed_over() {
    for bytes in [
        "",
        "\r",
        "   ",
        r#"{"jsonrpc":"2.0","method":"notifications/nobody_knows","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never asked"}}"#,
        r#"{"jsonrpc":"2.0","id":44,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":44,"error":{"code":-1,"message":"no"}}"#,
    ] {
        assert_eq!(said_to(bytes.as_bytes()).await, Vec::<serde_json::Value>::new(), "{bytes}");
    }
}

#[tokio::test]
async fn carriage_returns_and_byte_order_marks_do_not_matter() {
    for bytes in ["\u{feff}", ""] {
        let line = format!("{bytes}{}\r", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(said_to(line.as_bytes()).await, [json!({ "jsonrpc": "2.0", "id": 1, "result": {} })]);
    }
}

#[tokio::test]
async fn broken_json_is_answered_without_an_id() {
    for bytes in ["{", "nonsense", r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, "}{", "\0"] {
        refused_with(bytes.as_bytes(), None, -32700).await;
    }
}

#[tokio::test]
async fn json_that_is_no_message_is_answered() {
    for bytes in ["1", "null", "\"x\"", "{}", "[]", "[1]"] {
        refused_with(bytes.as_bytes(), None, -32600).await;
    }
}

#[tokio::test]
async fn bad_utf8_is_answered() {
    refused_with(b"\xff\xfe\xfd", None, -32700).await;
    refused_with(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xc3\x28\"}", Some(5), -32700).await;
}

#[tokio::test]
async fn a_batch_is_refused_as_a_whole_where_the_revision_has_none() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    refused_with(batch.as_bytes(), None, -32600).await;
}

#[tokio::test]
async fn unknown_methods_and_wrong_parameters_are_told_apart() {
    for (method, params, code) in [
        ("nobody/knows", "{}", -32601),
        ("tools/call", "{}", -32602),
        ("tools/call", r#"{"name":[]}"#, -32602),
        ("tools/call", "[]", -32602),
        ("tools/list", r#"{"cursor":1}"#, -32602),
        ("resources/read", r#"{"uri":7}"#, -32602),
        ("prompts/get", "null", -32602),
        ("completion/complete", r#"{"ref":{"type":"ref/resource"}}"#, -32602),
        ("initialize", "{}", -32602),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        refused_with(line.as_bytes(), Some(1), code).await;
    }
}

#[tokio::test]
async fn a_line_of_ten_mebibytes_is_a_request_like_any_other() {
    let text = "x".repeat(10 * 1024 * 1024);
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("add", json!({ "title": text })) });
    let said = said_to(request.to_string().as_bytes()).await;
    assert_eq!(
        said[0]["result"]["structuredContent"]["result"]["operation"]["title"].as_str().unwrap().len(),
        text.len()
    );
}

#[tokio::test]
async fn a_line_over_the_limit_is_answered_and_forgotten() {
    refused_with(&vec![b'x'; 17 * 1024 * 1024], None, -32600).await;
}

#[tokio::test]
async fn deeply_nested_parameters_are_refused_with_the_id() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{deep}}}}}"#
    );
    refused_with(line.as_bytes(), Some(1), -32602).await;
}

#[tokio::test]
async fn half_a_character_in_a_text_reaches_the_engine_as_a_replacement() {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"title":"a\ud83d"}}}"#;
    let said = said_to(line.as_bytes()).await;
    assert_eq!(said[0]["result"]["structuredContent"]["result"]["operation"]["title"], "a\u{fffd}");
}

#[tokio::test]
async fn notifications_before_the_first_request_do_not_end_the_server() {
    for opener in ["notifications/initialized", "notifications/cancelled", "notifications/nobody_knows"] {
        let mut client = Client::new(&Fake::new());
        client.send(&json!({ "jsonrpc": "2.0", "method": opener, "params": { "requestId": 1 } })).await;
        let result = client.ask(1, "initialize", super::hello("2025-06-18")).await.unwrap();
        assert_eq!(result["serverInfo"]["name"], "stepstone", "{opener}");
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let mut client = Client::with_handshake(&Fake::new(), "2025-06-18").await;
    for id in ["18446744073709551615", "-1", "0", "1.0", "99999999999999999999999", r#""a\"b""#, r#""""#] {
        client
            .send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes())
            .await;
        assert_eq!(client.line().await.unwrap(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[tokio::test]
async fn an_id_in_use_confuses_nothing() {
    let engine = Fake::held();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    client.request(1, "tools/call", call("add", json!({ "title": "a" }))).await;
    client.request(1, "tools/call", call("add", json!({ "title": "b" }))).await;
    engine.permits.add_permits(2);
    for title in ["a", "b"] {
        let result = client.reply(1).await.unwrap();
        assert_eq!(result["structuredContent"]["result"]["operation"]["title"], title);
    }
}
