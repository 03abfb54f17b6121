//! JSON: the answers and the values of serde_json, whichever way a text is read.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use trunkline_pool::fuzzing::{canonical, strict};
use trunkline_pool::json::is_value;

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

/// What serde_json reads, but for one name: an object that begins with the member `$serde_json::private::RawValue` its own `Value` takes
/// for the text in that member.
fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().map(|Plain(value)| value)
}

struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plain, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Plain)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            out.push(item);
        }
        Ok(out.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some((name, Plain(value))) = members.next_entry()? {
            out.insert(name, value);
        }
        Ok(out.into())
    }
}
