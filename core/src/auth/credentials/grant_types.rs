//! What a grant yields, why it is asked for, and when.

use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;
use serde::Deserialize;

use crate::Error;
use crate::auth::errors;
use crate::storage::tokens::{TokenRecord, now_ms};

/// A token is renewed this long before it expires, so that it does not on its way.
const RENEWED_BEFORE: Duration = Duration::from_secs(30);

/// A token as it is sent.
#[derive(Clone)]
pub(in crate::auth) struct Token {
    pub header: HeaderValue,
    pub secret: String,
    pub expires: Option<Instant>,
}

impl Token {
    /// A token in words.
    ///
    /// # Errors
    /// `protocol` when it cannot be sent (S-37).
    pub(in crate::auth) fn new(secret: &str, lives: Option<Duration>) -> Result<Token, Error> {
        let unfit =
            || errors::broken("the token holds characters that no header can have", "token");
        let visible = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        let header = HeaderValue::from_str(&format!("Bearer {secret}")).ok().filter(|_| visible);
        let mut header = header.ok_or_else(unfit)?;
        header.set_sensitive(true);
        let expires = lives.and_then(|lives| Instant::now().checked_add(lives));
        Ok(Token { header, secret: secret.to_owned(), expires })
    }

    /// A token that was kept.
    pub(in crate::auth) fn of_kept(kept: &TokenRecord) -> Option<Token> {
        let issued: Issued = serde_json::from_value(kept.token.clone()).ok()?;
        let ends = |lives: u64| kept.came_ms().saturating_add(lives.saturating_mul(1000));
        let left = issued.expires_in.map(|lives| ends(lives).saturating_sub(now_ms()));
        Token::new(&issued.access_token, left.map(Duration::from_millis)).ok()
    }

    /// Whether a kept one came with something to renew it with.
    pub(in crate::auth) fn can_be_renewed(kept: &TokenRecord) -> bool {
        kept.token["refresh_token"].as_str().is_some_and(|renewal| !renewal.is_empty())
    }

    /// Whether it should be renewed before it is sent again.
    pub(in crate::auth) fn is_stale(&self) -> bool {
        let soon = Instant::now() + RENEWED_BEFORE;
        self.expires.is_some_and(|expires| expires <= soon)
    }
}

/// What of an answer counts here.
#[derive(Deserialize)]
pub(in crate::auth) struct Issued {
    pub access_token: String,
    pub expires_in: Option<u64>,
    pub refresh_token: Option<String>,
    pub scope: Option<String>,
}

/// Why the host is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) enum Reason {
    /// Nothing was sent.
    Missing,
    /// What was sent was refused.
    Refused,
    /// What it gave is about to expire.
    Expired,
    /// What was sent is good for less than is wanted.
    Scope,
}

impl Reason {
    pub(in crate::auth) fn word(self) -> &'static str {
        match self {
            Reason::Missing => "missing",
            Reason::Refused => "refused",
            Reason::Expired => "expired",
            Reason::Scope => "scope",
        }
    }
}

/// When a sign-in or a sign-out was asked for. They may take how long they like, and nobody may
/// wait for one any more: what was asked for last stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ordinal(pub(in crate::auth) u64);
