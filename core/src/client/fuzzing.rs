//! Messages, read in both ways.

use super::envelope;

/// What is said of a frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// As frames are read.
    pub by_form: Option<Given>,
    /// As those that are in no common form.
    pub in_general: Option<Given>,
}

/// What a message is.
#[derive(Debug, PartialEq, Eq)]
pub struct Given {
    /// Which of them.
    pub kind: &'static str,
    /// The number of a reply.
    pub id: Option<u64>,
    /// The name of a request or notification.
    pub method: Option<String>,
    /// Its members that stay text.
    pub texts: Vec<(&'static str, String)>,
}

/// Reads a frame.
pub fn message(frame: &[u8]) -> Message {
    Message {
        by_form: envelope::Message::parse(frame).map(given),
        in_general: envelope::Message::any(frame).map(given),
    }
}

fn given(message: envelope::Message<'_>) -> Given {
    use envelope::Message;
    let text = |name, text: &str| (name, text.to_owned());
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
        Message::Malformed { id } => ("malformed", id, None, Vec::new()),
    };
    Given { kind, id, method: method.map(Into::into), texts }
}
