//! Legacy sessions over HTTP: their opening, their messages and their end.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use trunkline_pool::bridge::{LEGACY, McpHeaders};

use super::events::{self, Answering};
use super::replies::{self, HttpReply};
use super::sessions::LegacySession;
use crate::serve::lane::{LaneError, LaneKind, Principal, Served, ServedPath};
use crate::serve::lanes::front::Front;
use crate::serve::lanes::quotas::QuotaKind;
use crate::serve::lanes::rpc_errors;
use crate::serve::outlet::Outlet;

/// The header that names a session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The header that names the revision of the protocol.
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// One message, as it came.
pub(super) struct PostedMessage<'a> {
    pub text: &'a str,
    pub headers: &'a McpHeaders,
}

/// Answers `initialize`: the session that it opens gets an id.
///
/// A dropped future closes what it opened.
pub(super) async fn open(
    front: &Arc<Front>,
    path: &ServedPath,
    who: Principal,
    message: &PostedMessage<'_>,
) -> HttpReply {
    let Some(seat) = front.quotas.take(&who, QuotaKind::Sessions, 1) else {
        let full = LaneError {
            status: 429,
            code: rpc_errors::INTERNAL_ERROR,
            message: "this principal has too many sessions".into(),
        };
        return replies::refusal(message.text, &full);
    };
    let client = match front.clients.legacy(path, &who, LaneKind::Http).await {
        Ok(client) => client,
        Err(error) => return replies::refusal(message.text, &error),
    };
    let mut unopened = UnopenedClient(Some(client.clone()));
    let (outlet, outbox) = Outlet::new(front.next_stream(), front.request_bounds(0));
    client.message(message.text, Some(message.headers), outlet);
    let session = if outbox.has_opened_session() {
        match front.sessions.add((who, path.clone()), client, seat) {
            Ok(session) => {
                unopened.0 = None;
                Some(session)
            }
            Err(error) => return replies::plain(500, error.message()),
        }
    } else {
        None
    };
    let how =
        Answering { wants_events: false, has_ids: false, keep_alive: front.bounds.keep_alive };
    let mut reply = events::answer(outbox, &how, Vec::new()).await;
    let id = session.and_then(|session| HeaderValue::from_str(&session.id).ok());
    if let Some(id) = id {
        reply.headers_mut().insert(SESSION, id);
    }
    reply
}

/// Closes a client that got no session.
struct UnopenedClient(Option<Arc<dyn Served>>);

impl Drop for UnopenedClient {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            client.close();
        }
    }
}

/// Answers a message of a session.
///
/// A dropped future is a client that went: its request goes on, and the client may come back.
pub(super) async fn message(
    front: &Arc<Front>,
    (path, who): (&ServedPath, &Principal),
    head: &Parts,
    message: &PostedMessage<'_>,
    wants_events: bool,
) -> HttpReply {
    let session = match session_of(front, path, who, head) {
        Ok(session) => session,
        Err(error) => return replies::refusal(message.text, &error),
    };
    let bounds = front.request_bounds(front.bounds.replay_bytes);
    let (outlet, outbox) = Outlet::new(front.next_stream(), bounds);
    let in_use = session.in_use();
    session.client.message(message.text, Some(message.headers), outlet.clone());
    let how = Answering { wants_events, has_ids: true, keep_alive: front.bounds.keep_alive };
    let reply = events::answer(outbox, &how, vec![Box::new(in_use)]).await;
    // Only events have ids to come back with.
    if reply.body().is_stream() {
        session.keep(outlet, front.replay_bounds());
    }
    reply
}

/// Answers DELETE: the session ends.
pub(super) fn delete(front: &Front, path: &ServedPath, who: &Principal, head: &Parts) -> HttpReply {
    match session_of(front, path, who, head) {
        Ok(session) => {
            front.sessions.end(&session);
            replies::empty(StatusCode::NO_CONTENT)
        }
        Err(error) => replies::plain(error.status, &error.message),
    }
}

/// The session that a request names. One of another principal is as unknown as one that ended.
pub(super) fn session_of(
    front: &Front,
    path: &ServedPath,
    who: &Principal,
    head: &Parts,
) -> Result<Arc<LegacySession>, LaneError> {
    let wrong = |status: u16, message: &str| LaneError {
        status,
        code: rpc_errors::INVALID_REQUEST,
        message: message.into(),
    };
    let mut ids = head.headers.get_all(SESSION).iter();
    let id = ids.next().ok_or_else(|| {
        wrong(400, "the header Mcp-Session-Id is missing: `initialize` opens a session")
    })?;
    if ids.next().is_some() {
        return Err(wrong(400, "more than one Mcp-Session-Id header"));
    }
    let id = id.to_str().unwrap_or_default();
    let session = front
        .sessions
        .find(id, who, path)
        .ok_or_else(|| wrong(404, "there is no such session: it ended, or is not yours here"))?;
    let mut revisions = head.headers.get_all(REVISION).iter();
    // Only those have sessions (SERVING A3.2).
    let is_known = |revision: &HeaderValue| LEGACY.iter().any(|known| revision == known);
    match revisions.all(is_known) {
        true => Ok(session),
        false => Err(wrong(400, "the MCP-Protocol-Version is not one of a session")),
    }
}
