//! What goes wrong in a flow, as errors of this library: without secrets, and with a bound to what
//! others say.

use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use trunkline_pool::interface::words;

use crate::base::escape::escape_line;
use crate::{Error, ErrorCode};

/// Characters of somebody else's words that an error repeats.
const SHOWN_CHARS_MAX: usize = 200;

/// The errors of an authorization server that does not know the client.
pub(super) const UNKNOWN_CLIENT: [&str; 3] =
    ["incorrect_client_credentials", "invalid_client", "unauthorized_client"];

/// A server, or an authorization server, broke a rule.
pub(super) fn broken(message: impl Into<String>, refused: &str) -> Error {
    Error::new(ErrorCode::Protocol, message).with_detail("refused", refused)
}

/// An answer is coded in a way that is not read here.
pub(super) fn coded(url: &Url, coding: &str) -> Error {
    let address = url.origin().ascii_serialization();
    let coding = shown(coding);
    broken(format!("{address} compressed its answer ({coding}), which nobody asked for"), "coding")
        .with_detail("address", address)
        .with_detail("content_encoding", coding)
        .with_hint("have the authorization server, or the proxy before it, obey `Accept-Encoding: identity`")
}

/// Two values that have to be the same, and are not. Both are shown, bounded and escaped.
pub(super) fn differs(message: &str, refused: &str, expected: &str, found: Option<&str>) -> Error {
    let (expected, found) = (shown(expected), found.map(shown));
    let words = match &found {
        Some(found) => format!("{message}: `{expected}` was expected, and `{found}` was found"),
        None => format!("{message}: `{expected}` was expected, and nothing was found"),
    };
    let error = broken(words, refused).with_detail("expected", expected);
    match found {
        Some(found) => error.with_detail("found", found),
        None => error,
    }
}

/// The authorization server is another than it has to be.
pub(super) fn another_issuer(expected: &str, found: Option<&str>) -> Error {
    let message = "the authorization server is not the one that was asked";
    differs(message, "issuer", expected, found)
}

/// No client was registered.
pub(super) fn unregistered(why: &str) -> Error {
    let hint = "register a client, and write its `client_id` into `oauth`";
    required(format!("registration failed: {why}")).with_hint(hint)
}

/// A person has to sign in, or nothing more can be done for the server.
pub(super) fn required(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::AuthRequired, message).with_detail("missing", words::missing::TOKEN)
}

/// What has to be asked before anything is issued took too long in all.
pub(super) fn slow(server: &str, bound: Duration) -> Error {
    let bound = u64::try_from(bound.as_millis()).unwrap_or(u64::MAX);
    let message = format!("finding the authorization server took more than {bound} ms in all");
    Error::new(ErrorCode::Timeout, message)
        .with_server(server)
        .with_detail("which", words::deadline::CONNECT)
        .with_detail("timeout_ms", bound)
        .with_hint("check that the server, and the authorization server that it names, answer")
}

/// The same, where it says so in the redirect of a sign-in (RFC 6749 4.1.2.1).
pub(super) fn names_unknown_client(refusal: &Error) -> bool {
    let error = refusal.detail().get("error").and_then(Value::as_str);
    error.is_some_and(|error| UNKNOWN_CLIENT.contains(&error))
}

/// The authorization server does not say that it protects the code.
pub(super) fn pkce() -> Error {
    broken("the authorization server does not say that it supports PKCE with S256", "pkce")
}

/// Somebody else's words.
pub(super) fn shown(text: &str) -> String {
    escape_line(text.as_bytes()).chars().take(SHOWN_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6749 4.1.2.1: what names no error says nothing of the client.
    #[test]
    fn a_refusal_may_name_no_error() {
        let named = |error| required("refused").with_detail("error", error);
        let unknown = [required("refused"), named("access_denied"), named("invalid_client")];
        assert_eq!(unknown.map(|refusal| names_unknown_client(&refusal)), [false, false, true]);
    }
}
