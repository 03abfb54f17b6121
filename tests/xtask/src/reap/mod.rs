//! `cargo xtask reap`: twelve ways in which a server makes its end hard, closed and with the host
//! killed; nothing may survive.
//!
//! `docs/internals/reap.md` says what is done and what the table means.

mod close;
mod family;
mod hosts;
mod kill;
mod rig;
mod table;
mod time;

use std::process::ExitCode;
use std::time::Duration;

use crate::machine::{Machine, Reach};
use crate::run::{Run, Stop};
use hosts::Fleet;
use rig::Rig;
use table::{Goals, Table};
use time::Rounds;

/// The parts of a run.
#[derive(Clone, Copy)]
struct Parts {
    close: bool,
    kill: bool,
    time: bool,
}

/// The command: all parts, or those that are named.
pub fn reap(machine: &Machine, chosen: &[&str]) -> ExitCode {
    let (only, chosen): (Vec<&str>, Vec<&str>) =
        chosen.iter().partition(|part| !part.starts_with("--"));
    if let Some(unknown) = chosen.iter().find(|part| !FLAGS.contains(part)) {
        eprintln!(
            "xtask: reap knows no {unknown}, but --close --host-kill --time --full BEHAVIOUR"
        );
        return ExitCode::FAILURE;
    }
    let wants = |part| chosen.is_empty() || chosen.contains(&part);
    let parts = Parts { close: wants(FLAGS[0]), kill: wants(FLAGS[1]), time: wants(FLAGS[2]) };
    let mut run = Run::new(machine.target.join("xtask/reap.log"), HANG_BOUND);
    match measure(machine, &mut run, parts, &only) {
        Ok(table) => {
            table.lines().iter().for_each(|line| println!("{line}"));
            let is_whole = table.missing().is_none() || !machine.is_ci();
            if table.faults().is_empty() && is_whole {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(Stop::NotRun(why) | Stop::Failed(why)) => {
            println!("{}\nxtask: reap: {why}", run.why(TAIL_LINES));
            ExitCode::FAILURE
        }
    }
}

/// The suite `reap`: survivors fail it; the figures fail its long form.
pub fn suite(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    judge(machine, run, Parts { close: true, kill: true, time: true })
}

/// One part of it, by its flag.
pub fn part(machine: &Machine, run: &mut Run, flag: &str) -> Result<(), Stop> {
    let [close, kill, time] = FLAGS.map(|known| known == flag);
    judge(machine, run, Parts { close, kill, time })
}

fn judge(machine: &Machine, run: &mut Run, parts: Parts) -> Result<(), Stop> {
    let table = measure(machine, run, parts, &[])?;
    run.counted += table.rounds() as u64;
    run.closing.extend(table.lines());
    run.failed.extend(table.faults().iter().cloned());
    match (table.faults(), table.missing()) {
        ([], None) => Ok(()),
        ([], Some(missing)) => Err(Stop::NotRun(missing.to_owned())),
        ([first, ..], _) => Err(Stop::Failed(first.clone())),
    }
}

fn measure(machine: &Machine, run: &mut Run, parts: Parts, only: &[&str]) -> Result<Table, Stop> {
    let rig = Rig::new(machine, run, only)?;
    let fleet = Fleet::build(machine, run, parts.kill)?;
    let full = machine.reach == Reach::Full;
    let goals = if full { Goals::Held } else { Goals::Shown };
    let mut table = Table::new(rig.behaviours(), goals, fleet.missing.clone());
    let mut kept: Vec<(&str, usize)> = Vec::new();
    // The figures come first, while nothing else runs.
    if parts.time {
        let short = Rounds { polite: 200, each: 1 };
        let rounds = if full { Rounds { polite: 2000, each: 5 } } else { short };
        let closes = kept_in(&mut table, |table| time::measure(&rig, &fleet, &rounds, table));
        let each = rounds.each * rig.behaviours().len();
        let timed = [("close-time/polite", rounds.polite), ("close-time/each", each)];
        // A goal that is shown alone is kept by nobody.
        kept.extend(timed.into_iter().filter(|_| closes.is_some() && goals == Goals::Held));
    }
    if parts.close {
        let rounds = if full { 200 } else { 10 };
        let closes = kept_in(&mut table, |table| close::measure(&rig, &fleet, rounds, table));
        kept.extend(closes.map(|closes| ("close", closes)));
    }
    if parts.kill {
        // A busy machine may hold up what ends them.
        let within = if full { kill::PROMISED } else { family::HANG };
        let rounds = if full { 50 } else { 3 };
        let kills = kept_in(&mut table, |table| kill::measure(&rig, &fleet, rounds, within, table));
        kept.extend(kills.map(|kills| ("host-kill", kills)));
    }
    // Who was left at the end may be of any part.
    let late = kept_in(&mut table, |table| table.late_survivors(&rig.sweep()));
    for (row, times) in kept.into_iter().filter(|_| late.is_some()) {
        run.note_score(row, times as u64);
    }
    Ok(table)
}

/// How many rounds a part carried out; nothing when it found something wrong.
fn kept_in(table: &mut Table, part: impl FnOnce(&mut Table)) -> Option<usize> {
    let (rounds, faults) = (table.rounds(), table.faults().len());
    part(table);
    (table.faults().len() == faults).then(|| table.rounds() - rounds)
}

/// What a part is called on the command line.
const FLAGS: [&str; 3] = ["--close", "--host-kill", "--time"];

/// Builds included, and the long form.
const HANG_BOUND: Duration = Duration::from_secs(60 * 60);

/// Lines of the log that are printed when a host could not be built.
const TAIL_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::kept_in;
    use super::table::{Goals, Round, Table};

    #[test]
    fn a_part_that_found_something_wrong_kept_nothing() {
        let mut table = Table::new(&[], Goals::Shown, None);
        let closed = |survivors: &[&str]| {
            let survivors = survivors.iter().map(|it| (*it).to_owned()).collect();
            Ok(Round { survivors })
        };
        assert_eq!(kept_in(&mut table, |table| table.add("close", "polite", closed(&[]))), Some(1));
        assert_eq!(kept_in(&mut table, |table| table.add("rust", "deaf", closed(&["7"]))), None);
        // What another part found is not this one's.
        assert_eq!(kept_in(&mut table, |table| table.add("c", "polite", closed(&[]))), Some(1));
        assert_eq!(kept_in(&mut table, |table| table.late_survivors(&[])), Some(0));
        assert_eq!(kept_in(&mut table, |table| table.late_survivors(&[7])), None);
    }
}
