//! What the figures have to meet, by group: one table of all goals.

use std::sync::LazyLock;

use serde_json::Value;

use super::TABLES;
use super::figures::{Figures, Key, Pairs};
use crate::tables::{list, word};

/// One goal, which is one row.
pub struct Goal {
    /// Its name on the command line.
    pub row: &'static str,
    pub what: &'static str,
    pub measured: Measured,
    pub bound: Bound,
    pub unit: &'static str,
    /// The same of a program that does nothing else, where the bound may be out of reach: what that
    /// is, and its figure.
    pub least: Option<(&'static str, Measured)>,
}

/// What the program beside a goal gave.
pub struct Limit {
    pub what: &'static str,
    pub value: f64,
    pub spread: String,
    /// Whether it shows that the bound is out of reach.
    pub word: &'static str,
}

/// How a figure comes about.
#[derive(Clone, Copy)]
pub enum Measured {
    /// The median of the rounds, divided by a number that makes it the unit's.
    Median(Key, f64),
    /// The median of the ratios within each round.
    Ratio(Key, Key),
    /// The median of the differences within each round, divided by a number.
    Difference(Key, Key, f64),
}

/// What it must not be beyond.
#[derive(Clone, Copy)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    /// What that gave.
    pub fn limit(&self, figures: &Figures) -> Option<Limit> {
        let (what, measured) = self.least?;
        let rounds = measured.rounds(figures);
        let value = rounds.median()?;
        let word = if self.bound.is_met(value) { "shows no limit" } else { "a limit" };
        Some(Limit { what, value, spread: rounds.spread(), word })
    }

    /// The figures that it is made of.
    pub fn keys(&self) -> Vec<Key> {
        self.measured.keys()
    }

    /// The figures of the program beside it.
    pub fn keys_beside(&self) -> Vec<Key> {
        self.least.map_or_else(Vec::new, |(_, measured)| measured.keys())
    }

    /// What the rounds gave.
    pub fn rounds(&self, figures: &Figures) -> Pairs {
        self.measured.rounds(figures)
    }
}

impl Measured {
    fn keys(self) -> Vec<Key> {
        match self {
            Measured::Median(key, _) => vec![key],
            Measured::Ratio(one, other) | Measured::Difference(one, other, _) => vec![one, other],
        }
    }

    fn rounds(self, figures: &Figures) -> Pairs {
        match self {
            Measured::Median(key, per) => figures.each(key, |value| value / per),
            Measured::Ratio(above, below) => figures.pairs(above, below, |a, b| a / b),
            Measured::Difference(more, less, per) => {
                figures.pairs(more, less, |more, less| (more - less) / per)
            }
        }
    }
}

impl Bound {
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most,
            Bound::AtLeast(least) => value >= least,
        }
    }

    /// How far a value is from the bound: 1 is just met, and more is too much.
    pub fn distance(self, value: f64) -> f64 {
        match self {
            Bound::AtMost(most) => value / most,
            Bound::AtLeast(least) => least / value,
        }
    }

    pub fn shown(self) -> String {
        match self {
            Bound::AtMost(most) => format!("at most {}", round(most)),
            Bound::AtLeast(least) => format!("at least {}", round(least)),
        }
    }
}

/// Three digits that count.
pub fn round(value: f64) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// Every goal, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Goal> {
    static GOALS: LazyLock<Vec<Goal>> =
        LazyLock::new(|| list(&TABLES, "goals").iter().map(goal).collect());
    GOALS.iter()
}

fn goal(row: &'static Value) -> Goal {
    let bound = number(row, "at_most").map(Bound::AtMost);
    let bound = bound.or_else(|| number(row, "at_least").map(Bound::AtLeast));
    let beside = &row["beside"];
    Goal {
        row: word(row, "row"),
        what: word(row, "what"),
        measured: measured(row),
        bound: bound.unwrap_or_else(|| panic!("no bound in {row}")),
        unit: word(row, "unit"),
        least: beside.is_object().then(|| (word(beside, "what"), measured(beside))),
    }
}

fn measured(row: &'static Value) -> Measured {
    let (of, per) = (key(word(row, "of")), number(row, "per").unwrap_or(1.0));
    match (row["against"].as_str(), row["less"].as_str()) {
        (Some(against), _) => Measured::Ratio(of, key(against)),
        (_, Some(less)) => Measured::Difference(of, key(less), per),
        _ => Measured::Median(of, per),
    }
}

