//! How a server stands, in a word.

use serde_json::Value;

use super::format::text;
use super::terminal::Tone;

/// The word for a server's row of the status, and its tone for the reader.
pub(crate) fn of(server: &Value) -> (&str, Tone) {
    let state = text(server, "state");
    match (state, server["reason"].as_str()) {
        ("connected", _) => (state, Tone::Good),
        (_, Some(reason @ ("failed" | "invalid_config" | "auth_required"))) => {
            (reason, Tone::Wrong)
        }
        (_, Some(reason)) => (reason, Tone::Waiting),
        (state, None) => (state, Tone::Waiting),
    }
}
