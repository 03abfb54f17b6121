//! The credentials of a configuration and the file of grants: what is taken from it, and what is
//! put there.
//!
//! The file goes before the memory, since another process may have renewed what is in both. A grant
//! that could not be kept goes before the file, until it can be, or is over.
//!
//! A time alone does not order grants, since clocks are set back. So a sign-in looks at the file
//! before it is held, and takes a time after what is there.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;

use super::Credentials;
use super::grant::{Grant, GrantOrigin, Used};
use super::grant_types::Token;
use super::refused_for_good::Renewal;
use crate::Error;
use crate::auth::client_config::GrantType;
use crate::auth::errors;
use crate::auth::fetch::EXCHANGE_WAIT_MAX;
use crate::auth::sign_in::find;
use crate::runtime::Runtime;
use crate::storage::WRITE_WAIT_MAX;
use crate::storage::tokens::{GrantKey, RENEWAL_WAIT_MAX, Store, TokenRecord};

/// Finding the authorization server of a kept grant again. Nothing is issued in it, so nothing is
/// lost when it is cut.
const FIND_WAIT_MAX: Duration = Duration::from_secs(10);

/// What the disk may take beside what a renewal waits for: a look, a write, and bringing that to
/// the disk.
const DISK_WAIT_MAX: Duration = Duration::from_secs(5);

/// A renewal, from the look at the file to the end of the save, ends before another process stops
/// to wait for it.
const _: () = {
    let asks = FIND_WAIT_MAX.as_secs() + EXCHANGE_WAIT_MAX.as_secs();
    let keeps = WRITE_WAIT_MAX.as_secs() + DISK_WAIT_MAX.as_secs();
    assert!(asks + keeps <= RENEWAL_WAIT_MAX.as_secs(), "a renewal outlasts the wait for it");
};

impl Credentials {
    /// A token in place of the one that was sent: what is kept, which another process or an earlier
    /// run of the host was issued; else what the authorization server gives in its place, which is
    /// kept. Of one grant one process asks at a time.
    ///
    /// From the exchange to the end of the save it must not be cut: what was exchanged is used up.
    pub(in crate::auth) async fn renewed_in(
        &self,
        store: &Arc<Store>,
        used: &Used,
    ) -> Result<Option<(GrantOrigin, Token)>, Error> {
        let held = self.grant();
        if let Some(held) = held.as_ref().filter(|grant| !grant.is_kept()) {
            return self.renewed_unkept(store, used, held).await;
        }
        let kept = match self.kept(store).await {
            Ok(Some(kept)) => kept,
            // Nothing was signed in, or somebody signed out of it in another process.
            Ok(None) => return Ok(None),
            Err(_) => {
                let Some(held) = held else { return Ok(None) };
                return self.renewed_apart(store, &held).await;
            }
        };
        self.renewed_of(store, used, kept).await
    }

    /// Another token for the grant that is held, which is newer than what the file has of it. Once
    /// that is over, what the file has by then, where somebody signed in for that later, in another
    /// process.
    async fn renewed_unkept(
        &self,
        store: &Arc<Store>,
        used: &Used,
        held: &Arc<Grant>,
    ) -> Result<Option<(GrantOrigin, Token)>, Error> {
        let renewed = self.renewed_apart(store, held).await;
        if matches!(renewed, Ok(Some(_))) || !held.is_over() {
            return renewed;
        }
        let kept = self.kept(store).await.unwrap_or_default();
        let Some(kept) = kept.filter(|kept| held.is_followed_by(kept)) else { return renewed };
        match self.renewed_of(store, used, kept).await {
            Ok(None) => renewed,
            of_another => of_another,
        }
    }

