//! What the tasks of one connection share: the client, the address, the session and where messages of the server go.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};
use tokio::sync::watch;

use super::failure::{self, Failure};
use crate::Result;
use crate::transport::redact::Redactor;
use crate::transport::{Inbound, Sighting};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Longer session ids are refused: they go out with every message.
const SESSION_BYTES_MAX: usize = 1024;

/// One connection's.
pub(super) struct Channel {
    pub server: Arc<str>,
    /// Bytes of a body and of an event.
    pub frame_bytes: usize,
    pub redactor: Arc<Redactor>,
    /// Set when the server has taken `notifications/initialized`: requests wait for it.
    pub ready: watch::Sender<bool>,
    /// Set when the stream of what is unasked is open, or is not waited for any more: lists wait for it, so that no change
    /// of what they show is missed.
    pub listening: watch::Sender<bool>,
    headers: HeaderMap,
    state: Mutex<State>,
}

struct State {
    /// Absent after the end, so that its sockets close.
    client: Option<reqwest::Client>,
    url: Url,
    session: Option<HeaderValue>,
    revision: Option<HeaderValue>,
    inbound: Option<Arc<dyn Inbound>>,
}

impl Channel {
    pub(super) fn new(
        server: Arc<str>,
        frame_bytes: usize,
        redactor: Arc<Redactor>,
        client: reqwest::Client,
        (url, headers): (Url, HeaderMap),
    ) -> Channel {
        let (session, revision, inbound) = (None, None, None);
        let state = State { client: Some(client), url, session, revision, inbound };
        let (ready, listening) = (watch::Sender::new(false), watch::Sender::new(false));
        let state = Mutex::new(state);
        Channel { server, frame_bytes, redactor, ready, listening, headers, state }
    }

    /// Messages of the server go there from now on.
    pub(super) fn open(&self, inbound: Arc<dyn Inbound>) {
        self.state().inbound = Some(inbound);
    }

    /// Lets go of the sockets and of the connection.
    pub(super) fn close(&self) {
        let mut state = self.state();
        let rest = (state.client.take(), state.inbound.take());
        drop(state);
        drop(rest);
    }

    /// Where messages go.
    ///
    /// # Errors
    /// After the end.
    pub(super) fn inbound(&self) -> std::result::Result<Arc<dyn Inbound>, Failure> {
        let inbound = self.state().inbound.clone();
        inbound.ok_or_else(|| Failure::Message(failure::over(&self.server)))
    }

    /// The connection cannot go on. Told from a task of its own, since what follows ends the caller's.
    pub(super) fn lose(&self, sighting: Sighting) {
        if let Ok(inbound) = self.inbound() {
            tokio::spawn(inbound.lost(sighting));
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

    /// Whether the server gave this connection a session.
    pub(super) fn has_session(&self) -> bool {
        self.state().session.is_some()
    }

    /// Forgets the session: the server has (S-35).
    pub(super) fn drop_session(&self) {
        self.state().session = None;
    }

    /// Keeps the session that came with the answer to the handshake.
    ///
    /// # Errors
    /// `protocol` when it is not what a session id can be.
    pub(super) fn keep_session(&self, response: &Response) -> Result<()> {
        let Some(session) = response.headers().get(&SESSION) else { return Ok(()) };
        let bytes = session.as_bytes();
        let visible = bytes.iter().all(u8::is_ascii_graphic);
        if bytes.is_empty() || bytes.len() > SESSION_BYTES_MAX || !visible {
            let message = "the server gave a session id that cannot be one";
            return Err(failure::protocol(&self.server, message));
        }
        let mut session = session.clone();
        session.set_sensitive(true);
        self.state().session = Some(session);
        Ok(())
    }

    /// The server's text without this connection's secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        let text = self.redactor.text(text);
        let session = self.state().session.clone();
        match session.as_ref().and_then(|session| session.to_str().ok()) {
            Some(session) => text.replace(session, "[redacted]"),
            None => text,
        }
    }

    /// The address as it may be shown: no path, no query, no user.
    pub(super) fn shown_address(&self) -> String {
        self.state().url.origin().ascii_serialization()
    }

    /// Follows a redirect within the origin (S-32); `false` when it leads anywhere else.
    pub(super) fn follow(&self, from: &Url, location: &str) -> bool {
        let Ok(to) = from.join(location) else { return false };
        let mut state = self.state();
        let same = to.origin() == state.url.origin();
        if same {
            state.url = to;
        }
        same
    }

    /// A request to the server with every header that it needs.
    pub(super) fn request(&self, method: Method) -> std::result::Result<RequestBuilder, Failure> {
        const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
        const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        let state = self.state();
        let client = state.client.as_ref();
        let client = client.ok_or_else(|| Failure::Message(failure::over(&self.server)))?;
        let mut headers = self.headers.clone();
        match method {
            Method::POST => {
                headers.insert(ACCEPT, BOTH);
                headers.insert(CONTENT_TYPE, JSON);
            }
            Method::GET => {
                headers.insert(ACCEPT, EVENTS);
            }
            _ => {}
        }
        headers.extend(state.session.clone().map(|session| (SESSION, session)));
        headers.extend(state.revision.clone().map(|revision| (REVISION, revision)));
        Ok(client.request(method, state.url.clone()).headers(headers))
    }

    /// A request for what follows an event, or for what the server has to say unasked.
    pub(super) fn listen(
        &self,
        after: Option<&str>,
    ) -> std::result::Result<RequestBuilder, Failure> {
        let request = self.request(Method::GET)?;
        let after = after.and_then(|id| HeaderValue::from_str(id).ok());
        Ok(match after {
            Some(id) => request.header(LAST_EVENT, id),
            None => request,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
