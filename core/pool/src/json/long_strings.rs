//! Splits a JSON text into its long strings and a short rest, so that the decoder of Python or Node
//! reads the rest alone.
//!
//! The result of a tool is mostly one long string with a few members around it. A decoder reads
//! each byte of that string and copies it twice. This module searches for the end of the string,
//! and the binding makes one string of it.

use std::borrow::Cow;

use crate::lenient::whole_characters;

/// From here on a text is looked at.
const TEXT_BYTES: usize = 16 << 10;

/// From here on a string is long.
const LONG_BYTES: usize = 4 << 10;

/// Of a text at most this part may be left, or it is not worth it: so much is looked at in vain at
/// most.
const LEFT_SHARE: usize = 8;

/// The longest name that leads to a string which is taken out.
const NAME_BYTES_MAX: usize = 256;

/// Members of one object that have long strings in them; each name is compared with theirs.
const CARRIERS_MAX: usize = 64;

/// The deepest nesting that is followed.
const DEPTH_MAX: usize = 64;

/// A JSON text without its long strings.
#[derive(Debug, PartialEq, Eq)]
pub struct Apart<'a> {
    /// What stands around them, in order, one more than there are strings. Together, it is the text
    /// with empty strings in their places.
    pub around: Vec<&'a str>,
    /// The strings themselves, decoded.
    pub strings: Vec<Cow<'a, str>>,
    /// The text of a JSON array: of each string, the names and numbers that lead to it.
    pub places: String,
}

impl Apart<'_> {
    /// The text with empty strings in the places of the long ones, with whole characters alone.
    pub fn rest(&self) -> String {
        let rest = self.around.concat();
        match whole_characters(&rest) {
            Cow::Owned(whole) => whole,
            Cow::Borrowed(_) => rest,
        }
    }
}

/// Takes the long strings out of the text of a JSON value. `None` where there are none, or where
/// much else is in it. Also where a string would not come back from its place or be written as it
/// was: `JSON.stringify` gives each string as the text has it.
pub fn apart(text: &str) -> Option<Apart<'_>> {
    if text.len() < TEXT_BYTES {
        return None;
    }
    let mut reader =
        LongStringReader { text, open: Vec::new(), is_name_next: false, passed: 0, cut: 0 };
    let mut apart = Apart { around: Vec::new(), strings: Vec::new(), places: "[".to_owned() };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => reader.string(at, &mut apart)?,
            byte => {
                reader.step(*byte)?;
                at + 1
            }
        };
        // Their places count too: a way that is long stands there once for each string.
        if at - reader.passed + apart.places.len() > text.len() / LEFT_SHARE {
            return None;
        }
    }
    if apart.strings.is_empty() {
        return None;
    }
    apart.around.push(&text[reader.cut..]);
    apart.places.push(']');
    Some(apart)
}

struct LongStringReader<'a> {
    text: &'a str,
    open: Vec<OpenContainer<'a>>,
    is_name_next: bool,
    /// Bytes of long strings so far.
    passed: usize,
    /// Up to where the text was given out.
    cut: usize,
}

/// An array or object around what is read.
enum OpenContainer<'a> {
    Array {
        index: usize,
    },
    Object {
        /// The member that is read; `None` where its name has escapes.
        name: Option<&'a str>,
        /// The members that have long strings in them.
        carriers: Vec<&'a str>,
    },
}

impl<'a> LongStringReader<'a> {
    /// Goes beyond one byte outside of strings. `None` when it is too deep.
    fn step(&mut self, byte: u8) -> Option<()> {
        match byte {
            b'{' => {
                self.open.push(OpenContainer::Object { name: None, carriers: Vec::new() });
                self.is_name_next = true;
            }
            b'[' => {
                self.open.push(OpenContainer::Array { index: 0 });
                self.is_name_next = false;
            }
            b'}' | b']' => {
                self.open.pop()?;
                self.is_name_next = false;
            }
            b',' => match self.open.last_mut()? {
                OpenContainer::Array { index } => *index += 1,
                OpenContainer::Object { .. } => self.is_name_next = true,
            },
            _ => {}
        }
        (self.open.len() <= DEPTH_MAX).then_some(())
    }

    /// Goes beyond the string whose quote is there.
    fn string(&mut self, quote: usize, apart: &mut Apart<'a>) -> Option<usize> {
        let from = quote + 1;
        let (to, has_escapes) = end_of_string(self.text.as_bytes(), from)?;
        let inside = &self.text[from..to];
        if std::mem::take(&mut self.is_name_next) {
            self.name(inside, has_escapes)?;
        } else if inside.len() >= LONG_BYTES
            && let Some(string) = decoded(inside, has_escapes)
            && self.place(apart)
        {
            apart.around.push(&self.text[self.cut..from]);
            apart.strings.push(string);
            self.passed += inside.len();
            self.cut = to;
        }
        Some(to + 1)
    }

