//! Every block of code of a page is run, or said not to be and why: `docs/examples.txt` is the
//! table.

use std::collections::BTreeMap;

use crate::page::{self, Page};

/// The table, which the runners read as well.
const TABLE: &str = "docs/examples.txt";

/// Who reads the table and runs what it names, and where that is.
const READERS: [(&str, &str); 3] = [
    ("python", "bindings/python/tests/pages.py"),
    ("node", "bindings/node/testing/examples.mjs"),
    ("c", "tests/c/Makefile"),
];

/// A line of the table.
struct Row {
    page: String,
    language: String,
    count: usize,
    runs: Runs,
}

enum Runs {
    /// A runner that reads the table.
    Reader,
    /// A test that names the page.
    By(String),
    /// It is an excerpt of this file.
    PartOf(String),
    Json,
    Nothing,
}

#[test]
fn every_block_of_every_page_is_run_or_said_not_to_be() {
    crate::nothing(unregistered(&page::all(), &rows(&crate::read(TABLE))));
}

#[test]
fn a_new_block_a_block_that_is_gone_and_one_without_a_language_are_found() {
    let page = Page::new("a.md", "```js\n1\n```\n```js\n2\n```\n```\n3\n```\n");
    let rows = rows("# A comment\n\na.md js 1 node\na.md c 1 c\n");
    let found = unregistered(&[page], &rows);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn who_is_said_to_run_a_page_names_it() {
    let mut found = Vec::new();
    for (reader, file) in READERS {
        if !crate::read(file).contains("docs/examples.txt") {
            found.push(format!("{file} runs `{reader}` of {TABLE} and does not read it"));
        }
    }
    for row in rows(&crate::read(TABLE)) {
        let Runs::By(file) = &row.runs else { continue };
        if !crate::read(file).contains(&*row.page) && !crate::read(file).contains(last(&row.page)) {
            found.push(format!("{file} is said to run {} and does not name it", row.page));
        }
    }
    crate::nothing(found);
}

#[test]
fn documents_are_json_and_excerpts_stand_where_they_are_said_to() {
    let pages = page::all();
    let mut found = Vec::new();
    for row in rows(&crate::read(TABLE)) {
        let Some(page) = pages.iter().find(|page| page.path == row.page) else { continue };
        for block in page.blocks.iter().filter(|block| block.language == row.language) {
            let is_right = match &row.runs {
                Runs::Json => serde_json::from_str::<serde_json::Value>(&block.text).is_ok(),
                Runs::PartOf(file) => stands_in(&block.text, &crate::read(file)),
                _ => true,
            };
            if !is_right {
                found.push(format!("{}:{}: not as {TABLE} says", page.path, block.line));
            }
        }
    }
    crate::nothing(found);
}

/// Blocks that the table does not have, and rows that no page has.
fn unregistered(pages: &[Page], rows: &[Row]) -> Vec<String> {
    let mut there: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for page in pages {
        for block in &page.blocks {
            *there.entry((&page.path, &block.language)).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for row in rows {
        let count = there.remove(&(&row.page, &row.language)).unwrap_or(0);
        if count != row.count {
            let Row { page, language, count: said, .. } = row;
            found.push(format!("{page}: {count} blocks of `{language}`, {said} in {TABLE}"));
        }
    }
    for ((page, language), count) in there {
        found.push(format!("{page}: {count} blocks of `{language}` are not in {TABLE}"));
    }
    found
}

fn rows(table: &str) -> Vec<Row> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| row(line).unwrap_or_else(|| panic!("not understood: {line}"))).collect()
}

fn row(line: &str) -> Option<Row> {
    let mut words = line.split_whitespace();
    let (page, language) = (words.next()?.to_owned(), words.next()?.to_owned());
    let count = words.next()?.parse().ok()?;
    let said: Vec<&str> = words.collect();
    let runs = match said[..] {
        [reader] if READERS.iter().any(|(name, _)| *name == reader) => Runs::Reader,
        ["json"] => Runs::Json,
        ["by", file] => Runs::By(file.to_owned()),
        ["part", "of", file] => Runs::PartOf(file.to_owned()),
        ["text:", _, ..] => Runs::Nothing,
        _ => return None,
    };
    Some(Row { page, language, count, runs })
}

/// Whether each line stands in the file, in this order, however far it is moved in.
fn stands_in(excerpt: &str, file: &str) -> bool {
    let mut lines = file.lines().map(str::trim);
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    excerpt.lines().filter(is_code).all(|wanted| lines.any(|line| line.contains(wanted.trim())))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
