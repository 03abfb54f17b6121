//! Whether a text that a server sent is a message of JSON-RPC, and which (SPEC 18.1, 5.10).
//!
//! One test for every transport: a line of a pipe, the body of an answer, an event of a stream, a
//! message of a websocket.
//!
//! 1. A message is an object with `jsonrpc` and a `method`, or with an `id` and a `result` or an
//!    `error` that is an object. Without `jsonrpc` a `method` counts that is in the table of
//!    methods, and a `result` that is an object: loggers write `id` and `result` too. An `id` that
//!    is `null` counts as one beside `jsonrpc` and an `error`: the server could not read ours.
//! 2. Bytes before the first `{` of a text that holds a message are dropped.
//! 3. What cannot be read, or is no message, but has `jsonrpc` and the `id` of a reply, is a broken
//!    reply.
//! 4. Everything else is noise. A text that cannot be read and has `jsonrpc` is broken even without
//!    an id: somebody waits for it.
//!
//! Members that are `null` count as absent. What is inside of `result`, `params` and `error` stays
//! text.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::methods;
use super::outer_members::{self, own_id};
use crate::json::is_value;

/// What a text of a server is.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A message.
    Message(Message<'a>),
    /// A reply that cannot be used, to the request of this id. Without one it is not known what was
    /// meant.
    Broken {
        /// The request.
        id: Option<u64>,
    },
    /// No message: nobody answers it, and it ends nothing.
    Noise,
}

/// A message of a server.
#[derive(Debug)]
pub enum Message<'a> {
    /// A reply with a result.
    Result {
        /// The request.
        id: u64,
        /// The text of the member.
        result: &'a str,
    },
    /// A reply with an error; without an id where it is `null`, since the server could not read
    /// ours.
    Error {
        /// The request.
        id: Option<u64>,
        /// The text of the member.
        error: &'a str,
    },
    /// A request of the server.
    Request {
        /// The text of its id.
        id: &'a str,
        /// What is asked.
        method: Cow<'a, str>,
        /// The text of the member.
        params: Option<&'a str>,
    },
    /// A notification.
    Notification {
        /// What is told.
        method: Cow<'a, str>,
        /// The text of the member.
        params: Option<&'a str>,
    },
    /// A reply whose id cannot be ours.
    Stray,
}

/// What a whole text of a server is.
pub fn heard(text: &[u8]) -> Heard<'_> {
    match common_reply(text) {
        Some(reply) => Heard::Message(reply),
        None => heard_in_general(text),
    }
}

/// The same, whatever form the text has.
pub fn heard_in_general(text: &[u8]) -> Heard<'_> {
    match memchr::memchr(b'{', text) {
        None => Heard::Noise,
        Some(begin) if text[..begin].trim_ascii().is_empty() => object(&text[begin..]),
        Some(begin) => match object(&text[begin..]) {
            Heard::Message(message) => Heard::Message(message),
            Heard::Broken { .. } | Heard::Noise => Heard::Noise,
        },
    }
}

/// Classifies a text by its beginning alone, since the rest is too long to read. It is noise only
/// where its first name says so.
pub fn heard_of(beginning: &[u8]) -> Heard<'_> {
    let beginning = beginning.trim_ascii_start();
    let outer = outer_members::members(beginning);
    match beginning.first() == Some(&b'{') && (outer.has_version || !outer.begins_as_another) {
        true => Heard::Broken { id: outer.id },
        false => Heard::Noise,
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum MessageMember {
    JsonRpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

/// The members of a message; those that are `null` are absent, but for an id and a result.
#[derive(Default)]
struct Envelope<'a> {
    version: bool,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> serde::de::Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(member) = map.next_key()? {
            let (place, name) = match member {
                MessageMember::JsonRpc => {
                    envelope.version |= map.next_value::<Option<IgnoredAny>>()?.is_some();
                    continue;
                }
                MessageMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                MessageMember::Id => (&mut envelope.id, "id"),
                MessageMember::Method => (&mut envelope.method, "method"),
                MessageMember::Params => (&mut envelope.params, "params"),
                MessageMember::Result => (&mut envelope.result, "result"),
                MessageMember::Error => (&mut envelope.error, "error"),
            };
            if place.replace(map.next_value::<&RawValue>()?.get()).is_some() {
                return Err(serde::de::Error::duplicate_field(name));
            }
        }
        Ok(envelope)
    }
}

/// What a text is that begins with a brace.
fn object(text: &[u8]) -> Heard<'_> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else {
        let outer = outer_members::members(text);
        return if outer.has_version { Heard::Broken { id: outer.id } } else { Heard::Noise };
    };
    let number = envelope.id.and_then(own_id);
    match message(&envelope, number) {
        Some(message) => Heard::Message(message),
        None if envelope.version && number.is_some() => Heard::Broken { id: number },
        None => Heard::Noise,
    }
}

/// The message of these members, where they are one.
fn message<'a>(envelope: &Envelope<'a>, number: Option<u64>) -> Option<Message<'a>> {
    let said = |member: Option<&'a str>| member.filter(|text| *text != "null");
    let (id, method, error) = (said(envelope.id), said(envelope.method), said(envelope.error));
    // A result that is null is one, unless there is something else.
    let is_alone = error.is_none() && method.is_none();
    let result = envelope.result.filter(|text| *text != "null" || is_alone);
    match (method, result, error) {
        (Some(method), None, None) => {
            let method = serde_json::from_str::<Cow<'a, str>>(method).ok()?;
            let counts = envelope.version || methods::is_known(&method);
            let params = said(envelope.params)
                .map(|params| if is_empty_array(params) { "{}" } else { params });
            counts.then_some(match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            })
        }
        (None, Some(result), None) => {
            let is_map = result.starts_with('{') || is_empty_array(result);
            let counts = envelope.version || (id.is_some() && is_map);
            let reply = match number {
                Some(id) => Message::Result { id, result },
                None => Message::Stray,
            };
            (counts && envelope.id.is_some()).then_some(reply)
        }
        (None, None, Some(error)) if error.starts_with('{') => match (id, number) {
            (Some(_), None) => Some(Message::Stray),
            (Some(_), id) => Some(Message::Error { id, error }),
            // An id of `null` says that ours could not be read; without one it answers nothing.
            (None, _) => {
                let answers = envelope.version && envelope.id.is_some();
                answers.then_some(Message::Error { id: None, error })
            }
        },
        // It refuses its request, whatever it says.
        (None, None, Some(error)) if envelope.version && number.is_some() => {
            Some(Message::Error { id: number, error })
        }
        _ => None,
    }
}

fn is_empty_array(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
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

/// The number that a text begins with, and what is behind it; `None` when it is long or begins with
/// a zero, too.
fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    // So many digits are no more than fit.
    const DIGITS_MAX: usize = 19;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    let add = |number: u64, digit: &u8| number * 10 + u64::from(digit - b'0');
    let is_plain = (1..=DIGITS_MAX).contains(&digits) && (digits == 1 || number[0] != b'0');
    is_plain.then(|| (number.iter().fold(0, add), rest))
}
