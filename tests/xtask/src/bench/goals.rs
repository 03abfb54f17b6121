//! What the figures have to meet.

use super::figures::{Figures, Key};
use super::peers::REAL;

/// What has to be met, and whether it is.
pub fn print(figures: &Figures) {
    println!("\n{:<58} {:>10} {:>10}", "goal", "measured", "");
    let p50 = |client, workload| Key { client, workload, figure: "p50_us" };
    let rust = figures.ratio(p50("rust", "seq-100"), p50("pipe", "seq-100"));
    goal("Rust, 100 B, one at a time: at most 2.0 x the pipe", rust, 2.0, "x");
    let python = figures.ratio(p50("python", "seq-100"), p50("mcp", "seq-100"));
    goal("Python, 100 B, one at a time: at most 1/5 of the SDK", python, 0.2, "x");
    for (client, most) in [("rust", 1.0), ("python", 30.0), ("node", 30.0)] {
        let acquire = figures.median(p50(client, "acquire"));
        goal(
            &format!("{client}, warm acquire and release: at most {most} us"),
            acquire,
            most,
            "us",
        );
    }
    let deaf = figures.ratio(p50("rust", "seq-100-deaf"), p50("rust", "seq-100-calm"));
    goal("Rust, beside a server that does not read: at most 2.0 x", deaf, 2.0, "x");
    let loss = Key { client: "rust", workload: "loss-20", figure: "p99_us" };
    let loss = figures.median(loss).map(|us| us / 1e3);
    goal("Rust, 20 calls of a killed server end: at most 50 ms", loss, 50.0, "ms");
    let reconcile = figures.median(p50("rust", "reconcile-1000")).map(|us| us / 1e3);
    goal("Rust, one change of 1,000 servers: at most 10 ms", reconcile, 10.0, "ms");
    let settings = figures.median(p50("rust", "settings-1000")).map(|us| us / 1e3);
    goal("Rust, the same from a settings file: at most 10 ms", settings, 10.0, "ms");
    starts(figures);
    kept(figures);
    shared(figures);
}

/// Of ten servers that start together.
fn starts(figures: &Figures) {
    let p50 = |client, workload| Key { client, workload, figure: "p50_us" };
    for (client, most) in [("rust", 10.0), ("python", 20.0), ("node", 20.0)] {
        let later = figures.difference(p50(client, "start-first-1"), p50(client, "start-first-0"));
        let what = format!("{client}, first list beside a slow server: at most {most} ms later");
        goal(&what, later.map(|us| us / 1e3), most, "ms");
        let ready = figures.median(p50(client, "start-ready-1")).map(|us| us / SLOWEST_US);
        let what = format!("{client}, all ten ready: at most 1.1 x the slowest");
        goal(&what, ready, 1.1, "x");
    }
}

/// Of hosts that have just begun.
fn kept(figures: &Figures) {
    for client in ["rust", "python", "node"] {
        for start in ["lazy", "eager"] {
            let workload = if start == "lazy" { "cached-lazy" } else { "cached-eager" };
            let took = figures.median(Key { client, workload, figure: "p50_us" });
            let what = format!("{client}, kept lists of ten {start} servers: at most 5 ms");
            goal(&what, took.map(|us| us / 1e3), 5.0, "ms");
        }
    }
}

/// Of twenty sessions that share, against as many that do not.
fn shared(figures: &Figures) {
    let of = |workload, figure| Key { client: REAL, workload, figure };
    let processes = figures.median(of("shared", "processes"));
    goal("20 sessions of five servers: at most 5 processes", processes, 5.0, "");
    let share = |figure| figures.ratio(of("shared", figure), of("own", figure));
    goal("their memory: at most 1/14 of one set each", share("pss_mib"), 1.0 / 14.0, "x");
    goal("their start: at most 1/14 of one set each", share("p50_us"), 1.0 / 14.0, "x");
}

fn goal(what: &str, measured: Option<f64>, most: f64, unit: &str) {
    match measured {
        Some(value) => {
            let verdict = if value <= most { "met" } else { "not met" };
            println!("{what:<58} {value:>7.3} {unit:<2} {verdict:>10}");
        }
        None => println!("{what:<58} {:>10} {:>10}", "-", "unknown"),
    }
}

/// How late the slow servers of the starts answer.
const SLOWEST_US: f64 = 2e6;
