//! One text for one meaning: members sorted, no white space, strings escaped in one way, numbers as
//! written.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;
use serde::de::IgnoredAny;

use super::DEPTH_MAX;

/// Why a text has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CanonicalFault {
    /// It is no JSON, or holds half a surrogate pair.
    NotJson,
    /// An object has two members of one name.
    Duplicate,
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
}

impl CanonicalFault {
    /// The rest of a sentence that begins with the thing.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            CanonicalFault::NotJson => "is not valid JSON",
            CanonicalFault::Duplicate => "has a member twice",
            CanonicalFault::TooDeep => "is nested too deep",
        }
    }
}

/// The canonical form of a JSON text, in time that grows with its length alone.
///
/// Numbers stay as they are written: `1` and `1.0` are different, and no digit is lost.
pub(crate) fn canonical(text: &str) -> Result<String, CanonicalFault> {
    // From here on the text is known to be JSON, but for half surrogate pairs.
    serde_json::from_str::<IgnoredAny>(text).map_err(|_| CanonicalFault::NotJson)?;
    let mut out = String::with_capacity(text.len());
    Scanner { rest: text }.value(0, &mut out)?;
    Ok(out)
}

/// Walks over a text that is known to be JSON.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    /// Writes the value that comes next.
    fn value(&mut self, depth: usize, out: &mut String) -> Result<(), CanonicalFault> {
        match self.peek() {
            Some(b'{' | b'[') if depth >= DEPTH_MAX => Err(CanonicalFault::TooDeep),
            Some(b'{') => self.object(depth, out),
            Some(b'[') => self.array(depth, out),
            Some(b'"') => {
                write_string(&self.string()?, out);
                Ok(())
            }
            _ => {
                out.push_str(self.scalar()?);
                Ok(())
            }
        }
    }

    fn object(&mut self, depth: usize, out: &mut String) -> Result<(), CanonicalFault> {
        out.push('{');
        let first = out.len();
        let mut members: Vec<(Cow<'a, str>, Range<usize>)> = Vec::new();
        while self.step_to_item(b'}') {
            if !members.is_empty() {
                out.push(',');
            }
            let begin = out.len();
            let name = self.string()?;
            self.step();
            write_string(&name, out);
            out.push(':');
            self.value(depth + 1, out)?;
            members.push((name, begin..out.len()));
        }
        if !members.is_sorted_by(|a, b| a.0 < b.0) {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(CanonicalFault::Duplicate);
            }
            let as_they_came = out.split_off(first);
            for (index, (_, Range { start, end })) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&as_they_came[start - first..end - first]);
            }
        }
        out.push('}');
        Ok(())
    }

    fn array(&mut self, depth: usize, out: &mut String) -> Result<(), CanonicalFault> {
        out.push('[');
        let mut is_first = true;
        while self.step_to_item(b']') {
            if !is_first {
                out.push(',');
            }
            is_first = false;
            self.value(depth + 1, out)?;
        }
        out.push(']');
        Ok(())
    }

    /// Steps over the bracket or comma before the next item, or over the closing bracket when there
    /// is none.
    fn step_to_item(&mut self, close: u8) -> bool {
        if self.peek() == Some(close) {
            self.step();
            return false;
        }
        // The opening bracket, or the comma after an item.
        self.step();
        if self.peek() == Some(close) {
            self.step();
            return false;
        }
        self.peek().is_some()
    }

    fn string(&mut self) -> Result<Cow<'a, str>, CanonicalFault> {
        self.peek();
        let bytes = self.rest.as_bytes();
        let (mut end, mut is_escaped) = (1, false);
        loop {
            let left = bytes.get(end..).ok_or(CanonicalFault::NotJson)?;
            end += memchr2(b'"', b'\\', left).ok_or(CanonicalFault::NotJson)?;
            if bytes[end] == b'"' {
                break;
            }
            (end, is_escaped) = (end + 2, true);
        }
        let (string, rest) = self.rest.split_at_checked(end + 1).ok_or(CanonicalFault::NotJson)?;
        self.rest = rest;
        if is_escaped {
            return serde_json::from_str(string)
                .map(Cow::Owned)
                .map_err(|_| CanonicalFault::NotJson);
        }
        let plain = string.get(1..end).ok_or(CanonicalFault::NotJson)?;
        Ok(Cow::Borrowed(plain))
    }

    /// A number, true, false or null, as it is written.
    fn scalar(&mut self) -> Result<&'a str, CanonicalFault> {
        let is_end = |c: char| matches!(c, ',' | ']' | '}') || c.is_ascii_whitespace();
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (scalar, rest) = self.rest.split_at(end);
        self.rest = rest;
        if scalar.is_empty() { Err(CanonicalFault::NotJson) } else { Ok(scalar) }
    }

    /// The byte that comes next, after white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.bytes().next()
    }

    /// Steps over one ASCII character and the white space before it.
    fn step(&mut self) {
        self.peek();
        self.rest = self.rest.get(1..).unwrap_or_default();
    }
}

