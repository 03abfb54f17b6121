//! GET: the stream of a legacy session for what belongs to no request, or the rest of a request's
//! stream that its client missed.

use std::sync::Arc;

use http::request::Parts;

use super::events::{Answering, events};
use super::legacy::session_of;
use super::post::{ClosedStream, takes_all};
use super::replies::{self, HttpReply};
use crate::serve::lane::{Principal, ServedPath};
use crate::serve::lanes::front::Front;
use crate::serve::lanes::opening::MODERN_REVISION;
use crate::serve::outlet::{Outlet, OutletBounds, OutletItem, StreamId};

/// Answers a GET.
pub(super) fn answer(
    front: &Arc<Front>,
    path: &ServedPath,
    who: &Principal,
    head: &Parts,
) -> HttpReply {
    let version = head.headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    if version.is_some_and(|version| version >= MODERN_REVISION) {
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
    let bounds = OutletBounds {
        ends_with_last: false,
        unsent_bytes_max: front.bounds.outbox_bytes,
        replay_bytes_max: 0,
    };
    if let Some(last) = head.headers.get("last-event-id") {
        let resumed = last.to_str().ok().and_then(|last| {
            let (stream, number) = last.split_once('-')?;
            let outlet = session.stream(StreamId(stream.parse().ok()?))?;
            Some(outlet.resume(Some(number.parse().ok()?)))
        });
        let outbox = resumed.unwrap_or_else(|| {
            // An error would have its client come again and again.
            let (outlet, outbox) = Outlet::new(front.next_stream(), bounds);
            outlet.send(OutletItem::Close);
            outbox
        });
        return events(outbox, &how, vec![Box::new(in_use)]);
    }
    let (outlet, outbox) = Outlet::new(front.next_stream(), bounds);
    let guard = ClosedStream { client: session.client.clone(), stream: outlet.stream() };
    session.client.stream(outlet);
    events(outbox, &how, vec![Box::new(guard), Box::new(in_use)])
}
