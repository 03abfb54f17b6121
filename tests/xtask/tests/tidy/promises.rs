//! Each promise about security and reliability is shown by tests that `tests/xtask/promises.json`
//! names, and by those that say so.

mod cited;
mod planted;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::source::{self, Source};
use cited::{Test, said_at_the_head, tests_of};
use table::Promise;

/// S-01 to S-49 and I-01 to I-28, as they were given out: some numbers between were not.
const PROMISES: [(&str, &[std::ops::RangeInclusive<u32>]); 2] =
    [("S", &[1..=16, 20..=25, 30..=39, 40..=49]), ("I", &[1..=28])];

const TABLE: &str = include_str!("../../promises.json");

const PAGE: &str = "docs/evidence/promises.md";

fn ids() -> impl Iterator<Item = String> {
    PROMISES.iter().flat_map(|(kind, ranges)| {
        let numbers = ranges.iter().flat_map(Clone::clone);
        numbers.map(move |number| format!("{kind}-{number:02}"))
    })
}

/// What the tree says: the tests of each file, what heads of files name, and the rows of the
/// scoreboard.
struct Tree {
    tests: BTreeMap<String, Vec<Test>>,
    heads: BTreeMap<String, BTreeSet<String>>,
    rows: BTreeSet<String>,
}

impl Tree {
    /// The repository's own, read once.
    fn whole() -> &'static Tree {
        static WHOLE: LazyLock<Tree> = LazyLock::new(|| Tree::of(&source::tracked()));
        &WHOLE
    }

    fn of(files: &[Source]) -> Tree {
        let mut tree =
            Tree { tests: BTreeMap::new(), heads: BTreeMap::new(), rows: BTreeSet::new() };
        // What reads all of them, or shows that this is done well, shows none.
        let told = |file: &&Source| !file.path.contains("tests/tidy/");
        for file in files.iter().filter(told) {
            let main = format!("{}main.rs", folder(&file.path));
            let main = files.iter().find(|other| other.path == main);
            tree.tests.insert(file.path.clone(), tests_of(file, main));
            tree.heads.insert(file.path.clone(), said_at_the_head(file));
            if file.path.ends_with("xtask/scoreboard.json") {
                tree.rows = row_names(&file.text);
            }
        }
        tree
    }

    fn test(&self, file: &str, name: &str) -> Option<&Test> {
        self.tests.get(file)?.iter().find(|test| test.name == name)
    }

    fn is_run(&self, file: &str, name: &str) -> bool {
        self.test(file, name).is_some_and(|test| test.is_run)
    }
}

/// The folder of a path, with the stroke at its end.
fn folder(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |at| at + 1)]
}

fn row_names(rows: &str) -> BTreeSet<String> {
    let rows: Value = serde_json::from_str(rows).expect("rows that xtask reads");
    let names = rows.as_array().into_iter().flatten().filter_map(|row| row["name"].as_str());
    names.map(str::to_owned).collect()
}

/// Where the table and the tree differ.
fn faults(promises: &[Promise], tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for promise in promises {
        let id = &promise.id;
        for row in promise.rows.iter().filter(|row| !tree.rows.contains(*row)) {
            found.push(format!("{id}: there is no row {row}"));
        }
        for (file, names) in &promise.shown_by {
            for name in names {
                match tree.test(file, name) {
                    None => found.push(format!("{id}: {file} has no test {name}")),
                    Some(test) if !test.cites.contains(id) => {
                        found.push(format!("{id}: {file}: {name} does not say that it shows it"));
                    }
                    Some(_) => {}
                }
            }
        }
        let mut named = promise
            .shown_by
            .iter()
            .flat_map(|(file, names)| names.iter().map(move |name| (file, name)));
        if !named.any(|(file, name)| tree.is_run(file, name)) {
            found.push(format!("{id}: nothing that each submission runs shows it"));
        }
    }
    found.extend(unnamed(promises, tree));
    found
}

/// What cites a promise and is not named for it.
fn unnamed(promises: &[Promise], tree: &Tree) -> Vec<String> {
    let shown_by = |id: &String| promises.iter().find(|it| it.id == *id).map(|it| &it.shown_by);
    let mut found = Vec::new();
    for (file, tests) in &tree.tests {
        for test in tests {
            let is_named = |id: &&String| {
                shown_by(id)
                    .is_some_and(|by| by.get(file).is_some_and(|names| names.contains(&test.name)))
            };
            for id in test.cites.iter().filter(|id| !is_named(id)) {
                found.push(format!("{file}: {} says {id}, which is not shown by it", test.name));
            }
        }
        // A file without tests is a part of those in its folder, whose head is that of `main.rs` or
        // `mod.rs`.
        let is_whole =
            tests.is_empty() || ["main.rs", "mod.rs"].iter().any(|it| file.ends_with(it));
        let scope = if is_whole { folder(file) } else { file };
        let is_named = |id: &&String| {
            shown_by(id).is_some_and(|by| by.keys().any(|file| file.starts_with(scope)))
        };
        for id in tree.heads[file].iter().filter(|id| !is_named(id)) {
            found.push(format!("{file}: its head says {id}, which no test there shows"));
        }
    }
    found
}

#[test]
fn every_promise_is_shown_by_the_tests_that_are_named_for_it() {
    let promises = table::read(TABLE);
    let listed: Vec<&String> = promises.iter().map(|promise| &promise.id).collect();
    assert_eq!(listed, ids().collect::<Vec<_>>().iter().collect::<Vec<_>>());
    let found = faults(&promises, Tree::whole());
    assert!(
        found.is_empty(),
        "{} findings; what shows a promise is named in tests/xtask/promises.json:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// `UPDATE_PROMISES` writes the page anew.
#[test]
fn the_page_of_promises_is_the_table() {
    let tree = Tree::whole();
    let page = table::page(&table::read(TABLE), |file, name| tree.is_run(file, name));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    if std::env::var_os("UPDATE_PROMISES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == page,
        "{PAGE} is not the table: UPDATE_PROMISES=1 cargo test -p xtask --test tidy promises"
    );
}
