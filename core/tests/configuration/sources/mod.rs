//! Settings to live connections: sources, trust, approvals and passes, with real servers (SPEC 10
//! to 13).

mod ambiguous;
mod approvals;
mod authority;
mod decisions;
mod executed;
mod explain;
mod files;
mod layers;
mod quarantine;
mod questions;
mod reasons;
mod reports;
mod requests;
mod scale;
mod swapped;
mod values;
mod waits;

use rig::{Folder, HANG, Rig, host, until};
use serde_json::{Value, json};
use trunkline::{ErrorCode, Handlers, Pool, PoolOptions, Servers, Session, SourceName};

/// A rig with a workspace of its own, whose decisions are in memory.
fn rig(mut options: Value) -> Rig {
    options["approvals"] = json!("memory");
    Rig::in_workspace(options)
}

/// One in a workspace that is trusted.
fn trusted() -> Rig {
    rig(json!({ "trusted": true }))
}

/// One whose host answers so.
fn handling(handlers: Handlers) -> Rig {
    Rig::in_workspace_with(|workspace| {
        let options = json!({ "trusted": true, "approvals": "memory", "workspace": workspace });
        let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
        options.handlers = handlers;
        options
    })
}

fn name(source: &str) -> SourceName {
    source.parse().unwrap()
}

/// Sets a source to these servers; the rows of the report.
fn set(pool: &Pool, source: &str, servers: Value) -> Value {
    let text = json!({ "mcpServers": servers }).to_string();
    pool.set_source(&name(source), Some(&text)).unwrap()["servers"].clone()
}

/// What happened to each server of some rows.
fn actions(rows: &Value) -> Value {
    let rows = rows.as_object().unwrap().iter();
    rows.map(|(name, row)| (name.clone(), row["action"].clone())).collect()
}

/// A session that wants everything.
fn wanting(rig: &Rig, id: &str) -> Session {
    rig.session_with(json!({ "id": id }))
}

/// How every server stands once all has settled.
async fn settled(rig: &Rig) -> Value {
    rig.pool.settled(Some(HANG)).await.unwrap()["servers"].clone()
}

/// The reason of a refused acquire.
async fn refused(session: &Session, server: &str) -> (ErrorCode, Value) {
    let error = session.acquire(server, None, &Default::default()).await.err().unwrap();
    (error.code(), error.detail().get("reason").cloned().unwrap_or_default())
}

/// What `status` says of a server.
fn row(pool: &Pool, server: &str) -> Value {
    pool.status()["servers"][server].clone()
}

fn tools(session: &Session) -> usize {
    session.tools().unwrap().len()
}

/// Events of configuration. What a server's start tells may still be on its way when all has
/// settled.
fn news(pool: &Pool) -> trunkline::Subscription {
    use trunkline::EventKind::{ApprovalNeeded, Reconciled, SourceChanged, SourceError, Warning};
    let kinds = [ApprovalNeeded, Reconciled, SourceChanged, SourceError, Warning];
    let mask = kinds.into_iter().fold(0, |mask, kind| mask | kind.bit());
    pool.subscribe(trunkline::EventMask(mask)).unwrap()
}