    /// The token of what is kept; else what the authorization server gives in its place, which is
    /// kept.
    async fn renewed_of(
        &self,
        store: &Arc<Store>,
        used: &Used,
        kept: TokenRecord,
    ) -> Result<Option<(GrantOrigin, Token)>, Error> {
        if let Some(token) = used.yields_to_kept(&kept) {
            return Ok(Some((GrantOrigin::Kept(kept.into()), token)));
        }
        if !Token::can_be_renewed(&kept) {
            return Ok(None);
        }
        if let Some(refused) = Renewal::of_kept(&kept).and_then(|it| self.spent.refusal_of(&it)) {
            return Err(refused);
        }
        let _alone = store.renewing(&kept.key).await?;
        // Another process may have renewed it meanwhile, or somebody signed out.
        let Some(kept) = self.kept(store).await? else { return Ok(None) };
        if let Some(token) = used.yields_to_kept(&kept) {
            return Ok(Some((GrantOrigin::Kept(kept.into()), token)));
        }
        let grant = self.grant_of(&kept).await?;
        let token = self.exchanged(store, &grant, kept).await?;
        Ok(Some((GrantOrigin::New(grant), token)))
    }

    /// Another token for the grant that is held, without a look at the file: it cannot be read, or
    /// has something older. What comes of it takes the place of what the file had last, so that one
    /// failure is not for good.
    async fn renewed_apart(
        &self,
        store: &Arc<Store>,
        held: &Arc<Grant>,
    ) -> Result<Option<(GrantOrigin, Token)>, Error> {
        let Some(last) = held.last_kept().filter(|_| held.is_renewable()) else {
            return self.renewed_here().await;
        };
        let _alone = store.renewing(&last.key).await?;
        let token = self.exchanged(store, held, last).await?;
        Ok(Some((GrantOrigin::Held, token)))
    }

    /// What a grant gives in place of what the file has of it, put there. That it could not be is
    /// told, and tried again next time.
    async fn exchanged(
        &self,
        store: &Arc<Store>,
        grant: &Grant,
        old: TokenRecord,
    ) -> Result<Token, Error> {
        // What is exchanged is used up: until its successor is kept (`EXCHANGE_WAIT_MAX` of
        // `fetch`, 10 s, and `WRITE_WAIT_MAX` of `storage`, 5 s) the runtime stays, though the last
        // pool may go.
        let _runtime = Runtime::running();
        let token = grant.renew(&self.spent).await?;
        let Some(new) = grant.to_keep(old.key.clone()).await else { return Ok(token) };
        match store.replace(old, new.clone()).await {
            Ok(()) => grant.mark_saved(Some(new)),
            Err(error) => {
                grant.mark_unsaved();
                let error = error.with_server(&*self.server);
                store.warn(&format!("a renewed token was not kept: {error}"));
            }
        }
        Ok(token)
    }

    /// Somebody signs in for this grant, after what the file has. Where that cannot be read, or not
    /// soon, nothing that is there later is known to be newer: a disk that is away does not keep
    /// what was signed in for from being used.
    pub(in crate::auth) async fn comes_after_kept(&self, grant: &Grant) {
        let Some(store) = &self.store else { return };
        let found = tokio::time::timeout(DISK_WAIT_MAX, self.found(store)).await;
        let found = found.ok().and_then(Result::ok);
        grant.comes_after(found.map(|kept| kept.map_or(0, |kept| kept.signed_in_ms)));
    }

    /// Keeps what was signed in; nothing without a file.
    ///
    /// # Errors
    /// `store`.
    pub(in crate::auth) async fn keep_grant(&self) -> Result<(), Error> {
        match (&self.store, self.grant()) {
            (Some(store), Some(grant)) => match self.keep_in(store, &grant).await {
                Ok(kept) => {
                    grant.mark_saved(kept);
                    self.heed_kept();
                    Ok(())
                }
                Err(error) => {
                    grant.mark_removed();
                    Err(error)
                }
            },
            _ => Ok(()),
        }
    }

    /// Forgets what is kept.
    ///
    /// # Errors
    /// `store`: then it is still there.
    pub(in crate::auth) async fn forget_kept(&self) -> Result<bool, Error> {
        let (Some(store), Some(fits)) = (&self.store, self.fitting()) else { return Ok(false) };
        let forgotten = store.forget(fits).await;
        forgotten
            .inspect_err(|_| self.ignore_kept())
            .map_err(|error| error.with_server(&*self.server))
    }

