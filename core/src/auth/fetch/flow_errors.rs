//! What a flow of rmcp failed with, as an error of this library.

use rmcp::transport::auth::AuthError;
use trunkline_pool::interface::RetryAdvice;
use trunkline_pool::oauth::Authentication;

use super::{AuthorizationAnswer, Fetch};
use crate::Error;
use crate::auth::errors::{UNKNOWN_CLIENT, another_issuer, broken, differs, pkce, required, shown};

/// The server's metadata are those of another resource.
pub(in crate::auth) fn another_resource(fetch: &Fetch) -> Error {
    let message = "the server's metadata are those of another resource";
    let found = fetch.foreign_resource();
    differs(message, "resource", fetch.guard().home().as_str(), found.as_deref())
}

/// What a flow failed with. What was refused here says more than what came of it.
pub(in crate::auth) fn of(error: AuthError, fetch: &Fetch) -> Error {
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
            broken("no authorization server can be used", "metadata")
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
fn unissued(words: String, answered: Option<AuthorizationAnswer>) -> Error {
    match answered {
        Some(AuthorizationAnswer { status, error: None, .. }) if status.is_success() => broken(
            format!("the answer of the authorization server is not a token: {words}"),
            "token",
        ),
        Some(AuthorizationAnswer { status, error: None, .. }) => {
            let status = status.as_u16();
            let message = format!("the authorization server answered with the status {status}");
            with_answer(required(message), answered)
        }
        Some(AuthorizationAnswer { error: Some(ref code), proof: Some(proof), .. })
            if UNKNOWN_CLIENT.contains(&&**code) =>
        {
            with_answer(unproved(&words, proof), answered)
        }
        Some(_) | None => with_answer(required(words), answered),
    }
}

/// The authorization server does not take the client for what it says. Some announce one way to
/// prove it and take another, which nobody tries on their word: a code is good for one try, and no
/// request for a token is repeated (SPEC 18.6).
fn unproved(words: &str, proof: Authentication) -> Error {
    let how = proof.name();
    required(format!("{words}; the client's authentication was `{how}`")).with_detail("authentication", how).with_hint(
        "check `client_id` and `client_secret` in `oauth`; the way to show them is the one that the authorization server's metadata announce, or the answer to a registration",
    )
}

/// With the code that the authorization server refused by, and the status.
fn with_answer(error: Error, answered: Option<AuthorizationAnswer>) -> Error {
    let Some(AuthorizationAnswer { status, error: code, .. }) = answered else { return error };
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
    error
        .with_retry(RetryAdvice::Later)
        .with_hint("sign in again once the authorization server works")
}

/// Whether the authorization server does not know the client, or not any more (RFC 6749 5.2).
pub(in crate::auth) fn is_of_unknown_client(error: &AuthError) -> bool {
    let (AuthError::TokenExchangeFailed(words) | AuthError::TokenRefreshFailed(words)) = error
    else {
        return false;
    };
    UNKNOWN_CLIENT.iter().any(|code| words.contains(code))
}
