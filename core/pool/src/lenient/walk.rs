//! The pass itself: one walk over a text that is known to be JSON, in time that grows with its length alone.

use std::borrow::Cow;

use super::{Kind, number, schema, whole_characters};

/// How deep types are followed; below that a text passes as it is.
const DEPTH_MAX: usize = 128;

/// A text as a reader of this kind wants it.
pub(super) fn read(text: &str, kind: &Kind) -> String {
    let mut walk = Walk { text, at: 0, out: String::with_capacity(text.len()) };
    walk.pass_white();
    let place = Place { kind, in_schema: false, takes_array: false };
    if !walk.value(place, 0) {
        // A whole text is no member that could be left out.
        return text.to_owned();
    }
    walk.pass_white();
    walk.out
}

/// A value's place, as far as its kind does not say it.
#[derive(Clone, Copy)]
struct Place<'k> {
    kind: &'k Kind,
    /// In a schema what does not fit stays.
    in_schema: bool,
    /// An empty array is one.
    takes_array: bool,
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Walk<'a> {
    /// Writes the value that comes next; `false`, and nothing is to be kept of it, where it is absent or does not fit.
    fn value(&mut self, place: Place<'_>, depth: usize) -> bool {
        if depth > DEPTH_MAX || matches!(place.kind, Kind::Any) {
            let value = self.skip();
            self.out.push_str(value);
            return true;
        }
        let next = self.peek();
        if next == b'n' {
            self.skip();
            return false;
        }
        match (place.kind, next) {
            (Kind::Text | Kind::Words | Kind::Number | Kind::Bool, _) => self.scalar(place.kind),
            (Kind::Object, b'{') => {
                let value = self.skip();
                self.out.push_str(value);
                true
            }
            (Kind::Map(_) | Kind::Flag(_) | Kind::ByName(_) | Kind::Schema, b'{') => {
                self.object(place, depth);
                true
            }
            (Kind::List(kind), b'[') => self.array(Place { kind, ..place }, depth),
            (Kind::Schema, b'[') if !self.is_empty_array() => self.array(place, depth),
            (Kind::List(_), _) => self.misfit(place),
            (_, b'[') if self.is_empty_array() => {
                self.skip();
                self.out.push_str(if place.takes_array { "[]" } else { "{}" });
                true
            }
            // Whatever is said of it, it is there, unless it says that it is not.
            (Kind::Flag(_), _) => {
                let is_there = !matches!(self.skip(), "false" | r#""false""#);
                self.out.push_str(if is_there { "{}" } else { "" });
                is_there
            }
            _ => self.misfit(place),
        }
    }

    /// Passes values of other kinds.
    fn misfit(&mut self, place: Place<'_>) -> bool {
        let value = self.skip();
        let stays = place.in_schema || matches!(place.kind, Kind::Schema);
        if stays {
            self.out.push_str(value);
        }
        stays
    }

    /// A text, number, or yes or no, also where it is written as another of them.
    fn scalar(&mut self, kind: &Kind) -> bool {
        let value = self.skip();
        let written = match (kind, value.as_bytes()[0]) {
            (Kind::Text | Kind::Words, b'"') => Some(whole_characters(value)),
            (Kind::Text, b'-' | b'0'..=b'9') => Some(Cow::Owned(format!("\"{value}\""))),
            (Kind::Number, b'"' | b'-' | b'0'..=b'9') => {
                number(value).map(|_| Cow::Borrowed(value.trim_matches('"')))
            }
            (Kind::Bool, b't' | b'f') => Some(Cow::Borrowed(value)),
            (Kind::Bool, b'"') => match value {
                r#""true""# => Some("true".into()),
                r#""false""# => Some("false".into()),
                _ => None,
            },
            _ => None,
        };
        let fits = written.is_some();
        written.into_iter().for_each(|written| self.out.push_str(&written));
        fits
    }

    fn object(&mut self, place: Place<'_>, depth: usize) {
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
    fn member(&mut self, place: Place<'_>, name: &str, depth: usize) -> bool {
        let is_schema = matches!(place.kind, Kind::Schema);
        let kind = match place.kind {
            Kind::Map(members) | Kind::Flag(members) => {
                members.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
            }
            Kind::ByName(kind) => Some(*kind),
            Kind::Schema => schema::member(name),
            _ => Some(&Kind::Any),
        };
        match kind {
            Some(kind) => {
                let in_schema = is_schema || place.in_schema;
                let takes_array = is_schema && schema::is_array(name);
                self.value(Place { kind, in_schema, takes_array }, depth + 1)
            }
            None => {
                let value = self.skip();
                self.out.push_str(value);
                value != "null"
            }
        }
    }

    fn array(&mut self, place: Place<'_>, depth: usize) -> bool {
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
            let item = Place { takes_array: false, ..place };
            let is_kept = match self.peek() {
                // No member, and no schema: whoever reads it says so.
                b'n' if matches!(place.kind, Kind::Schema) => {
                    let value = self.skip();
                    self.out.push_str(value);
                    true
                }
                _ => self.value(item, depth + 1),
            };
            match is_kept {
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
