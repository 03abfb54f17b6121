//! What the tasks of one connection share: the client, the address, the session and where messages
//! of the server go.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue,
    WWW_AUTHENTICATE,
};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use tokio::sync::watch;
use tokio::time::Instant;
use trunkline_pool::config::RemoteKind;

use super::errors::access::AccessState;
use super::errors::error_context::ErrorContext;
use super::errors::{self, Failure};
use super::http_client::{HttpClients, Target, query_values, spends_sockets};
use super::param_headers::Mirrors;
use super::sse::backoff::Turns;
use crate::auth::{CredentialAttempt, Credentials, Denial, Rejection};
use crate::net::cookies::Jar;
use crate::net::http_client::Road;
use crate::net::redact::Redactor;
use crate::net::www_authenticate::Challenge;
use crate::transport::{DisconnectCause, Inbound, of_server};
use crate::{Error, Result};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Longer session ids are refused: they go out with every message.
const SESSION_BYTES_MAX: usize = 1024;

/// The share of the connect's time that is kept for the report of what was tried.
const REPORT_SHARE: u32 = 10;

/// Which of the two transports over HTTP the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A bare address: the answer to the handshake says (SPEC 10.4).
    Unknown,
    /// Streamable HTTP.
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    Events,
}

/// One connection's.
pub(super) struct HttpSession {
    pub server: Arc<str>,
    /// Bytes of a body and of an event.
    pub frame_bytes: usize,
    pub redactor: Arc<Redactor>,
    /// Set when the server has taken `notifications/initialized`: requests wait for it.
    pub ready: watch::Sender<bool>,
    /// Set when the stream of what is unasked is open, or is not waited for any more: lists wait
    /// for it, so that no change of what they show is missed.
    pub listening: watch::Sender<bool>,
    /// When streams are asked for, over all of them.
    pub turns: Turns,
    /// Whether what is sent is still let in.
    pub standing: AccessState,
    /// How a server of an unknown dialect refused a handshake over Streamable HTTP.
    pub probed: OnceLock<Error>,
    /// How long the connect waits.
    patience: Duration,
    kind: RemoteKind,
    road: Road,
    /// What of calls goes into headers.
    pub mirrors: Mirrors,
    dialect: watch::Sender<Dialect>,
    headers: HeaderMap,
    /// What the server is sent to be let in, where the configuration does not say it.
    credentials: Option<Arc<Credentials>>,
    /// What the server set, over all connections of the entry.
    cookies: Arc<Jar>,
    state: Mutex<State>,
}

struct State {
    /// Absent after the end, so that its sockets close.
    clients: Option<HttpClients>,
    url: Url,
    session: Option<HeaderValue>,
    /// What of the address to post to names the session, over HTTP+SSE.
    query: Option<String>,
    revision: Option<HeaderValue>,
    inbound: Option<Arc<dyn Inbound>>,
}

impl HttpSession {
    pub(super) fn new(
        server: Arc<str>,
        frame_bytes: usize,
        redactor: Arc<Redactor>,
        target: Target,
        credentials: Option<Arc<Credentials>>,
    ) -> HttpSession {
        let Target { kind, address: url, headers, clients, road, patience, cookies } = target;
        let dialect = watch::Sender::new(match kind {
            RemoteKind::Http => Dialect::Streamable,
            RemoteKind::Sse => Dialect::Events,
            // A websocket has nothing to find out, and never asks.
            _ => Dialect::Unknown,
        });
        let clients = Some(clients);
        let (session, query, revision, inbound) = (None, None, None, None);
        let state = State { clients, url, session, query, revision, inbound };
        let probed = OnceLock::new();
        let (ready, listening) = (watch::Sender::new(false), watch::Sender::new(false));
        let state = Mutex::new(state);
        let mirrors = Mirrors::default();
        HttpSession {
            server,
            frame_bytes,
            redactor,
            ready,
            listening,
            turns: Turns::default(),
            standing: AccessState::default(),
            probed,
            patience,
            kind,
            road,
            mirrors,
            dialect,
            headers,
            credentials,
            cookies,
            state,
        }
    }

