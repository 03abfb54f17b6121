//! Names that the style guide rules out, where they are given.

use super::source::Source;
use super::{Finding, finding};

/// Parts of a name that say nothing.
const EMPTY_PARTS: [&str; 8] =
    ["manager", "helper", "helpers", "util", "utils", "misc", "data", "info"];

/// Names of the protocol, of C, of the standard library and of interfaces of others that hold such
/// a part.
const EXCEPTED: [&str; 18] = [
    "Data",
    "user_data",
    "userData",
    "UserData",
    "client_info",
    "ClientInfo",
    "ClientInfoOptions",
    "CLIENT_INFO",
    "server_info",
    "clientInfo",
    "serverInfo",
    "get_instructions",
    "get_prompt",
    "get_mut",
    "get_response",
    "get_server_capabilities",
    "get_tools",
    "getPrompt",
];

/// Words after which a name is given.
const GIVING: [&str; 15] = [
    "fn", "struct", "enum", "trait", "mod", "type", "const", "static", "let", "mut", "def",
    "class", "function", "var", "union",
];

/// Where members have the names of the protocol.
const PROTOCOL: [&str; 3] = [
    "bindings/node/adapters/",
    "bindings/node/test-adapters/",
    "bindings/python/python/trunkline/events.py",
];

const CODE: [&str; 8] = ["rs", "py", "c", "h", "hpp", "mjs", "cjs", "ts"];

pub fn banned_names(source: &Source) -> Vec<Finding> {
    let extension = source.path.rsplit('.').next().unwrap_or_default();
    if !CODE.contains(&extension) {
        return Vec::new();
    }
    let speaks_the_protocol = extension == "ts"
        || source.is_under(&PROTOCOL)
        || source.text.contains("\"data\"")
        || source.text.contains("\\\"data\\\"");
    let mut found = Vec::new();
    for (line, text) in source.code.lines().enumerate() {
        for (word, is_function) in given_names(text) {
            if EXCEPTED.contains(&word) || speaks_the_protocol && word == "data" {
                continue;
            }
            if let Some(why) = objection(word, is_function) {
                found.push(finding(line + 1, format!("{word}: {why}")));
            }
        }
    }
    found
}

pub fn prefixed_tests(source: &Source) -> Vec<Finding> {
    if !source.is_rust() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.code.lines().map(str::trim).collect();
    let pairs = lines.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| pair[0].starts_with("#[") && pair[0].contains("test"))
        .filter(|(_, pair)| pair[1].contains("fn test_"))
        .map(|(line, _)| finding(line + 2, "a test's name is a sentence without test_"))
        .collect()
}

/// The names that a line gives: after a word that gives one, and before a colon.
fn given_names(text: &str) -> Vec<(&str, bool)> {
    let mut names = Vec::new();
    let mut before = "";
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let word_and_more = &rest[start..];
        let end = word_and_more.find(|c| !is_word(c)).unwrap_or(word_and_more.len());
        let (word, more) = word_and_more.split_at(end);
        let follows = more.trim_start();
        let is_before_colon = follows.starts_with(':') && !follows.starts_with("::");
        if GIVING.contains(&before) || is_before_colon {
            names.push((word, matches!(before, "fn" | "def" | "function")));
        }
        before = word;
        rest = more;
    }
    names
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn objection(word: &str, is_function: bool) -> Option<&'static str> {
    if parts(word).iter().any(|part| EMPTY_PARTS.contains(&part.as_str())) {
        return Some("a part that says nothing");
    }
    if word.starts_with("do_") || is_function && word.starts_with("process_") {
        return Some("a verb that says nothing");
    }
    if is_function && word.starts_with("get_") {
        return Some("no get_ prefix");
    }
    word.ends_with("new2").then_some("number two")
}

/// The parts of a name in snake_case or CamelCase, in lower case.
fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before_is_lower = false;
    for c in word.chars() {
        if c == '_' || c.is_uppercase() && before_is_lower {
            parts.push(String::new());
        }
        before_is_lower = c.is_lowercase();
        if c != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
    }
    parts
}
