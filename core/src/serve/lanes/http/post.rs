//! POST: one message of a client, of either era.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use hyper::body::Incoming;
use trunkline_pool::bridge::{McpHeaders, MessageEra, era_of, wants_events};

use super::events::{self, Answering};
use super::replies::{self, HttpReply};
use super::{body, legacy};
use crate::serve::lane::{LaneKind, Principal, Served, ServedPath};
use crate::serve::lanes::front::Front;
use crate::serve::lanes::rpc_errors;
use crate::serve::outlet::{Outlet, StreamId};

/// The kinds of answers that a client of Streamable HTTP takes.
const KINDS: [&str; 2] = ["application/json", "text/event-stream"];

/// Answers a POST.
///
/// A dropped future is a client that went.
pub(super) async fn answer(
    front: &Arc<Front>,
    path: &ServedPath,
    who: Principal,
    head: &Parts,
    body: Incoming,
) -> HttpReply {
    if !is_json(&head.headers) {
        return replies::closed(replies::plain(
            415,
            "the body must have the type application/json",
        ));
    }
    if !takes_all(&head.headers, &KINDS) {
        let text = "Accept must take application/json and text/event-stream";
        return replies::closed(replies::plain(406, text));
    }
    let text = match body::text(front, &who, &head.headers, body).await {
        Ok(text) => text,
        Err(reply) => return *reply,
    };
    let wants_events = wants_events(&text);
    let headers = mcp_headers(&head.headers);
    let message = legacy::PostedMessage { text: &text, headers: &headers };
    match era_of(&text, Some(&headers)) {
        MessageEra::Unreadable => replies::json(400, rpc_errors::unreadable()),
        MessageEra::Modern { .. } => modern(front, path, &who, &message, wants_events).await,
        MessageEra::Initialize if head.headers.get(legacy::SESSION).is_none() => {
            legacy::open(front, path, who, &message).await
        }
        MessageEra::Initialize | MessageEra::Legacy | MessageEra::Notice => {
            legacy::message(front, (path, &who), head, &message, wants_events).await
        }
    }
}

async fn modern(
    front: &Arc<Front>,
    path: &ServedPath,
    who: &Principal,
    message: &legacy::PostedMessage<'_>,
    wants_events: bool,
) -> HttpReply {
    let client = match front.clients.modern(path, who, LaneKind::Http).await {
        Ok(client) => client,
        Err(error) => return replies::refusal(message.text, &error),
    };
    let (outlet, outbox) = Outlet::new(front.next_stream(), front.request_bounds(0));
    let guard = ClosedStream { client: client.clone(), stream: outlet.stream() };
    client.message(message.text, Some(message.headers), outlet);
    let how = Answering { wants_events, has_ids: false, keep_alive: front.bounds.keep_alive };
    events::answer(outbox, &how, vec![Box::new(guard)]).await
}

/// Tells a client, when dropped, that a stream of its is read no more.
pub(super) struct ClosedStream {
    pub client: Arc<dyn Served>,
    pub stream: StreamId,
}

impl Drop for ClosedStream {
    fn drop(&mut self) {
        self.client.stream_closed(self.stream);
    }
}

/// The headers that speak of the message.
fn mcp_headers(headers: &HeaderMap) -> McpHeaders {
    let read = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let all: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), read(value))).collect();
    McpHeaders::new(all.iter().map(|(name, value)| (*name, value.as_str())))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Whether a client takes all of these kinds. One that says nothing takes everything.
pub(super) fn takes_all(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let said: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|part| part.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .collect();
    let takes = |kind: &&str| {
        let family = kind.split('/').next().unwrap_or_default();
        said.iter()
            .any(|said| said == kind || said == "*/*" || said.strip_suffix("/*") == Some(family))
    };
    said.is_empty() || kinds.iter().all(takes)
}
