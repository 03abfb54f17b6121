//! The tables: one of each workload, its clients side by side.

use super::figures::{Figures, Key};
use super::goals::round;
use super::peers::Peer;
use super::workloads::{Group, Workload};

/// Prints what the clients gave in these groups.
pub fn print(figures: &Figures, groups: &[&Group], peers: &[&Peer]) {
    for workload in groups.iter().flat_map(|group| group.workloads) {
        print_one(figures, workload, peers);
    }
}

fn print_one(figures: &Figures, workload: &Workload, peers: &[&Peer]) {
    let lines = lines(figures, workload, peers);
    if lines.is_empty() {
        return;
    }
    let Workload { name, title, unit, .. } = *workload;
    println!("\n{title} ({name})");
    for line in std::iter::once(heads(unit)).chain(lines) {
        let [client, figure, rounds, pipe, peer, p99, cpu, further] = line;
        println!(
            "{client:<9} {figure:>11} {rounds:>22} {pipe:>7} {peer:>7} {p99:>9} {cpu:>9}  {further}"
        );
    }
}

/// The heads of the columns.
pub fn heads(unit: &str) -> [String; 8] {
    ["client", unit, "of the rounds", "x pipe", "x peer", "p99 us", "cpu us", "further"]
        .map(str::to_owned)
}

/// What the clients gave in a workload, a line each.
pub fn lines(figures: &Figures, workload: &Workload, peers: &[&Peer]) -> Vec<[String; 8]> {
    let key = |client| Key { client, workload: workload.name, figure: workload.figure };
    let line = |peer: &&Peer| {
        let own = key(peer.name);
        let median = |figure| figures.each(Key { figure, ..own }, |value| value).median();
        let against = |other: Option<&'static str>| {
            let other = other.filter(|other| *other != peer.name)?;
            figures.pairs(own, key(other), |one, other| one / other).median()
        };
        let rounds = figures.each(own, |value| value);
        [
            peer.name.to_owned(),
            shown(rounds.median()),
            rounds.spread(),
            shown(against(Some("pipe"))),
            shown(against(peer.against)),
            shown(median("p99_us")),
            shown(median("cpu_us")),
            further(figures, own),
        ]
    };
    peers.iter().filter(|peer| figures.has(key(peer.name))).map(line).collect()
}

/// The figures that few workloads have, by their names.
fn further(figures: &Figures, own: Key) -> String {
    let some = FURTHER.iter().filter(|figure| **figure != own.figure).filter_map(|figure| {
        let value = figures.each(Key { figure, ..own }, |value| value).median()?;
        Some(format!("{figure} {}", round(value)))
    });
    some.collect::<Vec<_>>().join(", ")
}

pub fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), round)
}

const FURTHER: [&str; 10] = [
    "pages",
    "import_us",
    "threads",
    "lists",
    "wakes",
    "session_bytes",
    "holding_session_bytes",
    "lease_bytes",
    "processes",
    "pss_mib",
];
