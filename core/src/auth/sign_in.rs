//! Sign-ins: a URL goes out, the redirect's URL comes back, and what the authorization server
//! issues for it is kept.
//!
//! A sign-in is finished for the configuration that it was begun for, whatever has the name by
//! then. Of sign-ins and sign-outs at one time, the last one that was asked for stands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Url;
use rmcp::transport::auth::{
    AuthorizationRequest, AuthorizationSession, ClientCredentialsConfig, InMemoryCredentialStore,
};
use trunkline_pool::options::SignInOptions;

use super::credentials::Credentials;
use super::credentials::grant::{Client, Grant};
use super::credentials::grant_types::{Ordinal, Token};
use super::discovery::discover;
use super::errors;
use super::fetch::authorization_server::{Discovered, quiet};
use super::fetch::{Fetch, flow_errors};
use super::redirect::{self, Redirect};
use super::registered_clients::{ClientKey, Registered, RegisteredClients};
use crate::{Error, ErrorCode, Result};

/// How long a person has, in which the authorization server keeps a code's request too.
const SIGN_IN_WAIT_MAX: Duration = Duration::from_secs(600);

/// From a host's wish to sign in to the address for the person: finding the authorization server
/// and making the client known to it, each many exchanges if somebody makes them so. Nothing is
/// issued in it that a cut would lose.
const BEGIN_WAIT_MAX: Duration = Duration::from_secs(30);

/// Sign-ins under way; of more the oldest is over.
const UNDER_WAY_MAX: usize = 64;

/// The name by which a client is registered that gives none.
const CLIENT_NAME: &str = "trunkline";

/// What is said of a server that is no remote one.
pub(crate) const NO_ADDRESS: &str =
    "sign in to servers with a `url` alone; others get their credentials in `env` or `args`";

/// The sign-ins of a pool that are under way, and the clients that they made known.
pub(crate) struct SignIns {
    /// How long all that comes before the address may take.
    patience: Duration,
    /// How often a sign-in or a sign-out was asked for.
    asked: AtomicU64,
    under_way: Mutex<Vec<SignIn>>,
    registered: RegisteredClients,
}

/// A sign-in that waits for its redirect.
struct SignIn {
    ordinal: Ordinal,
    credentials: Arc<Credentials>,
    session: AuthorizationSession,
    /// Where the session keeps what is issued.
    held: InMemoryCredentialStore,
    client: Client,
    /// The id of a client that was registered, and where it was.
    registered: Option<(ClientKey, String)>,
    fetch: Arc<Fetch>,
    /// What the redirect must be like.
    redirect: Redirect,
    scopes: Vec<String>,
    url: String,
    until: Instant,
}

impl Default for SignIns {
    fn default() -> SignIns {
        SignIns {
            patience: BEGIN_WAIT_MAX,
            asked: AtomicU64::new(0),
            under_way: Mutex::default(),
            registered: RegisteredClients::default(),
        }
    }
}

