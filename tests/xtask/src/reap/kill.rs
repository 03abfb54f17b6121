//! Every behaviour, and its host killed: 2 s later nothing of it runs (SECURITY row 2).

use std::process::Command;
use std::time::Duration;

use super::family::{self, comes_true};
use super::hosts::{Fleet, Host};
use super::rig::{Behaviour, Moment, Rig};
use super::table::{Round, Table};

/// What the host does when it is killed.
#[derive(Clone, Copy)]
enum Doing {
    Connecting,
    Calling,
    /// It began to drain this long ago.
    Draining(Duration),
}

/// Kills that many hosts of each language in each behaviour; the languages side by side.
pub fn measure(rig: &Rig, fleet: &Fleet, rounds: usize, within: Duration, table: &mut Table) {
    let one = |language: usize, (name, command): &(&'static str, Command)| {
        let mut done = Vec::new();
        for (place, behaviour) in rig.behaviours().iter().enumerate() {
            for round in 0..rounds {
                let doing = doing(round, place + language);
                done.push((*name, behaviour, kill(rig, command, behaviour, doing, within)));
            }
        }
        done
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let hosts = fleet.hosts.iter().enumerate();
        let workers: Vec<_> =
            hosts.map(|(language, host)| scope.spawn(move || one(language, host))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    for (language, behaviour, round) in done {
        table.add(language, &behaviour.name, round);
    }
}

/// In turn; each behaviour and language has other drains.
fn doing(round: usize, place: usize) -> Doing {
    match round % 3 {
        0 => Doing::Connecting,
        1 => Doing::Calling,
        _ => Doing::Draining(into_the_drain(round / 3 + place)),
    }
}

/// From at once to the end of both graces, the early moments closer together. However many numbers
/// are taken, from wherever on, the golden ratio spreads them.
fn into_the_drain(number: usize) -> Duration {
    let share = (number as f64 * 0.618_034).fract();
    DRAIN.mul_f64(share * share)
}

fn kill(
    rig: &Rig,
    command: &Command,
    behaviour: &Behaviour,
    doing: Doing,
    within: Duration,
) -> Result<Round, String> {
    let family = rig.family();
    let mut host = Host::start(command)?;
    let moment = match doing {
        Doing::Connecting => Moment::Connecting,
        Doing::Calling => Moment::Calling,
        Doing::Draining(_) => Moment::Idle,
    };
    let leader = rig.establish(&mut host, behaviour, &family, moment)?;
    let holders = family::holders(leader);
    behaviour.last.provoke(leader)?;
    if let Doing::Draining(since) = doing {
        host.ask("drain")?;
        std::thread::sleep(since);
    }
    host.kill();
    let mut survivors = family.survivors(within);
    let holds = |pid: &u32| family::is_holder(*pid);
    // They end after what they hold.
    if !comes_true(within, || !holders.iter().any(holds)) {
        survivors
            .extend(holders.iter().filter(|pid| holds(pid)).map(|pid| family::described(*pid)));
    }
    Ok(Round { survivors })
}

/// Both graces, and a little.
const DRAIN: Duration = Duration::from_millis(2100);

/// How long after the host's death its servers may run, on a machine that does nothing else.
pub const PROMISED: Duration = Duration::from_secs(2);
