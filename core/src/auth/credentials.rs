//! What one server is sent to be let in: shared by all connections of one configuration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;
use trunkline_pool::config::RemoteSpec;

use super::challenge::Challenge;
use super::client::{ClientSpec, Way};
use super::grant::{Grant, Token};
use super::sign_in::client_credentials;
use crate::Error;

/// All that one renewal takes; a message waits for it, within its own deadline.
const RENEWAL_WAIT_MAX: Duration = Duration::from_secs(30);

/// Sign-ins in a row for scopes that were asked for before. A server that wants them again and again gets no more of them.
const SAME_SCOPES_MAX: u32 = 2;

/// The credentials of one configuration.
pub(crate) struct Credentials {
    pub(super) server: Arc<str>,
    /// The server's address; none where there is nothing to sign in to.
    pub(super) home: Option<Url>,
    pub(super) spec: ClientSpec,
    /// Why nobody can sign in here.
    pub(super) is_fixed: bool,
    state: Mutex<State>,
    /// One renewal at a time.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    token: Option<Token>,
    grant: Option<Arc<Grant>>,
    /// What the server answered last without letting in.
    refused: Option<String>,
    /// The authorization server that knows the configured client; it is not introduced to another (S-33).
    issuer: Option<String>,
    /// The scopes that the last sign-in asked for, and how often in a row.
    asked: (Vec<String>, u32),
}

/// How a server refused a message.
pub(crate) struct Refused<'a> {
    /// What it was sent, if anything.
    pub sent: Option<&'a HeaderValue>,
    /// Its `WWW-Authenticate`, if it has one of `Bearer`.
    pub challenge: Option<&'a str>,
    /// Whether another token for the same may do: 401, not 403.
    pub is_unknown: bool,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials({}, [redacted])", self.server)
    }
}

impl Credentials {
    /// Those of a remote server, of which there are none yet.
    pub(super) fn new(server: Arc<str>, remote: &RemoteSpec, spec: ClientSpec) -> Credentials {
        Credentials {
            server,
            home: Url::parse(&remote.url)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https")),
            spec,
            is_fixed: remote.headers.contains_key("authorization"),
            state: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
        }
    }

    /// What goes with a message, unless the configuration has its own.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        self.state().token.as_ref().map(|token| token.header.clone())
    }

    /// What must not be shown of it.
    pub(crate) fn secret(&self) -> Option<String> {
        self.state().token.as_ref().map(|token| token.secret.clone())
    }

    /// Renews a token that is about to expire, before a message goes out with it. A failure shows in the server's answer.
    pub(crate) async fn prepare(self: &Arc<Self>) {
        let stale = self.state().token.clone().filter(Token::is_stale);
        if let Some(stale) = stale {
            self.renew_beside(Some(stale.header)).await;
        }
    }

    /// Whether there is something else to send to a server that refused a message: what another message has found meanwhile, or
    /// what the authorization server gives without a person. Of each message this is asked once.
    pub(crate) async fn has_other(self: &Arc<Self>, refused: Refused<'_>) -> bool {
        if self.is_fixed {
            return false;
        }
        if let Some(challenge) = refused.challenge {
            self.state().refused = Some(challenge.to_owned());
        }
        refused.is_unknown && self.renew_beside(refused.sent.cloned()).await
    }

    /// Renews in a task of its own: a caller that goes must not lose the token that takes the place of the one it used up.
    async fn renew_beside(self: &Arc<Self>, used: Option<HeaderValue>) -> bool {
        let this = self.clone();
        let renewed = tokio::spawn(async move {
            tokio::time::timeout(RENEWAL_WAIT_MAX, this.renew(used.as_ref())).await
        });
        matches!(renewed.await, Ok(Ok(true)))
    }

    async fn renew(self: &Arc<Self>, used: Option<&HeaderValue>) -> bool {
        let _one = self.renewing.lock().await;
        let (now, grant) = {
            let state = self.state();
            (state.token.as_ref().map(|token| token.header.clone()), state.grant.clone())
        };
        if now.as_ref() != used {
            return now.is_some();
        }
        let renewed = match grant.filter(|grant| grant.is_renewable()) {
            Some(grant) => grant.renew().await,
            None if self.spec.way == Way::ClientCredentials => {
                client_credentials(self).await.map(|(grant, token)| {
                    self.state().grant = Some(Arc::new(grant));
                    token
                })
            }
            None => return false,
        };
        match renewed {
            Ok(token) => {
                self.state().token = Some(token);
                true
            }
            Err(error) => {
                tracing::info!(server = %self.server, %error, "a token was not renewed");
                false
            }
        }
    }

    /// A person signed in.
    pub(super) fn signed_in(&self, grant: Grant, token: Token) {
        let mut state = self.state();
        state.refused = None;
        state.issuer = Some(grant.issuer.clone());
        state.grant = Some(Arc::new(grant));
        state.token = Some(token);
    }

    /// Forgets what there is; whether there was any.
    pub(super) fn sign_out(&self) -> bool {
        let mut state = self.state();
        state.grant = None;
        state.asked = Default::default();
        state.token.take().is_some()
    }

    /// Whether there is nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state();
        state.token.is_none() && state.issuer.is_none()
    }

    /// The `WWW-Authenticate` of the last refusal.
    pub(super) fn refusal(&self) -> Option<String> {
        self.state().refused.clone()
    }

    /// The authorization server that the configured client may not leave.
    pub(super) fn known_issuer(&self) -> Option<String> {
        self.state().issuer.clone().filter(|_| self.spec.client_secret.is_some())
    }

    /// The scopes to ask for: those of the configuration; with those that there are, when the server wants more than these.
    /// Empty when the metadata are to say.
    ///
    /// # Errors
    /// When the same were asked for again and again.
    pub(super) fn scopes(&self) -> Result<Vec<String>, Error> {
        let mut state = self.state();
        let challenge = Challenge::of(state.refused.as_deref().into_iter());
        let mut scopes = self.spec.scopes.clone();
        if challenge.wants_more() {
            scopes.extend(state.grant.iter().flat_map(|grant| grant.scopes.clone()));
            scopes.extend(state.asked.0.clone());
        }
        if challenge.wants_more() || !scopes.is_empty() {
            scopes.extend(challenge.scopes().map(str::to_owned));
        }
        scopes.sort();
        scopes.dedup();
        if !challenge.wants_more() {
            state.asked = (scopes.clone(), 0);
            return Ok(scopes);
        }
        let (before, times) = &mut state.asked;
        *times = if *before == scopes { *times + 1 } else { 0 };
        *before = scopes.clone();
        match *times > SAME_SCOPES_MAX {
            true => {
                Err(super::failure::required("the server asks again for scopes that it was given")
                    .with_server(&*self.server)
                    .with_detail("missing", "scope"))
            }
            false => Ok(scopes),
        }
    }

    /// A sign-in begins that asks for these scopes, whoever added to what was to be asked for.
    pub(super) fn asks_for(&self, scopes: &[String]) {
        let mut scopes = scopes.to_vec();
        scopes.sort();
        scopes.dedup();
        self.state().asked.0 = scopes;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
