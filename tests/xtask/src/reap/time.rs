//! How long a close takes (SECURITY row 3): figures, on a machine that does nothing else for this
//! test.

use std::time::Duration;

use super::close::close;
use super::hosts::Fleet;
use super::rig::{Moment, Rig};
use super::table::{Figure, Table};

/// How often what is closed.
pub struct Rounds {
    /// A polite server.
    pub polite: usize,
    /// Each behaviour.
    pub each: usize,
}

/// Closes a polite server that many times, each behaviour a few times, and ten deaf servers at
/// once.
pub fn measure(rig: &Rig, fleet: &Fleet, rounds: &Rounds, table: &mut Table) {
    let polite = polite_closes(rig, fleet, rounds.polite);
    for figure in [polite, worst_close(rig, fleet, rounds.each), ten_at_once(rig, fleet)] {
        match figure {
            Ok(figure) => table.figure(figure),
            Err(why) => table.fault(format!("figures: {why}")),
        }
    }
}

fn polite_closes(rig: &Rig, fleet: &Fleet, rounds: usize) -> Result<Figure, String> {
    let mut host = fleet.rust()?;
    let behaviour = rig.named("polite").ok_or("no polite server")?;
    let closes = (0..rounds).map(|_| close(rig, &mut host, behaviour).map(|closed| closed.took));
    let mut took = closes.collect::<Result<Vec<Duration>, String>>()?;
    took.sort();
    let at = |part: usize| millis(took[(took.len() * part / 100).min(took.len() - 1)]);
    let (p50, p99) = (at(50), at(99));
    let what = format!("close of a polite server: p50 {p50:.1} ms, p99 {p99:.1} ms of {rounds}");
    Ok(Figure { what, goal: "p99 <= 50 ms".to_owned(), is_met: p99 <= 50.0 })
}

fn worst_close(rig: &Rig, fleet: &Fleet, rounds: usize) -> Result<Figure, String> {
    let mut worst = (Duration::ZERO, "none");
    for behaviour in rig.behaviours() {
        let mut host = fleet.rust()?;
        for _ in 0..rounds {
            let took = close(rig, &mut host, behaviour)?.took;
            worst = worst.max((took, &behaviour.name));
        }
    }
    let (ms, goal) = (millis(worst.0), millis(GRACES) + 250.0);
    let what = format!("worst close: {ms:.0} ms, {}", worst.1);
    Ok(Figure { what, goal: format!("<= {goal:.0} ms"), is_met: ms <= goal })
}

fn ten_at_once(rig: &Rig, fleet: &Fleet) -> Result<Figure, String> {
    let deaf = rig.named("deaf to EOF and SIGTERM").ok_or("no deaf server")?;
    let mut host = fleet.rust()?;
    let one = close(rig, &mut host, deaf)?.took;
    let family = rig.family();
    for number in 0..10 {
        host.ask(&format!("connect s{number} {}", rig.server(deaf, &family, Moment::Idle)))?;
    }
    family.leader(10)?;
    let took = host.ask("close")?.parse::<f64>().map_err(|error| error.to_string())?;
    let times = took / millis(one);
    if !family.alive().is_empty() {
        return Err("the close of ten leaves some".to_owned());
    }
    let what = format!("ten deaf servers close in {took:.0} ms, {times:.2} times one");
    Ok(Figure { what, goal: "<= 1.2".to_owned(), is_met: times <= 1.2 })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The default `exit_grace` and `kill_grace`.
const GRACES: Duration = Duration::from_secs(2);
