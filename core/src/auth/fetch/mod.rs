//! What the flows send and receive: the one place of this module that opens sockets.

mod answers;
mod cookie_jars;
mod request_kind;
mod routes;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Response, StatusCode};
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, HeaderValue, LOCATION, SET_COOKIE,
    WWW_AUTHENTICATE,
};
use reqwest::{Method, Url};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use self::warnings::Warnings;
use super::client_config::Route;
use super::errors;
use crate::net::address_policy::{Guard, Lookup, system};
use crate::net::headers::{basic_pair, coding};
use crate::net::http_client::Road;
use crate::net::network_errors::is_unanswered;
use crate::net::redact::Redactor;
use crate::net::www_authenticate::Challenge;
use crate::{Error, ErrorCode};
use trunkline_pool::interface::words;
use trunkline_pool::oauth::{Authentication, Registered};

use self::cookie_jars::Jars;
pub(super) use self::request_kind::for_resource;
use self::request_kind::{AnswerFacts, RequestKind};
use self::routes::Roads;

/// From a request to the end of its answer (S-31).
pub(super) const EXCHANGE_WAIT_MAX: Duration = Duration::from_secs(10);

/// Bytes of an answer (S-31): metadata and tokens are a hundred times smaller.
const BODY_BYTES_MAX: usize = 256 << 10;

/// Redirects in a row (S-31).
const REDIRECTS_MAX: u32 = 3;

/// Requests of one sign-in: a server that names many authorization servers must not make many of
/// them.
const REQUESTS_MAX: u32 = 32;

/// What of a request's form is secret.
const SECRETS: [&str; 5] =
    ["client_secret", "code", "code_verifier", "refresh_token", "client_assertion"];

/// The HTTP client of one server's flows.
pub(super) struct Fetch {
    server: Arc<str>,
    guard: Guard,
    roads: Roads,
    warnings: Arc<Warnings>,
    /// What the answers so far said that later requests go by.
    heard: Mutex<AnswerFacts>,
    cookies: Jars,
    redirects: AtomicU32,
    requests: AtomicU32,
    /// What was asked for last, before any redirect.
    asked: Mutex<Option<Url>>,
    /// What the last request that wants something issued was answered.
    answered: Mutex<Option<AuthorizationAnswer>>,
    /// The first failure of ours since [`begin`](Self::begin): what follows from it says less.
    failure: Mutex<Option<Error>>,
    /// What of a sign-in an authorization server may repeat, and nobody is shown.
    redactor: Redactor,
}

/// How an authorization server answered.
#[derive(Clone, Debug)]
pub(super) struct AuthorizationAnswer {
    pub status: StatusCode,
    /// Its code for why it refuses (RFC 6749 5.2), where it says one.
    pub error: Option<String>,
    /// How the client proved who it is, where it was to.
    pub proof: Option<Authentication>,
}

/// Why an authorization server refuses what it was asked (RFC 6749 5.2, RFC 8707 2). Others have
/// codes of their own for what may pass; of theirs these two say that what renews a token is good
/// for nothing.
const REFUSALS: [&str; 9] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
    "bad_refresh_token",
    "invalid_refresh_token",
];

/// Those of them that are about what renews a token, and not about the request or its client.
const SPENT: [&str; 3] = ["invalid_grant", "bad_refresh_token", "invalid_refresh_token"];

impl AuthorizationAnswer {
    /// Whether it says so in the words of an authorization server, of what was asked and not of
    /// itself. Some do with the status of success.
    fn is_final(&self) -> bool {
        let is_of_request = self.status.is_client_error() || self.status.is_success();
        is_of_request && self.error.as_deref().is_some_and(|why| REFUSALS.contains(&why))
    }
}

impl Fetch {
    /// A client for what a server's configuration leads to.
    ///
    /// # Errors
    /// `connect_failed` when the system's trusted roots cannot be read.
    pub(super) fn new(
        server: &Arc<str>,
        guard: Guard,
        route: Route,
        warnings: &Arc<Warnings>,
    ) -> Result<Fetch, Error> {
        Fetch::with(server, (guard, route), system(), warnings)
    }

