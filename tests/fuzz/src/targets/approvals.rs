//! The file of decisions: what is read is written again as it was meant, and nothing else is read.

use serde_json::Value;
use trunkline_pool::approvals::{Book, Unreadable};

use super::value;

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0061",
    "\"v\":1",
    "\"v\":2",
    "\"v\":3",
    "\"serial\":1",
    "\"decisions\":[]",
    "\"decision\":\"approved\"",
    "\"decision\":\"rejected\"",
    "\"at_ms\":1",
    "\"root\":\"/p\"",
    "\"server\":\"s\"",
    "\"fields\":{}",
    "\"tools\":{}",
    "\u{feff}",
    " ",
    "null",
    "-1",
    "1.0",
    "18446744073709551615",
];

/// S-12, S-15.
pub fn run(bytes: &[u8]) {
    let book = match Book::parse(bytes) {
        Ok(book) => book,
        Err(Unreadable::Later) => {
            let value = value(bytes).expect("what is told apart is JSON");
            assert!(value["v"].as_u64() > Some(2));
            return;
        }
        Err(Unreadable::Damaged) => return,
    };
    let before = value(bytes).expect("what is read is JSON");
    let text = book.to_text();
    assert!(text.len() <= Book::BYTES_MAX);
    assert_eq!(Book::parse(text.as_bytes()).as_ref(), Ok(&book), "{text}");
    let again = value(text.as_bytes()).expect("it was written");
    // The version alone is the writer's own, and what is empty is left out.
    assert_eq!(again["serial"], before["serial"]);
    let count = |value: &Value| value["decisions"].as_array().map(Vec::len);
    assert_eq!(count(&again), count(&before));
    for cut in [text.len() / 2, text.len() - 1] {
        let half = text.as_bytes().get(..cut).unwrap_or_default();
        assert!(Book::parse(half).is_err(), "a torn text is none");
    }
}
