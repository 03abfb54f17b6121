//! The answer to a message: one text, or an event stream.

use std::task::Poll;
use std::time::Duration;

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::replies::{self, HttpReply};
use super::reply_body::{Guards, ReplyBody};
use crate::serve::outlet::{FirstAnswer, FrameOutbox, StatusOnly};

/// How the answer to a message is sent.
pub(super) struct Answering {
    /// An event stream from the start: messages before the answer are likely.
    pub wants_events: bool,
    pub has_ids: bool,
    pub keep_alive: Duration,
}

/// The answer to a message: one text where one says everything and comes soon, else an event
/// stream.
///
/// A dropped future drops the guards.
pub(super) async fn answer(mut outbox: FrameOutbox, how: &Answering, guards: Guards) -> HttpReply {
    let known = std::future::poll_fn(|context| Poll::Ready(outbox.poll_first(context))).await;
    let first = match known {
        Poll::Ready(first) => first,
        Poll::Pending if how.wants_events => FirstAnswer::Stream,
        Poll::Pending => {
            // A client that hears nothing for long gives up.
            let answered = tokio::time::timeout(how.keep_alive, outbox.first()).await;
            answered.unwrap_or(FirstAnswer::Stream)
        }
    };
    match first {
        FirstAnswer::Status(StatusOnly::Accepted) => replies::empty(http::StatusCode::ACCEPTED),
        FirstAnswer::Status(StatusOnly::Refused { status, text: Some(text) }) => {
            replies::json(status, text)
        }
        FirstAnswer::Status(StatusOnly::Refused { status, text: None }) => {
            replies::plain(status, "the message is refused")
        }
        FirstAnswer::Whole(frame) => replies::json(frame.status, frame.text.to_string()),
        FirstAnswer::Stream => events(outbox, how, guards),
        // Its request was cancelled: no message answers it.
        FirstAnswer::Ended(_) => replies::empty(http::StatusCode::ACCEPTED),
    }
}

/// An event stream of everything that comes.
pub(super) fn events(outbox: FrameOutbox, how: &Answering, guards: Guards) -> HttpReply {
    let body = ReplyBody::events(outbox, how.has_ids, how.keep_alive, guards);
    let mut reply = http::Response::new(body);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // A proxy that gathers events would hold them back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}
