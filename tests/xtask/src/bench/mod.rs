//! `cargo xtask bench`: clients of the same server, pinned to one core, interleaved in one run.
//!
//! Each round runs every client once, one after the other, so that what disturbs the machine
//! disturbs neighbours alike. A ratio is taken within each round, and the median of the rounds is
//! what counts.

mod figures;
mod peers;

use std::process::ExitCode;
use std::time::Duration;

use figures::{Figures, Key};
use peers::{PEERS, Peer, Started};

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// Runs the benchmark; `rest` may hold `--rounds N` and the names of clients.
pub fn bench(machine: &Machine, rest: &[&str]) -> ExitCode {
    let (rounds, chosen) = match arguments(rest) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::FAILURE;
        }
    };
    let mut run = Run::new(machine.target.join("xtask/bench.log"), HANG_BOUND);
    let ready = prepare(machine, &mut run, &chosen);
    if ready.is_empty() {
        eprintln!("xtask: no client could be built");
        return ExitCode::FAILURE;
    }
    let core = pin();
    println!("\n{rounds} rounds of {} clients, pinned to {core}", ready.len());
    let mut figures = Figures::default();
    for round in 0..rounds {
        for started in &ready {
            match measure(machine, &mut run, started) {
                Ok(printed) => figures.add(started.peer.name, round, &printed),
                Err(Stop::Failed(why) | Stop::NotRun(why)) => {
                    println!("{}, round {}: {why}", started.peer.name, round + 1);
                }
            }
        }
    }
    let shown: Vec<&'static str> = ready.iter().map(|started| started.peer.name).collect();
    figures::print(&figures, &shown);
    goals(&figures);
    ExitCode::SUCCESS
}

fn arguments<'a>(rest: &[&'a str]) -> Result<(usize, Vec<&'a str>), String> {
    let mut chosen = Vec::new();
    let mut rounds = ROUNDS;
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        if *argument == "--rounds" {
            let number = rest.next().and_then(|number| number.parse().ok());
            rounds = number.filter(|rounds| *rounds > 0).ok_or("--rounds needs a number")?;
        } else if PEERS.iter().any(|peer| peer.name == *argument) {
            chosen.push(*argument);
        } else {
            let names: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
            return Err(format!("no client {argument}; there are: {}", names.join(" ")));
        }
    }
    Ok((rounds, chosen))
}

fn prepare(machine: &Machine, run: &mut Run, chosen: &[&str]) -> Vec<Started> {
    let mut ready = Vec::new();
    let is_wanted = |peer: &&Peer| chosen.is_empty() || chosen.contains(&peer.name);
    for peer in PEERS.iter().filter(is_wanted) {
        println!("building {}: {}", peer.name, peer.what);
        match (peer.prepare)(machine, run) {
            Ok(program) => ready.push(Started { peer, program }),
            Err(Stop::NotRun(why)) => println!("    not measured: {why}"),
            Err(Stop::Failed(why)) => println!("    not measured: {why}\n{}", run.tail(TAIL_LINES)),
        }
    }
    ready
}

fn measure(machine: &Machine, run: &mut Run, started: &Started) -> Result<String, Stop> {
    let mut command = started.program.command(machine);
    command.arg(machine.target.join("release/trunkline-testserver"));
    // Without these glibc gives the memory of every large reply back to the system, at random per
    // process; all clients are measured alike.
    command.env("MALLOC_TRIM_THRESHOLD_", MALLOC_BYTES).env("MALLOC_MMAP_THRESHOLD_", MALLOC_BYTES);
    run.carry_out(&mut command)
}

/// Pins this process, and with it every client and server, to the last core that it may use.
fn pin() -> String {
    // SAFETY: the sets are plain bit masks of our own, and each call gets its size.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return "no core: the affinity cannot be read".to_string();
        }
        let may_use = |core: &usize| libc::CPU_ISSET(*core, &allowed);
        let Some(core) = (0..libc::CPU_SETSIZE as usize).rev().find(may_use) else {
            return "no core: none is allowed".to_string();
        };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        match libc::sched_setaffinity(0, size, &raw const one) {
            0 => format!("core {core}"),
            _ => "no core: the affinity cannot be set".to_string(),
        }
    }
}

/// What has to be met, and whether it is.
fn goals(figures: &Figures) {
    println!("\n{:<58} {:>10} {:>10}", "goal", "measured", "");
    let p50 = |client, workload| Key { client, workload, figure: "p50_us" };
    let rust = figures.ratio(p50("rust", "seq-100"), p50("pipe", "seq-100"));
    goal("Rust, 100 B, one at a time: at most 2.0 x the pipe", rust, 2.0, "x");
    let python = figures.ratio(p50("python", "seq-100"), p50("mcp", "seq-100"));
    goal("Python, 100 B, one at a time: at most 1/5 of the SDK", python, 0.2, "x");
    let acquire = figures.median(p50("rust", "acquire"));
    goal("Rust, warm acquire and release: at most 2 us", acquire, 2.0, "us");
    let deaf = figures.ratio(p50("rust", "seq-100-deaf"), p50("rust", "seq-100-calm"));
    goal("Rust, beside a server that does not read: at most 2.0 x", deaf, 2.0, "x");
    let loss = Key { client: "rust", workload: "loss-20", figure: "p99_us" };
    let loss = figures.median(loss).map(|us| us / 1e3);
    goal("Rust, 20 calls of a killed server end: at most 50 ms", loss, 50.0, "ms");
    let reconcile = figures.median(p50("rust", "reconcile-1000")).map(|us| us / 1e3);
    goal("Rust, one change of 1,000 servers: at most 10 ms", reconcile, 10.0, "ms");
    let settings = figures.median(p50("rust", "settings-1000")).map(|us| us / 1e3);
    goal("Rust, the same from a settings file: at most 10 ms", settings, 10.0, "ms");
}

fn goal(what: &str, measured: Option<f64>, most: f64, unit: &str) {
    match measured {
        Some(value) => {
            let verdict = if value <= most { "met" } else { "not met" };
            println!("{what:<58} {value:>7.2} {unit:<2} {verdict:>10}");
        }
        None => println!("{what:<58} {:>10} {:>10}", "-", "unknown"),
    }
}

/// Rounds, unless the command line says otherwise.
const ROUNDS: usize = 5;

/// Everything together, release builds from nothing included.
const HANG_BOUND: Duration = Duration::from_secs(60 * 60);

const MALLOC_BYTES: &str = "67108864";

/// Lines of the log that are printed when a client does not build.
const TAIL_LINES: usize = 30;
