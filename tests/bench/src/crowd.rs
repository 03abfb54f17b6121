//! Workloads of many sessions that share one connection: their calls, and how they hear that its
//! list of tools changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, EventKind, EventMask, Lease, Pool, PoolOptions, Result, Servers,
    Session, SessionOptions, Subscription,
};

use crate::calls::many;
use crate::{WIDTH, cpu_time};

/// `wide-one`, `wide-sessions`: as many calls in flight of one session, and one of each of as many
/// sessions.
pub async fn sessions_and_one(server: &str) -> Result<()> {
    let (pool, holders) = holders(server, WIDTH).await?;
    let (sessions, leases): (Vec<_>, Vec<_>) = holders.into_iter().unzip();
    let leases: Vec<Arc<Lease>> = leases.into_iter().map(Arc::new).collect();
    many("wide-one", &leases[..1], 100).await;
    many("wide-sessions", &leases, 100).await;
    drop((leases, sessions));
    pool.close().await
}

/// `fan-out-N`: from the call that changes the list of tools until each of N sessions has its
/// event. A hundred times as many as one are, less the time of one, what each session costs.
pub async fn fan_out(server: &str) -> Result<()> {
    for sessions in FAN_OUT {
        changes(server, sessions).await?;
    }
    Ok(())
}

async fn changes(server: &str, sessions: usize) -> Result<()> {
    let (pool, holders) = holders(server, sessions).await?;
    let mask = EventMask(EventKind::ToolsChanged.bit());
    let streams: Result<Vec<Subscription>> =
        holders.iter().map(|(session, _)| session.subscribe(mask)).collect();
    let (streams, lease) = (streams?, &holders[0].1);
    change(lease, &streams, 0).await?;
    let lists = seen(lease).await?;
    let mut times = Vec::with_capacity(CHANGES);
    let cpu = cpu_time();
    for turn in 1..=CHANGES {
        tokio::time::sleep(BETWEEN).await;
        times.push(change(lease, &streams, turn).await?);
    }
    let cpu = cpu_time() - cpu;
    let lists = seen(lease).await? - lists;
    times.sort_unstable();
    let line = json!({
        "workload": format!("fan-out-{sessions}"),
        "calls": CHANGES,
        "p50_us": times[CHANGES / 2].as_secs_f64() * 1e6,
        "cpu_us": cpu.as_secs_f64() * 1e6 / CHANGES as f64,
        "lists": lists as f64 / CHANGES as f64,
    });
    println!("{line}");
    pool.close().await
}

/// One change; a tool comes at even turns and goes at odd ones.
async fn change(lease: &Lease, streams: &[Subscription], turn: usize) -> Result<Duration> {
    let what = if turn.is_multiple_of(2) { "add" } else { "remove" };
    let arguments = json!({ what: ["sometimes"] }).to_string();
    let began = Instant::now();
    lease.call_tool("change_list", &arguments, &CallOptions::default()).await?;
    for stream in streams {
        stream.next().await.expect("the session is open");
    }
    Ok(began.elapsed())
}

/// How often the server was asked for its tools.
async fn seen(lease: &Lease) -> Result<u64> {
    let arguments = r#"{"method":"tools/list"}"#;
    let result = lease.call_tool("seen", arguments, &CallOptions::default()).await?;
    let result: Value = serde_json::from_str(result.json()).unwrap_or_default();
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    Ok(text.parse().unwrap_or_else(|_| panic!("the server said {text}")))
}

/// Sessions that each hold the one server.
async fn holders(server: &str, sessions: usize) -> Result<(Pool, Vec<(Session, Lease)>)> {
    let pool = Pool::new(PoolOptions::from_json(r#"{"cache": "off"}"#)?)?;
    let servers = json!({"s": {"command": server, "args": ["--list-changes"]}}).to_string();
    pool.reconcile(Servers::from_json(&servers)?).await?;
    let mut holders = Vec::with_capacity(sessions);
    for number in 0..sessions {
        let options = json!({ "id": number.to_string(), "servers": [] }).to_string();
        let session = pool.session(SessionOptions::from_json(&options)?)?;
        let lease = session.acquire("s", None, &AcquireOptions::default()).await?;
        holders.push((session, lease));
    }
    Ok((pool, holders))
}

const FAN_OUT: [usize; 2] = [1, 1000];

/// Changes that are measured.
const CHANGES: usize = 10;

/// Between one change and the next: lists are read again four times a second at most.
const BETWEEN: Duration = Duration::from_millis(300);
