//! The benchmark's client on trunkline's Rust API: on the library's own runtime, or, with
//! `--foreign`, on a single-threaded executor of the host, which costs a change of threads in each
//! direction.

use std::sync::Arc;

use serde_json::json;
use trunkline::{AcquireOptions, Pool, PoolOptions, Result, Servers, SessionOptions};
use trunkline_bench::{
    bare, cached, calls, crowd, faults, is_wanted, loading, memory, over_http, passes, shared,
    starts, steps,
};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let server = arguments.last().cloned().unwrap_or_default();
    match arguments.first().map(String::as_str) {
        Some("--cold") => return cached::host(&arguments[1..]),
        Some("--ready") => return loading::host(),
        Some("--shared") => return real_servers(),
        _ => {}
    }
    // Before there is a pool, whose memory would count.
    if is_wanted("memory") {
        memory::report_all(&server)?;
    }
    if is_wanted("steps") {
        steps::by_size();
        bare::by_size();
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
    if is_wanted("calls") || is_wanted("acquire") {
        with_one_server(&pool, &server).await?;
    }
    pool.close().await?;
    if is_wanted("http") {
        over_http::calls(&server).await?;
    }
    if is_wanted("crowd") {
        crowd::sessions_and_one(&server).await?;
        crowd::fan_out(&server).await?;
    }
    if is_wanted("loading") {
        loading::pool_ready();
    }
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

async fn with_one_server(pool: &Pool, server: &str) -> Result<()> {
    let servers = json!({"s": {"command": server}}).to_string();
    pool.reconcile(Servers::from_json(&servers)?).await?;
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a", "servers": []}"#)?)?;
    let lease = Arc::new(session.acquire("s", None, &AcquireOptions::default()).await?);
    if is_wanted("calls") {
        calls::all(&lease).await;
    }
    if is_wanted("acquire") {
        calls::warm_acquire(&session).await?;
    }
    Ok(())
}
