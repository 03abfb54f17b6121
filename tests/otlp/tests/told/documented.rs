//! The example in Rust of `docs/guide/observability.md`.

use serde_json::json;

use crate::rig::{Answers, Receiver, host, testserver};

use std::time::Duration;

use trunkline::otlp::{Export, Telemetry};
use trunkline::{CallOptions, Pool, PoolOptions, Servers, SessionOptions};

/// `collector` is an address such as `http://localhost:4318`.
async fn watched(collector: &str, servers: &str) -> trunkline::Result<()> {
    let mut to = Export::to(collector);
    to.service = Some("my-agent".into());
    let telemetry = Telemetry::export(&to)?;
    let pool = Pool::with_telemetry(PoolOptions::default(), &telemetry)?;
    pool.reconcile(Servers::from_json(servers)?).await?;
    let chat = pool.session(SessionOptions::new("chat-1"))?;
    chat.ready(Some("demo"), None).await?;
    chat.call_tool("mcp__demo__echo", r#"{"message": "hi"}"#, &CallOptions::default()).await?;
    pool.close().await?;
    telemetry.shutdown(Duration::from_secs(2))
}

#[test]
fn the_example_tells_a_collector_of_its_call() {
    let receiver = Receiver::start(Answers::Well);
    let servers = json!({ "demo": { "command": testserver() } }).to_string();
    host(watched(&receiver.endpoint(), &servers)).unwrap();
    let told = receiver.told();
    assert_eq!(told.span("tools/call mcp__demo__echo").kind, 3);
    assert_eq!(told.numbers("mcp.client.operation.duration").len(), 1);
}
