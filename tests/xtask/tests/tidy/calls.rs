//! What code may not call, and where `unsafe` may stand.

use super::functions::item_end;
use super::source::Source;
use super::{Finding, finding};

/// What would make the pure crate impure.
const IMPURE: [&str; 15] = [
    "Instant::now",
    "SystemTime",
    "std::fs",
    "std::process",
    "std::net",
    "std::thread",
    "std::env",
    "std::io",
    "thread::spawn",
    "tokio",
    "rmcp",
    ".await",
    "async fn",
    "println!",
    "rand::",
];

/// Where `unsafe` may stand.
const UNSAFE_FOLDERS: [&str; 6] =
    ["core/src/platform", "ffi/", "bindings/", "tests/", "core/tests/", "core/supervisor/"];

/// Comment lines above `unsafe` that are searched for its reason.
const SAFETY_LINES: usize = 10;

pub fn impure_calls(source: &Source) -> Vec<Finding> {
    if !source.is_rust() || !source.is_under(&["core/pool/src"]) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, text) in source.product_lines() {
        for banned in IMPURE.iter().filter(|banned| text.contains(**banned)) {
            found.push(finding(line, format!("{banned} in the pure crate")));
        }
    }
    found
}

pub fn misplaced_unsafe(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, attribute) in [
        ("core/pool/src/lib.rs", "#![forbid(unsafe_code)]"),
        ("core/src/lib.rs", "#![deny(unsafe_code)]"),
    ] {
        if source.path == path && !source.code.contains(attribute) {
            found.push(finding(1, format!("{attribute} is missing")));
        }
    }
    if !source.is_rust() || source.is_under(&UNSAFE_FOLDERS) {
        return found;
    }
    let lines = source.code.lines().enumerate();
    found.extend(
        lines
            .filter(|(_, text)| has_word(text, "unsafe"))
            .map(|(line, _)| finding(line + 1, "unsafe")),
    );
    found
}

pub fn undocumented_unsafe(source: &Source) -> Vec<Finding> {
    if !source.is_rust() {
        return Vec::new();
    }
    let texts: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    for (line, code) in source.code.lines().enumerate() {
        let is_block = code.contains("unsafe {") || code.contains("unsafe impl");
        let above = texts[line.saturating_sub(SAFETY_LINES)..=line].iter();
        if is_block && !above.clone().any(|text| text.contains("SAFETY:")) {
            found.push(finding(line + 1, "unsafe without a SAFETY comment"));
        }
    }
    found
}

pub fn unwraps(source: &Source) -> Vec<Finding> {
    if !source.is_rust() {
        return Vec::new();
    }
    let is_boundary = source.is_under(&["ffi/src", "bindings/"]);
    let is_banned =
        |text: &&str| text.contains(".unwrap()") || is_boundary && text.contains(".expect(");
    let lines = source.product_lines().filter(|(_, text)| is_banned(text));
    lines.map(|(line, _)| finding(line, "a panic on what may come")).collect()
}

pub fn unfinished(source: &Source) -> Vec<Finding> {
    if !source.is_rust() {
        return Vec::new();
    }
    let macros = ["todo!(", "unimplemented!(", "dbg!("];
    let is_banned = |text: &&str| macros.iter().any(|banned| text.contains(banned));
    let lines = source.product_lines().filter(|(_, text)| is_banned(text));
    lines.map(|(line, _)| finding(line, "unfinished code")).collect()
}

/// What reads until there is no more, however much there is.
const UNBOUNDED: [&str; 6] =
    ["read_to_string(", "read_to_end(", "fs::read(", ".read_line(", ".read_until(", "io::copy("];

/// What a file or a stream of somebody else's holds may have no end.
pub fn unbounded_reads(source: &Source) -> Vec<Finding> {
    if !source.is_rust() || !source.is_under(&["core/", "ffi/", "bindings/"]) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, text) in source.product_lines() {
        if text.contains(".take(") && !text.contains(".take()") {
            continue;
        }
        for call in UNBOUNDED.iter().filter(|call| text.contains(**call)) {
            found.push(finding(
                line,
                format!("{call}…) without a bound: `core/src/base/bounded_reader.rs` has one"),
            ));
        }
    }
    found
}

/// A synchronous function that Node calls aborts the process on a panic unless it is guarded.
pub fn unguarded_napi(source: &Source) -> Vec<Finding> {
    if !source.is_rust() || !source.is_under(&["bindings/node/src"]) {
        return Vec::new();
    }
    let lines: Vec<&str> = source.code.lines().collect();
    let mut found = Vec::new();
    for (line, text) in lines.iter().enumerate() {
        if !text.trim_start().starts_with("#[napi") || text.contains("catch_unwind") {
            continue;
        }
        let attribute_end = lines[line..].iter().position(|text| text.contains(']')).unwrap_or(0);
        let whole = lines[line..=line + attribute_end].join(" ");
        let mut after = lines[line + attribute_end + 1..].iter();
        let item =
            after.find(|text| !text.trim().is_empty() && !text.trim_start().starts_with("#["));
        let is_function = item.is_some_and(|text| has_word(text, "fn") && !has_word(text, "async"));
        if is_function && !whole.contains("catch_unwind") {
            found.push(finding(line + 1, "a napi function without catch_unwind"));
        }
    }
    found
}

/// What a function of the C interface runs its body in; `forms` does it for those that start
/// something.
const GUARDS: [&str; 3] = ["guard(", "guarded(", "forms::"];

/// Functions of the C interface whose body cannot panic: each gives a constant or adds to an
/// atomic.
const TRIVIAL: [&str; 3] = ["trunkline_abi_version", "trunkline_version", "note_fork"];

/// A panic in a function that C calls aborts the host unless it is guarded, there or in a function
/// of the same file that it hands everything to.
pub fn unguarded_exports(source: &Source) -> Vec<Finding> {
    if !source.is_rust() || !source.is_under(&["ffi/src"]) {
        return Vec::new();
    }
    let lines: Vec<&str> = source.code.lines().collect();
    let functions: Vec<Function> =
        (0..lines.len()).filter_map(|start| Function::at(&lines, start)).collect();
    let is_guarded = |function: &Function| GUARDS.iter().any(|name| function.body.contains(name));
    let forms = source.path.ends_with("/forms.rs");
    let unguarded = functions.iter().filter(|function| {
        let is_export = function.head.contains("extern ") || forms && function.head.contains("pub");
        let hands_on = || {
            let mut others = functions.iter().filter(|other| is_guarded(other));
            others.any(|other| function.body.contains(&format!(" {}(", other.name)))
        };
        is_export && !TRIVIAL.contains(&function.name) && !is_guarded(function) && !hands_on()
    });
    unguarded
        .map(|function| finding(function.line, format!("{} without a guard", function.name)))
        .collect()
}

/// A function of a file: what stands before its name, and what its braces hold.
struct Function<'a> {
    line: usize,
    head: &'a str,
    name: &'a str,
    body: String,
}

impl<'a> Function<'a> {
    /// The function that begins in line `start`, counted from 0.
    fn at(lines: &[&'a str], start: usize) -> Option<Function<'a>> {
        let (head, rest) = lines[start].split_once("fn ")?;
        let name = rest.split(['(', '<']).next().filter(|name| !name.is_empty())?;
        let whole = lines[start..=item_end(lines, start)].join("\n");
        let body = whole.split_once('{')?.1.to_owned();
        Some(Function { line: start + 1, head, name, body })
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word)
}
