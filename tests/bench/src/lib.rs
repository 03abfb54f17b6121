//! What the benchmark's Rust clients share: the workloads, and how a figure is printed.
//!
//! Every client, in whatever language, takes the server's path as its argument, carries out the
//! groups of workloads that `BENCH_ONLY` names and prints one JSON object a line: `{"workload",
//! "calls", "p50_us", "p99_us", "calls_per_s", "cpu_us"}`, or other figures by their names.
//! `cargo xtask bench` reads them.

pub mod bare;
pub mod cached;
pub mod calls;
pub mod crowd;
pub mod faults;
pub mod least;
pub mod loading;
pub mod memory;
pub mod over_http;
pub mod passes;
pub mod shared;
pub mod starts;
pub mod steps;

use std::future::Future;
use std::time::{Duration, Instant};

/// Whether a group of workloads is to be carried out: all are, unless `BENCH_ONLY` names some, with
/// commas between them.
pub fn is_wanted(group: &str) -> bool {
    std::env::var("BENCH_ONLY").map_or(true, |only| only.split(',').any(|one| one == group))
}

/// Calls in flight at the same time in the wide workloads.
pub const WIDTH: usize = 64;

/// How long a workload warms up, and how long it is measured.
const WARM_UP: Duration = Duration::from_millis(100);
const MEASURED: Duration = Duration::from_millis(400);

/// Results of a sequential workload are at least this many, however slow they are.
const CALLS_MIN: usize = 200;

/// Sizes of the results in bytes, and their names in the figures.
pub const SIZES: [(usize, &str); 2] = [(100, "100"), (100_000, "100k")];

/// Measures one call after another.
pub async fn sequential<F: Future<Output = ()>>(name: &str, call: impl Fn() -> F) {
    let warm_until = Instant::now() + WARM_UP;
    while Instant::now() < warm_until {
        call().await;
    }
    let mut times = Vec::with_capacity(1 << 17);
    let (started, cpu) = (Instant::now(), cpu_time());
    while started.elapsed() < MEASURED || times.len() < CALLS_MIN {
        let before = Instant::now();
        call().await;
        times.push(before.elapsed());
    }
    report(name, &mut times, started.elapsed(), cpu_time() - cpu);
}

/// Measures [`WIDTH`] callers at once. Each calls again as soon as it has its answer. `caller`
/// calls until the instant that it is given and says how often it did.
pub async fn wide<F: Future<Output = usize> + Send + 'static>(
    name: &str,
    caller: impl Fn(Instant) -> F,
) {
    let run = async |time: Duration| {
        let until = Instant::now() + time;
        let callers: Vec<_> = (0..WIDTH).map(|_| tokio::spawn(caller(until))).collect();
        let mut calls = 0;
        for caller in callers {
            calls += caller.await.unwrap_or(0);
        }
        calls
    };
    run(WARM_UP).await;
    let (started, cpu) = (Instant::now(), cpu_time());
    let calls = run(MEASURED).await;
    print(name, calls, started.elapsed(), cpu_time() - cpu, None);
}

/// Prints the figures of a sequential workload.
pub fn report(name: &str, times: &mut [Duration], took: Duration, cpu: Duration) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    print(name, times.len(), took, cpu, Some((at(0.5), at(0.99))));
}

fn print(name: &str, calls: usize, took: Duration, cpu: Duration, quantiles: Option<(f64, f64)>) {
    let mut line = serde_json::json!({
        "workload": name,
        "calls": calls,
        "calls_per_s": calls as f64 / took.as_secs_f64(),
        "cpu_us": cpu.as_secs_f64() * 1e6 / calls.max(1) as f64,
    });
    if let Some((p50, p99)) = quantiles {
        line["p50_us"] = p50.into();
        line["p99_us"] = p99.into();
    }
    println!("{line}");
}

/// The private memory of this process in KiB: what would come free with its end.
pub fn private_kib() -> f64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = |name| text.lines().find_map(|line: &str| line.strip_prefix(name));
    let kib = |name| line(name)?.split_whitespace().next()?.parse::<f64>().ok();
    match (kib("Private_Clean:"), kib("Private_Dirty:")) {
        (Some(clean), Some(dirty)) => clean + dirty,
        _ => panic!("the memory of this process cannot be read"),
    }
}

/// The processor time of this process so far.
pub fn cpu_time() -> Duration {
    // SAFETY: an all-zero rusage is valid, and the pointer is to our own.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}
