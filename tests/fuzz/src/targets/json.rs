//! JSON: the answers and the values of serde_json, whichever way a text is read.

use serde::de::IgnoredAny;
use trunkline_pool::fuzzing::{canonical, strict};
use trunkline_pool::json::is_value;

use super::value;

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
    super::lenient::run(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let says = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(is_value(text), says, "{text}");
    let blank = " ".repeat(LONG_BYTES);
    assert_eq!(is_value(&format!("{text}{blank}")), says, "{text}, by blocks");
    // Where a block ends is another place of the text then.
    let shift = &blank[..bytes.len() % 64];
    assert_eq!(is_value(&format!("{shift}{text}{blank}")), says, "{text}, after {}", shift.len());

    let whole = value(text.as_bytes());
    let (read, defects) = strict(text).unzip();
    assert_eq!(read.is_some(), whole.is_some(), "{text}");
    if defects == Some(0) {
        assert_eq!(read, whole, "{text}");
    }
    let Some(form) = canonical(text) else { return };
    assert_eq!(value(form.as_bytes()), whole, "{text} as {form}");
    assert_eq!(canonical(&form), Some(form));
}