    /// Messages of the server go there from now on.
    pub(super) fn open(&self, inbound: Arc<dyn Inbound>) {
        self.state().inbound = Some(inbound);
    }

    /// Lets go of the sockets and of the connection.
    pub(super) fn close(&self) {
        let mut state = self.state();
        let rest = (state.clients.take(), state.inbound.take());
        drop(state);
        drop(rest);
    }

    /// Where messages go.
    ///
    /// # Errors
    /// After the end.
    pub(super) fn inbound(&self) -> std::result::Result<Arc<dyn Inbound>, Failure> {
        let inbound = self.state().inbound.clone();
        inbound.ok_or_else(|| Failure::Message(errors::over(&self.server)))
    }

    /// When the connect is to be told what was met, so that its time does not run out first; `None`
    /// once the connection is made.
    pub(super) fn reported_at(&self) -> Option<Instant> {
        let given_up_at = self.inbound().ok()?.given_up_at()?;
        Some(given_up_at - self.patience / REPORT_SHARE)
    }

    /// Whether the connection is not made yet.
    pub(super) fn is_connecting(&self) -> bool {
        self.inbound().is_ok_and(|inbound| inbound.given_up_at().is_some())
    }

    /// What the server speaks, as far as that is known.
    pub(super) fn dialect(&self) -> Dialect {
        *self.dialect.borrow()
    }

    /// The server turned out to speak this.
    pub(super) fn speaks(&self, dialect: Dialect) {
        self.dialect.send_if_modified(|known| {
            let is_new = *known == Dialect::Unknown;
            *known = if is_new { dialect } else { *known };
            is_new
        });
    }

    /// Waits until it is known what the server speaks.
    pub(super) async fn spoken(&self) -> Dialect {
        let mut dialect = self.dialect.subscribe();
        let known = dialect.wait_for(|dialect| *dialect != Dialect::Unknown).await;
        known.map_or(Dialect::Streamable, |known| *known)
    }

    /// The connection cannot go on. Told from a task of its own, since what follows ends the
    /// caller's.
    pub(super) fn lose(&self, sighting: DisconnectCause) {
        if let Ok(inbound) = self.inbound() {
            tokio::spawn(inbound.lost(sighting));
        }
    }

    /// Whether a handshake that failed, or is answered in another dialect, counts: not when the
    /// question beside it was answered.
    pub(super) async fn wants_handshake(&self) -> bool {
        match self.inbound() {
            Ok(inbound) => inbound.wants_handshake().await,
            Err(_) => false,
        }
    }

    /// The handshake was answered: this revision goes out with every message.
    pub(super) fn negotiated(&self, revision: &str) {
        self.state().revision = HeaderValue::from_str(revision).ok();
    }

    /// Whether the handshake was answered.
    pub(super) fn is_negotiated(&self) -> bool {
        self.state().revision.is_some()
    }

    /// Whether messages name a session, as an id or by their address.
    pub(super) fn is_in_session(&self) -> bool {
        let state = self.state();
        state.session.is_some() || state.query.is_some()
    }

    /// Forgets the session, if there is one, for the caller that ends it by word.
    pub(super) fn leave_session(&self) -> Option<HeaderValue> {
        self.state().session.take()
    }

    /// Forgets the session: the server has (S-35).
    pub(super) fn drop_session(&self) {
        drop(self.leave_session());
    }

    /// The session that an answer names.
    pub(super) fn session_of(response: &Response) -> Option<HeaderValue> {
        let mut session = response.headers().get(&SESSION)?.clone();
        session.set_sensitive(true);
        Some(session)
    }

    /// Keeps the session that came with the answer to the handshake.
    ///
    /// # Errors
    /// `protocol` when it is not what a session id can be.
    pub(super) fn keep_session(&self, response: &Response) -> Result<()> {
        let Some(session) = HttpSession::session_of(response) else { return Ok(()) };
        let bytes = session.as_bytes();
        let visible = bytes.iter().all(u8::is_ascii_graphic);
        if bytes.is_empty() || bytes.len() > SESSION_BYTES_MAX || !visible {
            let message = "the server gave a session id that cannot be one";
            return Err(errors::protocol(&self.server, message));
        }
        self.redactor.learn(&String::from_utf8_lossy(bytes));
        self.state().session = Some(session);
        Ok(())
    }

