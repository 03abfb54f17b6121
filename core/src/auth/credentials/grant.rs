//! What an authorization server issued, and how more is had of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::transport::auth::{
    AuthorizationManager, CredentialStore, InMemoryCredentialStore, OAuthClientConfig,
    OAuthTokenResponse, StoredCredentials,
};
use trunkline_pool::oauth::Authentication;

use super::grant_types::{Issued, Reason, Token};
use super::refused_for_good::{FinalRefusals, Renewal};
use crate::auth::errors;
use crate::auth::fetch::authorization_server::{Discovered, quiet};
use crate::auth::fetch::{Fetch, flow_errors};
use crate::storage::tokens::{GrantKey, TokenRecord, now_ms};
use crate::{Error, ErrorCode};

/// What a renewal is to bring something in place of.
pub(in crate::auth) struct Used {
    pub token: Option<Token>,
    pub reason: Reason,
    /// What the file had of the token when it came from there, or was kept.
    pub kept: Option<TokenRecord>,
}

impl Used {
    /// Whether this is to be sent instead. The same token that lives on is, where nobody refused
    /// it.
    pub(in crate::auth) fn yields_to(&self, token: &Token) -> bool {
        self.is_other(token) || self.lives_on_as(token)
    }

    /// The token of what is kept, where it is to be sent instead. After a clock was set back what
    /// was known of it seems to live on.
    pub(in crate::auth) fn yields_to_kept(&self, kept: &TokenRecord) -> Option<Token> {
        let token = Token::of_kept(kept).filter(|token| !token.is_stale())?;
        let lives_on = || self.kept.as_ref() != Some(kept) && self.lives_on_as(&token);
        (self.is_other(&token) || lives_on()).then_some(token)
    }

    fn is_other(&self, token: &Token) -> bool {
        self.token.as_ref().is_none_or(|old| token.header != old.header)
    }

    fn lives_on_as(&self, token: &Token) -> bool {
        let lives_longer = |old: &Token| {
            old.expires.is_some_and(|old| token.expires.is_none_or(|expires| expires > old))
        };
        self.reason == Reason::Expired && self.token.as_ref().is_some_and(lives_longer)
    }
}

/// What was issued for one server. It stays with the authorization server that issued it.
pub(in crate::auth) struct Grant {
    flows: AuthorizationManager,
    /// Where the flows keep what was issued.
    held: InMemoryCredentialStore,
    client: Client,
    fetch: Arc<Fetch>,
    /// Who issued it.
    pub issuer: String,
    /// The scopes that it is for.
    pub scopes: Vec<String>,
    /// Whether it came with something to renew it with.
    is_renewable: bool,
    /// Whether the authorization server said that it does not know the client.
    is_of_unknown_client: AtomicBool,
    /// Whether the last renewal found that there is nothing more to be had of it.
    is_over: AtomicBool,
    in_file: Mutex<InFile>,
}

/// Which grant another token is of.
pub(in crate::auth) enum GrantOrigin {
    /// The one that is held.
    Held,
    /// This one, which was not held before.
    New(Arc<Grant>),
    /// One that is in the file, which another process or an earlier run of the host was issued it
    /// for.
    Kept(Box<TokenRecord>),
}

/// What the file of tokens has of a grant.
#[derive(Default)]
struct InFile {
    /// Whether it has what is newest.
    is_newest: bool,
    /// What it had when it could last be read or written.
    last: Option<TokenRecord>,
    /// When somebody signed in for the grant, as the file tells sign-ins apart. None where nothing
    /// that is there is known to be later.
    signed_in_ms: Option<u64>,
}

/// What of its client a grant is renewed with, beside the client's id.
#[derive(Clone, Default)]
pub(in crate::auth) struct Client {
    /// Of one that was registered.
    pub secret: Option<String>,
    /// How it proves who it is, where its registration says so.
    pub authentication: Option<Authentication>,
    /// Until when its secret is good, in seconds since 1970, unless for ever.
    pub expires_at: Option<u64>,
    pub redirect_uri: String,
}

