//! Workloads of calls, and of the hold that they need.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use trunkline::{AcquireOptions, CallOptions, Lease, Result, Session};

use crate::{SIZES, cpu_time, report, sequential, wide};

/// Text of both sizes, one at a time and many in flight; and structured content of the larger one.
pub async fn all(lease: &Arc<Lease>) {
    for (bytes, size) in SIZES {
        one_at_a_time(&format!("seq-{size}"), lease, "big", bytes).await;
        many(&format!("wide-{size}"), &[Arc::clone(lease)], bytes).await;
    }
    one_at_a_time("seq-100k-structured", lease, "structured", STRUCTURED).await;
}

/// Measures one call after another.
pub async fn one_at_a_time(workload: &str, lease: &Lease, tool: &str, bytes: usize) {
    let options = CallOptions::default();
    let arguments = arguments(bytes);
    let one = async || match lease.call_tool(tool, &arguments, &options).await {
        Ok(result) => assert!(result.json().len() > bytes / 2),
        Err(error) => panic!("{error}"),
    };
    sequential(workload, one).await;
}

/// Measures as many callers as [`crate::WIDTH`], which go around the leases.
pub async fn many(workload: &str, leases: &[Arc<Lease>], bytes: usize) {
    let options = Arc::new(CallOptions::default());
    let turns = AtomicUsize::new(0);
    wide(workload, |until| {
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        let lease = Arc::clone(&leases[turn % leases.len()]);
        let (options, arguments) = (Arc::clone(&options), arguments(bytes));
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

fn arguments(bytes: usize) -> String {
    format!(r#"{{"bytes":{bytes}}}"#)
}

/// Acquire and release of a server that is connected and held already.
pub async fn warm_acquire(session: &Session) -> Result<()> {
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

/// What the tool is asked for, so that about as many bytes come.
pub const STRUCTURED: usize = 100_000;

const WARM_UP_ACQUIRES: usize = 1000;

const ACQUIRE_TIME: Duration = Duration::from_millis(200);
