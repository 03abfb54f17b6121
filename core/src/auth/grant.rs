//! What an authorization server issued, and how more is had of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;
use rmcp::transport::auth::{AuthorizationManager, OAuthTokenResponse};
use serde::Deserialize;

use super::discovery::quiet;
use super::failure;
use super::fetch::Fetch;
use crate::Error;

/// A token is renewed this long before it expires, so that it does not on its way.
const RENEWED_BEFORE: Duration = Duration::from_secs(30);

/// A token as it is sent.
#[derive(Clone)]
pub(super) struct Token {
    pub header: HeaderValue,
    pub secret: String,
    expires: Option<Instant>,
}

impl Token {
    /// A token in words.
    ///
    /// # Errors
    /// `protocol` when it cannot be sent (S-37).
    pub(super) fn new(secret: &str, lives: Option<Duration>) -> Result<Token, Error> {
        let unfit =
            || failure::broken("the token holds characters that no header can have", "token");
        let visible = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        let header = HeaderValue::from_str(&format!("Bearer {secret}")).ok().filter(|_| visible);
        let mut header = header.ok_or_else(unfit)?;
        header.set_sensitive(true);
        let expires = lives.and_then(|lives| Instant::now().checked_add(lives));
        Ok(Token { header, secret: secret.to_owned(), expires })
    }

    /// Whether it should be renewed before it is sent again.
    pub(super) fn is_stale(&self) -> bool {
        let soon = Instant::now() + RENEWED_BEFORE;
        self.expires.is_some_and(|expires| expires <= soon)
    }
}

/// What was issued for one server. It stays with the authorization server that issued it.
pub(super) struct Grant {
    flows: AuthorizationManager,
    fetch: Arc<Fetch>,
    /// Who issued it.
    pub issuer: String,
    /// The scopes that it is for.
    pub scopes: Vec<String>,
    /// Whether it came with something to renew it with.
    is_renewable: bool,
}

/// What of an answer counts here.
#[derive(Deserialize)]
struct Issued {
    access_token: String,
    token_type: Option<String>,
    expires_in: Option<u64>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

impl Grant {
    /// What an authorization server answered; `asked` are the scopes that it was asked for.
    ///
    /// # Errors
    /// `protocol` for a token of another kind, or one that cannot be sent.
    pub(super) fn of(
        flows: AuthorizationManager,
        fetch: Arc<Fetch>,
        issuer: String,
        (asked, answer): (Vec<String>, &OAuthTokenResponse),
    ) -> Result<(Grant, Token), Error> {
        let (token, issued) = read(answer)?;
        let words = |scope: String| scope.split_whitespace().map(str::to_owned).collect();
        let scopes = issued.scope.map_or(asked, words);
        let is_renewable = issued.refresh_token.is_some();
        Ok((Grant { flows, fetch, issuer, scopes, is_renewable }, token))
    }

    pub(super) fn is_renewable(&self) -> bool {
        self.is_renewable
    }

    /// Another token for the same.
    ///
    /// # Errors
    /// `auth_required` when there is none to be had; what the network does.
    pub(super) async fn renew(&self) -> Result<Token, Error> {
        self.fetch.begin();
        let renewed = quiet(self.flows.refresh_token()).await;
        let answer = renewed.map_err(|error| failure::of(error, &self.fetch))?;
        read(&answer).map(|(token, _)| token)
    }
}

fn read(answer: &OAuthTokenResponse) -> Result<(Token, Issued), Error> {
    let unread = |_| failure::broken("the answer of the authorization server is no token", "token");
    let value = serde_json::to_value(answer).map_err(unread)?;
    let issued: Issued = serde_json::from_value(value).map_err(unread)?;
    let is_bearer =
        issued.token_type.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
    if !is_bearer {
        return Err(failure::broken("the token is of a kind that is not supported", "token"));
    }
    let lives = issued.expires_in.map(Duration::from_secs);
    Ok((Token::new(&issued.access_token, lives)?, issued))
}
