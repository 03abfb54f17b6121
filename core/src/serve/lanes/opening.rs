//! What a lane reads of a message: its era, and whether its answer is an event stream from the
//! start. Everything else of it is the endpoint's.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Who answers a message, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageOpening {
    pub era: MessageEra,
    /// Whether messages before the answer are likely (SERVING A2.5).
    pub wants_events: bool,
}

/// What a message says of its era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageEra {
    /// It names its version itself.
    Modern,
    /// It opens a legacy session.
    Initialize,
    /// It belongs to a legacy session; a batch does too.
    Legacy,
    /// A notification that says nothing of its era.
    Notice,
    Unreadable,
}

/// The first revision of the modern era.
pub(super) const MODERN_REVISION: &str = "2026-07-28";

/// Reads a message as far as a lane must.
pub(super) fn read(text: &str) -> MessageOpening {
    let plain = |era| MessageOpening { era, wants_events: false };
    if text.trim_start().starts_with('[') {
        let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
        return plain(if is_json { MessageEra::Legacy } else { MessageEra::Unreadable });
    }
    let Ok(message) = serde_json::from_str::<ReadMessage<'_>>(text) else {
        return plain(MessageEra::Unreadable);
    };
    let meta = message.params.and_then(|params| params.meta).unwrap_or_default();
    let method = message.method.as_deref();
    let era = match method {
        _ if meta.revision.is_some() || meta.capabilities.is_some() => MessageEra::Modern,
        Some("initialize") => MessageEra::Initialize,
        Some(_) if message.id.is_none() => MessageEra::Notice,
        _ => MessageEra::Legacy,
    };
    let streams = meta.progress_token.is_some() || meta.log_level.is_some();
    MessageOpening { era, wants_events: streams || method == Some("subscriptions/listen") }
}

#[derive(Deserialize)]
struct ReadMessage<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    id: Option<IgnoredAny>,
    params: Option<OpeningParams>,
}

#[derive(Deserialize)]
struct OpeningParams {
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<IgnoredAny>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<IgnoredAny>,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<IgnoredAny>,
    #[serde(rename = "progressToken")]
    progress_token: Option<IgnoredAny>,
}

#[cfg(test)]
mod tests {
    use super::MessageEra::{Initialize, Legacy, Modern, Notice, Unreadable};
    use super::*;

    const MESSAGES: &[(&str, MessageEra, bool)] = &[
        (r#"{"id":1,"method":"initialize","params":{}}"#, Initialize, false),
        (r#"{"id":1,"method":"tools/list"}"#, Legacy, false),
        (r#"{"id":1,"result":{}}"#, Legacy, false),
        (r#"{"method":"notifications/initialized"}"#, Notice, false),
        (r#"{"id":1,"method":"x","params":{"_meta":{"progressToken":1}}}"#, Legacy, true),
        (
            r#"{"id":1,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            Modern,
            false,
        ),
        (
            r#"{"id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            Modern,
            false,
        ),
        (
            r#"{"id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            Modern,
            true,
        ),
        (
            r#"{"id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/logLevel":"info"}}}"#,
            Modern,
            true,
        ),
        (r#" [{"id":1,"method":"ping"}]"#, Legacy, false),
        ("[", Unreadable, false),
        ("{", Unreadable, false),
        ("7", Unreadable, false),
        ("", Unreadable, false),
        (r#"{"method":"a","method":"b"}"#, Unreadable, false),
        (r#"{"id":1,"method":7}"#, Unreadable, false),
    ];

    #[test]
    fn a_message_alone_says_its_era() {
        for (text, era, wants_events) in MESSAGES {
            assert_eq!(
                read(text),
                MessageOpening { era: *era, wants_events: *wants_events },
                "{text}"
            );
        }
    }
}
