//! Tables that are data, beside this crate.

use serde_json::Value;

/// A whole file.
pub fn table(text: &str) -> Value {
    serde_json::from_str(text).expect("the tests of each table read it")
}

/// The rows of a member.
pub fn list(row: &'static Value, member: &str) -> &'static [Value] {
    row[member].as_array().map_or(&[], Vec::as_slice)
}

/// The text of a member.
pub fn word(row: &'static Value, member: &str) -> &'static str {
    row[member].as_str().unwrap_or_else(|| panic!("no {member} in {row}"))
}

/// The texts of a member.
pub fn words(row: &'static Value, member: &str) -> &'static [&'static str] {
    list(row, member).iter().filter_map(Value::as_str).collect::<Vec<_>>().leak()
}
