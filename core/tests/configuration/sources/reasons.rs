//! Why a server that may run is not connected, and a tool is kept back, from pools with real
//! servers (SPEC 11.6, I-27).

use std::io::{Read, Write};

use super::*;
use trunkline::{CallOptions, DrainOptions, HandlerKind, Handlers, PoolOptions, ServerRequest};

fn reason(rig: &Rig, name: &str) -> Value {
    let explanation = rig.pool.explain(name).unwrap();
    assert_eq!(explanation["available"], explanation["reason"].is_null(), "{explanation}");
    assert_eq!(explanation["remedy"].is_string(), explanation["reason"].is_string());
    explanation["reason"].clone()
}

/// SPEC 9.5, 11.6, I-27: what the budget has no room for says so, and so do its tools.
#[test]
fn a_server_beyond_the_budget_is_explained() {
    let rig = rig(json!({ "budget": { "limit": 1, "mode": "enforce" } }));
    host(async {
        let session = wanting(&rig, "a");
        rig.configure(json!({ "s": rig.server(&[]), "t": rig.server(&[]) })).await;
        settled(&rig).await;
        let reasons = [reason(&rig, "s"), reason(&rig, "t")];
        assert_eq!(reasons, [Value::Null, json!("budget")]);
        assert_eq!(reason(&rig, "mcp__t__echo"), "budget");
        assert_eq!(session.explain("t").unwrap()["reason"], "budget");
        assert_eq!(session.explain("mcp__t__echo").unwrap()["reason"], "budget");
    });
}

/// SPEC 3.1, 11.6, I-27: a server that is on its way, for the first time and again.
#[test]
fn a_server_that_is_on_its_way_is_explained() {
    let rig = rig(json!({ "reconnect": { "delays_ms": { "local": [1] } } }));
    host(async {
        let session = wanting(&rig, "a");
        let gate = rig.path("gate");
        let server = rig.server(&[]);
        let line =
            format!("until [ -e {} ]; do sleep 0.02; done; exec \"$0\" \"$@\"", gate.display());
        let mut args = vec![json!("-c"), json!(line), server["command"].clone()];
        args.extend(server["args"].as_array().unwrap().iter().cloned());
        rig.configure(json!({ "s": { "command": "/bin/sh", "args": args } })).await;
        until(|| reason(&rig, "s") == "connecting");
        assert_eq!(reason(&rig, "mcp__s__echo"), "connecting");
        assert_eq!(session.explain("s").unwrap()["reason"], "connecting");
        std::fs::write(&gate, "").unwrap();
        settled(&rig).await;
        assert_eq!(reason(&rig, "s"), Value::Null);
        std::fs::remove_file(&gate).unwrap();
        let lease = rig::acquire(&session, "s").await;
        let _ = lease.call_tool("crash", "{}", &CallOptions::default()).await;
        until(|| reason(&rig, "s") == "reconnecting");
        assert_eq!(reason(&rig, "mcp__s__echo"), "reconnecting");
        assert_eq!(session.explain("s").unwrap()["reason"], "reconnecting");
        std::fs::write(&gate, "").unwrap();
        until(|| reason(&rig, "s") == Value::Null);
    });
}

/// SPEC 9.7, 11.6, I-27: one of a pool that drains.
#[test]
fn a_server_of_a_pool_that_closes_is_explained() {
    let rig = rig(json!({}));
    host(async {
        let session = wanting(&rig, "a");
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        settled(&rig).await;
        rig.pool.drain_all(&DrainOptions::default()).await.unwrap();
        assert_eq!([reason(&rig, "s"), reason(&rig, "mcp__s__echo")], ["closing", "closing"]);
        assert_eq!(session.explain("s").unwrap()["reason"], "closing");
    });
}

/// SPEC 10.5, 11.6, I-27: one that waits for the host.
#[test]
fn a_server_that_waits_for_the_host_is_explained() {
    let (answers, asked) = tokio::sync::watch::channel(false);
    let handlers = Handlers::new().with(HandlerKind::Secrets, move |_: ServerRequest| {
        let mut asked = asked.clone();
        async move {
            let _ = asked.wait_for(|answers| *answers).await;
            Ok(json!({ "value": "sesame" }).to_string())
        }
    });
    let rig = Rig::in_workspace_with(|workspace| {
        let options = json!({ "approvals": "memory", "workspace": workspace });
        let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
        options.untrusted_sources.push(trunkline::Scope::User);
        options.handlers = handlers;
        options
    });
    host(async {
        let session = wanting(&rig, "a");
        let mut server = rig.server(&[]);
        server["env"] = json!({ "WORD": "${secret:word}" });
        set(&rig.pool, "user", json!({ "s": server }));
        assert_eq!(reason(&rig, "s"), "waiting");
        assert_eq!(reason(&rig, "mcp__s__echo"), "waiting");
        assert_eq!(session.explain("s").unwrap()["reason"], "waiting");
        answers.send(true).unwrap();
        settled(&rig).await;
        assert_eq!(reason(&rig, "s"), Value::Null);
    });
}

/// SPEC 7.6, 11.6: a tool that changed and was not accepted.
#[test]
fn a_tool_that_is_kept_back_is_explained() {
    let rig = rig(json!({ "on_tool_change": "quarantine" }));
    host(async {
        let session = wanting(&rig, "a");
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--tools", "2"]) })).await;
        settled(&rig).await;
        let lease = rig::acquire(&session, "s").await;
        let other = json!({ "name": "tool_1", "description": "x", "inputSchema": {} });
        rig::text(&lease, "change_list", json!({ "define": other })).await;
        until(|| reason(&rig, "mcp__s__tool_1") == "quarantined");
        assert_eq!(session.explain("mcp__s__tool_1").unwrap()["reason"], "quarantined");
        assert_eq!(reason(&rig, "mcp__s__echo"), Value::Null);
    });
}

/// SPEC 14, 11.6, I-27: one that wants credentials.
#[test]
fn a_server_that_wants_credentials_is_explained() {
    let rig = rig(json!({}));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            if request[..read].starts_with(b"STOP") {
                return;
            }
            let answer = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n\
                          content-length: 0\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    host(async {
        let session = wanting(&rig, "a");
        let url = format!("http://{address}/mcp");
        rig.configure(json!({ "s": { "type": "http", "url": url } })).await;
        settled(&rig).await;
        assert_eq!(reason(&rig, "s"), "auth_required");
        assert_eq!(reason(&rig, "mcp__s__echo"), "auth_required");
        assert_eq!(session.explain("s").unwrap()["reason"], "auth_required");
    });
    drop(rig);
    std::net::TcpStream::connect(address).unwrap().write_all(b"STOP").unwrap();
    server.join().unwrap();
}
