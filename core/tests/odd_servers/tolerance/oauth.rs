//! What an authorization server says: how a sign-in ends, and what is left after it.

use rig::person::{assert_shows_no_secret, guarded, options, visit};
use rig::{Rig, acquire, host, text};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error};

use crate::tolerance::rows::Row;

pub fn see(row: &Row) -> Value {
    let rig = Rig::new(json!({}));
    let (remote, config) = guarded(&rig, &row.value()["ways"], row.value()["oauth"].clone());
    let origin = remote.url.trim_end_matches("/mcp");
    let (came, apart) = host(async {
        rig.configure(json!({ "s": config, "t": rig.server(&[]) })).await;
        let came = sign_in(&rig).await;
        let apart = acquire(&rig.session("b"), "t").await;
        (came, text(&apart, "echo", json!({ "message": "apart" })).await)
    });
    assert_shows_no_secret(&rig, came.as_ref().err().map(|(_, error)| error));
    let came = match came {
        Ok(()) => json!("signed in"),
        Err((at, error)) => json!({ "at": at, "error": error.to_json() }),
    };
    let seen = json!({ "came": came, "apart": { "result": { "content": [{ "text": apart }] } }, "met": true });
    serde_json::from_str(&seen.to_string().replace(origin, "$origin")).unwrap()
}

async fn sign_in(rig: &Rig) -> Result<(), (&'static str, Error)> {
    let session = rig.session("a");
    let patience = AcquireOptions::default();
    let acquire = || session.acquire("s", None, &patience);
    acquire().await.err().expect("it wants a token");
    let begun = rig.pool.sign_in("s", &options()).await.map_err(|error| ("sign_in", error))?;
    let back = visit(begun["url"].as_str().unwrap());
    rig.pool.finish_sign_in(&back).await.map_err(|error| ("finish", error))?;
    let lease = acquire().await.map_err(|error| ("acquire", error))?;
    let called = lease.call_tool("echo", r#"{"message":"hi"}"#, &CallOptions::default()).await;
    called.map(drop).map_err(|error| ("call", error))
}
