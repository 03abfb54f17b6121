//! Secrets where a host, a model or a server can put one, and a search for each in every byte that
//! a receiver gets (S-48).

use crate::rig::{Answers, Receiver, Rig, call, host, testserver};
use serde_json::json;
use trunkline::otlp::Export;
use trunkline::{CallOptions, SessionOptions};

/// S-48
#[test]
fn no_secret_is_told() {
    let receiver = Receiver::start(Answers::Well);
    host(async {
        let mut to = Export::to(receiver.endpoint());
        to.headers = vec![("x-key".into(), "of-the-receiver".into())];
        let rig = Rig::with(&to);
        let dead = "http://127.0.0.1:1/mcp?key=canary-query";
        rig.configure(json!({
            "s": { "command": testserver(), "args": ["--label", "canary-arg"], "env": { "KEY": "canary-env" } },
            "dead": { "url": dead, "connect_timeout_ms": 3000, "headers": { "Authorization": "Bearer canary-header" } },
        }))
        .await;
        let session = rig.pool.session(SessionOptions::new("canary-session")).unwrap();
        let _ = session.ready(None, None).await;
        let lease = rig.lease(&session).await;
        assert!(call(&lease, "echo", json!({ "message": "canary-argument" })).await.is_ok());
        assert!(call(&lease, "fail", json!({ "text": "canary-failure" })).await.is_ok());
        let error = json!({ "code": -7, "message": "canary-words", "data": "canary-data" });
        assert!(call(&lease, "error", error).await.is_err());
        let mut options = CallOptions::default();
        options.meta = Some(r#"{"baggage":"k=canary-baggage","own":"canary-meta"}"#.into());
        assert!(lease.call_tool("meta", "{}", &options).await.is_ok());
        let options = CallOptions::default();
        assert!(
            session.call_tool("mcp__dead__x", r#"{"a":"canary-unsent"}"#, &options).await.is_err()
        );
        for uri in ["https://canary-user:canary-pass@h/a?canary-ask#canary-part", "//canary@h"] {
            let _ = lease.read_resource(uri, &options).await;
        }
        let _ = lease
            .request("completion/complete", r#"{"argument":"canary-completion"}"#, &options)
            .await;
        drop(lease);
        rig.end().await;
    });
    let told = receiver.told();
    assert!(told.spans.len() >= 8 && told.metrics.len() >= 5, "{:?}", told.spans);
    for raw in &told.raw {
        let text = String::from_utf8_lossy(raw);
        assert!(text.contains("x-key: of-the-receiver"));
        let place = text.find("canary");
        assert!(
            place.is_none(),
            "{:?}",
            place.map(|place| text[place..].chars().take(40).collect::<String>())
        );
    }
}
