//! What errors say: a clause in lower case, without a full stop and without words that say nothing.

use super::source::Source;
use super::{Finding, finding};

/// Words that say that something is wrong and not what.
const EMPTY: [&str; 5] = ["invalid", "failed to", "please", "something went wrong", "unexpected"];

/// Fewer say what happened and not to what.
const WORDS_MIN: usize = 3;

/// The messages that are given where an error is made.
pub fn weak_messages(source: &Source) -> Vec<Finding> {
    let folders = ["core/src/", "core/pool/src/", "core/cli/src/", "ffi/src/", "bindings/"];
    if !source.is_rust() || !source.is_under(&folders) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = source.text[from..].find("Error::new(").map(|at| from + at) {
        from = at + "Error::new(".len();
        let line = source.text[..at].matches('\n').count();
        let Some(message) = literal(&source.text[from..]) else { continue };
        if source.is_test_line(line) {
            continue;
        }
        if let Some(why) = weakness(message) {
            found.push(finding(line + 1, format!("the message \"{message}\" {why}")));
        }
    }
    found
}

/// The text behind the code, where it is written there.
fn literal(call: &str) -> Option<&str> {
    let (code, rest) = call.trim_start().split_once(',')?;
    if !code.starts_with("ErrorCode::") && !code.contains("::ErrorCode::") {
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
    rest.strip_prefix('"')?.split('"').next()
}

fn weakness(message: &str) -> Option<String> {
    let begins = message.chars().next()?;
    if begins.is_uppercase() {
        return Some("begins with a capital".into());
    }
    if message.ends_with(['.', '!']) {
        return Some("ends with a full stop".into());
    }
    if let Some(word) = EMPTY.iter().find(|word| message.to_lowercase().contains(**word)) {
        return Some(format!("says \"{word}\", and not what is wrong"));
    }
    let is_short = message.split_whitespace().count() < WORDS_MIN && !message.contains('{');
    is_short.then(|| "says too little".into())
}
