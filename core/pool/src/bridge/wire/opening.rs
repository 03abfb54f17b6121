//! Which era a message of a client belongs to.

use serde_json::value::RawValue;

use super::headers::McpHeaders;
use super::revisions::MODERN;
use crate::json::members;

/// The members of `_meta` that each modern request carries.
const MODERN_META: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
];

/// Methods that only the modern era has.
const MODERN_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// What a message says of its era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEra {
    /// It is of the modern era.
    Modern {
        /// The revision that it names, where it does.
        version: Option<String>,
    },
    /// It opens a legacy session.
    Initialize,
    /// It is of the legacy era: a request, an answer or a batch.
    Legacy,
    /// A notification that says nothing. Over HTTP a session makes it legacy. On lines both clients
    /// of the connection take it.
    Notice,
    /// It is no JSON-RPC message.
    Unreadable,
}

/// Which era a message belongs to. The request alone decides: `_meta`, its method, and over HTTP
/// the header of the revision.
pub fn era_of(text: &str, headers: Option<&McpHeaders>) -> MessageEra {
    if text.trim_ascii_start().starts_with('[') {
        return MessageEra::Legacy;
    }
    let Ok(outer) = members(text) else { return MessageEra::Unreadable };
    let method = member(&outer, "method").and_then(text_of);
    let meta = meta_of(&outer);
    if MODERN_META.iter().any(|name| member(&meta, name).is_some()) {
        let version = member(&meta, MODERN_META[0]).and_then(text_of);
        return MessageEra::Modern { version };
    }
    let header = headers.and_then(|headers| headers.get("mcp-protocol-version").ok().flatten());
    let names_modern = header.is_some_and(|version| version >= MODERN);
    let has_id = member(&outer, "id").is_some_and(|id| id != "null");
    match method.as_deref() {
        Some("initialize") => MessageEra::Initialize,
        Some(method) if names_modern || MODERN_METHODS.contains(&method) => {
            MessageEra::Modern { version: None }
        }
        Some(_) if !has_id => MessageEra::Notice,
        Some(_) | None if names_modern => MessageEra::Modern { version: None },
        Some(_) | None => MessageEra::Legacy,
    }
}

/// Whether messages before the answer are likely, so that an event stream is right from the start.
pub fn wants_events(text: &str) -> bool {
    let Ok(outer) = members(text) else { return false };
    let meta = meta_of(&outer);
    let asks = ["progressToken", "io.modelcontextprotocol/logLevel"];
    let listens = member(&outer, "method").and_then(text_of);
    asks.iter().any(|name| member(&meta, name).is_some())
        || listens.as_deref() == Some("subscriptions/listen")
}

/// The members of `params._meta`; nothing where there is no such object.
fn meta_of<'a>(outer: &[(String, &'a RawValue)]) -> Vec<(String, &'a RawValue)> {
    let params = member(outer, "params").and_then(|params| members(params).ok());
    let meta = params.and_then(|params| members(member(&params, "_meta")?).ok());
    meta.unwrap_or_default()
}

fn member<'a>(members: &[(String, &'a RawValue)], name: &str) -> Option<&'a str> {
    members.iter().find(|(had, _)| had == name).map(|(_, value)| value.get())
}

fn text_of(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_whether_messages_come_before_its_answer() {
        for (text, is_likely) in [
            (r#"{"id":1,"method":"x"}"#, false),
            (r#"{"id":1,"method":"x","params":{"_meta":{"progressToken":1}}}"#, true),
            (r#"{"id":1,"method":"x","params":{"_meta":{"a":1}}}"#, false),
            (
                r#"{"id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/logLevel":"info"}}}"#,
                true,
            ),
            (r#"{"id":1,"method":"subscriptions/listen"}"#, true),
            (r#"[{"id":1,"method":"subscriptions/listen"}]"#, false),
            ("{", false),
        ] {
            assert_eq!(wants_events(text), is_likely, "{text}");
        }
    }

    #[test]
    fn the_request_alone_says_its_era() {
        const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        let meta = |method: &str, meta: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{{meta}}}}}}}"#
            )
        };
        let modern =
            |version: Option<&str>| MessageEra::Modern { version: version.map(str::to_owned) };
        let caps = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
        for (text, header, expected) in [
            (meta("tools/list", VERSION), None, modern(Some("2026-07-28"))),
            (meta("initialize", VERSION), None, modern(Some("2026-07-28"))),
            (meta("tools/list", caps), None, modern(None)),
            (meta("tools/list", r#""progressToken":1"#), None, MessageEra::Legacy),
            (meta("tools/list", ""), Some("2026-07-28"), modern(None)),
            (meta("tools/list", ""), Some("2025-11-25"), MessageEra::Legacy),
            (meta("initialize", ""), Some("2026-07-28"), MessageEra::Initialize),
            (meta("initialize", ""), None, MessageEra::Initialize),
            (meta("server/discover", ""), None, modern(None)),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#.into(),
                None,
                MessageEra::Notice,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), None, MessageEra::Legacy),
            ("[]".into(), None, MessageEra::Legacy),
            ("{".into(), None, MessageEra::Unreadable),
            ("7".into(), None, MessageEra::Unreadable),
        ] {
            let header = header.map(|value| McpHeaders::new([("MCP-Protocol-Version", value)]));
            assert_eq!(era_of(&text, header.as_ref()), expected, "{text}");
        }
    }
}
