//! Messages: the common form is read as any other, and what is inside is what serde_json finds
//! there.

use serde_json::Value;
use trunkline::fuzzing::message;

use super::value;

pub const WORDS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":"#,
    r#","result":"#,
    r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
    r#""id":1,"#,
    r#""id":null,"#,
    r#""id":"7","#,
    r#""method":"ping","#,
    r#""params":{},"#,
    r#""error":{"code":1,"message":"m"}"#,
    r#""result":null"#,
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u00e9",
    "\\ud800",
    ",",
    ":",
    " ",
    "\n",
    "\r",
    "0",
    "-",
    "1e5",
    "18446744073709551615",
    "18446744073709551616",
    "null",
    "true",
];

/// SPEC 18.1, 5.10, I-28.
pub fn run(frame: &[u8]) {
    let read = message(frame);
    assert_eq!(read.by_form, read.in_general, "{}", String::from_utf8_lossy(frame));
    if let Some(open) = frame.strip_suffix(b"}").filter(|open| open.len() < SHORT_BYTES) {
        // Longer texts are read in another way.
        let long = message(&[open, &[b' '; SHORT_BYTES], b"}"].concat());
        assert_eq!(long.by_form, long.in_general);
    }
    let Some(whole) = value(frame) else { return };
    let Some(given) = read.in_general else { return };
    for (name, text) in given.texts {
        let inside = value(text.as_bytes()).expect("it is a part of a JSON text");
        // Where a map belongs an empty array is one.
        let is_empty = name == "params" && whole.get(name) == Some(&Value::Array(Vec::new()));
        assert!(is_empty || whole.get(name) == Some(&inside), "{name}: {text}");
    }
    if let Some(method) = given.method {
        assert_eq!(whole["method"], Value::from(method));
    }
    if let Some(id) = given.id.filter(|_| given.kind != "broken") {
        // A `null` beside it counts as absent. What is no message, with two ids, is told by the
        // first.
        let written = &whole["id"];
        let is_one = written.as_u64() == Some(id) || written.as_str().is_some();
        assert!(is_one || written.is_null(), "{written} as {id}");
    }
}

const SHORT_BYTES: usize = 600;
