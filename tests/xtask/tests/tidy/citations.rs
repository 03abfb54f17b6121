//! Every rule of the specification that code, tests or documents cite is in `docs/spec`.
//!
//! A citation is `SPEC` and a number of a rule or a section, or several of them; `PROTOCOL` and the
//! number of a section; and the member `spec` of a behaviour case.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::source::{Source, tracked_in};
use super::{Finding, finding};

/// The numbers of the specification.
struct Numbers {
    sections: BTreeSet<u32>,
    rules: BTreeSet<(u32, u32)>,
    protocol: BTreeSet<(u32, u32)>,
}

/// A number of a citation: the section, and the rule if there is one.
type Cited = (u32, Option<u32>);

pub fn unresolved(source: &Source) -> Vec<Finding> {
    let numbers = numbers();
    let mut found = Vec::new();
    for (line, (section, rule)) in citations(&source.text, "SPEC") {
        let is_there = match rule {
            Some(rule) => numbers.rules.contains(&(section, rule)),
            None => numbers.sections.contains(&section),
        };
        if !is_there {
            found.push(unknown(line, "SPEC", section, rule));
        }
    }
    for (line, (section, part)) in citations(&source.text, "PROTOCOL") {
        if part.is_some_and(|part| !numbers.protocol.contains(&(section, part))) {
            found.push(unknown(line, "PROTOCOL", section, part));
        }
    }
    for (line, (section, rule)) in cases(source) {
        if rule.is_none_or(|rule| !numbers.rules.contains(&(section, rule))) {
            found.push(unknown(line, "SPEC", section, rule));
        }
    }
    found
}

fn unknown(line: usize, text: &str, section: u32, rule: Option<u32>) -> Finding {
    let rule = rule.map(|rule| format!(".{rule}")).unwrap_or_default();
    finding(line, format!("{text} {section}{rule} is not in docs/spec"))
}

/// What a text cites, each with its line: `SPEC 4.7`, `SPEC 4.7, 5.1`, `SPEC 4.7-4.8`, `SPEC 12`.
fn citations(text: &str, name: &str) -> Vec<(usize, Cited)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(name) {
        let begins = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let rest = &text[at + name.len()..];
        if !begins || !rest.starts_with([' ', '-', '\n']) {
            continue;
        }
        // In comments a citation goes on in the next line.
        let rest = rest.trim_start_matches([' ', '-', '\n', '/', '!', '*', '#']);
        let line = text[..at].matches('\n').count() + 1;
        found.extend(list(rest).into_iter().map(|cited| (line, cited)));
    }
    found
}

/// The numbers at the beginning of a text.
fn list(text: &str) -> Vec<Cited> {
    let mut cited = Vec::new();
    let mut rest = text;
    while let Some((number, after)) = number(rest) {
        // What follows a comma may be a number of something else.
        let is_listed = number.1.is_some() || cited.iter().all(|(_, rule): &Cited| rule.is_none());
        if !is_listed {
            break;
        }
        cited.push(number);
        let after = after.trim_start();
        let words = [",", "and ", "to ", "-", "–"];
        let Some(next) = words.iter().find_map(|word| after.strip_prefix(word)) else { break };
        rest = next.trim_start();
    }
    cited
}

/// `4.7` or `12`, and what follows it.
fn number(text: &str) -> Option<(Cited, &str)> {
    let (section, rest) = digits(text)?;
    match rest.strip_prefix('.').and_then(digits) {
        Some((rule, rest)) => Some(((section, Some(rule)), rest)),
        None => Some(((section, None), rest)),
    }
}

fn digits(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// What behaviour cases cite: `"spec": ["3.6"]`.
fn cases(source: &Source) -> Vec<(usize, Cited)> {
    if !source.is_under(&["tests/behaviour/"]) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, text) in source.text.match_indices("\"spec\": [") {
        let line = source.text[..at].matches('\n').count() + 1;
        let (rows, _) = source.text[at + text.len()..].split_once(']').unwrap_or_default();
        let rows = rows.split('"').filter_map(number);
        found.extend(rows.map(|(cited, _)| (line, cited)));
    }
    found
}

fn numbers() -> &'static Numbers {
    static NUMBERS: OnceLock<Numbers> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let (mut sections, mut rules) = (BTreeSet::new(), BTreeSet::new());
        let mut protocol = BTreeSet::new();
        for page in tracked_in(&["docs/spec"]) {
            let name = page.path.rsplit('/').next().unwrap_or_default();
            let known = if name.starts_with("protocol-") { &mut protocol } else { &mut rules };
            known.extend(headings(&page.text));
            sections.extend(digits(name).map(|(section, _)| section));
        }
        Numbers { sections, rules, protocol }
    })
}

/// The numbers of the headings of a page: `## 4.7 Deadlines`.
fn headings(text: &str) -> impl Iterator<Item = (u32, u32)> {
    let numbered = text.lines().filter_map(|line| number(line.strip_prefix("## ")?));
    numbered.filter_map(|((section, rule), _)| Some((section, rule?)))
}

#[test]
fn the_rules_of_a_section_stand_in_its_page_and_are_counted_from_one() {
    let pages = tracked_in(&["docs/spec"]);
    let mut seen = Vec::new();
    for page in &pages {
        let name = page.path.rsplit('/').next().unwrap_or_default();
        let Some((section, _)) = digits(name) else { continue };
        seen.push(section);
        for (place, rule) in headings(&page.text).enumerate() {
            assert_eq!(rule, (section, u32::try_from(place).unwrap() + 1), "{}", page.path);
        }
    }
    assert_eq!(seen, (1..=21).collect::<Vec<_>>());
}

#[test]
fn lists_and_ranges_are_read_and_other_numbers_are_not() {
    let read = |text: &str| -> Vec<Cited> { list(text) };
    assert_eq!(read("4.7: a rule"), [(4, Some(7))]);
    assert_eq!(read("4.7, 5.1 and 12.10)."), [(4, Some(7)), (5, Some(1)), (12, Some(10))]);
    assert_eq!(read("4.7-4.9"), [(4, Some(7)), (4, Some(9))]);
    assert_eq!(read("10 to 13."), [(10, None), (13, None)]);
    assert_eq!(read("4.7, 200 ms"), [(4, Some(7))]);
    assert_eq!(read("that it follows"), []);
}
