//! `cargo xtask bench --against FOLDER`: trunkline of another checkout and of this one, in turns.
//!
//! In each round both run every group, and the order changes from round to round. A row is a
//! workload of a client; its ratio is taken within each round.

use std::path::Path;
use std::process::ExitCode;

use super::chosen::Chosen;
use super::figures::{Figures, Key, Round};
use super::peers::{self, Started};
use super::table::shown;
use super::workloads::{Group, RATE, Workload};
use super::{measure, pin, prepare};
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// A checkout with its clients and what they gave.
struct Side<'a> {
    machine: &'a Machine,
    ready: Vec<Started>,
    figures: Figures,
}

/// Fails where a row became slower than `BOUND`, or where one could not be measured.
pub fn compare(machine: &Machine, run: &mut Run, rest: &[&str]) -> ExitCode {
    let Some((folder, rest)) = rest.split_first() else {
        return refused("--against needs the folder of a checkout");
    };
    let chosen = Chosen::parse(rest);
    let before = Machine::at(Path::new(folder), machine.reach);
    match (chosen, before) {
        (Ok(mut chosen), Ok(before)) => {
            chosen.peers.retain(|peer| OURS.contains(&peer.name));
            measure_both(&before, machine, run, &chosen)
        }
        (Err(why), _) | (_, Err(why)) => refused(&why),
    }
}

fn refused(why: &str) -> ExitCode {
    eprintln!("xtask: {why}");
    ExitCode::FAILURE
}

fn measure_both(before: &Machine, now: &Machine, run: &mut Run, chosen: &Chosen) -> ExitCode {
    if let Err(Stop::Failed(why) | Stop::NotRun(why)) = peers::build_server(now, run) {
        return refused(&why);
    }
    let mut sides = [before, now].map(|machine| Side {
        machine,
        ready: prepare(machine, run, chosen),
        figures: Figures::default(),
    });
    println!("\n{} rounds of each, pinned to {}", chosen.rounds, pin());
    for number in 0..chosen.rounds {
        for client in 0..chosen.peers.len() {
            // Who runs second has the warmer caches.
            for side in [number % 2, 1 - number % 2] {
                turn(&mut sides[side], now, run, chosen, (number, client));
            }
        }
    }
    let [before, now] = sides;
    print_line(
        ["client", "workload", "before", "now", "ratio", "of the rounds", ""].map(str::to_owned),
    );
    let kept = rows(chosen)
        .map(|(client, workload)| print(client, workload, &before.figures, &now.figures));
    // Every row is printed, whatever stands before it.
    if kept.fold(true, |all, one| all & one) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One round of one client.
fn turn(side: &mut Side, now: &Machine, run: &mut Run, chosen: &Chosen, turn: (usize, usize)) {
    let (number, client) = turn;
    let name = chosen.peers[client].name;
    let Some(started) = side.ready.iter().find(|started| started.peer.name == name) else { return };
    let has_turn =
        |group: &&&Group| number < group.rounds && started.peer.groups.contains(&group.name);
    let groups = chosen.groups.iter().filter(has_turn).map(|group| group.name);
    let groups = groups.collect::<Vec<_>>().join(",");
    if groups.is_empty() {
        return;
    }
    // Both have the server of this checkout: what is compared is the client.
    let command = started.program.command(side.machine);
    match measure(now, run, command, &groups) {
        Ok(printed) => side.figures.add(name, Round { run: 0, number }, &printed),
        Err(why) => println!("{name}, round {}: {why:?}", number + 1),
    }
}

fn rows(chosen: &Chosen) -> impl Iterator<Item = (&'static str, &'static Workload)> {
    let workloads = chosen.groups.iter().flat_map(|group| group.workloads);
    workloads.flat_map(|workload| chosen.peers.iter().map(move |peer| (peer.name, workload)))
}

/// Whether the row is as quick as before, or was not there before.
fn print(client: &'static str, workload: &Workload, before: &Figures, now: &Figures) -> bool {
    let key = Key { client, workload: workload.name, figure: workload.figure };
    if !before.has(key) {
        return true;
    }
    let is_rate = workload.unit == RATE;
    let ratios =
        now.pairs_with(
            key,
            before,
            key,
            |now, before| if is_rate { before / now } else { now / before },
        );
    let ratio = ratios.median();
    let is_kept = ratio.is_some_and(|ratio| ratio <= BOUND);
    let median = |figures: &Figures| shown(figures.each(key, |value| value).median());
    let verdict = match ratio {
        None => "not measured now",
        Some(_) if !is_kept => "slower",
        Some(_) => "",
    };
    let texts =
        [workload.name.to_owned(), median(before), median(now), shown(ratio), ratios.spread()];
    let [workload, before, now, ratio, spread] = texts;
    print_line([client.to_owned(), workload, before, now, ratio, spread, verdict.to_owned()]);
    is_kept
}

fn print_line([client, workload, before, now, ratio, spread, verdict]: [String; 7]) {
    println!(
        "{client:<9} {workload:<26} {before:>11} {now:>11} {ratio:>7} {spread:>18}  {verdict}"
    );
}

/// The clients that are built from a checkout.
const OURS: [&str; 5] = ["rust", "foreign", "c", "python", "node"];

/// A row may take this many times what it took.
const BOUND: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::super::figures::{Figures, Round};
    use super::super::workloads::GROUPS;
    use super::print;

    fn of(workload: &str, figure: &str, values: &[f64]) -> Figures {
        let mut figures = Figures::default();
        for (number, value) in values.iter().enumerate() {
            let line = format!("{{\"workload\":\"{workload}\",\"{figure}\":{value}}}");
            figures.add("rust", Round { run: 0, number }, &line);
        }
        figures
    }

    #[test]
    fn a_row_is_kept_while_its_median_is_within_the_bound() {
        let rows = [
            ("seq-100", [10.0, 10.0, 10.0], [10.4, 20.0, 10.0], true),
            ("seq-100", [10.0, 10.0, 10.0], [10.6, 10.7, 1.0], false),
            ("wide-100", [10.0, 10.0, 10.0], [9.6, 9.7, 20.0], true),
            ("wide-100", [10.0, 10.0, 10.0], [9.4, 9.3, 20.0], false),
        ];
        for (name, before, now, is_kept) in rows {
            let mut workloads = GROUPS.iter().flat_map(|group| group.workloads);
            let workload = workloads.find(|workload| workload.name == name).unwrap();
            let [before, now] = [before, now].map(|values| of(name, workload.figure, &values));
            assert_eq!(print("rust", workload, &before, &now), is_kept, "{name}");
            let nothing = Figures::default();
            assert!(!print("rust", workload, &before, &nothing), "{name} is not measured any more");
            assert!(print("rust", workload, &nothing, &nothing), "{name} was never measured");
        }
    }
}
