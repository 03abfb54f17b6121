//! What the clients printed, the medians and ratios of it, and the table.

use std::collections::BTreeMap;

use serde_json::Value;

/// Which figure of which client.
#[derive(Clone, Copy)]
pub struct Key {
    pub client: &'static str,
    pub workload: &'static str,
    pub figure: &'static str,
}

/// All figures, by client, workload and figure: one value for each round.
#[derive(Default)]
pub struct Figures(BTreeMap<(String, String, String), BTreeMap<usize, f64>>);

impl Figures {
    /// Takes what a client printed in a round.
    pub fn add(&mut self, client: &str, round: usize, printed: &str) {
        let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for line in lines {
            let Some(workload) = line["workload"].as_str() else { continue };
            for (figure, value) in line.as_object().into_iter().flatten() {
                let Some(value) = value.as_f64() else { continue };
                let key = (client.to_string(), workload.to_string(), figure.clone());
                self.0.entry(key).or_default().insert(round, value);
            }
        }
    }

    /// The median of the rounds.
    pub fn median(&self, key: Key) -> Option<f64> {
        median(self.rounds(key)?.values().copied().collect())
    }

    /// The median of the ratios that the rounds gave.
    pub fn ratio(&self, above: Key, below: Key) -> Option<f64> {
        self.pairs(above, below, |above, below| above / below)
    }

    /// The median of the differences that the rounds gave.
    pub fn difference(&self, more: Key, less: Key) -> Option<f64> {
        self.pairs(more, less, |more, less| more - less)
    }

    fn pairs(&self, one: Key, other: Key, join: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let other = self.rounds(other)?;
        let pairs = self.rounds(one)?.iter();
        median(pairs.filter_map(|(round, value)| Some(join(*value, *other.get(round)?))).collect())
    }

    fn rounds(&self, key: Key) -> Option<&BTreeMap<usize, f64>> {
        let Key { client, workload, figure } = key;
        self.0.get(&(client.to_string(), workload.to_string(), figure.to_string()))
    }
}

/// Prints one block for each workload.
pub fn print(figures: &Figures, clients: &[&'static str]) {
    for (workload, title, figure) in WORKLOADS {
        let has_run = |client: &&str| {
            let key = (client.to_string(), workload.to_string(), figure.to_string());
            figures.0.contains_key(&key)
        };
        if !clients.iter().any(has_run) {
            continue;
        }
        println!("\n{title}");
        println!(
            "{:<10} {:>12} {:>10} {:>10} {:>12} {:>10}",
            "client",
            match figure {
                "p50_us" => "p50 us",
                "pss_mib" => "PSS MiB",
                _ => "calls/s",
            },
            "x pipe",
            "x rmcp",
            "p99 us",
            "cpu us"
        );
        for client in clients {
            let key = |figure| Key { client, workload, figure };
            let against =
                |other| figures.ratio(key(figure), Key { client: other, workload, figure });
            let Some(value) = figures.median(key(figure)) else { continue };
            println!(
                "{client:<10} {:>12} {:>10} {:>10} {:>12} {:>10}",
                shown(Some(value)),
                shown(against("pipe")),
                shown(against("rmcp")),
                shown(figures.median(key("p99_us"))),
                shown(figures.median(key("cpu_us")))
            );
        }
    }
}

fn shown(value: Option<f64>) -> String {
    match value {
        Some(value) if value >= 1000.0 => format!("{value:.0}"),
        Some(value) if value < 0.1 => format!("{value:.4}"),
        Some(value) => format!("{value:.2}"),
        None => "-".to_string(),
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        length if length % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Workloads, their titles, and the figure that counts.
const WORKLOADS: [(&str, &str, &str); 19] = [
    ("seq-100", "100 B, one at a time", "p50_us"),
    ("seq-100k", "100 KB, one at a time", "p50_us"),
    ("wide-100", "100 B, 64 in flight", "calls_per_s"),
    ("wide-100k", "100 KB, 64 in flight", "calls_per_s"),
    ("acquire", "warm acquire and release", "p50_us"),
    ("seq-100-deaf", "100 B, one at a time, beside a server that does not read", "p50_us"),
    ("loss-20", "from the kill of a server amid 20 calls to the end of the last", "p50_us"),
    ("reconcile-1000", "reconcile of 1,000 servers of which one changed", "p50_us"),
    ("settings-1000", "the same as the text of a settings file", "p50_us"),
    ("start-first-0", "ten servers start: the tools of all", "p50_us"),
    ("start-first-1", "one of them 2 s late: the tools of the nine", "p50_us"),
    ("start-ready-1", "likewise: all are ready", "p50_us"),
    ("start-ready-3", "three of them 2 s late: all are ready", "p50_us"),
    ("cached-lazy", "a new host lists the kept tools of ten lazy servers", "p50_us"),
    ("cached-eager", "likewise, while the servers are started", "p50_us"),
    ("shared", "20 sessions share five real servers: all are ready", "p50_us"),
    ("own", "20 sessions have five real servers each: all are ready", "p50_us"),
    ("shared", "20 sessions share five real servers: memory", "pss_mib"),
    ("own", "20 sessions have five real servers each: memory", "pss_mib"),
];

#[cfg(test)]
mod tests {
    use super::{Figures, Key};

    #[test]
    fn a_ratio_is_taken_within_each_round() {
        let mut figures = Figures::default();
        for (round, (above, below)) in [(10.0, 5.0), (40.0, 10.0), (9.0, 3.0)].iter().enumerate() {
            let line = |value| format!("noise\n{{\"workload\":\"w\",\"p50_us\":{value}}}\n");
            figures.add("a", round, &line(above));
            figures.add("b", round, &line(below));
        }
        let key = |client| Key { client, workload: "w", figure: "p50_us" };
        assert_eq!(figures.ratio(key("a"), key("b")), Some(3.0));
        assert_eq!(figures.difference(key("a"), key("b")), Some(6.0));
        assert_eq!(figures.median(key("a")), Some(10.0));
        assert_eq!(figures.median(key("c")), None);
    }
}
