//! The records of decisions, `docs/adr`: counted from one, each with its parts, and with tests that
//! guard it and are in the tree.

use std::collections::BTreeSet;

use super::source::{Source, tracked_in};

/// What each record has, in this order.
const PARTS: [&str; 5] =
    ["\nStatus: ", "\n## Context\n", "\n## Decision\n", "\n## Alternatives\n", "\n## Guarded by\n"];

/// What a status can be.
const STATUSES: [&str; 2] = ["accepted", "superseded by "];

#[test]
fn every_record_of_a_decision_is_whole_and_guarded_by_tests_of_the_tree() {
    let tests = tracked_in(&["core", "ffi", "tests", "bindings"]);
    let names: BTreeSet<&str> = tests.iter().flat_map(names).collect();
    let is_known = |name: &str| names.contains(name);
    let pages = tracked_in(&["docs/adr"]);
    let index = pages.iter().find(|page| page.path.ends_with("/index.md")).expect("an index");
    let records: Vec<_> = pages.iter().filter(|page| !page.path.ends_with("/index.md")).collect();
    let mut found = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let name = record.path.rsplit('/').next().unwrap_or_default();
        if !name.starts_with(&format!("{:04}-", place + 1)) {
            found.push(format!("{name}: record {} was to come", place + 1));
        }
        if !index.text.contains(&format!("({name})")) {
            found.push(format!("{name} is not in the index"));
        }
        found.extend(
            flaws(&record.text, is_known).into_iter().map(|flaw| format!("{name}: {flaw}")),
        );
    }
    assert!(records.len() >= 50, "only {} records were found", records.len());
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

/// What a file gives a name to: functions, and tests of JavaScript by their titles.
fn names(file: &Source) -> impl Iterator<Item = &str> {
    file.text.lines().filter_map(|line| {
        match ["fn ", "def "].iter().find_map(|word| line.split_once(word)) {
            Some((_, rest)) => rest.split_once('(').map(|(name, _)| name),
            None => line.trim_start().strip_prefix("it('")?.split('\'').next(),
        }
    })
}

/// What a record lacks.
fn flaws(text: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    for part in PARTS {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => found.push(format!("no `{}`, or not in its place", part.trim())),
        }
    }
    let status = text.split_once(PARTS[0]).map_or("", |(_, after)| after);
    if !STATUSES.iter().any(|known| status.starts_with(known)) {
        found.push("no known status".into());
    }
    let guards: Vec<&str> = rest.lines().filter_map(|line| line.strip_prefix("- `")).collect();
    if guards.is_empty() {
        found.push("no test guards it".into());
    }
    let names = guards.iter().map(|guard| guard.trim_end_matches('`'));
    found.extend(names.filter(|name| !is_known(name)).map(|name| format!("no test `{name}`")));
    found
}

#[test]
fn a_record_without_a_part_a_status_or_a_guard_is_found() {
    let whole = "# 1. A\n\nStatus: accepted\n\n## Context\n\nA.\n\n## Decision\n\n- A.\n\n## Alternatives\n\n- B.\n\n## Guarded by\n\n- `a_test`\n";
    let count = |text: &str| flaws(text, |name| name == "a_test").len();
    assert_eq!(count(whole), 0);
    assert_eq!(count(&whole.replace("accepted", "some day")), 1);
    assert_eq!(count(&whole.replace("\n## Alternatives\n", "\n")), 1);
    assert_eq!(count(&whole.replace("a_test", "another")), 1);
    assert_eq!(count(&whole.replace("- `a_test`\n", "")), 1);
}