impl Client {
    fn of_kept(kept: &TokenRecord) -> Client {
        Client {
            secret: kept.client_secret.clone(),
            authentication: kept.client_authentication.as_deref().and_then(Authentication::of),
            expires_at: kept.client_expires_at,
            redirect_uri: kept.redirect_uri.clone(),
        }
    }

    /// Whether its registration is over.
    pub(in crate::auth) fn is_over(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= now_ms() / 1000)
    }
}

impl Grant {
    /// What an authorization server answered; `asked` are the scopes that it was asked for.
    ///
    /// # Errors
    /// `protocol` for a token that cannot be sent.
    pub(in crate::auth) fn of(
        (flows, held): (AuthorizationManager, InMemoryCredentialStore),
        fetch: Arc<Fetch>,
        (issuer, client): (String, Client),
        (asked, answer): (Vec<String>, &OAuthTokenResponse),
    ) -> Result<(Grant, Token), Error> {
        fetch.end();
        let (token, issued) = read(answer)?;
        let words = |scope: String| scope.split_whitespace().map(str::to_owned).collect();
        let scopes = issued.scope.map_or(asked, words);
        let is_renewable = issued.refresh_token.is_some();
        let grant = Grant::new((flows, held), fetch, (issuer, client), (scopes, is_renewable));
        Ok((grant, token))
    }

    fn new(
        (flows, held): (AuthorizationManager, InMemoryCredentialStore),
        fetch: Arc<Fetch>,
        (issuer, client): (String, Client),
        (scopes, is_renewable): (Vec<String>, bool),
    ) -> Grant {
        let (is_of_unknown_client, is_over) = Default::default();
        let in_file = InFile { signed_in_ms: Some(now_ms()), ..InFile::default() };
        Grant {
            flows,
            held,
            client,
            fetch,
            issuer,
            scopes,
            is_renewable,
            is_of_unknown_client,
            is_over,
            in_file: Mutex::new(in_file),
        }
    }

    /// A grant that was kept, with the authorization server as it is now.
    ///
    /// # Errors
    /// `protocol` when that is another than the one that issued it, or what was kept is no grant.
    pub(in crate::auth) async fn restore(
        kept: &TokenRecord,
        found: Discovered,
        configured_secret: Option<&str>,
    ) -> Result<Grant, Error> {
        let client = Client::of_kept(kept);
        let mut found = found;
        found.prove_by(client.authentication);
        let Discovered { mut flows, fetch, issuer, .. } = found;
        if issuer != kept.key.issuer {
            let message = "the authorization server is another than the one that issued the token";
            let error = errors::differs(message, "issuer", &kept.key.issuer, Some(&issuer));
            return Err(error.with_server(fetch.server()));
        }
        if kept.takes_bearer {
            fetch.takes_bearer();
        }
        let mut config = OAuthClientConfig::new(&kept.client_id, &client.redirect_uri);
        if let Some(secret) = client.secret.as_deref().or(configured_secret) {
            config = config.with_client_secret(secret);
        }
        flows.configure_client(config).map_err(|error| flow_errors::of(error, &fetch))?;
        let held = InMemoryCredentialStore::new();
        flows.set_credential_store(held.clone());
        let of = (kept.scopes.clone(), true);
        let grant = Grant::new((flows, held), fetch, (issuer, client), of);
        grant.take_over(kept).await?;
        Ok(grant)
    }

    /// What the file has in place of what is held: another process was issued it.
    pub(in crate::auth) async fn take_over(&self, kept: &TokenRecord) -> Result<(), Error> {
        let unread = |_| errors::broken("what was kept is not a token", "token");
        let token: OAuthTokenResponse =
            serde_json::from_value(kept.token.clone()).map_err(unread)?;
        let received = Some(kept.came_ms() / 1000);
        let stored = StoredCredentials::new(
            kept.client_id.clone(),
            Some(token),
            kept.scopes.clone(),
            received,
        );
        let stored = stored.with_issuer(Some(kept.key.issuer.clone()));
        self.held.save(stored).await.map_err(|error| flow_errors::of(error, &self.fetch))?;
        self.mark_saved(Some(kept.clone()));
        Ok(())
    }

