//! Who is told of what, in both eras.

use serde_json::{Value, json};

use super::{Client, Fake, modern, settle};
use crate::engine::Event;

const LIST: &str = "stepstone://worklist/list";
const NEXT: &str = "stepstone://worklist/next";
const SHOW: &str = "stepstone://worklist/show/a";
const ID: &str = "io.modelcontextprotocol/subscriptionId";

async fn listen(client: &mut Client, id: impl Into<Value>, uris: &[&str]) -> Value {
    let filter = json!({ "notifications": { "resourceSubscriptions": uris, "toolsListChanged": true } });
    client.request(id, "subscriptions/listen", modern(filter)).await;
    client.message().await
}

fn updated(message: &Value) -> (&str, &Value) {
    assert_eq!(message["method"], "notifications/resources/updated", "{message}");
    (message["params"]["uri"].as_str().unwrap(), &message["params"]["_meta"][ID])
}

#[tokio::test]
async fn older_revisions_subscribe_and_unsubscribe_by_uri() {
    let engine = Fake::new();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    for uri in [LIST, NEXT] {
        assert_eq!(client.ask(1, "resources/subscribe", json!({ "uri": uri })).await, Ok(json!({})));
    }
    engine.events.send(Event::Changed).unwrap();
    let messages = [client.message().await, client.message().await];
    assert_eq!(messages.each_ref().map(|message| updated(message).0), [LIST, NEXT]);
    assert_eq!(client.ask(2, "resources/unsubscribe", json!({ "uri": NEXT })).await, Ok(json!({})));
    assert_eq!(client.ask(3, "resources/unsubscribe", json!({ "uri": "never" })).await, Ok(json!({})));
    engine.events.send(Event::Changed).unwrap();
    assert_eq!(updated(&client.message().await).0, LIST);
    assert_eq!(client.end().await, Vec::<Value>::new());
    assert_eq!(*engine.watches.lock().unwrap(), 1);
}

#[tokio::test]
async fn what_is_no_resource_cannot_be_subscribed_to() {
    let mut client = Client::with_handshake(&Fake::new(), "2025-06-18").await;
    let error = client.ask(1, "resources/subscribe", json!({ "uri": "file:///x" })).await.unwrap_err();
    assert_eq!(error["code"], -32002);
    assert_eq!(error["data"]["uri"], "file:///x");
    let acknowledged = listen(&mut client, 2, &["file:///x", LIST]).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "resourceSubscriptions": [LIST] }));
    assert_eq!(acknowledged["params"]["_meta"][ID], 2);
}

#[tokio::test]
async fn each_listener_is_told_of_its_own_uris_under_its_own_id() {
    let engine = Fake::new();
    let mut client = Client::new(&engine);
    listen(&mut client, "one", &[LIST]).await;
    listen(&mut client, 2, &[NEXT, LIST]).await;
    listen(&mut client, 3, &[]).await;
    engine.events.send(Event::Changed).unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        let message = client.message().await;
        let (uri, id) = updated(&message);
        told.push((id.to_string(), uri.to_owned()));
    }
    told.sort();
    let expected = [("\"one\"", LIST), ("2", LIST), ("2", NEXT)];
    assert_eq!(told, expected.map(|(id, uri)| (id.to_owned(), uri.to_owned())));
    client.cancel("one").await;
    client.cancel(3).await;
    engine.events.send(Event::Changed).unwrap();
    for _ in 0..2 {
        assert_eq!(*updated(&client.message().await).1, 2);
    }
    assert_eq!(*engine.watches.lock().unwrap(), 1);
}

#[tokio::test]
async fn the_watch_ends_with_the_last_subscription_and_begins_again_with_the_next() {
    let engine = Fake::new();
    let mut client = Client::with_handshake(&engine, "2025-11-25").await;
    client.ask(1, "resources/subscribe", json!({ "uri": LIST })).await.unwrap();
    listen(&mut client, 2, &[LIST]).await;
    client.cancel(2).await;
    client.ask(3, "resources/unsubscribe", json!({ "uri": LIST })).await.unwrap();
    super::eventually(|| engine.events.receiver_count() == 0).await;
    client.ask(4, "resources/subscribe", json!({ "uri": LIST })).await.unwrap();
    assert_eq!(engine.events.receiver_count(), 1);
    assert_eq!(*engine.watches.lock().unwrap(), 2);
}

#[tokio::test]
async fn events_that_come_together_are_told_once() {
    let engine = Fake::new();
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    client.ask(1, "resources/subscribe", json!({ "uri": LIST })).await.unwrap();
    for _ in 0..10 {
        engine.events.send(Event::Changed).unwrap();
    }
    updated(&client.message().await);
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn one_goal_is_told_of_only_when_its_answer_differs() {
    let engine = Fake::new();
    engine.result("show", json!({ "goal": { "id": "a", "title": "A" } }));
    let mut client = Client::with_handshake(&engine, "2025-06-18").await;
    for uri in [SHOW, LIST] {
        client.ask(1, "resources/subscribe", json!({ "uri": uri })).await.unwrap();
    }
    engine.events.send(Event::Changed).unwrap();
    assert_eq!(updated(&client.message().await).0, LIST);
    engine.result("show", json!({ "goal": { "id": "a", "title": "B" } }));
    engine.events.send(Event::Changed).unwrap();
    assert_eq!(updated(&client.message().await).0, LIST);
    assert_eq!(updated(&client.message().await).0, SHOW);
    engine.events.send(Event::ReadAgain).unwrap();
    assert_eq!(updated(&client.message().await).0, LIST);
    assert_eq!(updated(&client.message().await).0, SHOW);
}

#[tokio::test]
async fn a_client_that_subscribes_to_nothing_is_watched_for_nothing() {
    let engine = Fake::new();
    let mut client = Client::new(&engine);
    let acknowledged = listen(&mut client, 1, &[]).await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
    settle().await;
    assert_eq!(*engine.watches.lock().unwrap(), 0);
}
