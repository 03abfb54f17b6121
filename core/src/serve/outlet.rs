//! Where the frames of one POST, GET or connection wait for their client.
//!
//! Nobody who sends waits. Above its bound an outlet drops progress and logs that were not sent;
//! where that is not enough its client is too slow, and loses the stream. A single frame of any
//! size passes, so that a large result reaches a client that reads. So does the last of a request.
//!
//! An outlet that keeps what it sent can be read again from any frame on (`Last-Event-ID`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The number of a stream, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StreamId(pub u64);

/// What goes to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutletItem {
    /// One JSON-RPC message.
    Frame {
        text: String,
        /// Whether the stream of a POST ends after it.
        last: bool,
        /// The HTTP status, where this is all that is sent.
        status: u16,
        /// Whether it may be lost while a client is slow: progress and logs.
        droppable: bool,
    },
    /// There is nothing to say: 202.
    Accepted,
    /// The message is refused with a status, and with a JSON-RPC error if there is a text.
    Refused { status: u16, text: Option<String> },
    /// `initialize` succeeded: over HTTP the session gets its id. The answer follows.
    SessionOpened,
    /// The stream is over; on a connection of lines, the connection.
    Close,
}

/// The sending side of a stream.
#[derive(Clone)]
pub(crate) struct Outlet(Arc<OutletShared>);

/// The reading side: the newest reader gets the frames, and earlier ones end.
pub(crate) struct FrameOutbox {
    shared: Arc<OutletShared>,
    reader: u64,
}

struct OutletShared {
    stream: StreamId,
    bounds: OutletBounds,
    queue: Mutex<Queue>,
}

/// How long a stream goes on, and the bytes that it may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutletBounds {
    /// Whether it ends with the last frame of a request. A connection and a GET go on.
    pub ends_with_last: bool,
    /// Not sent yet.
    pub unsent_bytes_max: usize,
    /// Sent, and kept to be sent again.
    pub replay_bytes_max: usize,
}

#[derive(Default)]
struct Queue {
    status: Option<StatusOnly>,
    session_opened: bool,
    /// Frames that are kept, then those that wait.
    frames: VecDeque<NumberedFrame>,
    /// The number of the next frame that comes.
    next: u64,
    /// The number of the next frame that is sent.
    cursor: u64,
    unsent_bytes: usize,
    kept_bytes: usize,
    end: Option<StreamEnd>,
    reader: u64,
    waker: Option<Waker>,
}

/// An answer without frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatusOnly {
    Accepted,
    Refused { status: u16, text: Option<String> },
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// Everything was sent, or the endpoint closed it.
    Finished,
    /// Its client did not read.
    Overflowed,
    /// Another reader took its place.
    Replaced,
}

/// A frame with its number in the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberedFrame {
    pub number: u64,
    pub text: Arc<str>,
    pub last: bool,
    pub status: u16,
    droppable: bool,
}

/// What a reader finds first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FirstAnswer {
    Status(StatusOnly),
    /// The one frame that answers everything.
    Whole(NumberedFrame),
    /// A frame waits, and others follow.
    Stream,
    /// The stream ended, and nothing was sent.
    Ended(StreamEnd),
}

impl Outlet {
    /// A stream and its first reader.
    pub(crate) fn new(stream: StreamId, bounds: OutletBounds) -> (Outlet, FrameOutbox) {
        let shared = Arc::new(OutletShared { stream, bounds, queue: Mutex::default() });
        (Outlet(shared.clone()), FrameOutbox { shared, reader: 0 })
    }

    /// The stream that it is of.
    pub(crate) fn stream(&self) -> StreamId {
        self.0.stream
    }

    /// Whether frames may still reach the client.
    pub(crate) fn is_open(&self) -> bool {
        self.0.queue().end.is_none()
    }

