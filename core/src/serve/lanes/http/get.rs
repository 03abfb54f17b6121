//! GET: the stream of a legacy session for what belongs to no request, or the rest of a request's
//! stream that its client missed.

use std::sync::Arc;

use http::request::Parts;
use trunkline_pool::bridge::MODERN;

use super::events::{Answering, events};
use super::legacy::session_of;
use super::post::{ClosedStream, takes_all};
use super::replies::{self, HttpReply};
use crate::serve::lane::{Principal, ServedPath};
use crate::serve::lanes::front::Front;
use crate::serve::outlet::{Outlet, OutletItem, StreamId};

/// Answers a GET.
pub(super) fn answer(
    front: &Arc<Front>,
    path: &ServedPath,
    who: &Principal,
    head: &Parts,
) -> HttpReply {
    let version = head.headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    if version.is_some_and(|version| version >= MODERN) {
        return replies::no_method("POST");
    }
    if !takes_all(&head.headers, &["text/event-stream"]) {
        return replies::plain(406, "Accept must take text/event-stream");
    }
    let session = match session_of(front, path, who, head) {
        Ok(session) => session,
        Err(error) => return replies::plain(error.status, &error.message),
    };
    let how = Answering { wants_events: true, has_ids: true, keep_alive: front.bounds.keep_alive };
    let in_use = session.in_use();
    let (outlet, outbox) = Outlet::new(front.next_stream(), front.listening_bounds());
    if let Some(last) = head.headers.get("last-event-id") {
        let last = last.to_str().ok().and_then(event_of);
        if let Some(request) = last.and_then(|(stream, _)| session.stream(stream)) {
            let rest = request.resume(last.map(|(_, number)| number));
            return events(rest, &how, vec![Box::new(in_use)]);
        }
        let before = last.and_then(|(stream, number)| Some((session.listening(stream)?, number)));
        let Some((before, number)) = before else {
            // An error would have its client come again and again.
            outlet.send(OutletItem::Close);
            return events(outbox, &how, vec![Box::new(in_use)]);
        };
        outlet.take_over(&before, number);
    }
    let guard = ClosedStream { client: session.client.clone(), stream: outlet.stream() };
    session.listen(outlet);
    events(outbox, &how, vec![Box::new(guard), Box::new(in_use)])
}

/// The stream and the number of an event's id.
fn event_of(id: &str) -> Option<(StreamId, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((StreamId(stream.parse().ok()?), number.parse().ok()?))
}
