//! The body of an answer: one text, or the frames of a stream as events.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::serve::outlet::{FrameOutbox, NumberedFrame, StreamEnd};

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
    is_over: bool,
    /// What ends with the stream, however it ends.
    _guards: Guards,
}

/// Told, by being dropped, that nobody reads any more.
pub(super) type Guards = Vec<Box<dyn Send>>;

/// A frame as an event. A line break between members of the message begins another line of it.
fn event(frame: &NumberedFrame, stream: Option<u64>) -> Bytes {
    let mut event = String::with_capacity(frame.text.len() + 64);
    if let Some(stream) = stream {
        event = event + "id: " + &stream.to_string() + "-" + &frame.number.to_string() + "\n";
    }
    for line in frame.text.split(['\r', '\n']) {
        event = event + "data: " + line + "\n";
    }
    event.push('\n');
    Bytes::from(event)
}

impl ReplyBody {
    /// The frames of a stream, until it ends.
    pub(super) fn events(
        outbox: FrameOutbox,
        has_ids: bool,
        keep_alive: Duration,
        guards: Guards,
    ) -> ReplyBody {
        ReplyBody(Content::Events(Box::new(EventStream {
            outbox,
            has_ids,
            keep_alive,
            pause: Box::pin(tokio::time::sleep(keep_alive)),
            is_over: false,
            _guards: guards,
        })))
    }

    /// Whether it is the frames of a stream.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self.0, Content::Events(_))
    }

    /// One text, which may be empty.
    pub(super) fn whole(text: Bytes) -> ReplyBody {
        ReplyBody(Content::Whole((!text.is_empty()).then_some(text)))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.0 {
            Content::Whole(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Content::Events(events) => {
                events.poll_event(context).map(|event| event.map(|event| event.map(Frame::data)))
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
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match self.outbox.poll_next(context) {
            Poll::Ready(Ok(frame)) => {
                self.is_over = frame.last;
                self.pause.as_mut().reset(Instant::now() + self.keep_alive);
                let stream = self.has_ids.then_some(self.outbox.stream().0);
                Poll::Ready(Some(Ok(event(&frame, stream))))
            }
            // Its client must not take what is cut for what is whole.
            Poll::Ready(Err(StreamEnd::Overflowed)) => {
                self.is_over = true;
                Poll::Ready(Some(Err(io::Error::other("the client does not read its events"))))
            }
            Poll::Ready(Err(StreamEnd::Finished | StreamEnd::Replaced)) => Poll::Ready(None),
            Poll::Pending => {
                if self.pause.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.pause.as_mut().reset(Instant::now() + self.keep_alive);
                // The new deadline has to wake this task too.
                context.waker().wake_by_ref();
                Poll::Ready(Some(Ok(Bytes::from_static(b":\n\n"))))
            }
        }
    }
}