    /// Queues what goes to the client. After the end of the stream it is dropped.
    pub(crate) fn send(&self, outgoing: OutletItem) {
        let mut queue = self.0.queue();
        if queue.end.is_some() {
            return;
        }
        match outgoing {
            OutletItem::Frame { text, last, status, droppable } => {
                queue.push(text, last, status, droppable, self.0.bounds);
            }
            OutletItem::Accepted => queue.settle(StatusOnly::Accepted),
            OutletItem::Refused { status, text } => {
                queue.settle(StatusOnly::Refused { status, text })
            }
            OutletItem::SessionOpened => queue.session_opened = true,
            OutletItem::Close => queue.end = Some(StreamEnd::Finished),
        }
        queue.wake();
    }

    /// A new reader of everything behind a frame; the reader before it ends.
    pub(crate) fn resume(&self, after: Option<u64>) -> FrameOutbox {
        let mut queue = self.0.queue();
        queue.rewind(after.map_or(0, |number| number.saturating_add(1)));
        queue.reader += 1;
        queue.wake();
        FrameOutbox { shared: self.0.clone(), reader: queue.reader }
    }

    /// Bytes that wait to be sent, or are kept to be sent again.
    pub(crate) fn bytes(&self) -> usize {
        let queue = self.0.queue();
        queue.unsent_bytes + queue.kept_bytes
    }

    /// Takes what the reader of another stream missed behind a frame. That reader ends.
    pub(crate) fn take_over(&self, other: &Outlet, after: u64) {
        let mut missed = other.resume(Some(after));
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Ok(frame)) = missed.poll_next(&mut context) {
            let NumberedFrame { text, last, status, droppable, .. } = frame;
            self.send(OutletItem::Frame { text: text.to_string(), last, status, droppable });
        }
    }
}

impl FrameOutbox {
    /// The stream that it is of.
    pub(crate) fn stream(&self) -> StreamId {
        self.shared.stream
    }

    /// Whether `initialize` opened a session.
    pub(crate) fn has_opened_session(&self) -> bool {
        self.shared.queue().session_opened
    }

    /// What the answer begins with, once that is known. Nothing is taken but a whole answer.
    ///
    /// A dropped future loses nothing.
    pub(crate) async fn first(&mut self) -> FirstAnswer {
        std::future::poll_fn(|context| self.poll_first(context)).await
    }

    /// What the answer begins with, if that is known now.
    pub(crate) fn poll_first(&mut self, context: &mut Context<'_>) -> Poll<FirstAnswer> {
        let mut queue = self.shared.queue();
        if let Some(status) = queue.status.take() {
            return Poll::Ready(FirstAnswer::Status(status));
        }
        let Some(first) = queue.unsent() else {
            return match self.ended(&queue) {
                Some(end) => Poll::Ready(FirstAnswer::Ended(end)),
                None => queue.wait(context),
            };
        };
        if !first.last {
            return Poll::Ready(FirstAnswer::Stream);
        }
        match queue.take(self.shared.bounds) {
            Some(frame) => Poll::Ready(FirstAnswer::Whole(frame)),
            None => Poll::Ready(FirstAnswer::Stream),
        }
    }

    /// The next frame, or how the stream ended.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<NumberedFrame, StreamEnd>> {
        let mut queue = self.shared.queue();
        if queue.reader != self.reader {
            return Poll::Ready(Err(StreamEnd::Replaced));
        }
        if queue.end == Some(StreamEnd::Overflowed) {
            return Poll::Ready(Err(StreamEnd::Overflowed));
        }
        match queue.take(self.shared.bounds) {
            Some(frame) => Poll::Ready(Ok(frame)),
            None => match queue.end {
                Some(end) => Poll::Ready(Err(end)),
                None => queue.wait(context),
            },
        }
    }

    /// The next frame, or how the stream ended.
    ///
    /// A dropped future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<NumberedFrame, StreamEnd> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// Waits until the client left more unread than it may. Nothing else must wait meanwhile.
    ///
    /// A dropped future loses nothing.
    pub(crate) async fn overflowed(&self) {
        let poll = |context: &mut Context<'_>| {
            let mut queue = self.shared.queue();
            match queue.end {
                Some(StreamEnd::Overflowed) => Poll::Ready(()),
                _ => queue.wait(context),
            }
        };
        std::future::poll_fn(poll).await;
    }

    /// Ends the stream: nothing more is queued, and what waits is dropped.
    #[cfg(test)]
    pub(crate) fn close(&self) {
        let mut queue = self.shared.queue();
        if queue.reader == self.reader {
            queue.end.get_or_insert(StreamEnd::Finished);
            queue.clear();
            queue.wake();
        }
    }

    fn ended(&self, queue: &Queue) -> Option<StreamEnd> {
        if queue.reader == self.reader { queue.end } else { Some(StreamEnd::Replaced) }
    }
}

