//! JSON-RPC errors that a lane answers by itself: what never reaches a client of the endpoint.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::serve::lane::LaneError;

/// The text is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// The message is not one that is taken here.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// A bound of the endpoint.
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// An error to a message whose id is not known.
pub(super) fn error_frame(code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } })
        .to_string()
}

/// An error to a message that was read, with its id if it has one.
pub(super) fn answer_to(message: &str, error: &LaneError) -> String {
    #[derive(Deserialize)]
    struct Identified<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    let id = serde_json::from_str::<Identified<'_>>(message).ok().and_then(|message| message.id);
    let LaneError { code, message, .. } = error;
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

/// The answer to a line or a body that is no message.
pub(super) fn unreadable() -> String {
    error_frame(PARSE_ERROR, "the message is not JSON, or too long")
}

/// Nothing is served at this path.
pub(super) fn not_served(path: &str) -> LaneError {
    let shown: String = path.chars().take(PATH_CHARS_MAX).collect();
    let path = crate::base::escape::escape_line(shown.as_bytes());
    LaneError {
        status: 404,
        code: INVALID_REQUEST,
        message: format!("nothing is served at `{path}`: paths are `/mcp` and `/mcp/<server>`"),
    }
}

/// So much of a path is shown.
const PATH_CHARS_MAX: usize = 200;
