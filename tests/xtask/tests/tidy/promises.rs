//! Each promise about security and reliability is named by a test that shows it.

use std::collections::BTreeSet;

use crate::source::{self, Source};

/// S-01 to S-49 and I-01 to I-28, as they were given out: some numbers between were not.
const PROMISES: [(&str, &[std::ops::RangeInclusive<u32>]); 2] =
    [("S", &[1..=16, 20..=25, 30..=39, 40..=49]), ("I", &[1..=28])];

fn promises() -> impl Iterator<Item = String> {
    PROMISES.iter().flat_map(|(kind, ranges)| {
        let numbers = ranges.iter().flat_map(Clone::clone);
        numbers.map(move |number| format!("{kind}-{number:02}"))
    })
}

/// The promises that a text names; a range, as `I-02 to I-06`, names all of it.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut last: Option<(usize, char, u32)> = None;
    for (at, _) in text.match_indices('-') {
        let Some((begin, kind, number)) = id_at(text, at) else { continue };
        let is_range = |end: usize| matches!(text.get(end..begin), Some(" to " | "-" | "…" | "–"));
        let first = match last {
            Some((end, before, first)) if before == kind && is_range(end) => first,
            _ => number,
        };
        found.extend((first..=number).map(|number| format!("{kind}-{number:02}")));
        last = Some((at + 3, kind, number));
    }
    found
}

/// The id whose dash is there: where it begins, its kind and its number.
fn id_at(text: &str, dash: usize) -> Option<(usize, char, u32)> {
    let begin = dash.checked_sub(1)?;
    let kind = char::from(*text.as_bytes().get(begin)?);
    let is_word = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
    let follows_a_word = begin.checked_sub(1).is_some_and(is_word);
    let digits = text.get(dash + 1..dash + 3)?;
    let is_id = matches!(kind, 'S' | 'I') && !follows_a_word && !is_word(dash + 3);
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    (is_id && is_number).then(|| Some((begin, kind, digits.parse().ok()?)))?
}

/// What is said in tests: all of a test's file, and of another one what belongs to its tests, with the comment above them.
fn said_in_tests(file: &Source) -> String {
    let languages = [".rs", ".c", ".cpp", ".py", ".mjs", ".json"];
    // What lists them all shows none of them.
    if file.path.ends_with("tidy/promises.rs")
        || !languages.iter().any(|it| file.path.ends_with(it))
    {
        return String::new();
    }
    let lines = file.text.lines().enumerate().filter(|(line, _)| file.is_test_line(*line));
    lines.map(|(_, text)| format!("{text}\n")).collect()
}

#[test]
fn every_promise_is_named_by_a_test() {
    let files = source::tracked();
    let found: BTreeSet<String> =
        files.iter().flat_map(|file| named(&said_in_tests(file))).collect();
    let missing: Vec<String> = promises().filter(|promise| !found.contains(promise)).collect();
    assert!(missing.is_empty(), "no test names {}", missing.join(", "));
}

#[test]
fn what_names_a_promise_is_told_from_what_does_not() {
    let all = |text| Vec::from_iter(named(text));
    assert_eq!(all("/// SPEC 3.4, S-04 and I-02 to I-04: x."), ["I-02", "I-03", "I-04", "S-04"]);
    assert_eq!(all("(I-28, SECURITY row 14)"), ["I-28"]);
    assert_eq!(all("AS-04 S-4 S-041 s-04 S- 04 -04 I-"), [] as [&str; 0]);
    assert_eq!(promises().count(), 16 + 6 + 10 + 10 + 28);
    let product = Source::new("core/src/a.rs", "//! S-01\n#[cfg(test)]\nmod tests {\n// S-02\n}\n");
    assert_eq!(Vec::from_iter(named(&said_in_tests(&product))), ["S-02"]);
    let test = Source::new("core/tests/a.rs", "//! S-01\n");
    assert_eq!(Vec::from_iter(named(&said_in_tests(&test))), ["S-01"]);
    // What the tests are made with shows nothing.
    let server = Source::new("tests/servers/src/a.rs", "//! S-01\n");
    assert_eq!(Vec::from_iter(named(&said_in_tests(&server))), [] as [&str; 0]);
}
