//! JSON texts of others as values.
//!
//! serde_json's own `Value` takes an object with the member `$serde_json::private::RawValue` for
//! the JSON in that member, as it passes raw texts to itself. What others write is never meant so:
//! read by it, a server could hide a definition, or lose an event.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value as it is written. Of two members with one name the last counts.
#[derive(Debug, Default)]
pub struct Plain(pub Value);

/// The value of a whole text.
///
/// # Errors
/// Those of serde_json: no JSON, or deeper than it reads.
pub fn plain(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).map(|Plain(value)| value)
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plain, D::Error> {
        deserializer.deserialize_any(PlainReader).map(Plain)
    }
}

struct PlainReader;

impl<'de> Visitor<'de> for PlainReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Plain(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Plain(value))) = members.next_entry()? {
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_the_value_that_it_is_for_serde_json() {
        let texts = [
            "null",
            " [1, -2, 18446744073709551615, 1.5e300, true, \"\\u00e4\", {}, []]",
            r#"{"b":{"a":[null]},"a":"x","b":2}"#,
        ];
        for text in texts {
            assert_eq!(plain(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        for text in ["", "{", "1 2", "{\"a\":1,}", "nul", &deep(4_000)] {
            assert!(plain(text).is_err() && serde_json::from_str::<Value>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_member_has_a_meaning_of_its_own() {
        for content in [r#""{\"a\":1}""#, r#""not JSON""#, "1"] {
            let text = format!(r#"{{"in":{{"$serde_json::private::RawValue":{content}}}}}"#);
            assert_eq!(plain(&text).unwrap().to_string(), text);
        }
    }
}
