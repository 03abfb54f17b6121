//! JSON: the answers and the values of serde_json, whichever way a text is read.

use serde::de::IgnoredAny;
use serde_json::Value;
use trunkline_pool::fuzzing::{canonical, strict};
use trunkline_pool::json::{is_value, plain};

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\\"",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud800",
    "[[[[[[[[",
    "]]]]]]]]",
    "{\"a\":",
    "true",
    "false",
    "null",
    "0",
    "-",
    "-0",
    "1.5",
    "1e9",
    "1E-3",
    "00",
    ".",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\u{0}",
    "\u{1f}",
    "\u{7f}",
    "\u{e9}",
    "\u{1f600}",
    "\"a\":1,",
    "\"\\\\\\\\\\\\\"",
    "                                                                ",
    "9007199254740993",
];

/// From here on a text is read in blocks.
const LONG_BYTES: usize = 512;

/// SPEC 5.10, S-15.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let says = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(is_value(text), says, "{text}");
    let blank = " ".repeat(LONG_BYTES);
    assert_eq!(is_value(&format!("{text}{blank}")), says, "{text}, by blocks");
    // Where a block ends is another place of the text then.
    let shift = &blank[..bytes.len() % 64];
    assert_eq!(is_value(&format!("{shift}{text}{blank}")), says, "{text}, after {}", shift.len());

    let value = value(text);
    let (read, defects) = strict(text).unzip();
    assert_eq!(read.is_some(), value.is_some(), "{text}");
    if defects == Some(0) {
        assert_eq!(read, value, "{text}");
    }
    let Some(form) = canonical(text) else { return };
    assert_eq!(self::value(&form), value, "{text} as {form}");
    assert_eq!(canonical(&form), Some(form));
}

/// What the reader of others' texts makes of it, which is serde_json's own but for one name.
fn value(text: &str) -> Option<Value> {
    plain(text).ok()
}
