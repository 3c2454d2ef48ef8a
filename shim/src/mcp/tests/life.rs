//! Cancellation, the end of the input, the end of the output.

use serde_json::{Value, json};

use super::{Client, Fake, call, modern, settle};

#[tokio::test]
async fn nothing_is_said_about_a_request_after_its_cancellation() {
    let engine = Fake::held();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    client.request("x", "tools/call", call("add", json!({ "title": "a" }))).await;
    super::eventually(|| engine.operations().len() == 1).await;
    client.cancel("x").await;
    client.request("y", "tools/call", call("add", json!({ "title": "b" }))).await;
    engine.permits.add_permits(2);
    let result = client.reply("y").await.unwrap();
    assert_eq!(result["structuredContent"]["result"]["operation"]["title"], "b");
    assert_eq!(*engine.withdrawn.lock().unwrap(), ["add"]);
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_engine_gets_ready_once_and_behind_the_first_answer() {
    let engine = Fake::new();
    let mut client = Client::new(&engine);
    settle().await;
    assert_eq!(*engine.warmed.lock().unwrap(), 0, "nobody has asked");
    client.ask(0, "initialize", super::hello("2025-06-18")).await.unwrap();
    super::eventually(|| *engine.warmed.lock().unwrap() == 1).await;
    client.ask(1, "ping", json!({})).await.unwrap();
    settle().await;
    assert_eq!(*engine.warmed.lock().unwrap(), 1);
}

#[tokio::test]
async fn an_answer_that_is_ready_is_not_sent_after_a_cancellation_either() {
    let engine = Fake::new();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    // Both lines are read before anything is carried out.
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    client.send_bytes(format!("{request}\n{cancel}\n").as_bytes()).await;
    client.request(2, "ping", json!({})).await;
    let mut said = Vec::new();
    loop {
        let message = client.message().await;
        if message["id"] == 2 {
            break;
        }
        said.push(message);
    }
    // The answer may have gone out before the cancellation was read, never behind it.
    assert!(said.len() <= 1, "{said:?}");
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_id_can_be_used_again_after_its_cancellation() {
    let engine = Fake::held();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    client.request(1, "tools/call", call("add", json!({ "title": "old" }))).await;
    client.cancel(1).await;
    client.request(1, "tools/call", call("add", json!({ "title": "new" }))).await;
    engine.permits.add_permits(2);
    let result = client.reply(1).await.unwrap();
    assert_eq!(result["structuredContent"]["result"]["operation"]["title"], "new");
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_cancellation_of_what_is_finished_or_unknown_is_ignored() {
    let mut client = Client::with_handshake(&Fake::new(), "2025-11-25").await;
    client.ask(1, "tools/call", call("add", json!({}))).await.unwrap();
    for id in [json!(1), json!(2), json!("never"), json!(null), json!({})] {
        client.cancel(id).await;
    }
    client.ask(3, "ping", json!({})).await.unwrap();
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_handshake_cannot_be_cancelled() {
    let mut client = Client::new(&Fake::new());
    let request =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": super::hello("2025-06-18") });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    client.send_bytes(format!("{request}\n{cancel}\n").as_bytes()).await;
    assert_eq!(client.reply(1).await.unwrap()["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn what_is_in_flight_at_the_end_of_the_input_is_answered() {
    for in_flight in [0, 1, 5, 200] {
        let engine = Fake::held();
        let mut client = Client::with_handshake(&engine, "2025-06-18").await;
        for id in 0..in_flight {
            client.request(id, "tools/call", call("add", json!({}))).await;
        }
        let ending = tokio::spawn(client.end());
        settle().await;
        assert!(in_flight == 0 || !ending.is_finished(), "{in_flight}");
        engine.permits.add_permits(in_flight);
        let mut ids: Vec<u64> =
            ending.await.unwrap().iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..u64::try_from(in_flight).unwrap()).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_last_request_without_a_line_end_is_answered() {
    let mut client = Client::with_handshake(&Fake::new(), "2025-06-18").await;
    client.send_bytes(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(client.end().await, [json!({ "jsonrpc": "2.0", "id": 1, "result": {} })]);
}

#[tokio::test]
async fn a_server_that_was_told_nothing_ends_quietly() {
    assert_eq!(Client::new(&Fake::new()).end().await, Vec::<Value>::new());
}

/// rmcp by itself would wait for them for five seconds.
#[tokio::test(start_paused = true)]
async fn open_subscriptions_do_not_hold_up_the_end() {
    let begin = tokio::time::Instant::now();
    let mut client = Client::new(&Fake::new());
    let filter = json!({ "notifications": { "resourceSubscriptions": ["stepstone://worklist/list"] } });
    client.request(1, "subscriptions/listen", modern(filter)).await;
    assert_eq!(client.message().await["method"], "notifications/subscriptions/acknowledged");
    let said = client.end().await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["id"], 1);
    assert_eq!(said[0]["result"]["resultType"], "complete");
    assert_eq!(said[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert_eq!(begin.elapsed(), super::Duration::ZERO);
}

/// rmcp by itself would give up after five seconds.
#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_waited_for_at_the_end_of_the_input() {
    let engine = Fake::held();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    client.request(1, "tools/call", call("add", json!({}))).await;
    let ending = tokio::spawn(client.end());
    // Below the bound of these tests, above that of rmcp.
    tokio::time::sleep(super::Duration::from_secs(15)).await;
    engine.permits.add_permits(1);
    assert_eq!(ending.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_closed_output_ends_the_server() {
    let mut client = Client::with_handshake(&Fake::new(), "2025-06-18").await;
    client.request(1, "ping", json!({})).await;
    let (input, server) = client.stop_reading();
    tokio::time::timeout(super::LIMIT, server).await.expect("the server goes on").unwrap();
    drop(input);
}