    /// What is to be kept of it, under that key.
    pub(in crate::auth) async fn to_keep(&self, key: GrantKey) -> Option<TokenRecord> {
        let stored = self.held.load().await.ok()??;
        Some(TokenRecord {
            key,
            client_id: stored.client_id,
            client_secret: self.client.secret.clone(),
            client_authentication: self.client.authentication.map(|it| it.name().to_owned()),
            client_expires_at: self.client.expires_at,
            takes_bearer: self.fetch.is_bearer(),
            redirect_uri: self.client.redirect_uri.clone(),
            scopes: self.scopes.clone(),
            received_ms: now_ms(),
            signed_in_ms: self.in_file().signed_in_ms.unwrap_or_else(now_ms),
            token: serde_json::to_value(stored.token_response?).ok()?,
        })
    }

    /// Whether the file's grant was issued to the same client and for the same scopes. Then it can
    /// be renewed as the held one.
    pub(in crate::auth) fn is_like(&self, kept: &TokenRecord) -> bool {
        let last = self.last_kept();
        last.is_some_and(|last| {
            last.key.issuer == kept.key.issuer
                && last.client_id == kept.client_id
                && last.client_secret == kept.client_secret
                && last.scopes == kept.scopes
        })
    }

    /// Whether the file of tokens has what is newest of it.
    pub(in crate::auth) fn is_kept(&self) -> bool {
        self.in_file().is_newest
    }

    /// What the file had of it last.
    pub(in crate::auth) fn last_kept(&self) -> Option<TokenRecord> {
        self.in_file().last.clone()
    }

    /// The file has this of it, which is the newest.
    pub(in crate::auth) fn mark_saved(&self, last: Option<TokenRecord>) {
        let mut in_file = self.in_file();
        let signed_in_ms = last.as_ref().map(|last| last.signed_in_ms).or(in_file.signed_in_ms);
        *in_file = InFile { is_newest: true, last, signed_in_ms };
    }

    /// The file has nothing of it.
    pub(in crate::auth) fn mark_removed(&self) {
        let mut in_file = self.in_file();
        (in_file.is_newest, in_file.last) = (false, None);
    }

    /// Somebody signs in for it after what the file has, whatever the clock says; None where that
    /// cannot be known.
    pub(in crate::auth) fn comes_after(&self, signed_in_ms: Option<u64>) {
        let after = signed_in_ms.map(|before| now_ms().max(before.saturating_add(1)));
        self.in_file().signed_in_ms = after;
    }

    /// Whether somebody signed in for what the file has since they did for this.
    pub(in crate::auth) fn is_followed_by(&self, kept: &TokenRecord) -> bool {
        self.in_file().signed_in_ms.is_some_and(|signed_in_ms| kept.signed_in_ms > signed_in_ms)
    }

    /// It could not be kept: what is held is newer than what is in the file.
    pub(in crate::auth) fn mark_unsaved(&self) {
        self.in_file().is_newest = false;
    }

