//! Which tests a file has, and which promises each of them cites.

use std::collections::BTreeSet;

use crate::source::Source;

/// One test of a file.
#[derive(Debug, PartialEq)]
pub struct Test {
    /// As the file gives it: a function's name, or a title.
    pub name: String,
    /// The promises that its title, the comment above it or its docstring names.
    pub cites: BTreeSet<String>,
    /// Whether each submission runs it.
    pub is_run: bool,
}

/// The tests of a file of any language; `main` is the `main.rs` beside it, which may run scenarios
/// of its files.
pub fn tests_of(file: &Source, main: Option<&Source>) -> Vec<Test> {
    let named: fn(&str) -> Option<&str> = match extension(file) {
        "rs" => rust_name,
        "c" | "cpp" => c_name,
        "py" => python_name,
        "mjs" => title,
        "json" if file.path.starts_with("tests/behaviour/") => return cases(file),
        _ => return Vec::new(),
    };
    let text: Vec<&str> = file.text.lines().collect();
    let found = text.iter().enumerate().filter_map(|(line, code)| {
        let name = named(code)?;
        let above = above(&text, line, extension(file));
        if !is_test(file, main, name, above) {
            return None;
        }
        let own = [above.join("\n"), (*code).to_owned(), docstring(&text, line)].join("\n");
        let is_run = !file.path.ends_with("schedules.rs") && above.iter().all(is_for_linux);
        Some(Test { name: name.to_owned(), cites: named_in(&own), is_run })
    });
    found.collect()
}

/// What a file of tests says of all of them: the comment at its head, or a table of cases as a
/// whole.
pub fn said_at_the_head(file: &Source) -> BTreeSet<String> {
    let is_table = extension(file) == "json" && file.path.contains("/tests/");
    if is_table && !file.path.starts_with("tests/") {
        return named_in(&file.text);
    }
    let is_of_tests = ["rs", "c", "cpp", "py", "mjs"].contains(&extension(file));
    if !is_of_tests || !file.is_test_line(0) {
        return BTreeSet::new();
    }
    let is_code = |line: &&str| ["import ", "from ", "#"].iter().any(|it| line.starts_with(it));
    let is_said =
        |line: &&str| if file.is_rust() { line.starts_with("//!") } else { !is_code(line) };
    let said = file.text.lines().take_while(is_said);
    named_in(&said.collect::<Vec<_>>().join("\n"))
}

/// The promises that a text names; a range, as `I-02 to I-06`, names all of it.
pub fn named_in(text: &str) -> BTreeSet<String> {
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

fn extension(file: &Source) -> &str {
    file.path.rsplit('.').next().unwrap_or_default()
}

fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'))?;
    (end > 0).then(|| &text[..end])
}

fn rust_name(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = ["pub(super) ", "pub(crate) ", "pub "]
        .iter()
        .find_map(|it| rest.strip_prefix(it))
        .unwrap_or(rest);
    word(rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?)
}

fn c_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("static ").unwrap_or(line).strip_prefix("void ")?;
    word(name)
}

fn python_name(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let name = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("def ")?;
    word(name).filter(|name| name.starts_with("test_"))
}

/// The title of a test of Node, which stands in the line that begins it.
fn title(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("it(").or_else(|| rest.strip_prefix("test("))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    rest[1..].split(quote).next()
}

/// The comments and attributes right above a line.
fn above<'a>(text: &'a [&'a str], line: usize, extension: &str) -> &'a [&'a str] {
    let begins: &[&str] = match extension {
        "rs" => &["//", "#["],
        "py" => &["#", "@"],
        _ => &["//", "/*", "*", " *"],
    };
    let is_above = |line: &&&str| begins.iter().any(|it| line.trim_start().starts_with(it));
    let count = text[..line].iter().rev().take_while(is_above).count();
    &text[line - count..line]
}

/// Whether a line above a test does not keep it from the system that each submission is run on.
fn is_for_linux(line: &&str) -> bool {
    let is_condition = line.trim_start().starts_with("#[cfg(");
    !is_condition || line.contains("(unix)") || line.contains("\"linux\"")
}

/// What a Python function says of itself.
fn docstring(text: &[&str], line: usize) -> String {
    let body = text[line..].iter().position(|line| line.trim_end().ends_with(':'));
    let rest = body.map_or(&[][..], |body| &text[line + body + 1..]);
    if !rest.first().is_some_and(|line| line.trim_start().starts_with("\"\"\"")) {
        return String::new();
    }
    let mut quotes = 0;
    let lines = rest.iter().take_while(|line| {
        let is_within = quotes < 2;
        quotes += line.matches("\"\"\"").count();
        is_within
    });
    lines.copied().collect::<Vec<_>>().join("\n")
}

/// Whether the function of that name is a test that its runner comes to.
fn is_test(file: &Source, main: Option<&Source>, name: &str, above: &[&str]) -> bool {
    match extension(file) {
        "rs" => {
            let is_marked =
                |line: &&str| line.trim() == "#[test]" || line.trim().starts_with("#[tokio::test");
            above.iter().any(is_marked) || main.is_some_and(|main| is_scenario(file, main, name))
        }
        "c" | "cpp" => file.code.contains(&format!("RUN({name})")),
        _ => true,
    }
}

/// Whether a program without the runner of Rust has the function among its scenarios.
fn is_scenario(file: &Source, main: &Source, name: &str) -> bool {
    let stem = file.path.rsplit('/').next().and_then(|it| it.strip_suffix(".rs"));
    let scenario = format!(", {}::{name}),", stem.unwrap_or_default());
    main.text.contains("\nfn main()") && main.text.contains(&scenario)
}

/// The behaviour cases of a file; what they cite is among the rows of the specification.
fn cases(file: &Source) -> Vec<Test> {
    let value: serde_json::Value = serde_json::from_str(&file.text).unwrap_or_default();
    let all = match value {
        serde_json::Value::Array(several) => several,
        one => vec![one],
    };
    let test = |case: &serde_json::Value| {
        let name = case["name"].as_str()?.to_owned();
        Some(Test { name, cites: named_in(&case["spec"].to_string()), is_run: true })
    };
    all.iter().filter_map(test).collect()
}
