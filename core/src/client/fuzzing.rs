//! Messages, read in both ways.

use trunkline_pool::message::{Heard, heard, heard_in_general};

/// What is said of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageReadings {
    /// As texts are read.
    pub by_form: Option<MessageParts>,
    /// As those that are in no common form.
    pub in_general: Option<MessageParts>,
}

/// What a message is.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageParts {
    /// Which of them.
    pub kind: &'static str,
    /// The number of a reply.
    pub id: Option<u64>,
    /// The name of a request or notification.
    pub method: Option<String>,
    /// Its members that stay text.
    pub texts: Vec<(&'static str, String)>,
}

/// Reads a text; noise is nothing.
pub fn message(text: &[u8]) -> MessageReadings {
    MessageReadings { by_form: given(heard(text)), in_general: given(heard_in_general(text)) }
}

fn given(heard: Heard<'_>) -> Option<MessageParts> {
    use trunkline_pool::message::Message;
    let text = |name, text: &str| (name, text.to_owned());
    let message = match heard {
        Heard::Message(message) => message,
        Heard::Broken { id } => {
            return Some(MessageParts { kind: "broken", id, method: None, texts: Vec::new() });
        }
        Heard::Noise => return None,
    };
    let (kind, id, method, texts) = match message {
        Message::Result { id, result } => ("result", Some(id), None, vec![text("result", result)]),
        Message::Error { id, error } => ("error", id, None, vec![text("error", error)]),
        Message::Request { id, method, params } => {
            let params = params.map(|params| text("params", params));
            ("request", None, Some(method), params.into_iter().chain([text("id", id)]).collect())
        }
        Message::Notification { method, params } => {
            let params = params.map(|params| text("params", params));
            ("notification", None, Some(method), params.into_iter().collect())
        }
        Message::Stray => ("stray", None, None, Vec::new()),
    };
    Some(MessageParts { kind, id, method: method.map(Into::into), texts })
}
