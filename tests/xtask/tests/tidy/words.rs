//! What stands in comments, documents and tests.

use super::source::Source;
use super::{Finding, finding};

/// Folders of a developer's machine. Each pattern is put together, so that this file has none.
fn machine_folders() -> [String; 4] {
    ["root", "work", "home", "Users"].map(|folder| format!("/{folder}/"))
}

pub fn missing_module_doc(source: &Source) -> Vec<Finding> {
    let first = source.text.lines().find(|line| !line.starts_with("#!") && !line.trim().is_empty());
    let is_test_module = source.path.ends_with("/tests.rs");
    if !source.is_rust() || is_test_module || first.is_some_and(|line| line.starts_with("//!")) {
        return Vec::new();
    }
    vec![finding(1, "no module doc")]
}

pub fn machine_paths(source: &Source) -> Vec<Finding> {
    let folders = machine_folders();
    let mut found = Vec::new();
    for (line, text) in source.text.lines().enumerate() {
        for folder in folders.iter().filter(|folder| begins_a_path(text, folder)) {
            found.push(finding(line + 1, format!("a path of one machine: {folder}")));
        }
    }
    found
}

/// Whether `folder` stands in `text` as the beginning of a path, not as a part of a longer one.
fn begins_a_path(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/~}$".contains(c))
    })
}

pub fn skipped_tests(source: &Source) -> Vec<Finding> {
    let markers: &[&str] = match source.path.rsplit('.').next().unwrap_or_default() {
        "rs" => &["#[ignore"],
        "py" => &["pytest.mark.skip", "pytest.mark.xfail", "pytest.skip(", "unittest.skip"],
        "mjs" | "cjs" | "js" | "ts" => {
            &["test.skip", "it.skip", "describe.skip", "test.todo", "test.only"]
        }
        _ => return Vec::new(),
    };
    let lines = source.code.lines().enumerate();
    lines
        .filter(|(_, text)| markers.iter().any(|marker| text.contains(marker)))
        .map(|(line, _)| finding(line + 1, "a test that does not run"))
        .collect()
}

/// History belongs in the commits: no ticket numbers, no notes to come back.
pub fn history(source: &Source) -> Vec<Finding> {
    let extension = source.path.rsplit('.').next().unwrap_or_default();
    if matches!(extension, "lock" | "json") {
        return Vec::new();
    }
    let notes = [["FIX", "ME"], ["XX", "X"], ["HA", "CK"]].map(|halves| halves.concat());
    let mut found = Vec::new();
    for (line, text) in source.text.lines().enumerate() {
        if names_a_ticket(text) {
            found.push(finding(line + 1, "a ticket number"));
        }
        if text
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| notes.iter().any(|note| note == word))
        {
            found.push(finding(line + 1, "a note to come back"));
        }
    }
    found
}

fn names_a_ticket(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.match_indices("issue ").any(|(at, word)| {
        let rest = lower[at + word.len()..].trim_start_matches('#');
        let before = lower[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
            && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}