    /// `None` for a name that may be that of a member which has a long string: only one of them can
    /// be found again.
    fn name(&mut self, inside: &'a str, has_escapes: bool) -> Option<()> {
        let Some(OpenContainer::Object { name, carriers }) = self.open.last_mut() else {
            return None;
        };
        let may_be_one = carriers.contains(&inside) || (has_escapes && !carriers.is_empty());
        *name = (!has_escapes && inside.len() <= NAME_BYTES_MAX).then_some(inside);
        (!may_be_one).then_some(())
    }

    /// Writes down where the value is that comes; whether that can be said.
    fn place(&mut self, apart: &mut Apart<'a>) -> bool {
        let is_known = |open: &OpenContainer<'_>| match open {
            OpenContainer::Array { .. } => true,
            OpenContainer::Object { name, carriers } => {
                name.is_some() && carriers.len() < CARRIERS_MAX
            }
        };
        if !self.open.iter().all(is_known) || self.open.is_empty() {
            return false;
        }
        let places = &mut apart.places;
        places.push_str(if places.len() > 1 { ",[" } else { "[" });
        for (depth, open) in self.open.iter_mut().enumerate() {
            if depth > 0 {
                places.push(',');
            }
            match open {
                OpenContainer::Array { index } => places.push_str(&index.to_string()),
                OpenContainer::Object { name, carriers } => {
                    let name = name.unwrap_or_default();
                    places.extend(["\"", name, "\""]);
                    if carriers.last() != Some(&name) {
                        carriers.push(name);
                    }
                }
            }
        }
        places.push(']');
        true
    }
}

/// Where the string ends that begins there, and whether it has escapes.
fn end_of_string(text: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'"', text.get(at..)?)?;
        let inside = &text[from..at];
        let backslashes = inside.iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some((at, memchr::memchr(b'\\', inside).is_some()));
        }
        at += 1;
    }
}

/// The string that is written so; `None` where it could be written otherwise.
fn decoded(inside: &str, has_escapes: bool) -> Option<Cow<'_, str>> {
    if !has_escapes {
        return Some(Cow::Borrowed(inside));
    }
    let mut rest = inside.as_bytes();
    let mut string = Vec::with_capacity(rest.len());
    while let Some(found) = memchr::memchr(b'\\', rest) {
        string.extend_from_slice(&rest[..found]);
        let behind = &rest[found + 1..];
        let (byte, length) = escaped(behind)?;
        string.push(byte);
        rest = &behind[length..];
    }
    string.extend_from_slice(rest);
    String::from_utf8(string).ok().map(Cow::Owned)
}