impl SignIns {
    /// For what is asked for here and now.
    pub(crate) fn ordinal(&self) -> Ordinal {
        Ordinal(self.asked.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Where a person signs in for these credentials, when a sign-in is under way.
    pub(crate) fn url_of(&self, credentials: &Arc<Credentials>) -> Option<String> {
        let under_way = self.under_way();
        let its = under_way.iter().find(|sign_in| Arc::ptr_eq(&sign_in.credentials, credentials));
        its.map(|sign_in| sign_in.url.clone())
    }

    /// The credentials that the sign-in is for which a redirect belongs to.
    pub(crate) fn credentials_of(&self, redirected_to: &str) -> Option<Arc<Credentials>> {
        let under_way = self.under_way();
        let sign_in = under_way.iter().find(|sign_in| sign_in.redirect.is_named_by(redirected_to));
        sign_in.map(|sign_in| sign_in.credentials.clone())
    }

    /// Begins a sign-in, in place of one that was asked for before; the URL that a person has to
    /// visit, and until when. It is over already when another sign-in or a sign-out that was asked
    /// for after it came first.
    ///
    /// # Errors
    /// `invalid_argument` when nothing can be signed in to or no redirect is known, `protocol` when
    /// a rule is broken on the way, `auth_required` when the authorization server wants something
    /// else; `timeout` after [`BEGIN_WAIT_MAX`]; and errors of the network.
    pub(crate) async fn begin(
        &self,
        ordinal: Ordinal,
        credentials: Arc<Credentials>,
        host: &SignInOptions,
    ) -> Result<(String, Duration)> {
        let server = credentials.server.clone();
        let ready = self.ready(ordinal, credentials, host);
        let begun = tokio::time::timeout(self.patience, ready).await;
        begun.unwrap_or_else(|_| Err(errors::slow(&server, self.patience)))
    }

    /// [`begin`](Self::begin) for as long as it takes.
    async fn ready(
        &self,
        ordinal: Ordinal,
        credentials: Arc<Credentials>,
        host: &SignInOptions,
    ) -> Result<(String, Duration)> {
        let server = credentials.server.clone();
        let named = |error: Error| error.with_server(&*server);
        let found = find(&credentials).await?;
        let redirect_uri = credentials.spec.redirect_uri.clone().or(host.redirect_uri.clone());
        let redirect_uri = redirect_uri.ok_or_else(|| named(redirect::missing()))?;
        let redirect = Redirect::new(&redirect_uri, &found.issuer, found.names_itself);
        let redirect = redirect.map_err(named)?;
        let mut scopes = credentials.scopes()?;
        if scopes.is_empty() {
            scopes = found.flows.select_initial_scopes(&[]).await;
        }
        let fetch = found.fetch.clone();
        let held = InMemoryCredentialStore::new();
        let mut found = found;
        found.flows.set_credential_store(held.clone());
        let session = self.session(&credentials, found, host, (&redirect_uri, &scopes)).await;
        let (session, registered) = session.map_err(named)?;
        let place = (redirect.issuer.clone(), redirect_uri.clone());
        let client = match &registered {
            Some(known) => known.client(redirect_uri),
            None => Client { redirect_uri, ..Client::default() },
        };
        let url = redirect::for_resource(&session.auth_url, fetch.resource().as_deref());
        let url = fetch.guard().check_endpoint(&url, "the address to sign in at");
        let url = url.map_err(named)?;
        let (state, asked) = redirect::asked(&url);
        credentials.asks_for(&asked);
        let sign_in = SignIn {
            ordinal,
            credentials,
            session,
            held,
            client,
            registered: registered.map(|known| (place, known.id)),
            fetch,
            redirect: redirect.with_state(state),
            scopes: asked,
            url: url.to_string(),
            until: Instant::now() + SIGN_IN_WAIT_MAX,
        };
        let answer = (sign_in.url.clone(), SIGN_IN_WAIT_MAX);
        self.add(sign_in);
        Ok(answer)
    }

    /// The session of rmcp: by the client of the configuration, by its metadata document, or by one
    /// that is registered; and the last.
    async fn session(
        &self,
        credentials: &Credentials,
        mut found: Discovered,
        host: &SignInOptions,
        (redirect_uri, scopes): (&str, &[String]),
    ) -> Result<(AuthorizationSession, Option<Registered>)> {
        let spec = &credentials.spec;
        let mut request = AuthorizationRequest::new(redirect_uri).with_initial_scope_selection();
        request = request.with_scopes(scopes.iter().cloned());
        let mut registered = None;
        let document = spec.client_metadata_url.clone().or(host.client_metadata_url.clone());
        request = match (&spec.client_id, document.filter(|_| found.takes_documents)) {
            (Some(id), _) => {
                let secret = spec.secret(&credentials.server).await?;
                with_client(request, id, secret.as_deref())
            }
            (None, Some(document)) => request.with_client_metadata_url(document),
            (None, None) => {
                let name = spec.client_name.as_deref().or(host.client_name.as_deref());
                let wanted = (redirect_uri, scopes);
                let client = self.registered(credentials, &mut found, name, wanted).await?;
                found.prove_by(client.authentication);
                let request = with_client(request, &client.id, client.secret.as_deref());
                registered = Some(client);
                request
            }
        };
        let session = quiet(AuthorizationSession::new(found.flows, request)).await;
        let session = session.map_err(|(_, error)| flow_errors::of(error, &found.fetch))?;
        Ok((session, registered))
    }

    /// The client that the authorization server knows by this redirect and for these scopes, or a
    /// new one: also where it may have forgotten the one that it knew.
    async fn registered(
        &self,
        credentials: &Credentials,
        found: &mut Discovered,
        name: Option<&str>,
        (redirect_uri, scopes): (&str, &[String]),
    ) -> Result<Registered> {
        let key = (found.issuer.clone(), redirect_uri.to_owned());
        let is_forgotten = credentials.grant().is_some_and(|grant| grant.is_of_unknown_client());
        self.forget_unfinished(credentials);
        if let Some(known) = self.registered.known(&key, scopes).filter(|_| !is_forgotten) {
            return Ok(known);
        }
        let words: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let name = name.unwrap_or(CLIENT_NAME);
        let made = quiet(found.flows.register_client(name, redirect_uri, &words)).await;
        let made = made.map_err(|error| flow_errors::of(error, &found.fetch))?;
        let said = found.fetch.take_registered();
        let client = Registered {
            id: made.client_id,
            secret: made.client_secret,
            authentication: said.as_ref().and_then(|said| said.authentication),
            expires_at: said.and_then(|said| said.expires_at),
            scopes: scopes.to_vec(),
        };
        self.registered.keep(key, client.clone());
        Ok(client)
    }

    /// Takes the URL that the authorization server redirected to; the credentials that there are
    /// others of now.
    ///
    /// A URL that belongs to no sign-in, or that another server made, leaves the sign-in under way
    /// as it was.
    ///
    /// # Errors
    /// `invalid_argument` when it belongs to no sign-in, `protocol` when a rule is broken,
    /// `auth_required` when the person or the authorization server refused; and errors of the
    /// network. A file that it cannot be kept in is no error of the sign-in: it comes beside them.
    pub(crate) async fn finish(&self, url: &str) -> Result<(Arc<Credentials>, Option<Error>)> {
        let (sign_in, answered) = {
            let mut under_way = self.under_way();
            let place = under_way.iter().position(|sign_in| sign_in.redirect.is_named_by(url));
            let place = place.ok_or_else(redirect::unknown)?;
            let server = under_way[place].credentials.server.clone();
            let code = under_way[place].redirect.check(url);
            let answered = code.map_err(|error| error.with_server(&*server))?;
            (under_way.remove(place), answered)
        };
        let server = sign_in.credentials.server.clone();
        let named = |error: Error| error.with_server(&*server);
        if let Err(refusal) = answered {
            if errors::names_unknown_client(&refusal) {
                self.registered.forget(sign_in.registered.as_ref());
            }
            return Err(named(refusal));
        }
        let SignIn {
            ordinal,
            credentials,
            session,
            held,
            client,
            registered,
            fetch,
            redirect,
            scopes,
            ..
        } = sign_in;
        fetch.goes_on();
        let redeemed = quiet(session.handle_callback_url(url)).await;
        let answer = redeemed.map_err(|error| {
            if flow_errors::is_of_unknown_client(&error) {
                self.registered.forget(registered.as_ref());
            }
            flow_errors::of(error, &fetch)
        })?;
        let flows = session.auth_manager;
        let issued = Grant::of((flows, held), fetch, (redirect.issuer, client), (scopes, &answer));
        let (grant, token) = issued.map_err(named)?;
        let kept = {
            let _one = credentials.changing.lock().await;
            // First, so that a refusal before it is kept finds what it replaces out.
            credentials.comes_after_kept(&grant).await;
            if credentials.is_signed_out_since(ordinal) || credentials.is_signed_in_since(ordinal) {
                return Err(named(redirect::unknown()));
            }
            credentials.signed_in(ordinal, grant, token);
            credentials.keep_grant().await
        };
        Ok((credentials, kept.err()))
    }

    /// Forgets the credentials of a configuration and a sign-in to it that was asked for before,
    /// also one that is not so far yet; whether there were any. What was signed in for since it was
    /// asked for stays.
    ///
    /// # Errors
    /// `store` when they are still in the file.
    pub(crate) async fn sign_out(
        &self,
        ordinal: Ordinal,
        credentials: &Arc<Credentials>,
    ) -> Result<bool> {
        // First, so that what comes under way after this look finds it.
        credentials.signs_out(ordinal);
        self.under_way().retain(|sign_in| {
            let is_its = Arc::ptr_eq(&sign_in.credentials, credentials);
            let is_over = is_its && sign_in.ordinal < ordinal;
            if is_over {
                self.registered.forget(sign_in.registered.as_ref());
            }
            !is_over
        });
        let _one = credentials.changing.lock().await;
        if credentials.is_signed_in_since(ordinal) {
            return Ok(false);
        }
        let had_some = credentials.sign_out();
        let forgotten = credentials.forget_kept().await;
        // A message may have taken up what was kept while it still was.
        let had_some = credentials.sign_out() || had_some;
        Ok(forgotten? || had_some)
    }

    fn add(&self, sign_in: SignIn) {
        let mut under_way = self.under_way();
        let is_its = |other: &SignIn| Arc::ptr_eq(&other.credentials, &sign_in.credentials);
        let is_followed = |other: &SignIn| is_its(other) && other.ordinal > sign_in.ordinal;
        if sign_in.credentials.is_signed_out_since(sign_in.ordinal) {
            self.registered.forget(sign_in.registered.as_ref());
            return;
        }
        let is_late = sign_in.credentials.is_signed_in_since(sign_in.ordinal);
        if is_late || under_way.iter().any(is_followed) {
            return;
        }
        under_way.retain(|other| !is_its(other));
        if under_way.len() >= UNDER_WAY_MAX {
            let oldest = under_way.remove(0);
            self.registered.forget(oldest.registered.as_ref());
        }
        under_way.push(sign_in);
    }

    /// Forgets the client of a sign-in that is under way: of one that is not known nobody is sent
    /// back, and the person asks again.
    fn forget_unfinished(&self, credentials: &Credentials) {
        let under_way = self.under_way();
        let unfinished = under_way.iter().filter(|it| std::ptr::eq(&*it.credentials, credentials));
        unfinished.for_each(|sign_in| self.registered.forget(sign_in.registered.as_ref()));
    }

    /// Those under way, without those that took too long.
    fn under_way(&self) -> MutexGuard<'_, Vec<SignIn>> {
        let mut under_way = lock(&self.under_way);
        let now = Instant::now();
        under_way.retain(|sign_in| {
            let is_over = sign_in.until <= now;
            if is_over {
                self.registered.forget(sign_in.registered.as_ref());
            }
            !is_over
        });
        under_way
    }
}

/// The authorization server of a server that can be signed in to.
pub(super) async fn find(credentials: &Credentials) -> Result<Discovered> {
    let refused = |message: &str, hint: &str| {
        Error::new(ErrorCode::InvalidArgument, message)
            .with_server(&*credentials.server)
            .with_detail("path", "server")
            .with_hint(hint)
    };
    let home = credentials.home.as_ref();
    let home =
        home.ok_or_else(|| refused("a server of this transport is not signed in to", NO_ADDRESS))?;
    if credentials.is_fixed {
        return Err(refused(
            "the configuration sets an `Authorization` header of its own",
            "take the header out of the configuration to sign in instead",
        ));
    }
    let refusal = credentials.refusal();
    let found = discover(credentials, home, refusal.as_deref()).await?;
    match credentials.known_issuer() {
        Some(issuer) if issuer != found.issuer => {
            let message = "the authorization server is another than the one that knows the client";
            let error = errors::differs(message, "issuer", &issuer, Some(&found.issuer));
            Err(error.with_server(&*credentials.server))
        }
        _ => Ok(found),
    }
}

/// A token for the client itself: nobody needs to sign in.
///
/// # Errors
/// Those of [`SignIns::begin`].
pub(super) async fn client_credentials(credentials: &Credentials) -> Result<(Grant, Token)> {
    let spec = &credentials.spec;
    let secret = spec.secret(&credentials.server).await?;
    let (Some(id), Some(secret)) = (spec.client_id.clone(), secret) else {
        return Err(errors::required("`oauth` needs `client_id` and `client_secret`"));
    };
    if let Some(refused) = credentials.spent.refusal_of_client(&secret) {
        return Err(refused);
    }
    let Discovered { mut flows, fetch, issuer, .. } = find(credentials).await?;
    let scopes = credentials.scopes()?;
    let client = ClientCredentialsConfig::ClientSecret {
        client_id: id,
        client_secret: secret.clone(),
        scopes: scopes.clone(),
        resource: credentials.home.as_ref().map(Url::to_string),
    };
    let failed = |error| flow_errors::of(error, &fetch);
    flows.validate_client_credentials_metadata(&client).map_err(failed)?;
    flows.configure_client_credentials(&client).map_err(failed)?;
    let answer = quiet(flows.exchange_client_credentials(&client)).await.map_err(|error| {
        let is_final = fetch.is_refused();
        let error = failed(error);
        if is_final && errors::names_unknown_client(&error) {
            credentials.spent.refused_client(secret, &error);
        }
        error
    })?;
    let (held, client) = (InMemoryCredentialStore::new(), Client::default());
    Grant::of((flows, held), fetch, (issuer, client), (scopes, &answer))
}

fn with_client(
    request: AuthorizationRequest,
    id: &str,
    secret: Option<&str>,
) -> AuthorizationRequest {
    let request = request.with_preregistered_client(id);
    match secret {
        Some(secret) => request.with_client_secret(secret),
        None => request,
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use serde_json::json;
    use trunkline_pool::config::ServerSpec;

    use super::*;
    use crate::auth::{Author, Context};

    /// SPEC 15.3, S-31: a server that answers nothing, or much, holds up a sign-in no longer than
    /// its bound.
    #[test]
    fn a_sign_in_that_finds_nobody_ends_within_its_bound() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", silent.local_addr().unwrap());
        let spec = ServerSpec::from_value("s", &json!({ "type": "http", "url": url })).unwrap();
        let credentials = Context::default_of_tests().of(&"s".into(), &spec, Author::Host).unwrap();
        let sign_ins = SignIns { patience: Duration::from_millis(200), ..SignIns::default() };
        let begun = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = SignInOptions::default();
        let error = runtime
            .block_on(sign_ins.begin(Ordinal::default(), credentials, &options))
            .unwrap_err();
        assert_eq!((error.code(), error.server()), (ErrorCode::Timeout, Some("s")));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
