//! The table of promises, `tests/xtask/promises.json`, and the page that is made of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// One promise, and what shows it.
pub struct Promise {
    pub id: String,
    /// What is promised, in few words.
    pub promise: String,
    /// Files, and of each the tests that show a part of it.
    pub shown_by: BTreeMap<String, Vec<String>>,
    /// The rows of the scoreboard that count it.
    pub rows: Vec<String>,
}

pub fn read(text: &str) -> Vec<Promise> {
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let promise = |value: &Value| Promise {
        id: value["id"].as_str().unwrap().to_owned(),
        promise: value["promise"].as_str().unwrap().to_owned(),
        shown_by: value["shown_by"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(file, names)| (file.clone(), texts(names)))
            .collect(),
        rows: texts(&value["rows"]),
    };
    all.iter().map(promise).collect()
}

/// The page; `is_run` says whether a submission runs a test.
pub fn page(promises: &[Promise], is_run: impl Fn(&str, &str) -> bool) -> String {
    let tests = |promise: &Promise| -> Vec<(String, String)> {
        let of = |(file, names): (&String, &Vec<String>)| {
            names.iter().map(|name| (file.clone(), name.clone())).collect::<Vec<_>>()
        };
        promise.shown_by.iter().flat_map(of).collect()
    };
    let is_shown =
        |promise: &&Promise| tests(promise).iter().any(|(file, name)| is_run(file, name));
    let mut all: Vec<_> = promises.iter().flat_map(tests).collect();
    all.sort();
    all.dedup();
    let shown = promises.iter().filter(is_shown).count();
    let counted = promises.iter().filter(|promise| !promise.rows.is_empty()).count();
    let mut page = HEAD
        .replace("$shown", &shown.to_string())
        .replace("$all", &promises.len().to_string())
        .replace("$tests", &all.len().to_string())
        .replace("$counted", &counted.to_string());
    for promise in promises {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |",
            promise.id,
            promise.promise,
            shown_by(promise, &is_run),
            promise.rows.join(", "),
        );
    }
    page
}

fn shown_by(promise: &Promise, is_run: impl Fn(&str, &str) -> bool) -> String {
    let files = promise.shown_by.iter().map(|(file, names)| {
        let told = |name: &String| {
            let mark = if is_run(file, name) { "" } else { " (elsewhere)" };
            format!("{}{mark}", name.replace('|', "\\|").replace('`', "'"))
        };
        format!("`{file}`: {}", names.iter().map(told).collect::<Vec<_>>().join(", "))
    });
    files.collect::<Vec<_>>().join("<br>")
}

const HEAD: &str = "\
<!-- Written by `UPDATE_PROMISES=1 cargo test -p xtask --test tidy promises`; do not edit. -->

# Promises

**$shown of $all promises are shown by named tests that run in each submission**: $tests tests in all, and $counted promises are counted by a row of the
[scoreboard](scoreboard.md) as well.

A promise of security begins with S, one of reliability with I; some numbers were never given out. Which test shows which promise was decided by reading both, and is written
down in `tests/xtask/promises.json`. The tidy test holds the two together: each test that is named here is in the tree under that name, is run, and says in its comment or title
that it is about the promise; and no other test says so. That a test shows a part of a promise does not mean that nothing else could break it: what nobody thought of is looked
for by the [simulator](../internals/simulator.md) and by [fuzzing](../internals/fuzz.md), and what is left open on purpose stands in [SECURITY.md](../../SECURITY.md). What is marked (elsewhere) is not run by
each submission: orders of threads in the long form, and what only another system has.

| Id | What is promised | Shown by | Rows |
|---|---|---|---|
";
