//! One message of a client, read by the reader of messages that servers are read with.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::codes::{Denial, DenialKind};
use crate::json::{is_value, members};
use crate::lenient::{kinds, lenient};
use crate::protocol::message::{Heard, Message, heard};

/// What a client said.
#[derive(Debug)]
pub(in crate::bridge) enum ClientMessage<'a> {
    /// It asks.
    Request { id: &'a str, method: Cow<'a, str>, params: Params<'a> },
    /// It tells.
    Notification { method: Cow<'a, str>, params: Params<'a> },
    /// It answers a question of ours.
    Answer { id: u64, answer: Result<&'a str, (i32, String)> },
    /// It answers something that was never asked.
    Stray,
    /// It cannot be read: the id where there is one.
    Wrong { id: Option<&'a str>, denial: Denial },
}

/// Reads one message.
pub(in crate::bridge) fn read(text: &str) -> ClientMessage<'_> {
    if !is_value(text) {
        let denial = Denial::new(DenialKind::Unreadable, "the message is not valid JSON");
        return ClientMessage::Wrong { id: None, denial };
    }
    match heard(text.as_bytes()) {
        Heard::Message(Message::Request { id, method, params }) if is_id(id) => {
            match Params::read(params) {
                Ok(params) => ClientMessage::Request { id, method, params },
                Err(denial) => ClientMessage::Wrong { id: Some(id), denial },
            }
        }
        Heard::Message(Message::Notification { method, params }) => match Params::read(params) {
            Ok(params) => ClientMessage::Notification { method, params },
            Err(_) => ClientMessage::Stray,
        },
        Heard::Message(Message::Result { id, result }) => {
            ClientMessage::Answer { id, answer: Ok(result) }
        }
        Heard::Message(Message::Error { id: Some(id), error }) => {
            ClientMessage::Answer { id, answer: Err(error_of(error)) }
        }
        Heard::Message(Message::Error { id: None, .. } | Message::Stray) => ClientMessage::Stray,
        Heard::Message(Message::Request { .. }) | Heard::Broken { .. } | Heard::Noise => {
            let message = "the message is not a JSON-RPC request, notification or answer";
            ClientMessage::Wrong {
                id: None,
                denial: Denial::new(DenialKind::InvalidRequest, message),
            }
        }
    }
}

/// The messages of a batch, each as its text; `None` where the text is no batch.
pub(in crate::bridge) fn batch(text: &str) -> Option<Vec<&str>> {
    if !text.trim_ascii_start().starts_with('[') {
        return None;
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

fn is_id(id: &str) -> bool {
    id.starts_with(['"', '-']) || id.starts_with(|first: char| first.is_ascii_digit())
}

/// The code and the message of an error.
fn error_of(error: &str) -> (i32, String) {
    let error = crate::json::readable(&lenient(error, &kinds::ERROR)).unwrap_or_default();
    let code = crate::json::signed(&error["code"]).and_then(|code| i32::try_from(code).ok());
    let message = error["message"].as_str().unwrap_or("the client refused").to_owned();
    (code.unwrap_or(-32603), message)
}

/// The params of a request, as they stand in its text.
#[derive(Debug, Default)]
pub(in crate::bridge) struct Params<'a> {
    members: Vec<(String, &'a RawValue)>,
}

impl<'a> Params<'a> {
    fn read(params: Option<&'a str>) -> Result<Self, Denial> {
        let Some(params) = params else { return Ok(Params::default()) };
        let wrong = |_| Denial::new(DenialKind::BadParams, "`params` is not an object");
        members(params).map(|members| Params { members }).map_err(wrong)
    }

    /// The JSON of a member; one that is `null` is absent.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.members.iter().rfind(|(had, _)| had == name);
        found.map(|(_, value)| value.get()).filter(|value| *value != "null")
    }

    /// A text that has to be there.
    pub fn text(&self, name: &str) -> Result<String, Denial> {
        let read = self.get(name).and_then(|value| serde_json::from_str(value).ok());
        read.ok_or_else(|| {
            Denial::new(DenialKind::BadParams, format!("`params.{name}` is not a string"))
        })
    }

    /// A text that may be absent.
    pub fn optional_text(&self, name: &str) -> Result<Option<String>, Denial> {
        self.get(name).map(|_| self.text(name)).transpose()
    }

    /// All of them, but for some, as JSON members.
    pub fn without<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = (&'s str, &'a str)> {
        let kept = self.members.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        kept.map(|(name, value)| (name.as_str(), value.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> String {
        match read(text) {
            ClientMessage::Request { id, method, .. } => format!("request {id} {method}"),
            ClientMessage::Notification { method, .. } => format!("notification {method}"),
            ClientMessage::Answer { id, answer: Ok(result) } => format!("answer {id} {result}"),
            ClientMessage::Answer { id, answer: Err((code, _)) } => format!("error {id} {code}"),
            ClientMessage::Stray => "stray".to_owned(),
            ClientMessage::Wrong { id, denial } => format!("{:?} {id:?}", denial.kind),
        }
    }

    #[test]
    fn each_message_of_a_client_is_read_as_what_it_is() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "request 1 tools/list"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"x","params":[]}"#, "request \"a\" x"),
            (r#"{"jsonrpc":"2.0","id":-4,"method":"x","params":null}"#, "request -4 x"),
            (r#"{"jsonrpc":"2.0","method":"x"}"#, "notification x"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, "answer 7 {\"a\":1}"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#, "error 7 -1"),
            (r#"{"jsonrpc":"2.0","id":"q","result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x""#, "Unreadable None"),
            ("", "Unreadable None"),
            (r#"{"a":1}"#, "InvalidRequest None"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#, "InvalidRequest None"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, "InvalidRequest None"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, "InvalidRequest None"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":7}"#, "BadParams Some(\"1\")"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, "InvalidRequest None"),
        ] {
            assert_eq!(word(text), expected, "{text}");
        }
    }

    #[test]
    fn a_batch_is_its_messages() {
        assert_eq!(batch("[{\"a\":1}, 7]"), Some(vec!["{\"a\":1}", "7"]));
        assert_eq!(batch("{}"), None);
        assert_eq!(batch("[1"), None);
    }
}