    /// An error of the protocol that the server gave, without this connection's secrets.
    pub(super) fn error_of_server(&self, error: &str) -> Error {
        of_server(&self.server, &self.redactor.json(error))
    }

    /// Follows a redirect within the origin (S-32); `false` when it leads anywhere else. The user
    /// and password stay those of the configuration.
    pub(super) fn follow(&self, from: &Url, location: &str) -> bool {
        let Ok(mut to) = from.join(location) else { return false };
        let mut state = self.state();
        // The client makes a header of them and takes them out of the address that it reports,
        // which is `from`.
        let named = to.set_username(state.url.username());
        let named = named.and_then(|()| to.set_password(state.url.password()));
        let same = named.is_ok() && to.origin() == state.url.origin();
        if same {
            state.url = to;
        }
        same
    }

    /// Messages go there from now on; `false` when that is no address of the same origin.
    pub(super) fn post_to(&self, from: &Url, endpoint: &str) -> bool {
        if !self.follow(from, endpoint) {
            return false;
        }
        let mut state = self.state();
        query_values(&state.url).iter().for_each(|value| self.redactor.learn(value));
        state.query = state.url.query().filter(|query| !query.is_empty()).map(str::to_owned);
        true
    }

    /// Waits until what the server is sent to be let in from here on is forgotten; for ever where
    /// nothing can be.
    pub(super) fn until_signed_out(&self) -> impl Future<Output = ()> + use<> {
        let forgotten =
            self.credentials.as_ref().map(|credentials| credentials.forgotten.subscribe());
        async move {
            match forgotten {
                // The sender lives as long as the connection, which waits here.
                Some(mut forgotten) => drop(forgotten.changed().await),
                None => std::future::pending().await,
            }
        }
    }

    /// What the server is sent to be let in, unless the configuration says it.
    pub(super) fn bearer(&self) -> Option<HeaderValue> {
        self.credentials.as_ref()?.header()
    }

    /// Renews what is about to expire, before a message is sent.
    pub(super) async fn prepare(&self) {
        if let Some(credentials) = &self.credentials {
            credentials.prepare().await;
        }
    }

    /// Whether there is something else to send to a server that refused a message for want of
    /// credentials.
    pub(super) async fn has_other(
        &self,
        response: &Response,
        sent: Option<&HeaderValue>,
        turn: CredentialAttempt,
    ) -> bool {
        let Some(credentials) = &self.credentials else { return false };
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let mut challenges = challenges.filter_map(|value| value.to_str().ok());
        // The host is shown it, and a server may say back what it was sent.
        let challenge = challenges.find(|value| Challenge::is_in(value)).map(|it| self.redact(it));
        let challenge = challenge.as_deref();
        let is_unknown = response.status() == StatusCode::UNAUTHORIZED;
        credentials.has_other(Rejection { sent, challenge, is_unknown, turn }).await
    }

    /// A request to the server with every header that it needs.
    pub(super) fn request(&self, method: Method) -> std::result::Result<RequestBuilder, Failure> {
        const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
        const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        let own: &[_] = match method {
            Method::POST => &[(ACCEPT, BOTH), (CONTENT_TYPE, JSON)],
            Method::GET => &[(ACCEPT, EVENTS)],
            _ => &[],
        };
        self.request_with(method, own.iter().cloned().collect())
    }

    /// A request in that session.
    pub(super) fn in_session(
        &self,
        method: Method,
        session: HeaderValue,
    ) -> std::result::Result<RequestBuilder, Failure> {
        let request = self.request(method)?;
        Ok(request.headers([(SESSION, session)].into_iter().collect()))
    }