impl OutletShared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(
        &mut self,
        text: String,
        last: bool,
        status: u16,
        droppable: bool,
        bounds: OutletBounds,
    ) {
        let last = last && bounds.ends_with_last;
        let bytes_max = if last { usize::MAX } else { bounds.unsent_bytes_max };
        if !self.make_way(text.len(), droppable, bytes_max) {
            return;
        }
        let frame = NumberedFrame { number: self.next, text: text.into(), last, status, droppable };
        self.next += 1;
        self.unsent_bytes += frame.text.len();
        self.frames.push_back(frame);
        if last {
            self.end = Some(StreamEnd::Finished);
        }
    }

    /// Makes room for so many bytes, and says whether the frame comes in.
    fn make_way(&mut self, bytes: usize, droppable: bool, bytes_max: usize) -> bool {
        let fits = |queue: &Queue| {
            queue.unsent_bytes == 0 || queue.unsent_bytes.saturating_add(bytes) <= bytes_max
        };
        if fits(self) {
            return true;
        }
        if droppable {
            return false;
        }
        let cursor = self.cursor;
        let mut dropped = 0;
        self.frames.retain(|frame| {
            let goes = frame.droppable && frame.number >= cursor;
            dropped += if goes { frame.text.len() } else { 0 };
            !goes
        });
        self.unsent_bytes -= dropped;
        let has_room = fits(self);
        if !has_room {
            self.end = Some(StreamEnd::Overflowed);
            self.clear();
        }
        has_room
    }

    fn settle(&mut self, status: StatusOnly) {
        self.status = Some(status);
        self.end = Some(StreamEnd::Finished);
    }

    fn unsent(&self) -> Option<&NumberedFrame> {
        let cursor = self.cursor;
        let at = self.frames.partition_point(|frame| frame.number < cursor);
        self.frames.get(at)
    }

    /// The next frame to send. It stays as long as the replay has room.
    fn take(&mut self, bounds: OutletBounds) -> Option<NumberedFrame> {
        let frame = self.unsent()?.clone();
        self.cursor = frame.number + 1;
        self.unsent_bytes -= frame.text.len();
        self.kept_bytes += frame.text.len();
        self.trim(bounds.replay_bytes_max);
        if self.unsent().is_none() {
            self.cursor = self.next;
        }
        Some(frame)
    }

    /// Forgets sent frames above the bound: progress first, then the oldest, never the result.
    fn trim(&mut self, bytes_max: usize) {
        let cursor = self.cursor;
        for only_droppable in [true, false] {
            let mut kept = self.kept_bytes;
            self.frames.retain(|frame| {
                let is_sent = frame.number < cursor;
                let may_go = frame.droppable || (!only_droppable && !frame.last);
                let goes = kept > bytes_max && is_sent && (may_go || bytes_max == 0);
                kept -= if goes { frame.text.len() } else { 0 };
                !goes
            });
            self.kept_bytes = kept;
        }
    }

    fn rewind(&mut self, cursor: u64) {
        let cursor = cursor.min(self.next);
        self.cursor = cursor;
        let unsent = self.frames.iter().filter(|frame| frame.number >= cursor);
        self.unsent_bytes = unsent.map(|frame| frame.text.len()).sum();
        let kept = self.frames.iter().filter(|frame| frame.number < cursor);
        self.kept_bytes = kept.map(|frame| frame.text.len()).sum();
    }

    fn clear(&mut self) {
        self.frames.clear();
        self.cursor = self.next;
        (self.unsent_bytes, self.kept_bytes) = (0, 0);
    }

    fn wait<T>(&mut self, context: &Context<'_>) -> Poll<T> {
        match &mut self.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => self.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests;
