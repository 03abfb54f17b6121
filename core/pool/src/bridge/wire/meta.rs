//! What the `_meta` of a request says: of a modern client everything that a session would know.

use serde_json::json;

use super::codes::{Denial, DenialKind};
use super::headers::{McpHeaders, VERSION_HEADER, check_one};
use super::reading::Params;
use super::revisions::{MODERN, spoken};
use crate::bridge::capabilities::ClientCapabilities;
use crate::config::Era;
use crate::json::members;
use crate::options::LogLevel;

/// What one request says of itself.
#[derive(Clone, Debug, Default)]
pub(in crate::bridge) struct RequestMeta {
    /// The JSON of the token that its progress is told with.
    pub progress_token: Option<String>,
    /// The least grave messages that it wants.
    pub log_level: Option<LogLevel>,
    /// What a modern client declares.
    pub capabilities: ClientCapabilities,
}

/// Reads the `_meta` of a request, and checks what the era demands of it. A revision that another
/// one stands beside in a header is a mismatch before it is one that nobody speaks.
pub(in crate::bridge) fn read(
    params: &Params<'_>,
    era: Era,
    headers: Option<&McpHeaders>,
) -> Result<RequestMeta, Denial> {
    let bad = |message: &str| Denial::new(DenialKind::BadMeta, message);
    let text = params.get("_meta");
    let members = match text.map(members) {
        None => Vec::new(),
        Some(Ok(members)) => members,
        Some(Err(_)) => return Err(bad("`_meta` is not an object")),
    };
    let get = |name: &str| {
        let found = members.iter().rfind(|(had, _)| had == name);
        found.map(|(_, value)| value.get()).filter(|value| *value != "null")
    };
    let mut meta = RequestMeta::default();
    if let Some(token) = get("progressToken") {
        let is_token = token.starts_with(['"', '-']) || token.as_bytes()[0].is_ascii_digit();
        if !is_token {
            return Err(bad("`_meta.progressToken` is not a string or a number"));
        }
        meta.progress_token = Some(token.to_owned());
    }
    if era == Era::Legacy {
        return Ok(meta);
    }
    let version = get("io.modelcontextprotocol/protocolVersion")
        .and_then(|version| serde_json::from_str::<String>(version).ok())
        .ok_or_else(|| bad("`_meta` lacks `io.modelcontextprotocol/protocolVersion`"))?;
    if version != MODERN {
        if let Some(headers) = headers {
            check_one(headers, VERSION_HEADER, &version)?;
        }
        return Err(unspoken(&version));
    }
    let capabilities = get("io.modelcontextprotocol/clientCapabilities")
        .and_then(ClientCapabilities::read)
        .ok_or_else(|| bad("`_meta` lacks `io.modelcontextprotocol/clientCapabilities`"))?;
    meta.capabilities = capabilities;
    if let Some(level) = get("io.modelcontextprotocol/logLevel") {
        let level = serde_json::from_str::<String>(level).ok();
        let level = level.and_then(|level| LogLevel::from_word(&level));
        let message = "`io.modelcontextprotocol/logLevel` is not a log level";
        meta.log_level = Some(level.ok_or_else(|| Denial::new(DenialKind::BadParams, message))?);
    }
    Ok(meta)
}

/// The denial of a revision that is not spoken.
pub(in crate::bridge) fn unspoken(requested: &str) -> Denial {
    let message = "the protocol version is not supported here";
    Denial::new(DenialKind::Version, message)
        .with(json!({ "supported": spoken(), "requested": requested }))
}
