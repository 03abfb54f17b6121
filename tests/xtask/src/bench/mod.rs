//! `cargo xtask bench`: clients of the same server, pinned to one core, interleaved in one run.
//!
//! Each round runs every client once, one after the other, so that what disturbs the machine
//! disturbs neighbours alike. A ratio is taken within each round, and the median of the rounds is
//! what counts.

mod against;
mod chosen;
mod figures;
mod goals;
mod instructions;
mod kept;
mod page;
mod peers;
mod plot;
mod table;
mod workloads;

use std::process::{Command, ExitCode};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use chosen::Chosen;
use figures::{Figures, Round};
use peers::{Peer, REAL, Started};
use workloads::Group;

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};
use crate::tables;

/// Runs the benchmark; `rest` may hold `--rounds N`, `--only GROUP`, `--quick ROW` and the names of
/// clients, or be `--instructions`, or begin with `--against FOLDER`, or be `--page`, which makes
/// the page of the documentation of what is kept.
pub fn bench(machine: &Machine, rest: &[&str]) -> ExitCode {
    let mut run = Run::new(machine.target.join("xtask/bench.log"), HANG_BOUND);
    match rest {
        ["--instructions"] => return instructions::compare(machine, &mut run),
        ["--against", rest @ ..] => return against::compare(machine, &mut run, rest),
        ["--page"] => return said(page::update(machine)),
        _ => {}
    }
    let chosen = match Chosen::parse(rest) {
        Ok(chosen) => chosen,
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::FAILURE;
        }
    };
    let ready = prepare(machine, &mut run, &chosen);
    if ready.is_empty() {
        eprintln!("xtask: no client could be built");
        return ExitCode::FAILURE;
    }
    // Before this process is pinned, and has one core.
    let named = kept::name(machine);
    let figures = measure_all(machine, &mut run, &chosen, &ready);
    let peers: Vec<&Peer> = ready.iter().map(|started| started.peer).collect();
    table::print(&figures, &chosen.groups, &peers);
    goals::print(&figures, &|goal| chosen.has(goal));
    said(keep(machine, figures, &named))
}

fn said(result: Result<(), Stop>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn prepare(machine: &Machine, run: &mut Run, chosen: &Chosen) -> Vec<Started> {
    let mut ready = Vec::new();
    for peer in chosen.peers.iter().copied() {
        println!("building {}: {}", peer.name, peer.what);
        match (peer.prepare)(machine, run) {
            Ok(program) => ready.push(Started { peer, program }),
            Err(Stop::NotRun(why)) => println!("    not measured: {why}"),
            Err(Stop::Failed(why)) => println!("    not measured: {why}\n{}", run.why(TAIL_LINES)),
        }
    }
    ready
}

/// All rounds. Each client has, in each round, those of its groups that have not had rounds enough.
fn measure_all(machine: &Machine, run: &mut Run, chosen: &Chosen, ready: &[Started]) -> Figures {
    let mut figures = Figures::default();
    let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut turn = |round: usize, started: &Started| {
        let has_turn =
            |group: &&&Group| round < group.rounds && started.peer.groups.contains(&group.name);
        let groups: Vec<&str> =
            chosen.groups.iter().filter(has_turn).map(|group| group.name).collect();
        if groups.is_empty() {
            return;
        }
        let command = started.program.command(machine);
        match measure(machine, run, command, &groups.join(",")) {
            Ok(printed) => {
                let round = Round { run: began, number: round };
                figures.add(started.peer.name, round, &printed);
            }
            Err(Stop::Failed(why) | Stop::NotRun(why)) => {
                println!("{}, round {}: {why}", started.peer.name, round + 1);
            }
        }
    };
    let (real, pinned): (Vec<_>, Vec<_>) =
        ready.iter().partition(|started| started.peer.name == REAL);
    real.iter().for_each(|started| turn(0, started));
    if !pinned.is_empty() {
        let core = pin();
        println!("\n{} rounds of {} clients, pinned to {core}", chosen.rounds, pinned.len());
    }
    for round in 0..chosen.rounds {
        pinned.iter().for_each(|started| turn(round, started));
    }
    figures
}

fn measure(
    machine: &Machine,
    run: &mut Run,
    mut command: Command,
    groups: &str,
) -> Result<String, Stop> {
    command.env("BENCH_ONLY", groups);
    command.arg(machine.target.join("release/trunkline-testserver"));
    // As those who use it run it: what a shell sets does not count.
    TUNED.iter().for_each(|name| {
        command.env_remove(name);
    });
    run.carry_out(&mut command)
}

/// Adds the figures to those of earlier runs, and draws them all.
fn keep(machine: &Machine, mut figures: Figures, named: &Value) -> Result<(), Stop> {
    let (file, picture) = (machine.target.join(KEPT), machine.target.join("xtask/bench.svg"));
    kept::add_earlier(&mut figures, &file, named);
    kept::write_all(&figures, &file, named)?;
    let under = kept::in_words(named);
    write(&picture, &plot::draw(&figures, &under))?;
    println!("\n{under}\nall figures: {}; the plot: {}", file.display(), picture.display());
    Ok(())
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

/// The clients, the groups of workloads, and the goals.
static TABLES: LazyLock<Value> = LazyLock::new(|| tables::table(include_str!("../../bench.json")));

/// All figures, in the build folder.
const KEPT: &str = "xtask/bench.json";

/// Everything together, release builds from nothing included.
const HANG_BOUND: Duration = Duration::from_secs(90 * 60);

/// What tunes the malloc of glibc, and what has Python compile its modules at each import.
const TUNED: [&str; 7] = [
    "PYTHONDONTWRITEBYTECODE",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_MMAP_MAX_",
    "MALLOC_ARENA_MAX",
    "GLIBC_TUNABLES",
];

/// Lines of the log that are printed when a client does not build.
const TAIL_LINES: usize = 30;
