//! What goes wrong in a flow, as errors of this library: without secrets, and with a bound to what others say.

use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::AuthError;
use serde_json::Value;
use trunkline_pool::interface::{Retry, words};
use trunkline_pool::oauth::Authentication;

use super::fetch::{Answered, Fetch};
use crate::base::escape::escape_line;
use crate::{Error, ErrorCode};

/// Characters of somebody else's words that an error repeats.
const SHOWN_CHARS_MAX: usize = 200;

/// The errors of an authorization server that does not know the client.
const UNKNOWN_CLIENT: [&str; 3] =
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

/// The server's metadata are those of another resource.
pub(super) fn another_resource(fetch: &Fetch) -> Error {
    let message = "the server's metadata are those of another resource";
    let found = fetch.foreign_resource();
    differs(message, "resource", fetch.guard().home().as_str(), found.as_deref())
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

/// What a flow failed with. What was refused here says more than what came of it.
pub(super) fn of(error: AuthError, fetch: &Fetch) -> Error {
    let ours = fetch.take_failure();
    let error = ours.unwrap_or_else(|| {
        let words = shown(&fetch.redact(&error.to_string()));
        sorted(error, words, fetch)
    });
    error.with_server(fetch.server())
}

fn sorted(error: AuthError, words: String, fetch: &Fetch) -> Error {
    let answered = fetch.take_answered();
    match error {
        AuthError::PkceUnsupported => pkce(),
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
            another_issuer(&expected_issuer, Some(&received_issuer))
        }
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            another_issuer(&expected_issuer, None)
        }
        AuthError::ProtectedResourceMetadataInvalid { .. } => another_resource(fetch),
        AuthError::AuthorizationServersUnavailable { .. } => {
            broken("none of the authorization servers can be used", "metadata")
        }
        AuthError::RegistrationFailed(_) => {
            let hint = "register a client, and write its `client_id` into `oauth`";
            let error = required(format!("registration failed: {words}")).with_hint(hint);
            with_answer(error, answered)
        }
        AuthError::TokenExchangeFailed(_)
        | AuthError::ClientCredentialsError(_)
        | AuthError::TokenRefreshRejected(_)
        | AuthError::TokenRefreshFailed(_)
        | AuthError::AuthorizationRequired => unissued(words, answered),
        _ => broken(words, "metadata"),
    }
}

/// No token was issued, or none that is one.
fn unissued(words: String, answered: Option<Answered>) -> Error {
    match answered {
        Some(Answered { status, error: None, .. }) if status.is_success() => {
            broken(format!("the answer of the authorization server is no token: {words}"), "token")
        }
        Some(Answered { status, error: None, .. }) => {
            let status = status.as_u16();
            let message = format!("the authorization server answered with the status {status}");
            with_answer(required(message), answered)
        }
        Some(Answered { error: Some(ref code), proof: Some(proof), .. })
            if UNKNOWN_CLIENT.contains(&&**code) =>
        {
            with_answer(unproved(&words, proof), answered)
        }
        Some(_) | None => with_answer(required(words), answered),
    }
}

/// The authorization server does not take the client for what it says. Some announce one way to prove it and take another, which nobody
/// tries on their word: a code is good for one try, and no request for a token is repeated (SPEC 18.6).
fn unproved(words: &str, proof: Authentication) -> Error {
    let how = proof.name();
    required(format!("{words}; the client's authentication was `{how}`")).with_detail("authentication", how).with_hint(
        "check `client_id` and `client_secret` in `oauth`; the way to show them is the one that the authorization server's metadata announce, or the answer to a registration",
    )
}

/// With the code that the authorization server refused by, and the status.
fn with_answer(error: Error, answered: Option<Answered>) -> Error {
    let Some(Answered { status, error: code, .. }) = answered else { return error };
    let error = match code {
        Some(code) => error.with_detail("error", shown(&code)),
        None => error,
    };
    with_status(error, status)
}

/// With the status of a refusal. One that is no fault of what was asked may pass.
fn with_status(error: Error, status: http::StatusCode) -> Error {
    if status.is_success() {
        return error;
    }
    let error = error.with_detail("status", status.as_u16());
    if !status.is_server_error() {
        return error;
    }
    error.with_retry(Retry::Later).with_hint("sign in again once the authorization server works")
}

/// Whether the authorization server does not know the client, or not any more (RFC 6749 5.2).
pub(super) fn is_of_unknown_client(error: &AuthError) -> bool {
    let (AuthError::TokenExchangeFailed(words) | AuthError::TokenRefreshFailed(words)) = error
    else {
        return false;
    };
    UNKNOWN_CLIENT.iter().any(|code| words.contains(code))
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
