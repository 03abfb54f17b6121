//! The body of an answer: one text, or an event stream.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::replies::{self, HttpReply};
use crate::serve::outlet::{FirstAnswer, FrameOutbox, NumberedFrame, StatusOnly};

/// What an answer carries.
pub(super) struct ReplyBody(Content);

enum Content {
    Whole(Option<Bytes>),
    Events(Box<EventStream>),
}

/// The frames of a stream as events.
struct EventStream {
    outbox: FrameOutbox,
    /// Whether a client may come back for what it missed, so that events have ids.
    has_ids: bool,
    keep_alive: Duration,
    pause: Pin<Box<Sleep>>,
    waiting: VecDeque<Bytes>,
    is_over: bool,
    /// What ends with the stream, however it ends.
    _guard: Guards,
}

/// Told, by being dropped, that nobody reads any more.
pub(super) type Guards = Vec<Box<dyn Send>>;

/// How the answer to a message is sent.
pub(super) struct Answering {
    /// An event stream from the start: messages before the answer are likely.
    pub wants_events: bool,
    pub has_ids: bool,
    pub keep_alive: Duration,
}

/// The answer to a message: one text where one says everything, else an event stream.
///
/// A dropped future drops the guards.
pub(super) async fn answer(mut outbox: FrameOutbox, how: &Answering, guards: Guards) -> HttpReply {
    let known = std::future::poll_fn(|context| Poll::Ready(outbox.poll_first(context))).await;
    let first = match known {
        Poll::Ready(first) => first,
        Poll::Pending if how.wants_events => FirstAnswer::Stream,
        Poll::Pending => outbox.first().await,
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
    let stream = EventStream {
        outbox,
        has_ids: how.has_ids,
        keep_alive: how.keep_alive,
        pause: Box::pin(tokio::time::sleep(how.keep_alive)),
        waiting: VecDeque::new(),
        is_over: false,
        _guard: guards,
    };
    let mut reply = http::Response::new(ReplyBody(Content::Events(Box::new(stream))));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // A proxy that gathers events would hold them back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

/// A frame as an event. A frame is one line.
fn event(frame: &NumberedFrame, stream: Option<u64>) -> Bytes {
    let text = &frame.text;
    let event = match stream {
        Some(stream) => format!("id: {stream}-{}\ndata: {text}\n\n", frame.number),
        None => format!("data: {text}\n\n"),
    };
    Bytes::from(event)
}

impl ReplyBody {
    pub(super) fn whole(text: Bytes) -> ReplyBody {
        ReplyBody(Content::Whole((!text.is_empty()).then_some(text)))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Content::Whole(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Content::Events(events) => {
                events.poll_event(context).map(|event| event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Whole(text) => text.is_none(),
            Content::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(text) => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
            Content::Events(_) => SizeHint::default(),
        }
    }
}

impl EventStream {
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Poll::Ready(Some(waiting));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        match self.outbox.poll_next(context) {
            Poll::Ready(Ok(frame)) => {
                self.is_over = frame.last;
                self.pause.as_mut().reset(Instant::now() + self.keep_alive);
                let stream = self.has_ids.then_some(self.outbox.stream().0);
                Poll::Ready(Some(event(&frame, stream)))
            }
            Poll::Ready(Err(_)) => Poll::Ready(None),
            Poll::Pending => {
                if self.pause.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.pause.as_mut().reset(Instant::now() + self.keep_alive);
                // The new deadline has to wake this task too.
                context.waker().wake_by_ref();
                Poll::Ready(Some(Bytes::from_static(b":\n\n")))
            }
        }
    }
}