    /// The same, with another way to look up names.
    fn with(
        server: &Arc<str>,
        (guard, route): (Guard, Route),
        lookup: Lookup,
        warnings: &Arc<Warnings>,
    ) -> Result<Fetch, Error> {
        let roads = Roads::new(&guard, route, lookup);
        let cookies = Jars::default();
        let redactor = cookies.known_to(Redactor::new(std::iter::empty(), BODY_BYTES_MAX));
        Ok(Fetch {
            server: server.clone(),
            roads: roads.map_err(|error| error.with_server(server.as_ref()))?,
            guard,
            warnings: warnings.clone(),
            heard: Mutex::default(),
            cookies,
            redirects: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            asked: Mutex::default(),
            answered: Mutex::default(),
            failure: Mutex::default(),
            redactor,
        })
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// Somebody else's words, without what was sent to them.
    pub(super) fn redact(&self, text: &str) -> String {
        self.redactor.text(text)
    }

    /// Remembers what of a request is secret.
    fn note_secrets(&self, request: &http::Request<Vec<u8>>) {
        let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        for word in header.iter().flat_map(|value| value.split_whitespace()) {
            self.redactor.learn(word);
            basic_secret(word).iter().for_each(|secret| self.redactor.learn(secret));
        }
        for (name, value) in url::form_urlencoded::parse(request.body()) {
            if SECRETS.contains(&&*name) {
                self.redactor.learn(&value);
            }
        }
    }

    pub(super) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// A flow begins: its bounds count anew, and it has no cookies yet.
    pub(super) fn begin(&self) {
        self.end();
        self.goes_on();
    }

    /// A flow goes on after its person was there: its bounds count anew.
    pub(super) fn goes_on(&self) {
        self.redirects.store(0, Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
        self.take_failure();
        self.take_answered();
    }

    /// A flow is over: its cookies go.
    pub(super) fn end(&self) {
        self.cookies.empty();
    }

    /// Whether that was refused for good; also where nothing was asked.
    pub(super) fn is_refused(&self) -> bool {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.as_ref().is_none_or(AuthorizationAnswer::is_final)
    }

    /// Whether the answer says that what renews a token is good for nothing.
    pub(super) fn is_spent(&self) -> bool {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let error = answered.as_ref().and_then(|answered| answered.error.as_deref());
        error.is_some_and(|error| SPENT.contains(&error))
    }

    /// What the last request that wants something issued was answered, if there was one since.
    pub(super) fn take_answered(&self) -> Option<AuthorizationAnswer> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The first failure of ours since then.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The address that was asked for last, and not where a redirect led.
    pub(super) fn asked(&self) -> Option<Url> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The resource said, by the refusal of a message, that it takes bearer tokens.
    pub(super) fn takes_bearer(&self) {
        self.heard().is_bearer = true;
    }

    /// Whether it said so.
    pub(super) fn is_bearer(&self) -> bool {
        self.heard().is_bearer
    }

    /// What tokens are asked for: the resource as its document has it, byte for byte; none where no
    /// document was read.
    pub(super) fn resource(&self) -> Option<String> {
        self.heard().resource.clone()
    }

    /// What a document called its resource that is not the server's.
    pub(super) fn foreign_resource(&self) -> Option<String> {
        self.heard().foreign.clone()
    }

    /// The client that was registered last, as the answer has it.
    pub(super) fn take_registered(&self) -> Option<Registered> {
        self.heard().registered.take()
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, AnswerFacts> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(
        &self,
        mut request: http::Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Error> {
        self.note_secrets(&request);
        let wanted = RequestKind::of(&request);
        if let (RequestKind::Token(_), Some(resource)) = (&wanted, self.resource()) {
            *request.body_mut() = for_resource(request.body(), &resource).into_bytes();
        }
        let mut request = reqwest::Request::try_from(request)
            .map_err(|_| Error::new(ErrorCode::Protocol, "an address that cannot be gone to"))?;
        let url = request.url().clone();
        self.guard.check(&url, "an address that it leads to")?;
        if request.method() != Method::GET || request.headers().contains_key(AUTHORIZATION) {
            self.guard.check_endpoint(url.as_str(), "an address that secrets go to")?;
        }
        if !self.may_ask() {
            return Err(limit(
                words::limit::REQUESTS,
                format!("one sign-in takes more than {REQUESTS_MAX} requests"),
            ));
        }
        if self.redirects.load(Ordering::Relaxed) == 0 {
            *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(url.clone());
        }
        request.headers_mut().extend(self.cookies.header(&url).map(|cookies| (COOKIE, cookies)));
        let client = self.roads.to(&url, &self.guard)?;
        let exchanged = self.sent(client, request, matches!(wanted, RequestKind::Document));
        let exchanged = tokio::time::timeout(EXCHANGE_WAIT_MAX, exchanged).await;
        let mut response = exchanged.unwrap_or_else(|_| Err(slow(&url)))?;
        self.cookies.take(self.asked().as_ref(), &url, &mut response);
        self.count_redirects(response.status())?;
        let response = self.without_foreign_pointers(&url, response);
        self.read(wanted, &url, response)
    }

    /// Counts a request; whether the sign-in may have it.
    fn may_ask(&self) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed) < REQUESTS_MAX
    }

    /// Sends a request, each time by a socket of its own: once more where nothing came of it that
    /// `changes_nothing` (SPEC 18.6).
    async fn sent(
        &self,
        (client, road): (reqwest::Client, Road),
        request: reqwest::Request,
        changes_nothing: bool,
    ) -> Result<Response<Vec<u8>>, Error> {
        let (url, is_post) = (request.url().clone(), request.method() == Method::POST);
        let again = if changes_nothing { request.try_clone() } else { None };
        let mut sent = client.execute(request).await;
        if sent.as_ref().is_err_and(is_unanswered)
            && let Some(again) = again.filter(|_| self.may_ask())
        {
            sent = client.execute(again).await;
        }
        let failed = |error: reqwest::Error| routes::unreached(&url, road, &error);
        whole(sent.map_err(failed)?, (&url, is_post), failed).await
    }

    /// The caller follows a redirect, as another request, which is checked as well.
    fn count_redirects(&self, status: StatusCode) -> Result<(), Error> {
        if !status.is_redirection() {
            self.redirects.store(0, Ordering::Relaxed);
            return Ok(());
        }
        match self.redirects.fetch_add(1, Ordering::Relaxed) >= REDIRECTS_MAX {
            true => Err(limit(
                words::limit::REDIRECTS,
                format!("a request of the sign-in is redirected more than {REDIRECTS_MAX} times"),
            )),
            false => Ok(()),
        }
    }

    /// Metadata of a resource is the resource's own: a challenge that points elsewhere says
    /// nothing, and of others what points somewhere is what was looked at (S-31).
    fn without_foreign_pointers(
        &self,
        url: &Url,
        mut response: Response<Vec<u8>>,
    ) -> Response<Vec<u8>> {
        let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        if url == self.guard.home() && values.iter().any(|value| Challenge::is_in(value)) {
            self.takes_bearer();
        }
        let challenge = Challenge::of(values.into_iter());
        let challenge = challenge.of_home(self.guard.home());
        let challenge = challenge.and_then(|text| HeaderValue::try_from(text).ok());
        let headers = response.headers_mut();
        headers.remove(WWW_AUTHENTICATE);
        headers.extend(challenge.map(|challenge| (WWW_AUTHENTICATE, challenge)));
        response
    }
}

impl OAuthHttpClient for Fetch {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            self.exchange(request.request).await.map_err(|error| {
                let error = error.with_server(self.server.as_ref());
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert_with(|| error.clone());
                Box::new(error) as OAuthHttpClientError
            })
        })
    }
}