/// A number, or a fraction as a text.
fn number(row: &Value, member: &str) -> Option<f64> {
    let fraction = || {
        let (above, below) = row[member].as_str()?.split_once('/')?;
        Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?)
    };
    row[member].as_f64().or_else(fraction)
}

/// Written as its client, workload and figure.
fn key(text: &'static str) -> Key {
    match text.split(' ').collect::<Vec<_>>()[..] {
        [client, workload, figure] => Key { client, workload, figure },
        _ => panic!("{text} names no figure"),
    }
}

/// What is met, what is not, and what was not measured.
pub fn print(figures: &Figures, rows: &dyn Fn(&Goal) -> bool) {
    let head = ("goal", "bound", "measured", "of the rounds");
    println!("\n{:<62} {:>15} {:>12} {:>18}", head.0, head.1, head.2, head.3);
    let mut counts = [0; 3];
    for goal in all().filter(|goal| rows(goal)) {
        let what = format!("{}: {}", goal.row, goal.what);
        let bound = format!("{} {}", goal.bound.shown(), goal.unit);
        let rounds = goal.rounds(figures);
        let Some(value) = rounds.median() else {
            counts[2] += 1;
            println!("{what:<62} {bound:>15} {:>12}", "unknown");
            continue;
        };
        let is_met = goal.bound.is_met(value);
        counts[usize::from(!is_met)] += 1;
        let measured = format!("{} {}", round(value), goal.unit);
        let verdict = if is_met { "met" } else { "NOT MET" };
        println!("{what:<62} {bound:>15} {measured:>12} {:>18}  {verdict}", rounds.spread());
        print_limit(goal, figures);
    }
    let [met, missed, unknown] = counts;
    println!("{met} met, {missed} not met, {unknown} not measured");
}

/// Beneath a goal: what a program gave that does nothing else.
fn print_limit(goal: &Goal, figures: &Figures) {
    if let Some(Limit { what, value, spread, word }) = goal.limit(figures) {
        let (what, measured) = (format!("  {what}"), format!("{} {}", round(value), goal.unit));
        println!("{what:<62} {:>15} {measured:>12} {spread:>18}  {word}", "");
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{Figures, Round};
    use super::super::{peers, workloads};
    use super::{Bound, all, round};
    use std::collections::BTreeSet;

    #[test]
    fn every_goal_has_a_name_of_its_own_and_is_measured_by_a_client_that_there_is() {
        let mut names = BTreeSet::new();
        for goal in all() {
            assert!(names.insert(goal.row), "{} is there twice", goal.row);
            for key in goal.keys().into_iter().chain(goal.keys_beside()) {
                let group = workloads::group_of(key.workload);
                let group = group.unwrap_or_else(|| panic!("no workload {}", key.workload));
                let peer = peers::PEERS.iter().find(|peer| peer.name == key.client);
                let peer = peer.unwrap_or_else(|| panic!("no client {}", key.client));
                assert!(
                    peer.groups.contains(&group.name),
                    "{}: {} of {}",
                    goal.row,
                    group.name,
                    peer.name
                );
            }
        }
    }

    /// A program that does better than the bound says nothing against it.
    #[test]
    fn a_limit_is_one_beyond_the_bound() {
        let goal = all().find(|goal| goal.row == "fan-out").unwrap();
        let word = |micros: &str| {
            let mut figures = Figures::default();
            let printed = format!(r#"{{"workload":"told-1000","p50_us":{micros}}}"#);
            figures.add("task", Round { run: 1, number: 0 }, &printed);
            goal.limit(&figures).map(|limit| (limit.value, limit.word))
        };
        assert_eq!(word("300"), Some((0.3, "shows no limit")));
        assert_eq!(word("1300"), Some((1.3, "a limit")));
        assert!(goal.limit(&Figures::default()).is_none());
    }

    #[test]
    fn a_bound_is_met_up_to_itself() {
        assert!(Bound::AtMost(2.0).is_met(2.0) && !Bound::AtMost(2.0).is_met(2.1));
        assert!(Bound::AtLeast(2.0).is_met(2.0) && !Bound::AtLeast(2.0).is_met(1.9));
        assert!(Bound::AtMost(2.0).distance(1.0) < 1.0 && Bound::AtLeast(2.0).distance(1.0) > 1.0);
    }

    #[test]
    fn numbers_are_shown_with_three_digits() {
        let shown = [1234.5, 12.34, 1.5, 0.125, 0.0714].map(round);
        assert_eq!(shown, ["1234", "12.3", "1.5", "0.125", "0.0714"]);
    }
}
