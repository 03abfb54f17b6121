//! Workloads with a server that misbehaves: what a call costs beside one that does not read, and
//! how soon the calls of one that is killed have ended.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, ErrorCode, Lease, Operation, Pool, PoolOptions, Result, Servers,
    Session, SessionOptions,
};

use crate::{cpu_time, report, sequential};

/// Calls of 100 bytes, one at a time: before, and while another server of the session does not read
/// what is sent to it.
pub async fn beside_a_deaf_server(server: &str) -> Result<()> {
    let (pool, session) = pool(json!({"exit_grace_ms": 50}), &["s", "deaf"], server).await?;
    let (lease, deaf) = (acquire(&session, "s").await?, acquire(&session, "deaf").await?);
    let options = CallOptions::default();
    let one = async || match lease.call_tool("big", r#"{"bytes":100}"#, &options).await {
        Ok(result) => assert!(result.json().len() > 100),
        Err(error) => panic!("{error}"),
    };
    sequential("seq-100-calm", one).await;
    deaf.call_tool("stop_reading", r#"{"ms":600000}"#, &options).await?;
    let long = json!({"message": "x".repeat(UNREAD_BYTES)}).to_string();
    let unread: Vec<Operation> =
        (0..UNREAD_CALLS).map(|_| deaf.start_call_tool("echo", &long, &options, drop)).collect();
    sequential("seq-100-deaf", one).await;
    unread.iter().for_each(Operation::cancel);
    pool.close().await
}

/// From the kill of a server amid calls to the end of the last of them.
pub async fn amid_a_loss(server: &str) -> Result<()> {
    let options = json!({"reconnect": {
        "delays_ms": {"local": [0]}, "breaker": {"losses": 1000}, "healthy_after_ms": 0,
    }});
    let (pool, session) = pool(options, &["s"], server).await?;
    let lease = acquire(&session, "s").await?;
    let (begun, cpu) = (Instant::now(), cpu_time());
    let mut times: Vec<Duration> = Vec::with_capacity(LOSSES);
    for _ in 0..LOSSES {
        times.push(loss(&lease).await?);
    }
    report("loss-20", &mut times, begun.elapsed(), cpu_time() - cpu);
    pool.close().await
}

async fn loss(lease: &Lease) -> Result<Duration> {
    let pid = said(lease, "pid").await?;
    let (send, mut ended) = tokio::sync::mpsc::channel(CALLS_LOST);
    let calls: Vec<Operation> = (0..CALLS_LOST)
        .map(|_| {
            let send = send.clone();
            let done = move |end: Result<_>| drop(send.try_send(end.map(drop)));
            lease.start_call_tool("sleep", r#"{"ms":600000}"#, &CallOptions::default(), done)
        })
        .collect();
    while said(lease, "under_way").await? != CALLS_LOST as i32 {}
    let killed = Instant::now();
    // SAFETY: a plain call; the server is a child of ours that nobody has reaped.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    for _ in &calls {
        match ended.recv().await {
            Some(Err(error)) if error.code() == ErrorCode::CallInterrupted => {}
            other => panic!("a call ended with {other:?}"),
        }
    }
    Ok(killed.elapsed())
}

/// The number that a tool answers with, once the server is there.
async fn said(lease: &Lease, tool: &str) -> Result<i32> {
    let wait = CallOptions::from_json(r#"{"wait":true}"#)?;
    let result = lease.call_tool(tool, "{}", &wait).await?;
    let result: Value = serde_json::from_str(result.json()).unwrap_or_default();
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    Ok(text.parse().unwrap_or_else(|_| panic!("{tool} said {text}")))
}

/// A pool with these servers, each the same program, and a session that wants none unasked.
async fn pool(options: Value, names: &[&str], server: &str) -> Result<(Pool, Session)> {
    let pool = Pool::new(PoolOptions::from_json(&options.to_string())?)?;
    let servers: Value =
        names.iter().map(|name| ((*name).to_owned(), json!({"command": server}))).collect();
    pool.reconcile(Servers::from_json(&servers.to_string())?).await?;
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a", "servers": []}"#)?)?;
    Ok((pool, session))
}

async fn acquire(session: &Session, server: &str) -> Result<Lease> {
    session.acquire(server, None, &AcquireOptions::default()).await
}

/// More than a pipe holds.
const UNREAD_BYTES: usize = 200_000;

const UNREAD_CALLS: usize = 10;

const CALLS_LOST: usize = 20;

const LOSSES: usize = 30;
