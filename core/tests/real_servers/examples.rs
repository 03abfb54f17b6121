//! The servers that the TypeScript SDK shows its users: with sessions, polling, plain JSON, without
//! sessions, and with changes that nobody asked for.

use std::collections::BTreeMap;
use std::future::Future;

use serde_json::{Value, json};
use trunkline::{CallOptions, EventMask, Lease, Session, Subscription};

use super::call;
use super::remote::{Expected, with_server};

type Servers = BTreeMap<String, Value>;

fn with_example<W: Future<Output = ()>>(
    servers: &Servers,
    name: &str,
    work: impl FnOnce(Session, Lease) -> W,
) {
    let expected = Expected { transport: "http", era: None, entries: 2 };
    with_server(servers, name, Some("http"), expected, work);
}

fn events(session: &Session) -> Subscription {
    session.subscribe(EventMask::ALL).unwrap()
}

/// Waits for an event of that type which holds these words.
async fn heard(events: &Subscription, kind: &str, words: &str) {
    let kind = format!("\"type\":\"{kind}\"");
    loop {
        let event = events.next().await.expect("the pool is open");
        if event.json().contains(&kind) && event.json().contains(words) {
            return;
        }
    }
}

async fn greet(lease: &Lease) {
    let result = call(lease, "greet", json!({ "name": "Ada" })).await;
    assert_eq!(result["content"][0]["text"], "Hello, Ada!", "{result}");
}

/// It logs while it is called, over the stream of what is unasked.
async fn notify(session: &Session, lease: &Lease) {
    let events = events(session);
    call(lease, "start-notification-stream", json!({ "interval": 20, "count": 3 })).await;
    heard(&events, "log", "Periodic notification #3").await;
}

pub fn sessions(servers: &Servers) {
    with_example(servers, "sdk_sessions", |session, lease| async move {
        greet(&lease).await;
        notify(&session, &lease).await;
        let options = CallOptions::default();
        let prompt = lease.get_prompt("greeting-template", r#"{"name":"Ada"}"#, &options).await;
        assert!(prompt.unwrap().json().contains("Ada"));
        let uri = "https://example.com/greetings/default";
        let read = lease.read_resource(uri, &options).await.unwrap();
        assert!(read.json().contains("Hello"), "{}", read.json());
    });
}

/// The server ends the stream in the middle of the call, and brings the rest to who asks for it.
pub fn polling(servers: &Servers) {
    with_example(servers, "sdk_polling", |session, lease| async move {
        let events = events(&session);
        let result = call(&lease, "long-task", json!({})).await;
        assert_eq!(result["content"][0]["text"], "Long task completed successfully!", "{result}");
        for part in ["25%", "50%", "75%", "100%"] {
            heard(&events, "log", part).await;
        }
    });
}

pub fn json(servers: &Servers) {
    with_example(servers, "sdk_json", |_session, lease| async move {
        greet(&lease).await;
        let result = call(&lease, "multi-greet", json!({ "name": "Ada" })).await;
        assert_eq!(result["content"][0]["text"], "Good morning, Ada!", "{result}");
    });
}

/// What it notifies of belongs to no request, and it has no stream for that.
pub fn stateless(servers: &Servers) {
    with_example(servers, "sdk_stateless", |session, lease| async move {
        let arguments = json!({ "interval": 20, "count": 3 });
        let result = call(&lease, "start-notification-stream", arguments).await;
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(said.starts_with("Started sending periodic notifications"), "{result}");
        assert!(!session.prompts().unwrap().is_empty());
    });
}

/// Every five seconds it has another resource, and says so over the stream of what is unasked.
pub fn changes(servers: &Servers) {
    with_example(servers, "sdk_changes", |session, lease| async move {
        let events = events(&session);
        let before = session.resources().unwrap().len();
        heard(&events, "resources_changed", "mcp-example.com/dynamic/").await;
        assert!(session.resources().unwrap().len() > before);
        drop(lease);
    });
}
