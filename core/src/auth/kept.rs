//! The credentials of a configuration and the file of grants: what is taken from it, and what is put there.
//!
//! The file goes before the memory, since another process may have renewed what is in both, but for a grant that could not be kept.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;

use super::client::Way;
use super::credentials::Credentials;
use super::failure;
use super::grant::{Grant, Token};
use super::sign_in::find;
use super::store::{Kept, Key, Store};
use crate::Error;

/// Finding the authorization server of a kept grant again. With one exchange (`EXCHANGE_WAIT_MAX` of `fetch`) it fits into what
/// another process waits for a renewal (`RENEWAL_WAIT_MAX` of the store). Nothing is issued in it, so nothing is lost when it is cut.
const FIND_WAIT_MAX: Duration = Duration::from_secs(10);

impl Credentials {
    /// A token that is not the one that was sent: what is kept, which another process or an earlier run of the host was issued; else
    /// what the authorization server gives in its place, which is kept. Of one grant one process asks at a time.
    ///
    /// From the exchange to the end of the save it must not be cut: what was exchanged is used up.
    pub(super) async fn renewed_in(
        &self,
        store: &Arc<Store>,
        used: Option<&HeaderValue>,
    ) -> Result<Option<(Option<Arc<Grant>>, Token)>, Error> {
        let held = self.grant();
        if held.as_ref().is_some_and(|grant| !grant.is_kept()) {
            return self.renewed_here().await;
        }
        let kept = match self.kept(store).await {
            Ok(Some(kept)) => kept,
            // Nothing was signed in, or somebody signed out of it in another process.
            Ok(None) => return Ok(None),
            Err(error) => {
                // What is renewed without the file is newer than what is in it.
                held.inspect(|grant| grant.was_kept(&Err::<(), _>(error)));
                return self.renewed_here().await;
            }
        };
        let other = |kept: &Kept| {
            let token = Token::of_kept(kept).filter(|token| Some(&token.header) != used);
            token.filter(|token| !token.is_stale())
        };
        if let Some(token) = other(&kept) {
            self.was_asked_for(&kept.scopes);
            return Ok(Some((None, token)));
        }
        if !Token::can_be_renewed(&kept) {
            return Ok(None);
        }
        let _alone = store.renewing(&kept.key).await?;
        // Another process may have renewed it meanwhile, or somebody signed out.
        let Some(kept) = self.kept(store).await? else { return Ok(None) };
        if let Some(token) = other(&kept) {
            self.was_asked_for(&kept.scopes);
            return Ok(Some((None, token)));
        }
        let grant = self.grant_of(&kept).await?;
        let token = grant.renew().await?;
        let replaced = match grant.to_keep(kept.key.clone()).await {
            Some(new) => store.replace(kept, new).await,
            None => Ok(()),
        };
        grant.was_kept(&replaced);
        if let Err(error) = replaced {
            let error = error.with_server(&*self.server);
            store.warn(&format!("a renewed token was not kept: {error}"));
        }
        Ok(Some((Some(grant), token)))
    }

    /// Keeps what was signed in; nothing without a file.
    ///
    /// # Errors
    /// `store`.
    pub(super) async fn keep_grant(&self) -> Result<(), Error> {
        match (&self.store, self.grant()) {
            (Some(store), Some(grant)) => {
                let kept = self.keep_in(store, &grant).await;
                grant.was_kept(&kept);
                kept
            }
            _ => Ok(()),
        }
    }

    /// Forgets what is kept.
    ///
    /// # Errors
    /// `store`: then it is still there.
    pub(super) async fn forget_kept(&self) -> Result<bool, Error> {
        let (Some(store), Some(fits)) = (&self.store, self.fitting()) else { return Ok(false) };
        let forgotten = store.forget(fits).await;
        forgotten
            .inspect_err(|_| self.ignore_kept())
            .map_err(|error| error.with_server(&*self.server))
    }

    async fn keep_in(&self, store: &Arc<Store>, grant: &Grant) -> Result<(), Error> {
        let Some(fits) = self.fitting() else { return Ok(()) };
        let resource = self.home.as_ref().map(Url::to_string).unwrap_or_default();
        let key = Key::new(&grant.issuer, resource, &self.fingerprint);
        match grant.to_keep(key).await {
            Some(kept) => {
                let kept = store.keep(kept, fits).await;
                kept.map_err(|error| error.with_server(&*self.server))
            }
            None => Ok(()),
        }
    }

    /// The newest that is kept for this configuration. Nobody waits for the answer, so that a failure is a warning too.
    ///
    /// # Errors
    /// `store`.
    async fn kept(&self, store: &Arc<Store>) -> Result<Option<Kept>, Error> {
        let Some(fits) = self.fitting() else { return Ok(None) };
        let found = store.find(fits).await.map_err(|error| error.with_server(&*self.server));
        found.inspect_err(|error| store.warn(&error.to_string()))
    }

    /// Which grants are this configuration's.
    fn fitting(&self) -> Option<impl Fn(&Key) -> bool + Send + use<>> {
        if self.spec.way != Way::Code || self.is_fixed {
            return None;
        }
        let resource = self.home.as_ref()?.to_string();
        let (fingerprint, issuer) = (self.fingerprint, self.spec.issuer.clone());
        Some(move |key: &Key| {
            key.resource == resource
                && key.configuration == fingerprint.salted(&key.salt)
                && issuer.as_ref().is_none_or(|issuer| *issuer == key.issuer)
        })
    }

    /// The grant that is held, with what another process made of it; else the one that is kept.
    async fn grant_of(&self, kept: &Kept) -> Result<Arc<Grant>, Error> {
        self.belongs_to(&kept.key.issuer);
        if let Some(grant) = self.grant().filter(|grant| grant.issuer == kept.key.issuer) {
            grant.take_over(kept).await?;
            return Ok(grant);
        }
        let slow = |_| failure::slow(&self.server, FIND_WAIT_MAX);
        let found = tokio::time::timeout(FIND_WAIT_MAX, find(self)).await.map_err(slow)??;
        let secret = self.spec.client_secret.as_deref();
        Grant::restore(kept, found, secret).await.map(Arc::new)
    }
}
