//! The pass itself: one walk over a text that is known to be JSON, in time that grows with its
//! length alone.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::schema;
use super::text::whole_characters;
use super::value_kind::ValueKind;
use crate::json::is_value;

/// How deep types are followed; below that a text passes as it is.
const DEPTH_MAX: usize = 128;

/// A text as a reader of this kind wants it.
pub(super) fn read(text: &str, kind: &ValueKind) -> String {
    let mut walk = Walk { text, at: 0, out: String::with_capacity(text.len()) };
    walk.pass_white();
    let place = ValuePlace { kind, in_schema: false, takes_array: false, is_there: false };
    if !walk.value(place, 0) {
        // A whole text is no member that could be left out.
        return text.to_owned();
    }
    walk.pass_white();
    walk.out
}

/// A value's place, as far as its kind does not say it.
#[derive(Clone, Copy)]
struct ValuePlace<'k> {
    kind: &'k ValueKind,
    /// In a schema what does not fit stays.
    in_schema: bool,
    /// An empty array is one.
    takes_array: bool,
    /// A schema that is `null` is one of anything: it has a name, or a number among others.
    is_there: bool,
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Walk<'a> {
    /// Writes the value that comes next; `false`, and nothing is to be kept of it, where it is
    /// absent or does not fit.
    fn value(&mut self, place: ValuePlace<'_>, depth: usize) -> bool {
        if depth > DEPTH_MAX || matches!(place.kind, ValueKind::Any) {
            let value = self.skip();
            self.out.push_str(value);
            return true;
        }
        let next = self.peek();
        if next == b'n' {
            self.skip();
            let is_there = place.is_there && matches!(place.kind, ValueKind::Schema);
            self.out.push_str(if is_there { "{}" } else { "" });
            return is_there;
        }
        match (place.kind, next) {
            (ValueKind::Text | ValueKind::Words | ValueKind::Exact | ValueKind::Credential, _) => {
                self.text(place.kind)
            }
            (ValueKind::Number | ValueKind::Bool | ValueKind::Hint, _) => self.scalar(place.kind),
            (ValueKind::Object, b'{') => {
                let value = self.skip();
                self.out.push_str(value);
                true
            }
            (
                ValueKind::Map(_) | ValueKind::Flag(_) | ValueKind::ByName(_) | ValueKind::Schema,
                b'{',
            ) => {
                self.object(place, depth);
                true
            }
            (ValueKind::List(kind) | ValueKind::Spaced(kind), b'[') => {
                self.array(ValuePlace { kind, ..place }, depth)
            }
            (ValueKind::Spaced(_), b'"') => self.spaced(),
            (ValueKind::Schema, b'[') if place.in_schema && !self.is_empty_array() => {
                self.array(ValuePlace { is_there: true, ..place }, depth)
            }
            (ValueKind::List(_) | ValueKind::Spaced(_), _) => self.misfit(place),
            (_, b'[') if self.is_empty_array() => {
                self.skip();
                self.out.push_str(if place.takes_array { "[]" } else { "{}" });
                true
            }
            // Whatever is said of it, it is there, unless it says that it is not.
            (ValueKind::Flag(_), _) => {
                let is_there = !matches!(self.skip(), "false" | r#""false""#);
                self.out.push_str(if is_there { "{}" } else { "" });
                is_there
            }
            _ => self.misfit(place),
        }
    }

    /// Passes values of other kinds.
    fn misfit(&mut self, place: ValuePlace<'_>) -> bool {
        let value = self.skip();
        if place.in_schema {
            self.out.push_str(value);
        }
        place.in_schema
    }

    /// A text, also one that is written as a number.
    fn text(&mut self, kind: &ValueKind) -> bool {
        let value = self.skip();
        let written = match value.as_bytes().first() {
            Some(b'"') => whole_characters(value),
            Some(b'-' | b'0'..=b'9') if matches!(kind, ValueKind::Text | ValueKind::Credential) => {
                Cow::Owned(format!("\"{value}\""))
            }
            _ => return false,
        };
        let is_exact = matches!(kind, ValueKind::Exact | ValueKind::Credential);
        if is_exact && value.starts_with('"') && matches!(written, Cow::Owned(_)) {
            return false;
        }
        self.out.push_str(&written);
        true
    }

    /// A number, or yes or no, also one that is written as a text.
    fn scalar(&mut self, kind: &ValueKind) -> bool {
        let value = self.skip();
        let says = |word: &str| value.trim_matches('"').eq_ignore_ascii_case(word);
        let written = match (kind, value.as_bytes().first()) {
            (ValueKind::Number, Some(b'"' | b'-' | b'0'..=b'9')) => number(value),
            (ValueKind::Bool | ValueKind::Hint, Some(b't' | b'f')) => Some(value),
            (ValueKind::Bool, Some(b'"')) => ["true", "false"].into_iter().find(|word| says(word)),
            _ => None,
        };
        written.into_iter().for_each(|written| self.out.push_str(written));
        written.is_some()
    }

    /// The texts of one with white space between, as an array.
    fn spaced(&mut self) -> bool {
        let value = self.skip();
        let Ok(text) = serde_json::from_str::<Cow<'_, str>>(value) else { return false };
        let texts = text.split_whitespace().map(|text| Value::from(text).to_string());
        let _ = write!(self.out, "[{}]", texts.collect::<Vec<_>>().join(","));
        true
    }

    fn object(&mut self, place: ValuePlace<'_>, depth: usize) {
        self.push();
        let mut is_first = true;
        loop {
            let begin = self.out.len();
            self.pass_white();
            match self.peek() {
                b'}' => return self.push(),
                b',' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            if !is_first {
                self.out.insert(begin, ',');
            }
            let name = self.skip();
            self.out.push_str(&whole_characters(name));
            let name = decoded(name);
            self.pass_white();
            self.push();
            self.pass_white();
            match self.member(place, &name, depth) {
                true => is_first = false,
                false => self.out.truncate(begin),
            }
        }
    }

    /// Writes the value of a member; `false` where the member is to be left out.
    fn member(&mut self, place: ValuePlace<'_>, name: &str, depth: usize) -> bool {
        let is_schema = matches!(place.kind, ValueKind::Schema);
        let kind = match place.kind {
            ValueKind::Map(members) | ValueKind::Flag(members) => {
                members.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
            }
            ValueKind::ByName(kind) => Some(*kind),
            ValueKind::Schema => schema::member(name),
            _ => Some(&ValueKind::Any),
        };
        match kind {
            Some(kind) => {
                let in_schema = is_schema || place.in_schema;
                let takes_array = is_schema && schema::is_array(name);
                let is_there = matches!(place.kind, ValueKind::ByName(_));
                self.value(ValuePlace { kind, in_schema, takes_array, is_there }, depth + 1)
            }
            None => {
                let value = self.skip();
                self.out.push_str(value);
                value != "null"
            }
        }
    }

    fn array(&mut self, place: ValuePlace<'_>, depth: usize) -> bool {
        self.push();
        let mut is_first = true;
        loop {
            let begin = self.out.len();
            self.pass_white();
            match self.peek() {
                b']' => {
                    self.push();
                    return true;
                }
                b',' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            if !is_first {
                self.out.insert(begin, ',');
            }
            match self.value(ValuePlace { takes_array: false, ..place }, depth + 1) {
                true => is_first = false,
                false => self.out.truncate(begin),
            }
        }
    }

    /// Passes one value, or name, and gives it back.
    fn skip(&mut self) -> &'a str {
        let (bytes, begin) = (self.text.as_bytes(), self.at);
        let mut depth = 0_usize;
        loop {
            match bytes.get(self.at) {
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth = depth.saturating_sub(1),
                Some(b'"') => self.pass_string(),
                Some(b',' | b':' | b' ' | b'\t' | b'\r' | b'\n') => {}
                Some(_) => self.pass_word(),
                None => break,
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        self.at = self.at.min(bytes.len());
        self.text.get(begin..self.at).unwrap_or_default()
    }

    /// To the closing quote of the string that begins here.
    fn pass_string(&mut self) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(found) =
            memchr::memchr2(b'"', b'\\', bytes.get(self.at..).unwrap_or_default())
        {
            self.at += found;
            if bytes[self.at] == b'"' {
                return;
            }
            self.at += 2;
        }
        self.at = bytes.len();
    }

    /// To the last byte of the number or word that begins here.
    fn pass_word(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.at += length.max(1) - 1;
    }

    /// Whether the array that begins here has nothing in it.
    fn is_empty_array(&self) -> bool {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        rest.trim_ascii_start().first() == Some(&b']')
    }

    /// The byte that comes next; at the end, which no text that is JSON comes to, a closing one.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }

    /// Writes the byte that comes next.
    fn push(&mut self) {
        self.out.push(char::from(self.peek()));
        self.at += 1;
    }

    fn pass_white(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let white = rest.len() - rest.trim_ascii_start().len();
        self.out.push_str(self.text.get(self.at..self.at + white).unwrap_or_default());
        self.at += white;
    }
}

/// A name without its quotes and escapes.
fn decoded(name: &str) -> Cow<'_, str> {
    let plain = name.trim_matches('"');
    match name.contains('\\') {
        true => {
            serde_json::from_str(&whole_characters(name)).map_or(Cow::Borrowed(plain), Cow::Owned)
        }
        false => Cow::Borrowed(plain),
    }
}

/// A finite number as JSON writes it, without the quotes and white space about it.
pub(super) fn number(text: &str) -> Option<&str> {
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let digits = quoted.unwrap_or(text).trim_ascii();
    // As JSON has it: no `inf`, no sign before.
    let number: f64 = is_value(digits).then(|| digits.parse().ok())??;
    number.is_finite().then_some(digits)
}
