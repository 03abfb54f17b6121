//! What the suite printed, as numbers, and the page `docs/conformance.md`.

use std::collections::BTreeMap;

use super::Reference;

/// One scenario's checks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// Whether the suite ticked it.
    pub ticked: bool,
    pub passed: u64,
}

/// One client's results, by scenario, by revision.
pub struct Column {
    pub client: &'static str,
    pub sessions: u32,
    pub tallies: BTreeMap<String, BTreeMap<String, Tally>>,
}

impl Column {
    /// The scored scenarios that are not as good as the reference, in words.
    pub fn short(&self, reference: &Reference) -> Vec<String> {
        let scored = reference.iter().flat_map(|(revision, scenarios)| {
            scenarios.iter().map(move |(scenario, wanted)| (revision, scenario, *wanted))
        });
        scored
            .filter_map(|(revision, scenario, wanted)| {
                let tally = self.tallies.get(revision).and_then(|all| all.get(scenario));
                let what = match tally {
                    Some(tally) if tally.is_enough(wanted) => return None,
                    Some(tally) => format!("{} of {wanted}", tally.passed),
                    None => "did not run".to_string(),
                };
                let Column { client, sessions, .. } = self;
                Some(format!("{client} with {sessions}, {revision}, {scenario}: {what}"))
            })
            .collect()
    }

    /// The scored scenarios that are as good.
    pub fn passed(&self, reference: &Reference) -> u64 {
        scored(reference) - self.short(reference).len() as u64
    }

    /// The line for the terminal.
    pub fn line(&self, reference: &Reference) -> String {
        let (passed, all) = (self.passed(reference), scored(reference));
        format!("{} with {} sessions: {passed} of {all} scenarios", self.client, self.sessions)
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
    fn is_enough(self, wanted: u64) -> bool {
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
    for (revision, scenarios) in reference {
        page += &format!("\n## {revision}\n\n| Scenario | Reference |");
        for Column { client, sessions, .. } in columns {
            page += &format!(" {client}, {sessions} |");
        }
        page += &format!("\n|---|---|{}\n", "---|".repeat(columns.len()));
        for (scenario, wanted) in scenarios {
            let cells = columns.iter().map(|column| column.cell(revision, scenario));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            page += &format!("| {scenario} | {wanted} | {cells} |\n");
        }
    }
    page
}

fn scored(reference: &Reference) -> u64 {
    reference.values().map(|scenarios| scenarios.len() as u64).sum()
}

const INTRODUCTION: &str = "\
<!-- Written by `UPDATE_CONFORMANCE=1 cargo xtask conformance`; do not edit. -->

# The official conformance suite

Checks that passed in each scored scenario of `@modelcontextprotocol/conformance` 0.2.0-alpha.12: of the reference, which is the Rust SDK's
own client, and of trunkline from C, Python and Node, with one session and with two that share the server. A number in **bold** is a
scenario that the suite did not tick. Rust is under each of the three. The clients are in `tests/conformance`.
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
        let reference: Reference =
            serde_json::from_str(r#"{"r": {"a": 3, "b": 2, "c": 1}}"#).unwrap();
        let tallies = read("✓ a: 3 passed, 0 failed\n✓ b: 1 passed, 0 failed\n");
        let tallies = [("r".to_string(), tallies)].into();
        let column = Column { client: "c", sessions: 2, tallies };
        assert_eq!(column.passed(&reference), 1);
        let short = column.short(&reference);
        assert_eq!(short, ["c with 2, r, b: 1 of 2", "c with 2, r, c: did not run"]);
    }
}
