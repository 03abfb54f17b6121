//! Answers without a message of the endpoint's.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CONNECTION, CONTENT_TYPE, VARY,
    WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::reply_body::ReplyBody;
use crate::serve::lane::LaneError;
use crate::serve::lanes::rpc_errors;

/// What a request gets.
pub(super) type HttpReply = Response<ReplyBody>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const NOSNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// The methods of a served path.
const METHODS: HeaderValue = HeaderValue::from_static("POST, GET, DELETE, OPTIONS");

/// The headers that a page may send.
const PAGE_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, \
     mcp-method, mcp-name",
);

/// An answer with a status and one text.
pub(super) fn whole(status: u16, kind: HeaderValue, text: impl Into<Bytes>) -> HttpReply {
    let mut reply = Response::new(ReplyBody::whole(text.into()));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply.headers_mut().insert(NOSNIFF, HeaderValue::from_static("nosniff"));
    reply
}

/// A status with a sentence that says why.
pub(super) fn plain(status: u16, text: &str) -> HttpReply {
    whole(status, TEXT, format!("{text}\n"))
}

/// A status with a message of the protocol.
pub(super) fn json(status: u16, text: impl Into<Bytes>) -> HttpReply {
    whole(status, JSON, text)
}

/// A status alone.
pub(super) fn empty(status: StatusCode) -> HttpReply {
    let mut reply = Response::new(ReplyBody::whole(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

/// A client that cannot be opened.
pub(super) fn refusal(message: &str, error: &LaneError) -> HttpReply {
    json(error.status, rpc_errors::answer_to(message, error))
}

/// 401: no token, or none that is valid.
pub(super) fn unauthorized() -> HttpReply {
    let text = "a token is needed: send `Authorization: Bearer <token>` with a token of the \
                endpoint's token file";
    let mut reply = plain(401, text);
    let realm = HeaderValue::from_static(r#"Bearer realm="trunkline""#);
    reply.headers_mut().insert(WWW_AUTHENTICATE, realm);
    reply
}

/// 405 with the methods that there are.
pub(super) fn no_method(allowed: &'static str) -> HttpReply {
    let mut reply = plain(405, "the method is not allowed here");
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// The answer to what a page asks before its request.
pub(super) fn preflight() -> HttpReply {
    let mut reply = empty(StatusCode::NO_CONTENT);
    let headers = reply.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, PAGE_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    reply
}

/// Lets a page of an allowed origin read the answer.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
}

/// The same answer on a connection that ends with it: its body is not read.
pub(super) fn closed(mut reply: HttpReply) -> HttpReply {
    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    reply
}