    async fn keep_in(
        &self,
        store: &Arc<Store>,
        grant: &Grant,
    ) -> Result<Option<TokenRecord>, Error> {
        let Some(fits) = self.fitting() else { return Ok(None) };
        let resource = self.home.as_ref().map(Url::to_string).unwrap_or_default();
        let key = GrantKey::new(&grant.issuer, resource, (&self.fingerprint, self.author));
        let kept = grant.to_keep(key).await;
        if let Some(kept) = &kept {
            let done = store.keep(kept.clone(), fits).await;
            done.map_err(|error| error.with_server(&*self.server))?;
        }
        Ok(kept)
    }

    /// The newest that is kept for this configuration. Nobody waits for the answer, so that a
    /// failure is a warning too.
    ///
    /// # Errors
    /// `store`.
    async fn kept(&self, store: &Arc<Store>) -> Result<Option<TokenRecord>, Error> {
        self.found(store).await.inspect_err(|error| store.warn(&error.to_string()))
    }

    /// The same, for who says what went wrong.
    ///
    /// # Errors
    /// `store`.
    async fn found(&self, store: &Arc<Store>) -> Result<Option<TokenRecord>, Error> {
        let Some(fits) = self.fitting() else { return Ok(None) };
        store.find(fits).await.map_err(|error| error.with_server(&*self.server))
    }

    /// Which grants are this configuration's.
    fn fitting(&self) -> Option<impl Fn(&GrantKey) -> bool + Send + use<>> {
        if self.spec.way != GrantType::Code || self.is_fixed {
            return None;
        }
        let resource = self.home.as_ref()?.to_string();
        let (fingerprint, author) = (self.fingerprint, self.author);
        let issuer = self.spec.issuer.clone();
        Some(move |key: &GrantKey| {
            key.resource == resource
                && key.is_of(&fingerprint, author)
                && issuer.as_ref().is_none_or(|issuer| *issuer == key.issuer)
        })
    }