/// The character of an escape as `JSON.stringify` writes it, and the length of what is behind the
/// backslash.
fn escaped(behind: &[u8]) -> Option<(u8, usize)> {
    const BACKSPACE: u8 = 8;
    const FORM_FEED: u8 = 12;
    let byte = match behind {
        [b'n', ..] => b'\n',
        [byte @ (b'"' | b'\\'), ..] => *byte,
        [b't', ..] => b'\t',
        [b'r', ..] => b'\r',
        [b'b', ..] => BACKSPACE,
        [b'f', ..] => FORM_FEED,
        [b'u', b'0', b'0', tens @ b'0'..=b'1', ones, ..] => {
            let ones = match ones {
                b'0'..=b'9' => ones - b'0',
                b'a'..=b'f' => ones - b'a' + 10,
                _ => return None,
            };
            let byte = (tens - b'0') * 16 + ones;
            let has_letter = matches!(byte, BACKSPACE | b'\t' | b'\n' | FORM_FEED | b'\r');
            return (!has_letter).then_some((byte, "u0000".len()));
        }
        _ => return None,
    };
    Some((byte, 1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn long(piece: &str) -> String {
        piece.repeat(TEXT_BYTES.div_ceil(piece.len()))
    }

    /// What a reader makes of the parts.
    fn together(apart: &Apart<'_>) -> Value {
        let mut value: Value = serde_json::from_str(&apart.around.concat()).unwrap();
        let places: Vec<Vec<Value>> = serde_json::from_str(&apart.places).unwrap();
        assert_eq!((places.len(), apart.around.len() - 1), (apart.strings.len(), places.len()));
        for (place, string) in places.iter().zip(&apart.strings) {
            let mut at = &mut value;
            for step in place {
                at = match step.as_str() {
                    Some(name) => &mut at[name],
                    None => &mut at[usize::try_from(step.as_u64().unwrap()).unwrap()],
                };
            }
            assert_eq!(at.take(), json!(""));
            *at = json!(string);
        }
        value
    }

    /// The text as it came.
    fn rejoined(apart: &Apart<'_>) -> String {
        let mut text = apart.around[0].to_owned();
        for (string, around) in apart.strings.iter().zip(&apart.around[1..]) {
            let written = serde_json::to_string(string).unwrap();
            text.extend([&written[1..written.len() - 1], around]);
        }
        text
    }

    /// SPEC 5.3: a result is what the server sent, however it comes to its reader.
    #[test]
    fn what_is_taken_apart_is_the_same_together() {
        let (plain, wide) = (long("x"), long("a\u{e4}\u{1f6a2}\u{2028}\u{7f}"));
        let escapes = long("a\"\\/\n\r\t\u{8}\u{c}\u{1}\u{1f}b");
        for value in [
            json!({"content": [{"type": "text", "text": plain}]}),
            json!({"content": [{"type": "text", "text": wide}], "isError": false}),
            json!({"content": [{"type": "text", "text": escapes}, {"text": plain}, {"text": ""}]}),
            json!({"a": {"b": {"c": [[], {}, [1, {"d": plain, "e": escapes}], "short"]}}, "f": wide}),
            json!([plain, {"__proto__": wide}, null, -1.5e3, true]),
        ] {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let apart = apart(&text).unwrap();
                assert!(apart.around.concat().len() < 400);
                assert_eq!(together(&apart), value);
                assert_eq!(rejoined(&apart), text);
            }
        }
    }

    #[test]
    fn what_could_not_be_found_or_written_again_is_left_whole() {
        let plain = long("x");
        let slash = long("\\/");
        let unicode = long("\\u00e4");
        let capital = long("\\u001F");
        let letter = long("\\u000a");
        let half = long("\\ud83d");
        let deep = format!("{}\"{plain}\"{}", "[".repeat(65), "]".repeat(65));
        let name = "n".repeat(NAME_BYTES_MAX + 1);
        let members: Vec<String> =
            (0..2 * CARRIERS_MAX).map(|name| format!("\"{name}\":\"{plain}\"")).collect();
        let much = format!("{{\"a\":\"{plain}\",\"b\":[{}1]}}", "1,".repeat(TEXT_BYTES / 8));
        for text in [
            format!("{{\"a\":\"{plain}\",\"a\":1}}"),
            format!("{{\"a\":\"{plain}\",\"\\u0061\":1}}"),
            format!("{{\"a\":[\"{plain}\"],\"b\":1,\"a\":2}}"),
            format!("{{\"a\":{{\"b\":\"{plain}\"}},\"a\":\"{plain}\"}}"),
            format!("{{\"a\":\"{slash}\"}}"),
            format!("{{\"a\":\"{unicode}\"}}"),
            format!("{{\"a\":\"{capital}\"}}"),
            format!("{{\"a\":\"{letter}\"}}"),
            format!("{{\"a\":\"{half}\"}}"),
            format!("{{\"\\n\":\"{plain}\"}}"),
            format!("\"{plain}\""),
            format!("{{\"a\":\"{}\"}}", &plain[..TEXT_BYTES - 9]),
            format!("{{\"a\":[{}1]}}", format!("\"{}\",", &plain[..LONG_BYTES - 1]).repeat(8)),
            format!("{{\"{name}\":[\"{plain}\"]}}"),
            format!("{{{}}}", members.join(",")),
            deep,
            much,
        ] {
            assert_eq!(apart(&text), None, "{}", &text[..40]);
        }
    }

    /// A way that is long, said again for each string, is no more than a share of the text.
    #[test]
    fn what_leads_to_the_strings_is_bounded() {
        let string = format!("\"{}\"", "x".repeat(LONG_BYTES));
        for depth in [1, 20, 60] {
            let name = format!("{{\"{}\":", "n".repeat(NAME_BYTES_MAX));
            let (open, close) = (name.repeat(depth), "}".repeat(depth));
            let text = format!("{open}[{}]{close}", vec![string.clone(); 500].join(","));
            let places = apart(&text).map_or(0, |apart| apart.places.len());
            assert!(places <= text.len() / LEFT_SHARE, "{places} of {}", text.len());
            assert_eq!(places == 0, depth > 1, "{depth}");
        }
    }

    /// The last of two members is the one that counts, and that is where it is put.
    #[test]
    fn a_member_that_came_before_is_no_matter() {
        let plain = long("x");
        let text = format!("{{\"a\":1,\"a\":\"{plain}\"}}");
        assert_eq!(together(&apart(&text).unwrap()), json!({"a": plain}));
    }
}
