//! What a host sees of a server: the connect, the lists, a call, and what is left after it.

use std::time::{Duration, Instant};

use rig::{Rig, acquire, expect, host, testserver};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, CallResult, Error, EventMask, Lease, List, Session, Subscription,
};

use crate::tolerance::rows::Row;
use crate::tolerance::server::{Server, TRANSPORTS, Transport};

/// What comes later than the calls comes in this time.
const LATER: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);

/// Meets the server of a row over a transport.
pub fn see(row: &Row, on: &str, expected: &Value) -> Value {
    let transport = TRANSPORTS.iter().find(|(name, _)| *name == on).unwrap().1;
    let server = Server::start(row.value(), transport);
    let rig = Rig::new(row.pool_options());
    let mut config = config(&rig, &server, transport);
    config["era"] = row.era().into();
    for (name, member) in row.value()["server"].as_object().into_iter().flatten() {
        config[name] = member.clone();
    }
    let mut seen = host(async {
        rig.configure(json!({ "s": config, "t": rig.server(&[]) })).await;
        let session = rig.session("a");
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        match session.acquire("s", None, &AcquireOptions::default()).await {
            Err(error) => refused(&session, &error).await,
            Ok(lease) => met(row, &Met { rig: &rig, session, lease, events }, expected).await,
        }
    });
    let opened = server.count(row.opening());
    seen["connections"] = json!(opened);
    seen["met"] = json!(server.is_met());
    seen
}

fn config(rig: &Rig, server: &Server, transport: Transport) -> Value {
    let address = &server.address;
    match transport {
        Transport::Stdio => {
            let mut config = rig.server(&["--relay", address]);
            config["command"] = json!(testserver().with_file_name("trunkline-faultserver"));
            config
        }
        Transport::Http => json!({ "type": "http", "url": format!("http://{address}/mcp") }),
        Transport::Sse => json!({ "type": "sse", "url": format!("http://{address}/sse") }),
        Transport::Websocket => json!({ "type": "ws", "url": format!("ws://{address}/mcp") }),
    }
}

/// Where the connect failed: why, and that nothing else did.
async fn refused(session: &Session, error: &Error) -> Value {
    let apart = acquire(session, "t").await;
    let options = CallOptions::default();
    let apart = apart.call_tool("echo", r#"{"message":"apart"}"#, &options).await;
    json!({ "connect": error.to_json(), "apart": outcome(apart) })
}

struct Met<'a> {
    rig: &'a Rig,
    session: Session,
    lease: Lease,
    events: Subscription,
}

async fn met(row: &Row, met: &Met<'_>, expected: &Value) -> Value {
    let mut seen = json!({});
    let options = row.value().get("call").cloned().unwrap_or(json!({}));
    let options = CallOptions::from_json(&options.to_string()).unwrap();
    let called = match row.value()["do"].as_str() {
        Some("prompt") => met.lease.get_prompt("greet", "{}", &options).await,
        Some("resource") => met.lease.read_resource("file:///a", &options).await,
        _ => met.lease.call_tool("any", "{}", &options).await,
    };
    if let Ok(result) = &called {
        seen["raw"] = json!(result.json());
    }
    seen["call"] = outcome(called);
    let is_lost = row.value()["costs"] == "connection";
    let ordinary = CallOptions::from_json(&json!({ "wait": is_lost }).to_string()).unwrap();
    seen["next"] = outcome(met.lease.call_tool("plain", "{}", &ordinary).await);
    seen["generation"] = json!(met.lease.generation());
    let begun = Instant::now();
    let mut events = Vec::new();
    loop {
        let later = std::iter::from_fn(|| met.events.try_next());
        events.extend(later.map(|it| serde_json::from_str::<Value>(it.json()).unwrap()));
        look(met, &events, &mut seen);
        let is_there = |name: &&str| {
            expected.get(*name).is_none_or(|pattern| expect::fits(pattern, &seen[*name]).is_ok())
        };
        if LATER_PARTS.iter().all(is_there) || begun.elapsed() > LATER {
            return seen;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What is told beside the answers to calls.
const LATER_PARTS: [&str; 7] =
    ["tools", "prompts", "resources", "templates", "tool", "status", "events"];

fn look(met: &Met, events: &[Value], seen: &mut Value) {
    let names = |list: List| -> Value {
        let items = list.iter().map(|item| json!(&*item.own_name));
        items.collect()
    };
    let session = &met.session;
    seen["tools"] = names(session.tools().unwrap());
    seen["prompts"] = names(session.prompts().unwrap());
    seen["resources"] = names(session.resources().unwrap());
    seen["templates"] = names(session.resource_templates().unwrap());
    let tools = session.tools().unwrap();
    let any = tools.iter().find(|tool| &*tool.own_name == "any").map(|tool| tool.to_json());
    seen["tool"] = any.map(|text| serde_json::from_str(&text).unwrap()).unwrap_or_default();
    seen["status"] = met.rig.pool.status()["servers"]["s"].clone();
    seen["events"] = json!(events);
}

fn outcome(called: Result<CallResult, Error>) -> Value {
    match called {
        Ok(result) => json!({ "result": serde_json::from_str::<Value>(&result.text()).unwrap() }),
        Err(error) => json!({ "error": error.to_json() }),
    }
}