/// An answer with its body, and the headers that a flow reads.
async fn whole(
    mut response: reqwest::Response,
    (url, is_post): (&Url, bool),
    failed: impl Fn(reqwest::Error) -> Error,
) -> Result<Response<Vec<u8>>, Error> {
    let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
    if let Some(coding) = coding(&headers).filter(|_| is_post || status.is_success()) {
        return Err(errors::coded(url, &coding));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(&failed)? {
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            return Err(limit(
                words::limit::AUTH_BODY_BYTES,
                format!("an answer in the sign-in is longer than {BODY_BYTES_MAX} bytes"),
            ));
        }
        body.extend_from_slice(&chunk);
    }
    let mut whole = Response::new(body);
    *whole.status_mut() = status;
    *whole.headers_mut() = relevant(&headers);
    Ok(whole)
}

/// The headers that a flow reads.
fn relevant(headers: &HeaderMap) -> HeaderMap {
    let mut relevant = HeaderMap::new();
    for name in [CONTENT_TYPE, LOCATION, SET_COOKIE, WWW_AUTHENTICATE] {
        for value in headers.get_all(&name) {
            relevant.append(&name, value.clone());
        }
    }
    relevant
}

/// The secret of a client that is sent by `Basic`: as it was escaped for that (RFC 6749 2.3.1), and
/// as it is.
fn basic_secret(word: &str) -> Vec<String> {
    let plain = |secret: &str| {
        let parsed = url::form_urlencoded::parse(secret.as_bytes());
        parsed.map(|(plain, _)| plain.into_owned()).collect::<String>()
    };
    basic_pair(word).map(|[_, secret]| vec![plain(&secret), secret]).unwrap_or_default()
}

fn slow(url: &Url) -> Error {
    let address = url.origin().ascii_serialization();
    Error::new(ErrorCode::Timeout, format!("{address} did not answer in time"))
        .with_detail("which", words::deadline::CONNECT)
        .with_detail("address", address)
        .with_hint("check the network on the way to that address, and whether it answers at all")
}

fn limit(name: &str, message: String) -> Error {
    Error::new(ErrorCode::Limit, message).with_detail("limit", name)
}

pub(super) mod authorization_server;
pub(super) mod flow_errors;
#[cfg(test)]
mod tests;
pub(super) mod warnings;
