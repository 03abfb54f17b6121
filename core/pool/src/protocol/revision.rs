//! Which revision of the protocol a server is asked for that refused one (SPEC 18.5).
//!
//! Servers say it by a list in the error's data, by words, or by words alone that name no revision.

use serde_json::Value;

use crate::json::{readable, signed};
use crate::lenient::{kinds, lenient};

/// The code of the modern era for a revision that is not spoken.
const UNSUPPORTED: i64 = -32022;

/// Members of an error's data that list revisions.
const LISTS: [&str; 4] =
    ["supported", "supportedVersions", "supported_versions", "supportedProtocolVersions"];

/// Words for a revision.
const SUBJECTS: [&str; 5] =
    ["protocol version", "protocolversion", "protocol_version", "mcp version", "protocol revision"];

/// Words for its refusal.
const REFUSALS: [&str; 10] = [
    "unsupported",
    "not supported",
    "not support",
    "unknown",
    "invalid",
    "mismatch",
    "incompatible",
    "must be",
    "expected",
    "bad",
];

/// The newest revision of `known`, oldest first, that the server of this error speaks, where the
/// error is about the revision that was asked for; `None` where it is about something else, or
/// there is none. A server that names none is asked for the oldest, which nearly every one speaks.
pub fn instead<'k>(error: &str, asked: &str, known: &[&'k str]) -> Option<&'k str> {
    let error = readable(&lenient(error, &kinds::ERROR))?;
    let named = named(&error);
    let is_asked = |revision: &&&str| **revision != asked;
    match is_refusal(&error) {
        false => None,
        true if named.iter().any(|revision| revision != asked) => {
            let is_spoken = |revision: &&&str| named.iter().any(|named| named == **revision);
            known.iter().filter(is_asked).rfind(is_spoken).copied()
        }
        true => known.iter().find(is_asked).copied(),
    }
}

/// Whether words of a server, in an error or a page, refuse a revision.
pub fn refuses_revision(words: &str) -> bool {
    let words = words.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|one| words.contains(one));
    has(&SUBJECTS) && has(&REFUSALS)
}

/// Whether an error refuses a revision.
pub fn is_refused(error: &str) -> bool {
    readable(&lenient(error, &kinds::ERROR)).is_some_and(|error| is_refusal(&error))
}

fn is_refusal(error: &Value) -> bool {
    let is_listed = LISTS.iter().any(|list| error["data"][list].is_array());
    signed(&error["code"]) == Some(UNSUPPORTED) || is_listed || texts(error).any(refuses_revision)
}

/// What is said in words.
fn texts(error: &Value) -> impl Iterator<Item = &str> {
    let said =
        [&error["message"], &error["data"], &error["data"]["message"], &error["data"]["details"]];
    said.into_iter().filter_map(Value::as_str)
}

/// The revisions that an error names, in a list or in words.
fn named(error: &Value) -> Vec<String> {
    let lists = LISTS.iter().filter_map(|list| error["data"][list].as_array());
    let listed: Vec<String> =
        lists.flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if !listed.is_empty() {
        return listed;
    }
    let one = error["data"]["supported"].as_str().into_iter();
    texts(error).chain(one).flat_map(dates).collect()
}

/// The dates in a text: `2025-06-18`.
fn dates(text: &str) -> Vec<String> {
    const FORM: &[u8] = b"dddd-dd-dd";
    let is_date = |window: &&[u8]| {
        window.iter().zip(FORM).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            form => byte == form,
        })
    };
    let dates = text.as_bytes().windows(FORM.len()).filter(is_date);
    dates.map(|date| String::from_utf8_lossy(date).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

    /// SPEC 18.5.
    #[test]
    fn a_refusal_of_the_revision_names_another_or_leaves_it_to_us() {
        for (error, expected) in [
            (
                r#"{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"2025-11-25"}}"#,
                Some("2024-11-05"),
            ),
            (
                r#"{"code":-32602,"message":"?","data":{"supported":["2024-11-05","2025-06-18"]}}"#,
                Some("2025-06-18"),
            ),
            (
                r#"{"code":-32022,"message":"no","data":{"supported":["2025-03-26","2030-01-01"]}}"#,
                Some("2025-03-26"),
            ),
            (
                r#"{"code":-32602,"message":"?","data":{"supportedVersions":["2025-03-26"]}}"#,
                Some("2025-03-26"),
            ),
            (
                r#"{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)"}"#,
                Some("2025-06-18"),
            ),
            (
                r#"{"code":-32600,"message":"Unsupported protocolVersion 2025-11-25, expected 2024-11-05"}"#,
                Some("2024-11-05"),
            ),
            (
                r#"{"code":-32602,"message":"protocol version 2025-11-25 is not supported"}"#,
                Some("2024-11-05"),
            ),
            (
                r#"{"code":-32602,"message":"Invalid params","data":"MCP version mismatch: 2025-03-26"}"#,
                Some("2025-03-26"),
            ),
            (
                r#"{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2030-01-01"]}}"#,
                None,
            ),
            (r#"{"code":-32602,"message":"Unsupported protocol version: only 2030-01-01"}"#, None),
            (r#"{"code":-32602,"message":"Invalid params"}"#, None),
            (r#"{"code":-32601,"message":"Method not found"}"#, None),
            (r#"{"code":-32001,"message":"the licence of version 3 expired on 2024-11-05"}"#, None),
            ("7", None),
            ("nothing", None),
        ] {
            assert_eq!(instead(error, "2025-11-25", KNOWN), expected, "{error}");
        }
    }
}
