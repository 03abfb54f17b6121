//! `cargo xtask bench`: clients of the same server, pinned to one core, interleaved in one run.
//!
//! Each round runs every client once, one after the other, so that what disturbs the machine
//! disturbs neighbours alike. A ratio is taken within each round, and the median of the rounds is
//! what counts.

mod figures;
mod goals;
mod peers;

use std::process::ExitCode;
use std::time::Duration;

use figures::Figures;
use peers::{PEERS, Peer, REAL, Started};

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// Runs the benchmark; `rest` may hold `--rounds N`, `--only GROUP` and the names of clients.
pub fn bench(machine: &Machine, rest: &[&str]) -> ExitCode {
    let Chosen { rounds, only, clients } = match arguments(rest) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::FAILURE;
        }
    };
    let mut run = Run::new(machine.target.join("xtask/bench.log"), HANG_BOUND);
    let ready = prepare(machine, &mut run, &clients);
    if ready.is_empty() {
        eprintln!("xtask: no client could be built");
        return ExitCode::FAILURE;
    }
    let mut figures = Figures::default();
    let mut turn = |round: usize, started: &Started| match measure(machine, &mut run, started, only)
    {
        Ok(printed) => figures.add(started.peer.name, round, &printed),
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            println!("{}, round {}: {why}", started.peer.name, round + 1);
        }
    };
    let (real, pinned): (Vec<_>, Vec<_>) =
        ready.iter().partition(|started| started.peer.name == REAL);
    real.iter().for_each(|started| turn(0, started));
    let core = pin();
    println!("\n{rounds} rounds of {} clients, pinned to {core}", pinned.len());
    for round in 0..rounds {
        pinned.iter().for_each(|started| turn(round, started));
    }
    let shown: Vec<&'static str> = ready.iter().map(|started| started.peer.name).collect();
    figures::print(&figures, &shown);
    goals::print(&figures);
    ExitCode::SUCCESS
}

/// What is to be run.
struct Chosen<'a> {
    rounds: usize,
    /// The one group of workloads, of those clients that have groups.
    only: Option<&'a str>,
    /// Without any, all.
    clients: Vec<&'a str>,
}

fn arguments<'a>(rest: &[&'a str]) -> Result<Chosen<'a>, String> {
    let mut clients = Vec::new();
    let (mut rounds, mut only) = (ROUNDS, None);
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        if *argument == "--rounds" {
            let number = rest.next().and_then(|number| number.parse().ok());
            rounds = number.filter(|rounds| *rounds > 0).ok_or("--rounds needs a number")?;
        } else if *argument == "--only" {
            let group = rest.next().filter(|group| GROUPS.contains(group));
            let message = || format!("--only needs one of: {}", GROUPS.join(" "));
            only = Some(*group.ok_or_else(message)?);
        } else if PEERS.iter().any(|peer| peer.name == *argument) {
            clients.push(*argument);
        } else {
            let names: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
            return Err(format!("no client {argument}; there are: {}", names.join(" ")));
        }
    }
    Ok(Chosen { rounds, only, clients })
}

fn prepare(machine: &Machine, run: &mut Run, chosen: &[&str]) -> Vec<Started> {
    let mut ready = Vec::new();
    let is_wanted = |peer: &&Peer| chosen.is_empty() || chosen.contains(&peer.name);
    for peer in PEERS.iter().filter(is_wanted) {
        println!("building {}: {}", peer.name, peer.what);
        match (peer.prepare)(machine, run) {
            Ok(program) => ready.push(Started { peer, program }),
            Err(Stop::NotRun(why)) => println!("    not measured: {why}"),
            Err(Stop::Failed(why)) => println!("    not measured: {why}\n{}", run.why(TAIL_LINES)),
        }
    }
    ready
}

fn measure(
    machine: &Machine,
    run: &mut Run,
    started: &Started,
    only: Option<&str>,
) -> Result<String, Stop> {
    let mut command = started.program.command(machine);
    command.envs(only.map(|group| ("BENCH_ONLY", group)));
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

/// Rounds, unless the command line says otherwise.
const ROUNDS: usize = 5;

/// Everything together, release builds from nothing included.
const HANG_BOUND: Duration = Duration::from_secs(60 * 60);

/// What `--only` takes: groups of workloads of trunkline's clients for Rust, Python and Node. The clients that it is compared with run whole.
const GROUPS: [&str; 6] = ["calls", "acquire", "faults", "passes", "starts", "cached"];

const MALLOC_BYTES: &str = "67108864";

/// Lines of the log that are printed when a client does not build.
const TAIL_LINES: usize = 30;
