//! The lenient pass: JSON stays JSON, its own outcome passes as it is, and what nobody here looks
//! at is never touched.

use trunkline_pool::json::is_value;
use trunkline_pool::lenient::{ValueKind, kinds, lenient, whole_characters};

use super::value;

/// SPEC 18.2, 18.3.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let whole = whole_characters(text);
    assert_eq!(whole_characters(&whole), whole);
    assert_eq!(is_value(&whole), is_value(text));
    for kind in kinds::ALL.into_iter().chain([&ValueKind::Schema]) {
        let read = lenient(text, kind);
        assert_eq!(is_value(&read), is_value(text), "{read}");
        assert_eq!(lenient(&read, kind), read);
        assert!(read.len() <= 2 * text.len() + 2, "{read}");
    }
    assert_eq!(lenient(text, &ValueKind::Any), text);
    // What belongs to the server alone, of whatever kind it is.
    let member = format!(r#"{{"code":1,"data":{text}}}"#);
    if let (Some(before), true) = (value(bytes), is_value(&member)) {
        // What is one deeper may be too deep.
        let read = value(lenient(&member, &kinds::ERROR).as_bytes());
        assert!(read.is_none_or(|read| read["data"] == before), "{member}");
    }
}
