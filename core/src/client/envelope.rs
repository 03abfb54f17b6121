//! The outer members of a JSON-RPC message; what is inside of `result`, `params` and `error` stays text.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use trunkline_pool::json::is_value;

/// A message of the server.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// A reply with a result.
    Result { id: u64, result: &'a str },
    /// A reply with an error; without an id when the server could not read ours.
    Error { id: Option<u64>, error: &'a str },
    /// A request of the server.
    Request { id: &'a str, method: Cow<'a, str>, params: Option<&'a str> },
    /// A notification.
    Notification { method: Cow<'a, str>, params: Option<&'a str> },
    /// A reply whose id can be none of ours.
    Stray,
    /// JSON, but no message: a reply without a result, or with two. The id, when there is one.
    Malformed { id: Option<u64> },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there, `null` included.
fn present<'de: 'a, 'a, D>(from: D) -> Result<Option<&'a RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(from).map(Some)
}

impl<'a> Message<'a> {
    /// Reads a frame; `None` when it is no JSON object of these members.
    pub(super) fn parse(frame: &'a [u8]) -> Option<Message<'a>> {
        common_reply(frame).or_else(|| Message::any(frame))
    }

    /// The same, whatever its form is.
    pub(super) fn any(frame: &'a [u8]) -> Option<Message<'a>> {
        // An array would be read as the members, one after the other.
        if frame.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let envelope: Envelope<'a> = serde_json::from_slice(frame).ok()?;
        let Envelope { id, method, params, result, error } = envelope;
        let number = || id.and_then(|id| own_id(id.get()));
        Some(match (method, result, error) {
            (Some(method), None, None) if id.is_some_and(|id| id.get() != "null") => {
                Message::Request { id: id?.get(), method, params: params.map(RawValue::get) }
            }
            (Some(method), None, None) => {
                Message::Notification { method, params: params.map(RawValue::get) }
            }
            (None, Some(result), None) => match number() {
                Some(id) => Message::Result { id, result: result.get() },
                None if id.is_some() => Message::Stray,
                None => Message::Malformed { id: None },
            },
            (None, None, Some(error)) => Message::Error { id: number(), error: error.get() },
            _ => Message::Malformed { id: number() },
        })
    }
}

/// The form in which nearly every server writes a reply, read without a detour.
fn common_reply(frame: &[u8]) -> Option<Message<'_>> {
    const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
    const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const RESULT: &[u8] = br#","result":"#;
    let (id, rest) = leading_number(frame.strip_prefix(HEAD)?)?;
    let result = std::str::from_utf8(rest.strip_prefix(RESULT)?.strip_suffix(b"}")?).ok()?;
    let result = match result.as_bytes() {
        [b'{', .., b'}'] => result,
        _ => result.trim_matches(WHITE_SPACE),
    };
    // One whole value and nothing behind it, or this is not that form.
    is_value(result).then_some(Message::Result { id, result })
}

/// The number that a text begins with, and what is behind it; `None` when it is long or begins with a zero, too.
fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    // So many digits are no more than fit.
    const DIGITS_MAX: usize = 19;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    let add = |number: u64, digit: &u8| number * 10 + u64::from(digit - b'0');
    let is_plain = (1..=DIGITS_MAX).contains(&digits) && (digits == 1 || number[0] != b'0');
    is_plain.then(|| (number.iter().fold(0, add), rest))
}

/// The number of an id that one of ours can be: some servers give it back as a string.
fn own_id(text: &str) -> Option<u64> {
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit())
        && !(text.len() > 1 && text.starts_with('0'));
    is_plain.then(|| text.parse().ok())?
}

/// The id of a frame that is no JSON: its first outer member `id`, as far as the text can be followed.
pub(super) fn find_id(frame: &[u8]) -> Option<u64> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < frame.len() {
        match frame[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = at + 1 + string_length(&frame[at + 1..])?;
                let is_id = depth == 1 && &frame[at + 1..end] == b"id";
                if let Some(id) = id_after(&frame[end + 1..]).filter(|_| is_id) {
                    return Some(id);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The bytes of a string up to its closing quote.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let found = from + memchr::memchr2(b'"', b'\\', &text[from..])?;
        if text[found] == b'"' {
            return Some(found);
        }
        from = found + 2;
        if from > text.len() {
            return None;
        }
    }
}

/// The id behind a colon, when the whole of it is one of ours: what only begins as one is another's, or cut.
fn id_after(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let quoted = text.strip_prefix(b"\"");
    let text = quoted.unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    let is_whole = match (quoted, rest) {
        (Some(_), [b'"', ..]) => true,
        (None, [byte, ..]) => matches!(byte, b',' | b'}') || byte.is_ascii_whitespace(),
        _ => false,
    };
    is_whole.then(|| own_id(std::str::from_utf8(number).ok()?))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of JSON has no zero before it, and an id none that is more than 64 bits.
    #[test]
    fn the_common_form_is_read_as_any_other() {
        let read = |id: &str| {
            let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":[1]}}}}"#);
            let any = Message::any(frame.as_bytes()).map(|message| format!("{message:?}"));
            assert_eq!(Message::parse(frame.as_bytes()).map(|message| format!("{message:?}")), any);
            any.is_some()
        };
        for id in ["0", "7", "10", "18446744073709551615", "18446744073709551616", "-0", "1.0"] {
            assert!(read(id), "{id}");
        }
        for id in ["007", "00", "01", "-", "", "+7", "7 7"] {
            assert!(!read(id), "{id}");
        }
    }

    /// SPEC 5.10: what is written otherwise is no id of ours, and so without effect.
    #[test]
    fn an_id_of_ours_is_written_as_we_write_it() {
        for (text, id) in [("7", 7), ("\"7\"", 7), ("18446744073709551615", u64::MAX)] {
            assert_eq!(own_id(text), Some(id));
        }
        for text in ["\"+7\"", "\"007\"", "\"\"", "\" 7\"", "7.0", "-0", "18446744073709551616"] {
            assert_eq!(own_id(text), None, "{text}");
        }
    }

    /// SPEC 5.10: a batch is no message, however its parts would read as members.
    #[test]
    fn what_is_no_object_is_no_message() {
        for frame in ["[7]", " [7,\"ping\"]", "[null,null,null,{},null]", "[]", "7", "null"] {
            assert!(Message::parse(frame.as_bytes()).is_none(), "{frame}");
        }
        assert!(Message::parse(b" {\"id\":7,\"result\":{}}").is_some());
    }
}
