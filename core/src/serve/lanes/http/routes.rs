//! From a request's head to who answers it.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use url::form_urlencoded;

use super::peer::Peer;
use super::replies::{self, HttpReply};
use super::{get, legacy, post};
use crate::serve::lane::{Principal, ServedPath};
use crate::serve::lanes::front::Front;
use crate::serve::lanes::guard::only;
use crate::serve::lanes::rpc_errors;

/// Names of a parameter that a client may have put a token into.
const TOKEN_PARAMETERS: &[&str] =
    &["access_token", "token", "bearer", "authorization", "auth", "api_key", "apikey", "key"];

/// Answers a request.
///
/// A dropped future is a client that went: in the modern era its request is cancelled.
pub(super) async fn answer(
    front: Arc<Front>,
    peer: Arc<Peer>,
    request: Request<Incoming>,
) -> HttpReply {
    let (head, body) = request.into_parts();
    let origin = match front.guard.check(&head, peer.user.is_none()) {
        Ok(origin) => origin,
        Err(refused) => return replies::closed(replies::plain(refused.status, refused.text)),
    };
    let mut reply = welcome(&front, &peer, &head, body, origin.is_some()).await;
    if let Some(origin) = origin {
        replies::allow_origin(reply.headers_mut(), origin);
    }
    reply
}

/// Answers a request that may come from where it comes.
async fn welcome(
    front: &Arc<Front>,
    peer: &Peer,
    head: &Parts,
    body: Incoming,
    is_page: bool,
) -> HttpReply {
    let path = head.uri.path();
    match path {
        "/healthz" => return healthy(head, true),
        "/readyz" => return healthy(head, front.clients.is_ready()),
        // No authorization server stands behind the token, and no document names one.
        _ if path.starts_with("/.well-known/") => {
            return replies::closed(replies::plain(404, NOT_HERE));
        }
        _ => {}
    }
    if head.method == Method::OPTIONS && is_page {
        return replies::preflight();
    }
    if names_token(head.uri.query().unwrap_or_default()) {
        let text = "a token in the URL is refused: it would be kept in logs; send it as \
                    `Authorization: Bearer <token>`, and replace this one";
        return replies::closed(replies::plain(400, text));
    }
    let Some(who) = principal(front, peer, head).await else {
        return replies::closed(replies::unauthorized());
    };
    if !peer.is_seated(front, &who) {
        return replies::closed(replies::plain(429, "this principal has too many connections"));
    }
    if path == "/metrics" {
        return match head.method {
            Method::GET => metrics(front),
            _ => replies::no_method("GET"),
        };
    }
    let Some(served) = ServedPath::parse(path) else {
        return replies::closed(replies::plain(404, &rpc_errors::not_served(path).message));
    };
    match head.method {
        Method::POST => post::answer(front, &served, who, head, body).await,
        Method::GET => get::answer(front, &served, &who, head),
        Method::DELETE => legacy::delete(front, &served, &who, head),
        _ => replies::closed(replies::no_method("POST, GET, DELETE")),
    }
}

const NOT_HERE: &str = "there is nothing at this path";

/// Who sends a request: the peer that the system names, or whose token it shows. A socket's peer
/// that shows a token is the token's principal, with its profile.
async fn principal(front: &Front, peer: &Peer, head: &Parts) -> Option<Principal> {
    let shown = only(&head.headers, AUTHORIZATION).ok()?;
    match (shown, &peer.user) {
        (None, user) => user.clone(),
        (Some(value), user) => match &front.tokens {
            Some(tokens) => tokens.principal(bearer(value)?).await,
            // Without tokens of its own an endpoint has no use for another's.
            None => user.clone(),
        },
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a query has a parameter by which tokens are sent.
fn names_token(query: &str) -> bool {
    form_urlencoded::parse(query.as_bytes())
        .any(|(name, _)| TOKEN_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()))
}

/// The status alone: what runs here is no business of who may not ask.
fn healthy(head: &Parts, is_well: bool) -> HttpReply {
    match (&head.method, is_well) {
        (&Method::GET | &Method::HEAD, true) => replies::empty(StatusCode::OK),
        (&Method::GET | &Method::HEAD, false) => replies::empty(StatusCode::SERVICE_UNAVAILABLE),
        _ => replies::no_method("GET, HEAD"),
    }
}

fn metrics(front: &Front) -> HttpReply {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    replies::whole(200, kind, front.clients.metrics())
}
