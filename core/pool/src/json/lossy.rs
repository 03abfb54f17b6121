//! JSON of others with parts that cannot be used: half a surrogate pair in a text, a number that
//! fits nowhere.
//!
//! serde_json refuses the whole of it. Here what can be read is read, where that is better than
//! nothing.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::members::Members;
use super::plain;
use crate::lenient::whole_characters;

/// The members of an object, each as far as it can be read by itself: what is no Unicode in a text
/// is replaced, and anything else that cannot be read is left out. No object has none.
pub fn readable_members(text: &str) -> Map<String, Value> {
    let text = whole_characters(text);
    let members = lossy_members(&text).unwrap_or_default();
    members.into_iter().filter_map(|(name, value)| Some((name, readable(value.get())?))).collect()
}

/// The members of an object, as [`members`](super::members) reads them, with what is no Unicode in
/// a name replaced.
///
/// # Errors
/// Those of serde_json: no JSON, or no object.
pub fn lossy_members(text: &str) -> serde_json::Result<Vec<(String, &RawValue)>> {
    let Members(members) = serde_json::from_str::<Members<'_, Lossy>>(text)?;
    Ok(members.into_iter().map(|(Lossy(name), value)| (name, value)).collect())
}

/// A value, as far as it can be read.
pub fn readable(text: &str) -> Option<Value> {
    plain(&whole_characters(text)).ok()
}

/// A text in which what is no Unicode is replaced.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lossy, D::Error> {
        // As bytes, since those of half a pair are no text for serde_json.
        deserializer.deserialize_bytes(LossyVisitor)
    }
}

struct LossyVisitor;

impl Visitor<'_> for LossyVisitor {
    type Value = Lossy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Lossy, E> {
        Ok(Lossy(text.to_owned()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
        Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// SPEC 5.12: what cannot be read costs itself alone.
    #[test]
    fn a_member_that_cannot_be_read_takes_no_other_with_it() {
        let deep = "[".repeat(400) + &"]".repeat(400);
        let text = format!(
            r#"{{"half":"a \ud83d\n","\ud83d":1,"odd":1e400,"deep":{deep},"in":["\ud83d"],"n":1.5}}"#
        );
        let members = readable_members(&text);
        assert_eq!(members["half"], "a \u{fffd}\n");
        let names: Vec<&str> = members.keys().map(String::as_str).collect();
        assert!(matches!(names[..], ["half", "\u{fffd}", "in", "n"]), "{names:?}");
        assert_eq!(members["n"], json!(1.5));
        assert!(["[1]", "\"a\"", "", "{"].iter().all(|text| readable_members(text).is_empty()));
    }

    #[test]
    fn what_can_be_read_is_the_value_that_it_is() {
        let text = r#"{"b":{"a":[null]},"a":"\u00e4","$serde_json::private::RawValue":"1"}"#;
        assert_eq!(Value::Object(readable_members(text)), plain(text).unwrap());
        let members = lossy_members(text).unwrap();
        assert_eq!(members[1].1.get(), r#""\u00e4""#);
    }
}
