//! What one server is sent to be let in: shared by all connections of one configuration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use reqwest::Url;
use reqwest::header::HeaderValue;
use trunkline_pool::config::{Fingerprint, RemoteSpec, ServerSpec, Transport};
use trunkline_pool::interface::words;

use tokio::sync::watch;

use self::grant::{Grant, GrantOrigin, Used};
use self::grant_types::{Ordinal, Reason, Token};
use self::refused_for_good::FinalRefusals;
use self::requested_scopes::RequestedScopes;
use super::client_config::{ClientSpec, GrantType};
use super::errors;
use super::fetch::warnings::Warnings;
use super::host_credentials::{Denial, HostCredentials};
use crate::Error;
use crate::net::address_policy::Author;
use crate::net::redact::Learned;
use crate::storage::tokens::{Store, TokenRecord};

/// The credentials of one configuration.
pub(crate) struct Credentials {
    pub(super) server: Arc<str>,
    /// That of the configuration, by which it knows again what it was signed in for.
    pub(super) fingerprint: Fingerprint,
    /// The server's address; none where there is nothing to sign in to.
    pub(super) home: Option<Url>,
    pub(super) spec: ClientSpec,
    /// Who wrote that.
    pub(super) author: Author,
    pub(super) warnings: Arc<Warnings>,
    /// Why nobody can sign in here.
    pub(super) is_fixed: bool,
    /// The host, where it gives credentials.
    pub(super) source: Option<HostCredentials>,
    /// Where sign-ins are kept beside the memory.
    pub(super) store: Option<Arc<Store>>,
    /// What of it was sent, or may be, and is not shown.
    pub(crate) learned: Arc<Learned>,
    /// Counts the times that everything was forgotten.
    pub(crate) forgotten: watch::Sender<u64>,
    /// What renews nothing any more.
    pub(super) spent: FinalRefusals,
    state: Mutex<CredentialState>,
    /// One renewal at a time. Each of its steps has a bound of its own, and it is never cut between
    /// them. For a grant of the memory one exchange (`EXCHANGE_WAIT_MAX` of `fetch`, 10 s), the
    /// host's answer (`ANSWER_WAIT_MAX` of `host_credentials`, 30 s) and `OWN_WAIT_MAX`: 70 s. For
    /// one that is kept the locks of the file (`RENEWAL_WAIT_MAX` and `WRITE_WAIT_MAX` of
    /// `storage`, 30 s and 5 s), and finding who issued it (`FIND_WAIT_MAX` of `token_sync`, 10 s).
    /// Then one exchange and the host's answer: 85 s. Where a grant that was not kept is found to
    /// be over first, another lock and another exchange: 125 s. Who waits here waits no longer than
    /// that, since it takes what came of the renewal that it waited for.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// One sign-in or sign-out at a time, in the memory and in the file.
    pub(super) changing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
pub(super) struct CredentialState {
    pub token: Option<Token>,
    grant: Option<Arc<Grant>>,
    whose: CredentialOwner,
    /// The authorization server that knows the configured client; it is not introduced to another
    /// (S-33).
    issuer: Option<String>,
    pub asked: RequestedScopes,
    /// Renewals that have ended. Who waited for one takes what came of it.
    pub renewals: u64,
    /// When the last of them ended that no refusal had called for.
    pub renewed: Option<Instant>,
    /// How often somebody signed out. What a renewal brings that began before is void.
    pub sign_outs: u64,
    /// When the last sign-out was asked for, and the sign-in that was finished. A sign-in that was
    /// asked for before either is void, and a sign-out before that sign-in.
    signed_out: Ordinal,
    signed_in: Ordinal,
    /// Whether the file holds what somebody signed out of.
    pub ignores_kept: bool,
    /// What the host gave last, where that was nothing.
    pub denial: Option<Denial>,
    /// Why the last token could not be renewed or issued, until another is there.
    pub unrenewed: Option<Error>,
    /// Whether the server was left without what it wants, though the host may have it by now.
    pub is_wanting: bool,
}

/// Whose the token is.
#[derive(Default)]
enum CredentialOwner {
    /// The host's.
    #[default]
    Host,
    /// That of the grant which is held.
    Grant,
    /// That of the file, which has this; nobody restored its grant yet.
    File(Box<TokenRecord>),
}

impl CredentialState {
    /// A token of this grant is sent from here on. What another process signed in for ends what is
    /// held for anything else, and the next sign-in asks for no fewer scopes.
    pub(super) fn hold(&mut self, origin: Option<GrantOrigin>) {
        self.whose = match origin {
            None => CredentialOwner::Host,
            Some(GrantOrigin::Held) => CredentialOwner::Grant,
            Some(GrantOrigin::New(grant)) => {
                self.grant = Some(grant);
                CredentialOwner::Grant
            }
            Some(GrantOrigin::Kept(kept)) => {
                // One that was not kept is over by then.
                self.grant.take_if(|held| !held.is_kept() || !held.is_like(&kept));
                if self.grant.is_none() {
                    self.asked.took_up(&kept.scopes);
                }
                CredentialOwner::File(kept)
            }
        };
    }