    /// The grant that is held, with what another process made of it; else the one that is kept:
    /// another process may have signed in anew, as another client or for other scopes.
    async fn grant_of(&self, kept: &TokenRecord) -> Result<Arc<Grant>, Error> {
        self.belongs_to(&kept.key.issuer);
        if let Some(grant) = self.grant().filter(|grant| grant.is_like(kept)) {
            grant.take_over(kept).await?;
            return Ok(grant);
        }
        let slow = |_| errors::slow(&self.server, FIND_WAIT_MAX);
        let finds =
            async { Ok::<_, Error>((find(self).await?, self.spec.secret(&self.server).await?)) };
        let (found, secret) = tokio::time::timeout(FIND_WAIT_MAX, finds).await.map_err(slow)??;
        Grant::restore(kept, found, secret.as_deref()).await.map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::{Value, json};
    use trunkline_pool::config::ServerSpec;
    use trunkline_pool::options::Handlers;

    use super::*;
    use crate::auth::credentials::grant_types::Ordinal;
    use crate::auth::sign_in::SignIns;
    use crate::auth::{Author, Context, CredentialAttempt, Rejection, tests as issuers};
    use crate::folder::Folder;

    /// A server whose authorization server is configured.
    fn spec() -> ServerSpec {
        let oauth = json!({
            "authorization_url": "https://issuer.example/authorize", "token_url": "https://issuer.example/token",
        });
        let config = json!({ "type": "http", "url": "https://server.example/mcp", "oauth": oauth });
        ServerSpec::from_value("s", &config).unwrap()
    }

    /// A token that lives for an hour.
    fn token(token: &str) -> Value {
        json!({ "access_token": token, "token_type": "bearer", "expires_in": 3600, "refresh_token": "r" })
    }

    /// What a person signed in for, and its token.
    async fn granted(credentials: &Credentials) -> (Grant, TokenRecord) {
        issuers::granted(credentials, &["read"], token("first")).await
    }

    /// SPEC 15.3: a sign-out that is held up takes nothing that was signed in for since it was
    /// asked for.
    #[tokio::test]
    async fn a_sign_out_leaves_what_was_signed_in_for_since() {
        let context = Context::of_pool(&Handlers::new(), Duration::ZERO, None);
        let credentials = context.of(&"s".into(), &spec(), Author::Host).unwrap();
        let sign_ins = SignIns::default();
        let (first, last) = (sign_ins.ordinal(), sign_ins.ordinal());
        let (grant, kept) = granted(&credentials).await;
        let changing = credentials.changing.lock().await;
        let mut held_up = Box::pin(sign_ins.sign_out(first, &credentials));
        assert!((&mut held_up).now_or_never().is_none());
        credentials.signed_in(last, grant, Token::of_kept(&kept).unwrap());
        drop(changing);
        assert!(!held_up.await.unwrap());
        assert!(credentials.header().is_some());
        assert!(sign_ins.sign_out(sign_ins.ordinal(), &credentials).await.unwrap());
        assert!(credentials.header().is_none());
    }

    /// SPEC 12.11: what the user signed in for is in the file for the user's own entries alone: an
    /// equal one of a project neither finds it nor signs the user out of it.
    #[tokio::test]
    async fn a_projects_equal_entry_has_nothing_of_the_users_grant() {
        let folder = Folder::new();
        let store = Store::open(folder.join("tokens.json").to_str().unwrap()).unwrap();
        let context = Context::of_pool(&Handlers::new(), Duration::ZERO, Some(store.clone()));
        let [user, project] = [Author::Host, Author::Source]
            .map(|author| context.of(&"s".into(), &spec(), author).unwrap());
        let (_, kept) = granted(&user).await;
        store.keep(kept, |_| true).await.unwrap();
        assert!(project.found(&store).await.unwrap().is_none());
        assert!(!project.forget_kept().await.unwrap());
        assert!(user.found(&store).await.unwrap().is_some());
        assert!(user.forget_kept().await.unwrap());
    }

    /// SPEC 14.2, 15.3: what another host signed in for takes the place of what is held, and the
    /// next sign-in asks for no less of it.
    #[tokio::test]
    async fn the_scopes_of_another_host_are_asked_for_again() {
        let folder = Folder::new();
        let store = Store::open(folder.join("tokens.json").to_str().unwrap()).unwrap();
        let context = Context::of_pool(&Handlers::new(), Duration::ZERO, Some(store.clone()));
        let spec = spec();
        let credentials = context.of(&"s".into(), &spec, Author::Host).unwrap();
        let (grant, first) = granted(&credentials).await;
        let issuer = first.key.issuer.clone();
        credentials.asks_for(&first.scopes);
        credentials.signed_in(Ordinal::default(), grant, Token::of_kept(&first).unwrap());
        let scopes = &["read", "write"];
        let second = issuers::issued(&credentials, &issuer, scopes, token("second"));
        store.keep(second, |_| true).await.unwrap();
        let sent = credentials.header();
        let refused = |challenge| Rejection {
            sent: sent.as_ref(),
            challenge,
            is_unknown: true,
            turn: CredentialAttempt::First,
        };
        assert!(credentials.has_other(refused(None)).await);
        let sent = credentials.header();
        assert_eq!(sent.as_ref().unwrap().to_str().unwrap(), "Bearer second");
        assert!(!context.is_passing(&"s".into(), &spec, Author::Host), "it is in the file");
        let challenge = Some(r#"Bearer error="insufficient_scope", scope="admin""#);
        let refused = Rejection { sent: sent.as_ref(), is_unknown: false, ..refused(challenge) };
        assert!(!credentials.has_other(refused).await);
        assert_eq!(credentials.scopes().unwrap(), ["admin", "read", "write"]);
    }
}