    /// A request to the server with these headers beside those that every one has.
    pub(super) fn request_with(
        &self,
        method: Method,
        own: HeaderMap,
    ) -> std::result::Result<RequestBuilder, Failure> {
        let state = self.state();
        let clients = state.clients.as_ref();
        let clients = clients.ok_or_else(|| Failure::Message(errors::over(&self.server)))?;
        let mut headers = self.headers.clone();
        if self.keeps_cookies() {
            let cookies = self.cookies.header(&state.url, self.sign_outs());
            headers.extend(cookies.map(|cookies| (COOKIE, cookies)));
        }
        headers.extend(self.bearer().map(|bearer| (AUTHORIZATION, bearer)));
        headers.extend(own);
        headers.extend(state.session.clone().map(|session| (SESSION, session)));
        headers.extend(state.revision.clone().map(|revision| (REVISION, revision)));
        Ok(clients.next().request(method, state.url.clone()).headers(headers))
    }

    /// Heeds what an answer says of its socket.
    pub(super) fn heed(&self, headers: &HeaderMap) {
        if spends_sockets(headers) {
            self.state().clients.iter().for_each(HttpClients::spend);
        }
    }

    /// The client whose every request has a socket of its own.
    pub(super) fn fresh(&self) -> std::result::Result<reqwest::Client, Failure> {
        let fresh = self.state().clients.as_ref().map(|clients| clients.fresh.clone());
        fresh.ok_or_else(|| Failure::Message(errors::over(&self.server)))
    }

    /// Takes the cookies of an answer, unless the configuration has its own or the answer leads
    /// away.
    pub(super) fn take_cookies(&self, response: &Response) {
        if self.keeps_cookies() && response.url().origin() == self.state().url.origin() {
            self.cookies.take(response.url(), response.headers(), self.sign_outs());
        }
    }

    fn keeps_cookies(&self) -> bool {
        !self.headers.contains_key(COOKIE)
    }

    /// How often what the server is sent to be let in was forgotten.
    fn sign_outs(&self) -> u64 {
        let forgotten = self.credentials.as_ref().map(|known| *known.forgotten.borrow());
        forgotten.unwrap_or_default()
    }

    /// A request for what follows an event, or for what the server has to say unasked.
    pub(super) fn listen(
        &self,
        after: Option<&HeaderValue>,
    ) -> std::result::Result<RequestBuilder, Failure> {
        let request = self.request(Method::GET)?;
        Ok(match after {
            Some(id) => request.header(LAST_EVENT, id),
            None => request,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ErrorContext for HttpSession {
    fn server(&self) -> &Arc<str> {
        &self.server
    }

    fn redact(&self, text: &str) -> String {
        let state = self.state();
        let session = state.session.as_ref().and_then(|session| session.to_str().ok());
        let secrets = session.into_iter().chain(state.query.as_deref());
        let hide = |text: String, secret| text.replace(secret, "[redacted]");
        secrets.fold(self.redactor.text(text), hide)
    }

    fn road(&self) -> Road {
        self.road
    }

    fn shown_address(&self) -> String {
        self.shown_origin(&self.state().url)
    }

    fn shown_origin(&self, url: &Url) -> String {
        let origin = url.origin().ascii_serialization();
        match (self.kind, origin.strip_prefix("http")) {
            (RemoteKind::Websocket, Some(rest)) => format!("ws{rest}"),
            _ => origin,
        }
    }

    fn denial(&self) -> Option<Denial> {
        self.credentials.as_ref()?.denial()
    }

    fn unrenewed(&self) -> Option<Error> {
        self.credentials.as_ref()?.unrenewed()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;
    use trunkline_pool::config::{ServerSpec, Transport};

    use super::*;

    /// That of a connection which leads nowhere.
    pub(in super::super) fn channel() -> HttpSession {
        let spec = ServerSpec::from_value("s", &json!({ "type": "http", "url": "http://h/" }));
        let spec = spec.unwrap();
        let Transport::Remote(remote) = &spec.transport else { panic!("it is remote") };
        let server: Arc<str> = "s".into();
        let target = Target::of(&server, remote, Duration::ZERO, Arc::default()).unwrap();
        let redactor = Arc::new(Redactor::new(std::iter::empty(), 40));
        HttpSession::new(server, 1 << 20, redactor, target, None)
    }
}
