//! The text of an event, written member by member.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;
use trunkline_pool::interface::EventKind;
use trunkline_pool::state::Generation;

use super::hub::About;
use crate::api::SessionCore;

/// The event's JSON: the envelope of SPEC 16.6, then the fields.
pub(super) fn write(
    sheet: &mut Sheet,
    (kind, seq): (EventKind, u64),
    session: Option<&SessionCore>,
    about: &About,
    fields: impl FnOnce(&mut Members<'_>),
) -> Arc<str> {
    let mut json = sheet.begin();
    json.add_written(r#""v":1"#);
    json.add("seq", &seq);
    json.add_written(head(kind));
    if let Some(session) = session {
        json.add_str("session", &session.id);
    }
    if let Some(named) = &about.named {
        json.add_written(named);
    }
    if let Some(generation) = about.generation {
        json.add("generation", &generation.0);
    }
    fields(&mut json);
    sheet.finish()
}

/// The members that every event of a kind has.
fn head(kind: EventKind) -> &'static str {
    HEADS[kind as usize].get_or_init(|| {
        let (name, scope) = (kind.name(), kind.scope().as_str());
        debug_assert!(name.bytes().chain(scope.bytes()).all(is_plain), "{name} {scope}");
        format!(r#""type":"{name}","scope":"{scope}""#).into()
    })
}

/// By the number of the kind, which is a bit of [`EventMask`](crate::EventMask).
static HEADS: [OnceLock<Box<str>>; u64::BITS as usize] =
    [const { OnceLock::new() }; u64::BITS as usize];

/// The members that name what events are about, for [`Members::add_written`]: a server, and an entry of it. Written once for many.
pub(super) fn named(server: &str, entry_index: Option<u32>) -> Arc<str> {
    let mut text = Vec::new();
    let mut json = Members(&mut text);
    json.add_str("server", server);
    if let Some(index) = entry_index {
        json.add("entry_index", &index);
    }
    String::from_utf8_lossy(text.strip_prefix(b"{").unwrap_or(&text)).into()
}

/// The same with the incarnation.
pub(super) fn named_of(named: &str, generation: Generation) -> Arc<str> {
    format!(r#"{named},"generation":{generation}"#, generation = generation.0).into()
}

/// Fields that are values.
pub(super) fn members_of(fields: &[(&str, Value)]) -> impl FnOnce(&mut Members<'_>) {
    |json| fields.iter().for_each(|(name, value)| json.add(name, value))
}

/// Where texts are written, one after the other.
#[derive(Default)]
pub(super) struct Sheet(Vec<u8>);

impl Sheet {
    /// The room that is kept for the next text, in bytes: that of an event about a server with a few fields.
    const KEPT: usize = 1024;

    fn begin(&mut self) -> Members<'_> {
        self.0.clear();
        Members(&mut self.0)
    }

    fn finish(&mut self) -> Arc<str> {
        self.0.push(b'}');
        let text = match std::str::from_utf8(&self.0) {
            Ok(text) => text.into(),
            // What is written as JSON is text.
            Err(_) => String::from_utf8_lossy(&self.0).into(),
        };
        if self.0.capacity() > Sheet::KEPT {
            self.0 = Vec::new();
        }
        text
    }
}

type ToText<'a> = serde_json::Serializer<&'a mut Vec<u8>>;

/// The text of a JSON object, as it is written member by member. No name comes twice.
pub(super) struct Members<'a>(&'a mut Vec<u8>);

impl Members<'_> {
    /// Adds one member.
    #[inline(always)]
    pub(super) fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.name(name);
        let written = value.serialize(&mut ToText::new(self.0));
        debug_assert!(written.is_ok(), "neither memory nor these values refuse to be written");
    }

    /// Adds one member that is text.
    pub(super) fn add_str(&mut self, name: &str, value: &str) {
        if !value.bytes().all(is_plain) {
            return self.add(name, value);
        }
        self.name(name);
        self.0.push(b'"');
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(b'"');
    }

    /// Adds members that are written already: `"name":value`, with commas between them.
    pub(super) fn add_written(&mut self, members: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend_from_slice(members.as_bytes());
    }

    // Inlined, a name is a constant that needs no copy in a loop.
    #[inline(always)]
    fn name(&mut self, name: &str) {
        // Names of members are ours.
        debug_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"" } else { b",\"" });
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }
}

/// Whether it stands for itself in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// SPEC 16.6: every text is written as JSON has it, whatever is in it, and a long one leaves nothing behind for the next.
    #[test]
    fn texts_are_json() {
        let mut sheet = Sheet::default();
        let long = "x".repeat(2 * Sheet::KEPT);
        let hostile =
            ["", "plain", "a\"b", "back\\slash", "\u{0}\n\u{1f}", "\u{7f}é\u{2028}😀", &long];
        for value in hostile {
            let mut json = sheet.begin();
            json.add_written(r#""v":1"#);
            json.add_str("text", value);
            json.add_written(r#""list":[],"more":{}"#);
            members_of(&[("value", value.into())])(&mut json);
            let text = sheet.finish();
            let expected = json!({ "v": 1, "text": value, "list": [], "more": {}, "value": value });
            assert_eq!(&*text, expected.to_string());
            assert!(sheet.0.capacity() <= Sheet::KEPT);
        }
    }

    #[test]
    fn what_is_named_once_is_written_as_members_are() {
        for (server, index) in [("s", Some(7)), ("a\"b\n", Some(0)), ("é", None)] {
            let (mut sheet, mut expected) = (Sheet::default(), json!({ "server": server }));
            sheet.begin().add_written(&named(server, index));
            if let Some(index) = index {
                expected["entry_index"] = index.into();
            }
            assert_eq!(&*sheet.finish(), expected.to_string());
        }
    }
}