fn write_string(string: &str, out: &mut String) {
    // Looked at to the end whatever is found, many bytes at a time: nearly all are plain.
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if !string.bytes().fold(true, |are_plain, byte| are_plain & is_plain(byte)) {
        return out.push_str(&serde_json::Value::from(string).to_string());
    }
    // What nothing has to be escaped in is written in one way.
    out.push('"');
    out.push_str(string);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::base::random::Random;

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

    /// SPEC 1.7, 7.6: 5,000 generated values, written with and without white space and with their
    /// members in another order: one form, which is JSON for the same value, and is its own
    /// canonical form.
    #[test]
    fn generated_values_have_one_form() {
        let mut random = Random::new(31);
        for _ in 0..5_000 {
            let value = generate(&mut random, 4);
            let form = canonical(&value.to_string()).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&form).unwrap(), value);
            assert_eq!(canonical(&form).unwrap(), form);
            let spread = serde_json::to_string_pretty(&reversed(&value)).unwrap();
            assert_eq!(canonical(&spread).unwrap(), form);
        }
    }

    fn generate(random: &mut Random, depth: usize) -> Value {
        let letters = ['a', '"', '\\', '{', ']', ',', ':', 'é', '\u{1}', ' ', '\u{10ffff}'];
        match random.below(if depth == 0 { 4 } else { 6 }) {
            0 => Value::Null,
            1 => random.one_in(2).into(),
            2 => (random.number() as i64).into(),
            3 => random.word(&letters, 5).into(),
            4 => (0..random.below(4)).map(|_| generate(random, depth - 1)).collect(),
            _ => {
                let members = (0..random.below(4))
                    .map(|_| (random.word(&letters, 3), generate(random, depth - 1)));
                Value::Object(members.collect())
            }
        }
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(members) => {
                let members =
                    members.iter().rev().map(|(name, value)| (name.clone(), reversed(value)));
                Value::Object(members.collect())
            }
            scalar => scalar.clone(),
        }
    }

    /// S-15: what is not JSON is told from what is, whatever the damage.
    #[test]
    fn damaged_texts_are_refused() {
        let mut random = Random::new(37);
        let letters: Vec<char> = "{}[]\":,\\u1e-. ax\u{0}é".chars().collect();
        for _ in 0..20_000 {
            let text = random.word(&letters, 10);
            let is_json = serde_json::from_str::<Value>(&text).is_ok();
            match canonical(&text) {
                Ok(form) => assert!(serde_json::from_str::<Value>(&form).is_ok(), "{text}"),
                Err(CanonicalFault::Duplicate) => {}
                Err(_) => assert!(!is_json, "{text}"),
            }
        }
        for text in ["[1,]", "[,1]", "{\"a\":1,}", "{,}", "[1 2]", "{\"a\" 1}", "tru", "1 ]"] {
            assert_eq!(canonical(text), Err(CanonicalFault::NotJson), "{text}");
        }
    }

    /// S-14, S-15: reserved names stay; double members, depth and half characters have no canonical
    /// form.
    #[test]
    fn what_can_be_read_in_two_ways_has_none() {
        assert_eq!(canonical(r#"{"__proto__":{"a":1}}"#).unwrap(), r#"{"__proto__":{"a":1}}"#);
        assert_eq!(canonical(r#"{"a":1,"\u0061":1}"#), Err(CanonicalFault::Duplicate));
        assert_eq!(canonical(&("[".repeat(65) + &"]".repeat(65))), Err(CanonicalFault::TooDeep));
        assert!(canonical(&("[".repeat(64) + &"]".repeat(64))).is_ok());
        assert_eq!(
            canonical(&("[".repeat(200_000) + &"]".repeat(200_000))),
            Err(CanonicalFault::TooDeep)
        );
        assert_eq!(canonical(r#""\ud800""#), Err(CanonicalFault::NotJson));
        assert_eq!(canonical("[1"), Err(CanonicalFault::NotJson));
        assert_eq!(canonical(""), Err(CanonicalFault::NotJson));
    }
}
