//! What the clients printed, and the medians and ratios of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::goals::round;

/// One figure of one client.
#[derive(Clone, Copy)]
pub struct Key {
    pub client: &'static str,
    pub workload: &'static str,
    pub figure: &'static str,
}

/// All figures, by client, workload and figure: one value for each round.
#[derive(Default)]
pub struct Figures(BTreeMap<(String, String, String), BTreeMap<Round, f64>>);

/// A round of a run. Rounds of different runs are never paired, whatever their numbers: the machine
/// may have changed its speed in between.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Round {
    /// When its run began, in seconds since 1970.
    pub run: u64,
    pub number: usize,
}

impl Round {
    /// As it is kept: `run.number`.
    fn written(self) -> String {
        format!("{}.{}", self.run, self.number)
    }

    fn read(text: &str) -> Option<Round> {
        let (run, number) = text.split_once('.')?;
        Some(Round { run: run.parse().ok()?, number: number.parse().ok()? })
    }
}

/// One value of each round that has one.
#[derive(Debug, PartialEq)]
pub struct Pairs(Vec<f64>);

impl Pairs {
    pub fn median(&self) -> Option<f64> {
        let middle = self.0.len() / 2;
        match self.0.len() {
            0 => None,
            length if length % 2 == 1 => Some(self.0[middle]),
            _ => Some(f64::midpoint(self.0[middle - 1], self.0[middle])),
        }
    }

    /// The least and the greatest.
    pub fn spread(&self) -> String {
        match self.0[..] {
            [] | [_] => String::new(),
            [least, .., greatest] => format!("{} .. {}", round(least), round(greatest)),
        }
    }
}

impl Figures {
    /// Takes what a client printed in a round.
    pub fn add(&mut self, client: &str, round: Round, printed: &str) {
        let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for line in lines {
            let Some(workload) = line["workload"].as_str() else { continue };
            for (figure, value) in line.as_object().into_iter().flatten() {
                let Some(value) = value.as_f64() else { continue };
                self.set(client, workload, figure, round, value);
            }
        }
    }

    fn set(&mut self, client: &str, workload: &str, figure: &str, round: Round, value: f64) {
        let key = (client.to_string(), workload.to_string(), figure.to_string());
        self.0.entry(key).or_default().insert(round, value);
    }

    /// Whether a workload of a client gave anything.
    pub fn has(&self, key: Key) -> bool {
        self.rounds(key).is_some()
    }

    /// A value of each round.
    pub fn each(&self, key: Key, of: impl Fn(f64) -> f64) -> Pairs {
        let rounds = self.rounds(key).into_iter().flatten();
        sorted(rounds.map(|(_, value)| of(*value)).collect())
    }

    /// What two values of the same round give, for each.
    pub fn pairs(&self, one: Key, other: Key, join: impl Fn(f64, f64) -> f64) -> Pairs {
        self.pairs_with(one, self, other, join)
    }

    /// Likewise, where the other value stands among figures of another checkout.
    pub fn pairs_with(
        &self,
        one: Key,
        others: &Figures,
        other: Key,
        join: impl Fn(f64, f64) -> f64,
    ) -> Pairs {
        let others = others.rounds(other);
        let other = |round| others.and_then(|rounds| rounds.get(round));
        let rounds = self.rounds(one).into_iter().flatten();
        sorted(rounds.filter_map(|(round, value)| Some(join(*value, *other(round)?))).collect())
    }

    fn rounds(&self, key: Key) -> Option<&BTreeMap<Round, f64>> {
        let Key { client, workload, figure } = key;
        self.0.get(&(client.to_string(), workload.to_string(), figure.to_string()))
    }

    /// As rows `[client, workload, figure, {round: value}]`, to be kept.
    pub fn to_rows(&self) -> Value {
        let written = |(round, value): (&Round, &f64)| (round.written(), json!(value));
        let rows = self.0.iter().map(|((client, workload, figure), rounds)| {
            let rounds: serde_json::Map<_, _> = rounds.iter().map(written).collect();
            json!([client, workload, figure, rounds])
        });
        rows.collect()
    }

    /// Takes kept rows, but for those of the workloads that were measured anew.
    pub fn add_rows(&mut self, rows: &Value) {
        let name = |(client, workload, _): &(String, String, String)| {
            (client.to_string(), workload.to_string())
        };
        let anew: BTreeSet<(String, String)> = self.0.keys().map(name).collect();
        for row in rows.as_array().into_iter().flatten() {
            let (Some(client), Some(workload), Some(figure)) =
                (row[0].as_str(), row[1].as_str(), row[2].as_str())
            else {
                continue;
            };
            if anew.contains(&(client.to_string(), workload.to_string())) {
                continue;
            }
            for (round, value) in row[3].as_object().into_iter().flatten() {
                if let (Some(round), Some(value)) = (Round::read(round), value.as_f64()) {
                    self.set(client, workload, figure, round, value);
                }
            }
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Pairs {
    values.sort_by(f64::total_cmp);
    Pairs(values)
}

#[cfg(test)]
mod tests {
    use super::{Figures, Key, Round};

    const A: Key = Key { client: "a", workload: "w", figure: "p50_us" };
    const B: Key = Key { client: "b", ..A };

    fn of_run(run: u64, number: usize) -> Round {
        Round { run, number }
    }

    fn three_rounds() -> Figures {
        let mut figures = Figures::default();
        for (round, (above, below)) in [(10.0, 5.0), (40.0, 10.0), (9.0, 3.0)].iter().enumerate() {
            let line = |value| format!("noise\n{{\"workload\":\"w\",\"p50_us\":{value}}}\n");
            figures.add("a", of_run(1, round), &line(above));
            figures.add("b", of_run(1, round), &line(below));
        }
        figures
    }

    #[test]
    fn a_ratio_is_taken_within_each_round() {
        let figures = three_rounds();
        let ratios = figures.pairs(A, B, |a, b| a / b);
        assert_eq!((ratios.median(), ratios.spread()), (Some(3.0), "2 .. 4".to_string()));
        assert_eq!(figures.pairs(A, B, |a, b| a - b).median(), Some(6.0));
        assert_eq!(figures.each(A, |value| value / 2.0).median(), Some(5.0));
        assert_eq!(figures.each(Key { client: "c", ..A }, |value| value).median(), None);
    }

    #[test]
    fn what_is_measured_anew_replaces_what_was_kept() {
        let kept = three_rounds().to_rows();
        let mut figures = Figures::default();
        figures.add("a", of_run(2, 0), "{\"workload\":\"w\",\"p50_us\":1.0}");
        figures.add_rows(&kept);
        assert_eq!(figures.each(A, |value| value).median(), Some(1.0));
        assert_eq!(figures.each(B, |value| value).median(), Some(5.0));
        let ratios = figures.pairs(A, B, |a, b| a / b);
        assert_eq!(ratios.median(), None, "rounds of two runs are no pair");
    }

    #[test]
    fn what_was_kept_is_the_same_afterwards() {
        let kept = three_rounds().to_rows();
        let mut figures = Figures::default();
        figures.add_rows(&kept);
        assert_eq!(figures.to_rows(), kept);
        assert_eq!(figures.pairs(A, B, |a, b| a / b).median(), Some(3.0));
    }
}
