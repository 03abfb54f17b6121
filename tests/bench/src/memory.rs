//! What connections, sessions and leases take while nothing is done with them: the slope of the
//! private memory of this process, over a thousand or more of each.

use serde_json::{Map, Value, json};
use trunkline::{
    AcquireOptions, Lease, Pool, PoolOptions, Result, Servers, Session, SessionOptions,
};

use crate::private_kib;

/// `memory`: KiB of each connection, and bytes of each session, of each session that holds a
/// server, and of each lease.
pub fn report_all(server: &str) -> Result<()> {
    let options = r#"{"cache": "off", "limits": {"processes": 4096}}"#;
    let runtime = Pool::new(PoolOptions::from_json(options)?)?;
    let server = server.to_owned();
    runtime.clone().block_on(async move { measure(runtime, &server).await })
}

async fn measure(pool: Pool, server: &str) -> Result<()> {
    let config = |number: usize| json!({ "command": server, "env": { "N": number.to_string() } });
    let servers: Map<String, Value> =
        (0..CONNECTIONS + BASE).map(|number| (format!("s{number}"), config(number))).collect();
    pool.reconcile(Servers::from_json(&Value::Object(servers).to_string())?).await?;
    let session = open(&pool, "all")?;
    let mut leases = Vec::new();
    for number in 0..BASE {
        leases.push(acquire(&session, number).await?);
    }
    let before = private_kib();
    for number in BASE..BASE + CONNECTIONS {
        leases.push(acquire(&session, number).await?);
    }
    let connection_kib = (private_kib() - before) / CONNECTIONS as f64;

    let bytes_each = |before: f64, count: usize| (private_kib() - before) * 1024.0 / count as f64;
    let mut sessions: Vec<Session> = Vec::with_capacity(2 * SESSIONS);
    let mut sometimes = |count: usize| {
        let from = sessions.len();
        let opened = (from..from + count).map(|number| open(&pool, &number.to_string()));
        opened.collect::<Result<Vec<Session>>>().map(|opened| sessions.extend(opened))
    };
    sometimes(BASE)?;
    let before = private_kib();
    sometimes(SESSIONS)?;
    let session_bytes = bytes_each(before, SESSIONS);

    let before = private_kib();
    let mut holds: Vec<Lease> = Vec::with_capacity(SESSIONS);
    for holder in &sessions[BASE..] {
        holds.push(acquire(holder, 0).await?);
    }
    let holding_bytes = session_bytes + bytes_each(before, SESSIONS);

    let mut more: Vec<Lease> = Vec::with_capacity(LEASES + BASE);
    for _ in 0..BASE {
        more.push(acquire(&session, 0).await?);
    }
    let before = private_kib();
    for _ in 0..LEASES {
        more.push(acquire(&session, 0).await?);
    }
    let lease_bytes = bytes_each(before, LEASES);
    let line = json!({
        "workload": "memory",
        "calls": 1,
        "connection_kib": connection_kib,
        "session_bytes": session_bytes,
        "holding_session_bytes": holding_bytes,
        "lease_bytes": lease_bytes,
    });
    println!("{line}");
    pool.close().await
}

fn open(pool: &Pool, id: &str) -> Result<Session> {
    let options = json!({ "id": id, "servers": [] }).to_string();
    pool.session(SessionOptions::from_json(&options)?)
}

async fn acquire(session: &Session, number: usize) -> Result<Lease> {
    session.acquire(&format!("s{number}"), None, &AcquireOptions::default()).await
}

/// Of each kind, before the first look: what is made once is made by then.
pub const BASE: usize = 50;

/// Connections, each with a process of its own.
pub const CONNECTIONS: usize = 1000;

const SESSIONS: usize = 10_000;

const LEASES: usize = 100_000;
