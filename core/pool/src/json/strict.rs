//! Reads a JSON text and notes everything that two readers could understand differently (S-15).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{DEPTH_MAX, PathStep};

/// A place where the text is JSON and still not to be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Defect {
    /// Where.
    pub path: Vec<PathStep>,
    /// What.
    pub kind: DefectKind,
}

/// What is wrong in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefectKind {
    /// An object has two members of this name.
    Duplicate,
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
    /// A number that a double cannot hold exactly.
    NumberRange,
}

impl DefectKind {
    /// The rest of a sentence that begins with the place.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            DefectKind::Duplicate => "is there twice",
            DefectKind::TooDeep => "is nested too deep",
            DefectKind::NumberRange => "is a number out of range",
        }
    }
}

/// Reads the whole text. Of two members with one name the first stays; what is too deep becomes
/// null.
pub(crate) fn parse(text: &str) -> Result<(Value, Vec<Defect>), serde_json::Error> {
    let mut reader = StrictReader { path: Vec::new(), defects: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = StrictNode(&mut reader).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, reader.defects))
}

/// Defects that are noted; the rest of a text that has so many is only skipped.
const DEFECTS_MAX: usize = 64;

/// Whole numbers from here on are not all doubles.
const EXACT_DOUBLE: f64 = 9_007_199_254_740_992.0;

struct StrictReader {
    path: Vec<PathStep>,
    defects: Vec<Defect>,
}

impl StrictReader {
    fn note(&mut self, kind: DefectKind) {
        if self.defects.len() < DEFECTS_MAX {
            self.defects.push(Defect { path: self.path.clone(), kind });
        }
    }
}

struct StrictNode<'r>(&'r mut StrictReader);

impl<'de> DeserializeSeed<'de> for StrictNode<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictNode<'_> {
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
        if value.abs() >= EXACT_DOUBLE {
            self.0.note(DefectKind::NumberRange);
        }
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        if self.0.path.len() >= DEPTH_MAX {
            self.0.note(DefectKind::TooDeep);
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut out = Vec::new();
        loop {
            self.0.path.push(PathStep::Index(out.len()));
            let item = items.next_element_seed(StrictNode(self.0));
            self.0.path.pop();
            match item? {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        if self.0.path.len() >= DEPTH_MAX {
            self.0.note(DefectKind::TooDeep);
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut out = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            self.0.path.push(PathStep::Member(name.clone()));
            let value = members.next_value_seed(StrictNode(self.0));
            if out.contains_key(&name) {
                self.0.note(DefectKind::Duplicate);
                self.0.path.pop();
                value?;
                continue;
            }
            self.0.path.pop();
            out.insert(name, value?);
        }
        Ok(Value::Object(out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::dotted;
    use super::*;

    fn defects(text: &str) -> Vec<(String, DefectKind)> {
        let (_, defects) = parse(text).unwrap();
        defects.iter().map(|defect| (dotted(&defect.path), defect.kind)).collect()
    }

    /// S-15: a member that is there twice is found at any depth, and the first one stays.
    #[test]
    fn duplicate_members_are_found() {
        assert_eq!(
            defects(r#"{"a":1,"b":[{"c":1,"c":2}],"a":3}"#),
            [("b[0].c".into(), DefectKind::Duplicate), ("a".into(), DefectKind::Duplicate)]
        );
        assert_eq!(parse(r#"{"a":1,"a":2}"#).unwrap().0, serde_json::json!({"a": 1}));
        assert_eq!(defects(r#"{"a":1,"\u0061":2}"#), [("a".into(), DefectKind::Duplicate)]);
    }

    /// S-15: 64 levels are read, the 65th is not, and a hundred thousand do not end the process.
    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(defects(&nested(64)), []);
        assert_eq!(defects(&nested(65)).len(), 1);
        assert_eq!(defects(&nested(100_000)).len(), 1);
        let objects = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
        assert_eq!(defects(&objects(64)), []);
        assert_eq!(defects(&objects(65)).len(), 1);
    }

    /// S-15: numbers that change when they are read are found; those that do not fit at all are no
    /// JSON here.
    #[test]
    fn numbers_out_of_range_are_found() {
        assert_eq!(defects("[18446744073709551615, -9223372036854775808, 1.5e3]"), []);
        assert_eq!(defects("18446744073709551616").len(), 1);
        assert_eq!(defects("[1e300]"), [("[0]".into(), DefectKind::NumberRange)]);
        assert!(parse("1e999").is_err());
        assert_eq!(defects("[9007199254740991.0]"), []);
        assert_eq!(defects("[-9007199254740992.0]").len(), 1);
    }

    /// S-15, S-24: of a text that is full of defects, 64 are noted.
    #[test]
    fn defects_are_bounded() {
        let full = |count: usize| "{\"a\":0".to_owned() + &",\"a\":0".repeat(count) + "}";
        for (count, noted) in [(63, 63), (64, 64), (65, 64), (1_000, 64)] {
            assert_eq!(defects(&full(count)).len(), noted);
        }
    }

    /// S-15: lone surrogates, rubbish after the end, comments and bare words are no JSON.
    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            r#""\ud800""#,
            r#""\udc00x""#,
            "1 2",
            "{} x",
            "// c\n{}",
            "{a:1}",
            "[1,]",
            "",
            "NaN",
            "'a'",
            "\u{feff}{}",
            "\"\u{1}\"",
            "01",
            "+1",
            ".5",
            "{\"a\" 1}",
            "tru",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    /// S-14: names that other languages trip over are ordinary members.
    #[test]
    fn reserved_names_survive() {
        let text =
            r#"{"__proto__":1,"constructor":2,"prototype":3,"toString":4,"hasOwnProperty":5}"#;
        let (value, defects) = parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(defects, []);
    }
}