    /// What is sent, which is to be renewed.
    pub(super) fn used(&self, reason: Reason) -> Used {
        let kept = match &self.whose {
            CredentialOwner::Host => None,
            CredentialOwner::Grant => self.grant.as_ref().and_then(|grant| grant.last_kept()),
            CredentialOwner::File(kept) => Some((**kept).clone()),
        };
        Used { token: self.token.clone(), reason, kept }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials({}, [redacted])", self.server)
    }
}

impl Credentials {
    /// Those of a remote server that has none yet.
    pub(super) fn new(
        (server, fingerprint, author): (Arc<str>, Fingerprint, Author),
        remote: &RemoteSpec,
        spec: ClientSpec,
        (source, store, warnings): (Option<HostCredentials>, Option<Arc<Store>>, Arc<Warnings>),
    ) -> Credentials {
        Credentials {
            server,
            fingerprint,
            home: home_of(&remote.url),
            spec,
            author,
            warnings,
            is_fixed: remote.headers.contains_key("authorization"),
            source,
            store,
            learned: Arc::default(),
            forgotten: watch::Sender::default(),
            spent: FinalRefusals::default(),
            state: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        }
    }

    /// Whether they can be those of this configuration: most others are told apart by the address.
    pub(super) fn is_of(&self, spec: &ServerSpec) -> bool {
        matches!(&spec.transport, Transport::Remote(remote) if home_of(&remote.url) == self.home)
    }

    /// What goes with a message, unless the configuration has its own.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        self.state().token.as_ref().map(|token| token.header.clone())
    }

    /// The server that they were first asked for.
    pub(crate) fn server(&self) -> &Arc<str> {
        &self.server
    }

    /// Why the host gave nothing, if it was asked last and did not.
    pub(crate) fn denial(&self) -> Option<Denial> {
        self.state().denial.clone()
    }

    /// Why the authorization server issued nothing, if it was asked since there was a token last.
    pub(crate) fn unrenewed(&self) -> Option<Error> {
        self.state().unrenewed.clone()
    }

    /// Whether the server was left without what it wants, though the host may have it by now. Says
    /// so once.
    pub(crate) fn take_wanting(&self) -> bool {
        std::mem::take(&mut self.state().is_wanting)
    }

    /// What was issued last.
    pub(super) fn grant(&self) -> Option<Arc<Grant>> {
        self.state().grant.clone()
    }

    /// Whether the next process has what is sent here too.
    pub(super) fn is_in_file(&self) -> bool {
        let state = self.state();
        // A client of the configuration is let in by that, in every process that has it.
        let lasts =
            |grant: &Arc<Grant>| grant.is_kept() || self.spec.way == GrantType::ClientCredentials;
        let is_there = match state.whose {
            CredentialOwner::Host => false,
            CredentialOwner::Grant => state.grant.as_ref().is_some_and(lasts),
            CredentialOwner::File(_) => true,
        };
        self.store.is_some() && is_there
    }

    /// A person signed in.
    pub(super) fn signed_in(&self, ordinal: Ordinal, grant: Grant, token: Token) {
        self.spent.forget();
        let mut state = self.state();
        state.signed_in = ordinal;
        state.asked.answered();
        (state.denial, state.is_wanting) = (None, false);
        state.issuer = Some(grant.issuer.clone());
        (state.grant, state.whose) = (Some(Arc::new(grant)), CredentialOwner::Grant);
        state.renewed = None;
        self.keep(&mut state, Some(token));
    }