    fn in_file(&self) -> MutexGuard<'_, InFile> {
        self.in_file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::auth) fn is_renewable(&self) -> bool {
        self.is_renewable
    }

    /// Whether a renewal failed since the authorization server does not know the client.
    pub(in crate::auth) fn is_of_unknown_client(&self) -> bool {
        self.is_of_unknown_client.load(Ordering::Relaxed)
    }

    /// Whether nothing can be had of it any more, by the last word of the authorization server, if
    /// there is anything to ask it.
    pub(in crate::auth) fn is_over(&self) -> bool {
        !self.is_renewable || self.is_over.load(Ordering::Relaxed)
    }

    /// What it is renewed by.
    async fn renewal(&self) -> Option<Renewal> {
        let token = self.held.load().await.ok()??.token_response?;
        let token = serde_json::to_value(token).ok()?;
        Some(Renewal {
            issuer: self.issuer.clone(),
            signed_in_ms: self.in_file().signed_in_ms,
            refresh_token: token["refresh_token"].as_str()?.to_owned(),
        })
    }

    /// Another token for the same, unless that was refused for good already.
    ///
    /// # Errors
    /// `auth_required` when there is none to be had; what the network does.
    pub(in crate::auth) async fn renew(&self, spent: &FinalRefusals) -> Result<Token, Error> {
        let renewal = self.renewal().await;
        if let Some(refused) = renewal.as_ref().and_then(|renewal| spent.refusal_of(renewal)) {
            self.is_over.store(true, Ordering::Relaxed);
            return Err(refused);
        }
        self.fetch.begin();
        let renewed = self.exchanged().await;
        self.fetch.end();
        renewed.map_err(|(error, is_spent)| {
            if let Some(renewal) = renewal.filter(|_| is_spent) {
                spent.refused_for(renewal, &error);
            }
            error
        })
    }

    /// The token that it is exchanged for; else why not, and whether what it is renewed by is good
    /// for nothing.
    async fn exchanged(&self) -> Result<Token, (Error, bool)> {
        self.is_over.store(false, Ordering::Relaxed);
        if self.client.is_over() {
            self.is_of_unknown_client.store(true, Ordering::Relaxed);
            self.is_over.store(true, Ordering::Relaxed);
            let error = errors::required("the registration of the client is over");
            return Err((error.with_server(self.fetch.server()), false));
        }
        let renewed = quiet(self.flows.refresh_token()).await;
        let answer = renewed.map_err(|error| {
            let is_unknown = flow_errors::is_of_unknown_client(&error);
            self.is_of_unknown_client.store(is_unknown, Ordering::Relaxed);
            let (is_refused, is_spent) = (self.fetch.is_refused(), self.fetch.is_spent());
            let error = flow_errors::of(error, &self.fetch);
            let is_over = is_refused && error.code() == ErrorCode::AuthRequired;
            self.is_over.store(is_over, Ordering::Relaxed);
            (error, is_over && is_spent)
        })?;
        read(&answer).map(|(token, _)| token).map_err(|error| (error, false))
    }
}

fn read(answer: &OAuthTokenResponse) -> Result<(Token, Issued), Error> {
    let unread =
        |_| errors::broken("the answer of the authorization server is not a token", "token");
    let value = serde_json::to_value(answer).map_err(unread)?;
    let issued: Issued = serde_json::from_value(value).map_err(unread)?;
    let lives = issued.expires_in.map(Duration::from_secs);
    Ok((Token::new(&issued.access_token, lives)?, issued))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;
    use trunkline_pool::config::PoolKey;

    use super::*;
    use crate::auth::Author;

    fn kept(received_ms: u64) -> TokenRecord {
        let id = format!("s::{}", "0".repeat(64));
        let fingerprint = PoolKey::from_connection_id(&id).unwrap().fingerprint;
        TokenRecord {
            key: GrantKey::new(
                "https://issuer.example",
                "https://h.example/".into(),
                (&fingerprint, Author::Host),
            ),
            client_id: "client".into(),
            client_secret: None,
            client_authentication: None,
            client_expires_at: None,
            takes_bearer: false,
            redirect_uri: "http://localhost/".into(),
            scopes: Vec::new(),
            received_ms,
            signed_in_ms: received_ms,
            token: json!({ "access_token": "t", "expires_in": 3600 }),
        }
    }

    /// I-26: a clock that was set, back or forth, since a token was kept makes none live longer
    /// than it was issued for; one that seems to be over is renewed before it is sent.
    #[test]
    fn a_clock_that_was_set_makes_no_token_live_longer() {
        let lives = Duration::from_secs(3600);
        let hours = |count: u64| count * 3_600_000;
        for (received_ms, is_stale) in [
            (now_ms(), false),
            (now_ms() + hours(24 * 365), false),
            (u64::MAX, false),
            (now_ms() - hours(24 * 365), true),
            (0, true),
        ] {
            let token = Token::of_kept(&kept(received_ms)).unwrap();
            assert!(token.expires.unwrap() <= Instant::now() + lives, "{received_ms}");
            assert_eq!(token.is_stale(), is_stale, "{received_ms}");
        }
    }
}
