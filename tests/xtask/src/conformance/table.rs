//! What the suite printed, as numbers, and the page `docs/evidence/conformance.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::reference::Reference;

/// One scenario's checks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// Whether the suite ticked it.
    pub ticked: bool,
    pub passed: u64,
}

/// By scenario, by revision.
pub type Tallies = BTreeMap<String, BTreeMap<String, Tally>>;

/// One client's results.
pub struct Column {
    pub client: &'static str,
    pub sessions: u32,
    /// What is wanted of it.
    pub reference: Reference,
    pub tallies: Tallies,
}

impl Column {
    /// The scenarios that are not as good as is wanted, in words.
    pub fn short(&self) -> Vec<String> {
        let Column { client, sessions, .. } = self;
        let short = self.reference.wanted().filter_map(|(revision, scenario, wanted)| {
            let tally = self.tallies.get(revision).and_then(|all| all.get(scenario));
            let what = match tally {
                Some(tally) if tally.is_enough(wanted) => return None,
                Some(tally) => format!("{} of {wanted}", tally.passed),
                None => "did not run".to_string(),
            };
            Some(format!("{client} with {sessions}, {revision}, {scenario}: {what}"))
        });
        short.collect()
    }

    /// The scenarios that are as good.
    pub fn passed(&self) -> u64 {
        (self.reference.wanted().count() - self.short().len()) as u64
    }

    /// The line for the terminal.
    pub fn line(&self) -> String {
        let Column { client, sessions, .. } = self;
        let revisions: Vec<&str> = self.reference.scored.keys().map(String::as_str).collect();
        let (revisions, all) = (revisions.join(" and "), self.reference.wanted().count());
        format!("{client} with {sessions} sessions, {revisions}: {} of {all}", self.passed())
    }

    fn cell(&self, revision: &str, scenario: &str) -> String {
        match self.tallies.get(revision).and_then(|all| all.get(scenario)) {
            Some(Tally { ticked: true, passed }) => passed.to_string(),
            Some(Tally { ticked: false, passed }) => format!("**{passed}**"),
            None => "**not run**".into(),
        }
    }
}

impl Tally {
    pub fn is_enough(self, wanted: u64) -> bool {
        self.ticked && self.passed >= wanted
    }
}

/// The scenarios of a run of a whole revision: `✓ name: 3 passed, 0 failed`.
pub fn read(text: &str) -> BTreeMap<String, Tally> {
    let row = |line: &str| {
        let (ticked, rest) = match line.strip_prefix("✓ ") {
            Some(rest) => (true, rest),
            None => (false, line.strip_prefix("✗ ")?),
        };
        let (name, counts) = rest.rsplit_once(": ")?;
        let passed = counts.split_once(" passed")?.0.parse().ok()?;
        Some((name.to_string(), Tally { ticked, passed }))
    };
    text.lines().filter_map(row).collect()
}

/// The one scenario of a run: `Passed: 3/3, 0 failed, 0 warnings`, and the verdict.
pub fn read_one(text: &str) -> Option<Tally> {
    let counts = text.lines().find_map(|line| line.strip_prefix("Passed: "))?;
    let passed = counts.split_once('/')?.0.parse().ok()?;
    Some(Tally { ticked: text.contains("OVERALL: PASSED"), passed })
}

/// The page.
pub fn page(reference: &Reference, columns: &[Column]) -> String {
    let mut page = INTRODUCTION.to_string();
    for (revision, scenarios) in &reference.scored {
        page += &format!("\n## {revision}\n\n| Scenario | Reference |");
        for Column { client, sessions, .. } in columns {
            page += &format!(" {client}, {sessions} |");
        }
        page += &format!("\n|---|---|{}\n", "---|".repeat(columns.len()));
        let mut row = |scenario: &str, wanted: &str| {
            let cells = columns.iter().map(|column| column.cell(revision, scenario));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            page += &format!("| {scenario} | {wanted} | {cells} |\n");
        };
        for (scenario, wanted) in scenarios {
            row(scenario, &wanted.to_string());
        }
        let ran = columns.iter().filter_map(|column| column.tallies.get(revision));
        let ran: BTreeSet<&String> = ran.flat_map(BTreeMap::keys).collect();
        for scenario in ran.into_iter().filter(|name| !scenarios.contains_key(*name)) {
            row(scenario, "not scored");
        }
    }
    page
}

const INTRODUCTION: &str = "\
<!-- Written by `UPDATE_CONFORMANCE=1 cargo xtask conformance`; do not edit. -->

# The official conformance suite

```text
cargo xtask conformance           all that is below, in minutes
cargo xtask conformance python    one client: c, python or node
cargo xtask test conformance      a part: each client, in one revision; with --full all of it
```

Checks that passed in each scenario of the client mode of `@modelcontextprotocol/conformance` 0.2.0-alpha.12: of the reference, which is the Rust
SDK's own client, and of trunkline from C, Python and Node, with one session and with two that share the connection. More checks than the reference's
come of more requests, which are all checked. A number in **bold** is a scenario that the suite did not tick. Rust is under each of the three.
All scenarios of a revision run at the same time. What then passes fewer checks than the reference runs once more, alone, and so does what measures time.

The clients are in `tests/conformance` and use the public API alone. They make a pool, acquire the suite's server, call what it asks for, sign in when
that is wanted, and close. All that they know of a scenario is what it gives them, but for a handler of forms in two of them, what is looked at in three,
and the grant of client credentials in one.

What is neither scored nor ticked needs what is not built: assertions of an identity provider or of a workload, a client's private key, proof of possession.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_suite_are_read() {
        let text = "=== SUITE SUMMARY ===\n\n✓ auth/a: 3 passed, 0 failed\n✗ b: 1 passed, 2 failed, 1 warnings\n  ✗ c (extension)\n";
        let read = read(text);
        assert_eq!(read.len(), 2);
        assert_eq!(read["auth/a"], Tally { ticked: true, passed: 3 });
        assert_eq!(read["b"], Tally { ticked: false, passed: 1 });
        let one = "Test Results:\nPassed: 2/3, 1 failed, 0 warnings\n\n❌ OVERALL: FAILED\n";
        assert_eq!(read_one(one), Some(Tally { ticked: false, passed: 2 }));
    }

    /// A scenario that did not run, or that passed fewer checks, is short.
    #[test]
    fn what_falls_short_of_the_reference_is_named() {
        let reference = r#"{"scored": {"r": {"a": 3, "b": 2, "c": 1}}, "beside": {"d": 1}}"#;
        let reference = Reference::parse(reference).unwrap();
        let rows =
            ["✓ a: 3 passed, 0 failed", "✓ b: 1 passed, 0 failed", "✗ d: 1 passed, 1 failed"];
        let tallies = [("r".to_string(), read(&rows.join("\n")))].into();
        let column = Column { client: "c", sessions: 2, reference, tallies };
        assert_eq!(column.passed(), 1);
        let named = ["r, b: 1 of 2", "r, c: did not run", "r, d: 1 of 1"];
        assert_eq!(column.short(), named.map(|what| format!("c with 2, {what}")));
    }
}
