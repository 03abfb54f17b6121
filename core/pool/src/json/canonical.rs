//! One text for one meaning: members sorted, no white space, strings escaped in one way, numbers as written.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::DEPTH_MAX;

/// Why a text has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It is no JSON, or holds half a surrogate pair.
    NotJson,
    /// An object has two members of one name.
    Duplicate,
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
}

impl Malformed {
    /// The rest of a sentence that begins with the thing.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Malformed::NotJson => "is not valid JSON",
            Malformed::Duplicate => "has a member twice",
            Malformed::TooDeep => "is nested too deep",
        }
    }
}

/// The canonical form of a JSON text.
///
/// Numbers stay as they are written: `1` and `1.0` are different, and no digit is lost.
pub(crate) fn canonical(text: &str) -> Result<String, Malformed> {
    let mut out = String::with_capacity(text.len());
    write(text, 0, &mut out)?;
    Ok(out)
}

/// The members of an object, in the order of the text; their values as written.
pub(crate) fn members(text: &str) -> Result<Vec<(String, &RawValue)>, Malformed> {
    serde_json::from_str(text).map(|Members(members)| members).map_err(|_| Malformed::NotJson)
}

fn write(text: &str, depth: usize, out: &mut String) -> Result<(), Malformed> {
    let text = text.trim();
    let first = text.as_bytes().first();
    if matches!(first, Some(b'{' | b'[')) && depth >= DEPTH_MAX {
        return Err(Malformed::TooDeep);
    }
    match first {
        Some(b'{') => write_object(text, depth, out),
        Some(b'[') => {
            let items: Vec<&RawValue> =
                serde_json::from_str(text).map_err(|_| Malformed::NotJson)?;
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item.get(), depth + 1, out)?;
            }
            out.push(']');
            Ok(())
        }
        Some(b'"') => {
            let string: String = serde_json::from_str(text).map_err(|_| Malformed::NotJson)?;
            write_string(&string, out);
            Ok(())
        }
        _ => {
            // A number, true, false or null: checked here, and kept as written.
            serde_json::from_str::<&RawValue>(text).map_err(|_| Malformed::NotJson)?;
            out.push_str(text);
            Ok(())
        }
    }
}

fn write_object(text: &str, depth: usize, out: &mut String) -> Result<(), Malformed> {
    let mut members = members(text)?;
    members.sort_by(|a, b| a.0.cmp(&b.0));
    if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Malformed::Duplicate);
    }
    out.push('{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write(value.get(), depth + 1, out)?;
    }
    out.push('}');
    Ok(())
}

fn write_string(string: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(string).to_string());
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 1.1, 1.7: one text for one meaning.
    #[test]
    fn order_and_white_space_do_not_count() {
        let one = canonical(" { \"b\" : [ 1 , {\"y\":null,\"x\":true} ] , \"a\" : \"\\u0041\" } ");
        assert_eq!(one.unwrap(), r#"{"a":"A","b":[1,{"x":true,"y":null}]}"#);
    }

    /// SPEC 7.6: order of arrays, spelling of numbers and types count.
    #[test]
    fn what_counts_stays() {
        assert_ne!(canonical("[1,2]"), canonical("[2,1]"));
        assert_ne!(canonical("1"), canonical("\"1\""));
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
        assert_ne!(canonical("1.00000000000000000001"), canonical("1.0"));
        assert_ne!(canonical("{}"), canonical("[]"));
    }

    /// S-14, S-15: reserved names stay; double members, depth and half characters have no canonical form.
    #[test]
    fn what_can_be_read_in_two_ways_has_none() {
        assert_eq!(canonical(r#"{"__proto__":{"a":1}}"#).unwrap(), r#"{"__proto__":{"a":1}}"#);
        assert_eq!(canonical(r#"{"a":1,"\u0061":1}"#), Err(Malformed::Duplicate));
        assert_eq!(canonical(&("[".repeat(65) + &"]".repeat(65))), Err(Malformed::TooDeep));
        assert!(canonical(&("[".repeat(64) + &"]".repeat(64))).is_ok());
        assert_eq!(
            canonical(&("[".repeat(200_000) + &"]".repeat(200_000))),
            Err(Malformed::TooDeep)
        );
        assert_eq!(canonical(r#""\ud800""#), Err(Malformed::NotJson));
        assert_eq!(canonical("[1"), Err(Malformed::NotJson));
        assert_eq!(canonical(""), Err(Malformed::NotJson));
    }
}
