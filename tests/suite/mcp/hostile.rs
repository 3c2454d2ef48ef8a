//! Hostile input, one test for each kind: the process stays, and the next request is answered.

use serde_json::{Value, json};
use stepstone_tests::{Mcp, Sandbox};

/// Writes these bytes and a line end, then asks for the roadmap, and gives what was said meanwhile.
fn after(session: &mut Mcp, bytes: &[u8]) -> Vec<Value> {
    session.send_bytes(bytes);
    session.send_bytes(b"\n");
    let asked = session.ask("tools/call", json!({ "name": "read_goals", "arguments": { "view": "list" } }));
    let answer = session.reply(asked).expect("the next request is answered");
    assert_eq!(answer["structuredContent"]["ok"], true, "{answer}");
    std::iter::from_fn(|| session.notification(std::time::Duration::ZERO)).collect()
}

/// The code of the one protocol error that these bytes are answered with.
fn code(bytes: &[u8]) -> i64 {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let said = after(&mut session, bytes);
    let [message] = said.as_slice() else { panic!("{said:?}") };
    message["error"]["code"].as_i64().unwrap_or_else(|| panic!("{message}"))
}

fn silence(bytes: &[u8]) {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    assert_eq!(after(&mut session, bytes), Vec::<Value>::new());
}

#[test]
fn carriage_returns() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let said = after(&mut session, b"{\"jsonrpc\":\"2.0\",\"id\":\"cr\",\"method\":\"ping\"}\r");
    assert_eq!(said, [json!({ "jsonrpc": "2.0", "id": "cr", "result": {} })]);
}

#[test]
fn a_byte_order_mark() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.session().start_silent();
    session.send_bytes("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".as_bytes());
    assert_eq!(session.reply(1), Ok(json!({})));
}

#[test]
fn blank_lines() {
    silence(b"\n\r\n   \n\t");
}

#[test]
fn an_unknown_method() {
    assert_eq!(code(br#"{"jsonrpc":"2.0","id":"x","method":"nobody/knows"}"#), -32601);
}

#[test]
fn an_unknown_notification() {
    silence(br#"{"jsonrpc":"2.0","method":"notifications/nobody_knows","params":{"a":[]}}"#);
}

#[test]
fn notifications_before_the_handshake() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.session().start_silent();
    for method in ["notifications/initialized", "notifications/cancelled", "nobody/knows"] {
        session.notify(method, json!({ "requestId": 1 }));
    }
    assert_eq!(session.request("ping", json!({})), Ok(json!({})));
}

#[test]
fn a_batch_array() {
    assert_eq!(
        code(br#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#),
        -32600
    );
}

#[test]
fn bad_utf8() {
    assert_eq!(code(b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"\xc3\x28\"}"), -32700);
}

#[test]
fn broken_json() {
    assert_eq!(code(br#"{"jsonrpc":"2.0","id":"x","method":"ping""#), -32700);
}

#[test]
fn json_that_is_no_message() {
    assert_eq!(code(b"[1,2,3]"), -32600);
    assert_eq!(code(b"\"hello\""), -32600);
}

#[test]
fn a_known_method_with_wrong_parameters() {
    assert_eq!(code(br#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":7}}"#), -32602);
}

#[test]
fn deep_nesting() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"add","arguments":{deep}}}}}"#
    );
    assert_eq!(code(line.as_bytes()), -32602);
}

#[test]
fn a_line_of_ten_mebibytes() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let text = "x".repeat(10 * 1024 * 1024);
    let added = session.call("add", json!({ "title": "Long", "description": text }));
    assert_eq!(added.text("description").len(), text.len());
    assert_eq!(after(&mut session, b""), Vec::<Value>::new());
}

#[test]
fn ten_mebibytes_that_are_no_message() {
    assert_eq!(code(&vec![b'x'; 10 * 1024 * 1024]), -32700);
}

#[test]
fn a_line_that_is_too_long_for_anything() {
    assert_eq!(code(&vec![b'x'; 20 * 1024 * 1024]), -32600);
}

#[test]
fn half_a_character() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    session.send_bytes(
        br#"{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"name":"add","arguments":{"title":"Cut \ud83d"}}}
"#,
    );
    let added = session.reply(900).unwrap();
    assert_eq!(added["structuredContent"]["result"]["goal"]["title"], "Cut \u{fffd}");
    assert_eq!(after(&mut session, b""), Vec::<Value>::new());
}

#[test]
fn an_argument_that_names_another_action() {
    let sandbox = Sandbox::new();
    sandbox.write(".pi/worklist.json", stepstone_tests::worklist(3, []));
    let mut session = sandbox.mcp();
    let refused =
        session.call("read_goals", json!({ "action": "migrate_path", "confirm": true, "view": "list" }));
    let details = refused.refused_with("VALIDATION_FAILED", "remove-unknown-fields");
    assert_eq!(details["fields"], json!(["action"]));
    assert_eq!(refused.revision(), Some(3));
    assert!(sandbox.path(".pi/worklist.json").exists());
}

#[test]
fn every_optional_field_filled_with_nothing_changes_nothing() {
    let sandbox = Sandbox::new();
    let mut session = sandbox.mcp();
    let before = session.call(
        "add",
        json!({ "title": "One", "description": "Text", "group": "G", "links": ["https://a.example/"] }),
    );
    let nothing = [
        (
            "update",
            json!({ "title": null, "description": null, "appendDescription": null, "group": null, "dependsOn": null, "links": null, "expectedUpdatedAt": null }),
        ),
        ("start", json!({ "branch": null, "clear": null, "takeOver": null, "expectedUpdatedAt": null })),
        ("start", json!({ "branch": "", "clear": false, "takeOver": false })),
        ("set_active", json!({ "expectedUpdatedAt": null })),
        ("move", json!({ "direction": "up", "beforeId": "", "afterId": null })),
    ];
    for (tool, mut arguments) in nothing {
        arguments["id"] = json!("one");
        let answer = session.call(tool, arguments.clone());
        if tool == "update" {
            answer.refused_with("VALIDATION_FAILED", "provide-a-change");
        } else {
            let goal = answer.goal();
            for field in ["title", "description", "group", "links"] {
                assert_eq!(goal[field], before.goal()[field], "{tool} {arguments}");
            }
        }
    }
}
