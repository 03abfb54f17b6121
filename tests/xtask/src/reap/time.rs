//! How long a close takes (SECURITY row 3): figures, on a machine that does nothing else for this test.

use std::time::Duration;

use super::close::close;
use super::hosts::Fleet;
use super::rig::{Moment, Rig};
use super::table::Table;

/// Closes a polite server that many times, each other behaviour a few times, and ten deaf servers at once.
pub fn measure(rig: &Rig, fleet: &Fleet, polite: usize, table: &mut Table) {
    for figure in
        [polite_closes(rig, fleet, polite), worst_close(rig, fleet), ten_at_once(rig, fleet)]
    {
        match figure {
            Ok(line) => table.figure(line),
            Err(why) => table.fault(format!("figures: {why}")),
        }
    }
}

fn polite_closes(rig: &Rig, fleet: &Fleet, rounds: usize) -> Result<String, String> {
    let mut host = fleet.rust()?;
    let behaviour = rig.named("polite").ok_or("no polite server")?;
    let closes = (0..rounds).map(|_| close(rig, &mut host, behaviour).map(|closed| closed.took));
    let mut took = closes.collect::<Result<Vec<Duration>, String>>()?;
    took.sort();
    let at = |part: usize| millis(took[(took.len() * part / 100).min(took.len() - 1)]);
    let verdict = verdict(at(99), 50.0);
    Ok(format!(
        "close of a polite server: p50 {:.1} ms, p99 {:.1} ms of {rounds} (goal: p99 <= 50 ms, {verdict})",
        at(50),
        at(99)
    ))
}

fn worst_close(rig: &Rig, fleet: &Fleet) -> Result<String, String> {
    let mut worst = (Duration::ZERO, "none");
    for behaviour in rig.behaviours() {
        let mut host = fleet.rust()?;
        for _ in 0..WORST_ROUNDS {
            let took = close(rig, &mut host, behaviour)?.took;
            worst = worst.max((took, &behaviour.name));
        }
    }
    let (ms, goal) = (millis(worst.0), millis(GRACES) + 250.0);
    let verdict = verdict(ms, goal);
    Ok(format!("worst close: {ms:.0} ms, {} (goal: <= {goal:.0} ms, {verdict})", worst.1))
}

fn ten_at_once(rig: &Rig, fleet: &Fleet) -> Result<String, String> {
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
    let verdict = verdict(times, 1.2);
    Ok(format!(
        "ten deaf servers close in {took:.0} ms, {times:.2} times one (goal: <= 1.2, {verdict})"
    ))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn verdict(figure: f64, goal: f64) -> &'static str {
    if figure <= goal { "met" } else { "MISSED" }
}

/// The default `exit_grace` and `kill_grace`.
const GRACES: Duration = Duration::from_secs(2);

const WORST_ROUNDS: usize = 1;