    /// The token that is sent from here on. It is a secret before it can be anywhere else.
    pub(super) fn keep(&self, state: &mut CredentialState, token: Option<Token>) {
        token.iter().for_each(|token| self.learned.learn(&token.secret));
        state.unrenewed = None;
        state.token = token;
    }

    /// A sign-out was asked for, and is carried out from here on.
    pub(super) fn signs_out(&self, ordinal: Ordinal) {
        let mut state = self.state();
        state.signed_out = state.signed_out.max(ordinal);
    }

    /// Whether a sign-out was asked for after this.
    pub(super) fn is_signed_out_since(&self, ordinal: Ordinal) -> bool {
        self.state().signed_out > ordinal
    }

    /// Whether a sign-in was asked for after this, and is finished.
    pub(super) fn is_signed_in_since(&self, ordinal: Ordinal) -> bool {
        self.state().signed_in > ordinal
    }

    /// Forgets what there is; whether there was any.
    pub(super) fn sign_out(&self) -> bool {
        self.spent.forget();
        let mut state = self.state();
        (state.grant, state.whose) = (None, CredentialOwner::default());
        (state.renewed, state.unrenewed) = (None, None);
        state.sign_outs += 1;
        state.asked.forget();
        let had_some = state.token.take().is_some();
        drop(state);
        if had_some {
            self.forgotten.send_modify(|times| *times += 1);
        }
        had_some
    }

    /// What is in the file counts no more, until a sign-in is kept: a sign-out could not remove it.
    pub(super) fn ignore_kept(&self) {
        self.state().ignores_kept = true;
    }

    /// What is in the file counts: it is what somebody signed in for.
    pub(super) fn heed_kept(&self) {
        self.state().ignores_kept = false;
    }

    /// The authorization server that the configured client belongs to from here on (S-33).
    pub(super) fn belongs_to(&self, issuer: &str) {
        self.state().issuer = Some(issuer.to_owned());
    }

    /// Whether there is nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state();
        state.token.is_none() && state.issuer.is_none()
    }

    /// The `WWW-Authenticate` of the last refusal.
    pub(super) fn refusal(&self) -> Option<String> {
        self.state().asked.refusal().map(str::to_owned)
    }

    /// The authorization server that the configured client may not leave.
    pub(super) fn known_issuer(&self) -> Option<String> {
        self.state().issuer.clone().filter(|_| self.spec.client_secret.is_some())
    }

    /// The scopes to ask for; empty when the metadata are to say.
    ///
    /// # Errors
    /// When a person signed in for the same again and again.
    pub(super) fn scopes(&self) -> Result<Vec<String>, Error> {
        let mut state = self.state();
        let granted = state.grant.clone();
        let granted = granted.iter().flat_map(|grant| grant.scopes.clone());
        state.asked.next(&self.spec.scopes, granted).ok_or_else(|| {
            errors::required("the server asks again for scopes that it was given")
                .with_server(&*self.server)
                .with_detail("missing", words::missing::SCOPE)
        })
    }

    /// A sign-in begins that asks for these scopes, no matter who added to them.
    pub(super) fn asks_for(&self, scopes: &[String]) {
        self.state().asked.begin(scopes);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, CredentialState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address whose metadata say where to sign in, and that tokens are asked for (RFC 8707):
/// without what may be secret in it, since it is told to others. A websocket begins as a request of
/// HTTP.
fn home_of(url: &str) -> Option<Url> {
    let mut url = Url::parse(url).ok()?;
    let scheme = match url.scheme() {
        "ws" | "http" => "http",
        "wss" | "https" => "https",
        _ => return None,
    };
    url.set_scheme(scheme).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

pub(super) mod grant;
pub(super) mod grant_types;
pub(super) mod refused_for_good;
pub(super) mod rejection;
pub(super) mod renewal;
pub(super) mod requested_scopes;
#[cfg(test)]
mod tests;
pub(super) mod token_sync;
