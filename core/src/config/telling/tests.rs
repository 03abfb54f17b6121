//! Passes that are carried out in another order than they were planned in.

use serde_json::{Value, json};
use trunkline_pool::layers::SourceName;

use super::*;
use crate::config::desired::also;
use crate::config::files::findings::ParsedSource;
use crate::config::pass::PassPlan;
use crate::config::types::RefreshScope;
use crate::{EventMask, Pool, PoolOptions, Subscription};

fn pool() -> Pool {
    let options = json!({ "approvals": "memory", "trusted": true, "cache": "off" });
    Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap()
}

/// The plan of a pass that sets the source `user` to these servers.
fn plan(pool: &Pool, servers: Value) -> PassPlan {
    let user: SourceName = "user".parse().unwrap();
    let (text, of) = (json!({ "mcpServers": servers }).to_string(), (user.scope(), None));
    let said = ParsedSource::read(&text, "settings.json", &Default::default(), of).unwrap();
    pool.0.config.plan(RefreshScope::No, also(move |desired| desired.put(&user, Some(said))))
}

fn events(pool: &Pool) -> Subscription {
    pool.subscribe(EventMask(EventKind::Reconciled.bit() | EventKind::SourceChanged.bit())).unwrap()
}

/// Of each event what became of the server `s`, or the first finding.
fn told(events: &Subscription) -> Vec<Value> {
    std::iter::from_fn(|| events.try_next())
        .map(|event| serde_json::from_str(event.json()).unwrap())
        .map(|event: Value| match event["type"].as_str() {
            Some("reconciled") => event["servers"]["s"]["action"].clone(),
            _ => event["findings"][0]["path"].clone(),
        })
        .collect()
}

fn close(pool: &Pool) {
    let closing = pool.clone();
    pool.block_on(async move { closing.close().await }).unwrap();
}

/// SPEC 13.2, 16.6: what is told last is what was planned last, whichever pass is carried out
/// first.
#[test]
fn what_was_planned_last_is_told_last() {
    let pool = pool();
    let events = events(&pool);
    let first = plan(&pool, json!({ "s": { "command": "/bin/sh", "unknown": 1 } }));
    let second = plan(&pool, json!({}));
    pool.0.config.end_pass(second);
    assert_eq!(told(&events), [Value::Null; 0]);
    pool.0.config.end_pass(first);
    assert_eq!(told(&events), [json!("added"), json!("unknown"), json!("removed"), Value::Null]);
    close(&pool);
}

/// SPEC 16.2: a pass that is lost before it is carried out keeps no other from being told.
#[test]
fn a_pass_that_is_lost_holds_nothing_up() {
    let pool = pool();
    let events = events(&pool);
    let first = plan(&pool, json!({ "s": { "command": "/bin/sh" } }));
    let second = plan(&pool, json!({}));
    pool.0.config.end_pass(second);
    drop(first);
    assert_eq!(told(&events), [Value::Null, json!("removed"), Value::Null]);
    close(&pool);
}

/// SPEC 12.5, 13.2: what waits for approval is told after the pass that found it, and so after each
/// that was planned before.
#[test]
fn what_waits_for_approval_is_told_after_the_passes() {
    let pool = pool();
    let kinds = EventKind::Reconciled.bit() | EventKind::ApprovalNeeded.bit();
    let events = pool.subscribe(EventMask(kinds)).unwrap();
    let told = || -> Vec<String> {
        let told = std::iter::from_fn(|| events.try_next());
        let told = told.map(|event| serde_json::from_str::<Value>(event.json()).unwrap());
        told.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    let first = plan(&pool, json!({ "u": { "command": "/bin/sh" } }));
    let servers = json!({ "mcpServers": { "s": { "command": "/bin/sh" } } }).to_string();
    pool.set_source(&"project".parse().unwrap(), Some(&servers)).unwrap();
    assert_eq!(told(), [""; 0]);
    pool.0.config.end_pass(first);
    let told = told();
    let of_requests: Vec<_> = told.iter().map(|kind| kind == "approval_needed").collect();
    assert!(told.len() > 1 && of_requests.iter().filter(|is| **is).count() == 1, "{told:?}");
    assert_eq!(of_requests.last(), Some(&true), "{told:?}");
    close(&pool);
}
