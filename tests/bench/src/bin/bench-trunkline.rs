//! The benchmark's client on trunkline's Rust API: on the library's own runtime, or, with `--foreign`, on a
//! single-threaded executor of the host, which costs a change of threads in each direction.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use trunkline::{
    AcquireOptions, CallOptions, Lease, Pool, PoolOptions, Result, Servers, Session, SessionOptions,
};
use trunkline_bench::{
    SIZES, cached, cpu_time, faults, is_wanted, passes, report, sequential, shared, starts, wide,
};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let server = arguments.last().cloned().unwrap_or_default();
    match arguments.first().map(String::as_str) {
        Some("--cold") => return cached::host(&arguments[1..]),
        Some("--shared") => return real_servers(),
        _ => {}
    }
    let pool = Pool::new(PoolOptions::default())?;
    if arguments.first().is_some_and(|first| first == "--foreign") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a thread needs nothing to run on").block_on(run(pool, server))
    } else {
        pool.clone().block_on(run(pool, server))
    }
}

fn real_servers() -> Result<()> {
    let file = std::env::var("TRUNKLINE_REAL_SERVERS").expect("the real servers are installed");
    shared::adopt_orphans();
    let runtime = Pool::new(PoolOptions::default())?;
    runtime.block_on(async move { shared::twenty_sessions(&file).await })
}

async fn run(pool: Pool, server: String) -> Result<()> {
    let servers = json!({"s": {"command": server}}).to_string();
    pool.reconcile(Servers::from_json(&servers)?).await?;
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a", "servers": []}"#)?)?;
    let lease = Arc::new(session.acquire("s", None, &AcquireOptions::default()).await?);
    if is_wanted("calls") {
        calls(&lease).await;
    }
    if is_wanted("acquire") {
        warm_acquire(&session).await?;
    }
    drop(lease);
    pool.close().await?;
    if is_wanted("faults") {
        faults::beside_a_deaf_server(&server).await?;
        faults::amid_a_loss(&server).await?;
    }
    if is_wanted("passes") {
        passes::one_change_of_many().await?;
    }
    if is_wanted("starts") {
        starts::ten_servers(&server).await?;
    }
    if is_wanted("cached") {
        cached::cold_hosts(&server).await?;
    }
    Ok(())
}

/// The four workloads of calls.
async fn calls(lease: &Arc<Lease>) {
    let options = Arc::new(CallOptions::default());
    for (bytes, size) in SIZES {
        let arguments = format!(r#"{{"bytes":{bytes}}}"#);
        let one = async || match lease.call_tool("big", &arguments, &options).await {
            Ok(result) => assert!(result.json().len() > bytes),
            Err(error) => panic!("{error}"),
        };
        sequential(&format!("seq-{size}"), one).await;
        wide(&format!("wide-{size}"), |until| {
            let (lease, options) = (Arc::clone(lease), Arc::clone(&options));
            let arguments = arguments.clone();
            async move {
                let mut calls = 0;
                while Instant::now() < until {
                    match lease.call_tool("big", &arguments, &options).await {
                        Ok(_) => calls += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                calls
            }
        })
        .await;
    }
}

/// Acquire and release of a server that is connected and held already.
async fn warm_acquire(session: &Session) -> Result<()> {
    let options = AcquireOptions::default();
    let mut times = Vec::with_capacity(1 << 18);
    for _ in 0..WARM_UP_ACQUIRES {
        session.acquire("s", None, &options).await?.release();
    }
    let (started, cpu) = (Instant::now(), cpu_time());
    while started.elapsed() < ACQUIRE_TIME {
        let before = Instant::now();
        let lease = session.acquire("s", None, &options).await?;
        lease.release();
        times.push(before.elapsed());
    }
    report("acquire", &mut times, started.elapsed(), cpu_time() - cpu);
    Ok(())
}

const WARM_UP_ACQUIRES: usize = 1000;

const ACQUIRE_TIME: Duration = Duration::from_millis(200);
