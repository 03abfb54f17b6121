//! Control characters in paths: what a file's syntax makes of the backslashes of a path that were
//! not doubled (SPEC 18.9).

use serde_json::{Map, Value};

use crate::json::joined;

/// The paths of a configuration's texts that look like a path in a file system and hold a control
/// character.
pub(super) fn suspicious(configuration: &Map<String, Value>) -> Vec<String> {
    let mut out = Vec::new();
    for (name, value) in configuration {
        match (name.as_str(), value) {
            ("command" | "cwd", Value::String(text)) if holds_control(text) => {
                out.push(joined("", name));
            }
            ("args", Value::Array(items)) => {
                let broken = items.iter().enumerate().filter(|(_, item)| is_broken(item));
                out.extend(broken.map(|(index, _)| format!("{name}[{index}]")));
            }
            ("env", Value::Object(variables)) => {
                let broken = variables.iter().filter(|(_, value)| is_broken(value));
                out.extend(broken.map(|(variable, _)| joined(name, variable)));
            }
            _ => {}
        }
    }
    out
}

fn is_broken(value: &Value) -> bool {
    value.as_str().is_some_and(is_broken_path)
}

fn holds_control(text: &str) -> bool {
    text.contains(|c: char| c < ' ')
}

/// Whether a word of the text looks like a path of Windows (a drive or a backslash) and holds a
/// control character. A text of several lines is one of its own: a script or a key.
fn is_broken_path(text: &str) -> bool {
    holds_control(text) && text.split(' ').any(|word| holds_control(word) && is_of_windows(word))
}

fn is_of_windows(word: &str) -> bool {
    if word.contains('\\') {
        return true;
    }
    word.match_indices(':').any(|(at, _)| {
        let mut before = word[..at].chars().rev();
        let is_drive = before.next().is_some_and(|letter| letter.is_ascii_alphabetic());
        let begins = before.next().is_none_or(|c| !c.is_alphanumeric());
        let after = &word[at + 1..];
        // No blank is there where a path goes on, and no slash in what was a backslash.
        is_drive && begins && holds_control(after) && !after.starts_with("//")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_lost_its_backslashes_is_told_from_a_text_of_several_lines() {
        for text in ["c:\temp\u{8}uild\new.js", "--dir=C:\temp", "src\\main\test.c", "C:/work\temp"]
        {
            assert!(is_broken_path(text), "{text:?}");
        }
        for text in [
            "c:\\temp",
            "/usr/bin",
            "a\tb",
            "-----BEGIN KEY-----\nabc/def\n-----END KEY-----\n",
            "echo a\nls /tmp",
            "key: a\nother: b",
            "https://h/x\n",
        ] {
            assert!(!is_broken_path(text), "{text:?}");
        }
    }
}
