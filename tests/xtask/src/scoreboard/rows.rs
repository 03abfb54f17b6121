//! The rows of the scoreboard, as one table: what is counted, how much of it each form does, and
//! what counts it.

use std::sync::LazyLock;

use serde_json::Value;

use super::{proofs, soak};
use crate::machine::Machine;
use crate::run::{Run, Stop};
use crate::tables::{self, list, word, words};

/// One promise, and what shows it. Its figure is how often it was broken, which is never, of how
/// often it was put to the test.
pub struct Row {
    /// Its number in the list of promises.
    pub number: u8,
    /// Its name on the command line and in what tests write down.
    pub name: &'static str,
    /// What must never happen.
    pub what: &'static str,
    /// What is counted, in the plural.
    pub unit: &'static str,
    /// How many each submission does.
    pub gate: Form,
    /// How many the long form does.
    pub full: Form,
    pub source: Source,
}

/// How much of a row is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Form {
    /// So many, or more.
    AtLeast(u64),
    /// Of each part so many, or more; what is counted for a part is written down as `row/part`.
    /// Goals lie near what is there: a part that is tried much hides no other that vanished.
    Each(&'static [(&'static str, u64)]),
    /// It has no such form, and why.
    Absent(&'static str),
}

/// What carries a row out.
#[derive(Clone, Copy)]
pub enum Source {
    /// Tests of a suite, which can run alone as well.
    Tests { suites: &'static [&'static str], package: &'static str, targets: &'static [Target] },
    /// A suite, or a part of it, in a function of its own; without suites nothing but the
    /// scoreboard carries it out.
    Own { suites: &'static [&'static str], run: Own },
}

/// A test program, as cargo is asked for it, and whose names hold these parts.
pub struct Target {
    pub program: &'static [&'static str],
    pub tests: &'static [&'static str],
}

impl Form {
    /// How much in all; nothing where there is no such form.
    pub fn least(self) -> Option<u64> {
        match self {
            Form::AtLeast(least) => Some(least),
            Form::Each(parts) => Some(parts.iter().map(|(_, least)| least).sum()),
            Form::Absent(_) => None,
        }
    }
}

impl Source {
    /// The suites of `cargo xtask test` that carry it out as well, together.
    pub fn suites(self) -> &'static [&'static str] {
        match self {
            Source::Tests { suites, .. } | Source::Own { suites, .. } => suites,
        }
    }

    /// Whether a test, as its runner names it, is one of its own. Of what a function carries out
    /// that is not known: what is red there writes nothing down, and its goals are so near what is
    /// there that it misses them then.
    pub fn has(self, test: &str) -> bool {
        let Source::Tests { targets, .. } = self else { return false };
        targets.iter().any(|target| target.tests.iter().any(|part| test.contains(part)))
    }
}

impl Row {
    /// The form of a run.
    pub fn form(&self, is_full: bool) -> Form {
        if is_full { self.full } else { self.gate }
    }
}

/// In the order of their numbers, as `tests/xtask/scoreboard.json` has them.
pub static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| TABLE.iter().map(row).collect());

static TABLE: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let rows = tables::table(include_str!("../../scoreboard.json"));
    rows.as_array().cloned().unwrap_or_default()
});

/// All that is written of a row.
pub fn written(name: &str) -> &'static Value {
    let row = TABLE.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no row {name}"))
}

fn row(row: &'static Value) -> Row {
    let name = word(row, "name");
    let suites = words(row, "suites");
    let source = match row["package"].as_str() {
        Some(package) => {
            let target = |target: &'static Value| Target {
                program: words(target, "program"),
                tests: words(target, "tests"),
            };
            let targets = list(row, "targets").iter().map(target).collect::<Vec<_>>();
            Source::Tests { suites, package, targets: targets.leak() }
        }
        None => {
            let own = OWN.iter().find(|(known, _)| *known == name);
            let (_, run) = *own.unwrap_or_else(|| panic!("nothing carries {name} out"));
            Source::Own { suites, run }
        }
    };
    let [gate, full] = ["gate", "full"].map(|member| form(&row[member]));
    let number = row["number"].as_u64().map_or(0, |number| number as u8);
    Row { number, name, what: word(row, "what"), unit: word(row, "unit"), gate, full, source }
}

/// A number, an object of the parts, or why there is no such form.
fn form(written: &'static Value) -> Form {
    if let Some(parts) = written.as_object() {
        let part = |(part, least): (&'static String, &Value)| {
            (part.as_str(), least.as_u64().unwrap_or(u64::MAX))
        };
        return Form::Each(parts.iter().map(part).collect::<Vec<_>>().leak());
    }
    let why = written.as_str().map(Form::Absent);
    why.unwrap_or_else(|| Form::AtLeast(written.as_u64().unwrap_or(u64::MAX)))
}

type Own = fn(&Machine, &mut Run) -> Result<(), Stop>;

/// What carries out the rows that are not tests of one package.
const OWN: [(&str, Own); 13] = [
    ("close", |machine, run| crate::reap::part(machine, run, "--close")),
    ("host-kill", |machine, run| crate::reap::part(machine, run, "--host-kill")),
    ("close-time", |machine, run| crate::reap::part(machine, run, "--time")),
    ("model", crate::suites::simulator),
    ("schedules", proofs::schedules),
    ("canary", crate::suites::canaries),
    ("fuzz", crate::fuzz::replayed),
    ("hosts", crate::suites::hosts),
    ("abi", crate::suites::abuse),
    ("callbacks", crate::suites::callbacks),
    ("soak", soak::soak),
    ("sanitizers", proofs::sanitizers),
    ("mutants", super::mutants::mutants),
];
