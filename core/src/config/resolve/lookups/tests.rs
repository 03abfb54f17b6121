//! Looks that do not come to their end as they should.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::config::files::findings::ParsedSource;
use crate::config::types::RefreshScope;
use crate::{Pool, PoolOptions, SourceName};

thread_local! {
    static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// Panics where a test asked for that in its thread.
pub(crate) fn panic_if_asked() {
    assert!(!PANICS.get(), "a look panics, as a test wants it");
}

fn pool() -> Pool {
    let options = json!({ "approvals": "memory", "trusted": true, "cache": "off" });
    Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap()
}

fn project() -> SourceName {
    "project".parse().unwrap()
}

const SERVERS: &str = r#"{ "mcpServers": { "s": { "command": "/bin/sh" } } }"#;

fn settled(pool: &Pool) -> Value {
    let waits = pool.clone();
    pool.block_on(async move { waits.settled(None).await }).unwrap()["servers"]["s"].clone()
}

fn close(pool: &Pool) {
    let closing = pool.clone();
    pool.block_on(async move { closing.close().await }).unwrap();
}

/// SPEC 16.2: what a look is lost for is told as its failure, and is looked up again when somebody
/// asks for that.
#[test]
fn a_look_that_panics_is_a_failure_of_its_server() {
    let pool = pool();
    PANICS.set(true);
    let report = pool.set_source(&project(), Some(SERVERS)).unwrap();
    PANICS.set(false);
    let error = &report["servers"]["s"]["error"];
    assert_eq!(error["code"], "internal", "{report}");
    assert_eq!(settled(&pool)["state"], "failed");
    let reloading = pool.clone();
    pool.block_on(async move { reloading.reload(&Default::default()).await }).unwrap();
    assert_eq!(settled(&pool)["reason"], "pending_approval");
    close(&pool);
}

/// SPEC 13.2: what was begun comes to its end, also where its beginner waits for it no more.
#[test]
fn looks_that_nobody_waits_for_are_carried_out() {
    let pool = pool();
    let of = (project().scope(), None);
    let said = ParsedSource::read(SERVERS, "settings.json", &Default::default(), of);
    let begun = pool.0.config.begin(RefreshScope::No, |desired| {
        desired.put(&project(), Some(said.unwrap()));
        Default::default()
    });
    drop(begun);
    assert_eq!(settled(&pool)["reason"], "pending_approval");
    close(&pool);
}
