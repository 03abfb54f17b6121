//! How another token is come by without a person: renewed, issued to the client itself, or given by
//! the host.
//!
//! A renewal runs beside its message and is not cut between its steps: a token that was issued
//! would be lost. A token of the same letters with a later end is a renewal, unless the server
//! refused it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;

use super::Credentials;
use super::grant::{Grant, GrantOrigin, Used};
use super::grant_types::{Reason, Token};
use super::rejection::{CredentialAttempt, Rejection};
use crate::Error;
use crate::auth::client_config::GrantType;
use crate::auth::errors;
use crate::auth::sign_in::client_credentials;
use crate::net::www_authenticate::Challenge;

/// All that a token for the client itself takes, which may be many exchanges. Nothing is lost that
/// is issued after it.
const OWN_WAIT_MAX: Duration = Duration::from_secs(30);

/// After a renewal of a token that was about to expire, whatever came of it, the next is not made
/// before this: a token that lives for seconds, or one that cannot be renewed, would otherwise cost
/// a renewal for each message.
const RENEWAL_REST: Duration = Duration::from_secs(10);

impl Credentials {
    /// Renews a token that is about to expire, before a message goes out with it, unless one was
    /// renewed or could not be just now. A failure shows in the server's answer.
    pub(crate) async fn prepare(self: &Arc<Self>) {
        let stale = {
            let state = self.state();
            let rests = state.renewed.is_some_and(|at| at.elapsed() < RENEWAL_REST);
            state.token.clone().filter(|token| !rests && token.is_stale())
        };
        if let Some(stale) = stale {
            self.renew_beside(Some(stale.header), Reason::Expired, CredentialAttempt::First).await;
        }
    }

    /// Whether there is something else to send to a server that refused a message: what another
    /// message has found meanwhile, or what the authorization server or the host gives without a
    /// person.
    pub(crate) async fn has_other(self: &Arc<Self>, refused: Rejection<'_>) -> bool {
        if self.is_fixed {
            return false;
        }
        if let Some(challenge) = refused.challenge {
            self.state().asked.refused_with(challenge);
        }
        let wants_more = || Challenge::of(refused.challenge.into_iter()).wants_more();
        let reason = match (refused.is_unknown, refused.sent) {
            (true, None) => Reason::Missing,
            (true, Some(_)) => Reason::Refused,
            (false, _) if self.source.is_some() && wants_more() => Reason::Scope,
            (false, _) => return false,
        };
        let has_other = refused.turn != CredentialAttempt::Last
            && self.renew_beside(refused.sent.cloned(), reason, refused.turn).await;
        self.state().is_wanting = !has_other && self.source.is_some();
        has_other
    }

    /// Renews in a task of its own: a caller that goes, by its own deadline too, must not lose the
    /// token that takes the place of the one it used up.
    async fn renew_beside(
        self: &Arc<Self>,
        used: Option<HeaderValue>,
        reason: Reason,
        turn: CredentialAttempt,
    ) -> bool {
        let this = self.clone();
        let renewed =
            tokio::spawn(async move { this.renew(used.as_ref(), reason, turn).await }).await;
        matches!(renewed, Ok(true))
    }

    async fn renew(
        self: &Arc<Self>,
        used: Option<&HeaderValue>,
        reason: Reason,
        turn: CredentialAttempt,
    ) -> bool {
        let begun = self.state().renewals;
        let _one = self.renewing.lock().await;
        let (sent, now, renewals, sign_outs) = {
            let state = self.state();
            let now = state.token.as_ref().map(|token| token.header.clone());
            (state.used(reason), now, state.renewals, state.sign_outs)
        };
        if now.as_ref() != used || renewals != begun {
            return now.is_some() && now.as_ref() != used;
        }
        let is_first = turn == CredentialAttempt::First && reason != Reason::Scope;
        let (mut token, mut origin, mut unrenewed) = (None, None, None);
        // What was kept by an earlier run may be dead by now, which the second answer says.
        if is_first || (self.store.is_some() && reason != Reason::Scope) {
            match self.renewed(&sent).await {
                Ok(renewed) => (origin, token) = renewed.unzip(),
                Err(error) => unrenewed = Some(error),
            }
        }
        let is_renewed = token.is_some();
        if token.is_none() {
            token = self.given(reason).await;
        }
        if token.is_none() && is_first && self.spec.way == GrantType::ClientCredentials {
            match self.own().await {
                Ok((grant, own)) => {
                    (origin, token) = (Some(GrantOrigin::New(grant.into())), Some(own));
                }
                Err(error) => unrenewed = Some(error),
            }
        }
        let mut state = self.state();
        state.renewals += 1;
        if reason == Reason::Expired {
            state.renewed = Some(Instant::now());
        }
        let now = state.token.as_ref().map(|token| &token.header);
        if now != used || (is_renewed && state.sign_outs != sign_outs) {
            // A sign-in or a sign-out that came meanwhile stands.
            return now.is_some() && now != used;
        }
        let is_other = token.as_ref().is_some_and(|token| sent.yields_to(token));
        if is_other {
            self.keep(&mut state, token);
            state.hold(origin);
            state.asked.answered_by_renewal(reason);
        } else if unrenewed.is_some() && state.sign_outs == sign_outs {
            state.unrenewed = unrenewed;
        }
        is_other
    }

    /// Another token for the same grant, or for what was signed in for in its place.
    async fn renewed(&self, used: &Used) -> Result<Option<(GrantOrigin, Token)>, Error> {
        let renewed = match self.store.as_ref().filter(|_| !self.state().ignores_kept) {
            Some(store) => self.renewed_in(store, used).await,
            None => self.renewed_here().await,
        };
        renewed.inspect_err(|error| self.not_renewed(error))
    }

    /// Without a file.
    pub(in crate::auth) async fn renewed_here(
        &self,
    ) -> Result<Option<(GrantOrigin, Token)>, Error> {
        match self.grant().filter(|grant| grant.is_renewable()) {
            Some(grant) => {
                grant.renew(&self.spent).await.map(|token| Some((GrantOrigin::Held, token)))
            }
            None => Ok(None),
        }
    }

    /// A token for the client itself.
    async fn own(&self) -> Result<(Grant, Token), Error> {
        let issued = tokio::time::timeout(OWN_WAIT_MAX, client_credentials(self)).await;
        let issued =
            issued.unwrap_or_else(|_| Err(errors::required("no token was issued in time")));
        issued.inspect_err(|error| self.not_renewed(error))
    }

    fn not_renewed(&self, error: &Error) {
        tracing::info!(server = %self.server, %error, "a token was not renewed");
    }

    /// A token of the host's.
    async fn given(&self, reason: Reason) -> Option<Token> {
        let source = self.source.as_ref()?;
        let refusal = self.refusal();
        let given = source.ask(&self.server, self.home.as_ref(), reason, refusal.as_deref()).await;
        self.state().denial = given.as_ref().err().cloned();
        given
            .inspect_err(|denial| {
                let denial = denial.word();
                tracing::info!(server = %self.server, denial, "the host gave no credentials");
            })
            .ok()
    }
}
