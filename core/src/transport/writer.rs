//! Outgoing frames: written by the caller's own thread while the pipe takes them, queued otherwise.
//!
//! Invariants:
//! 1. Frames reach the pipe whole and in the order of `send`: as long as one is queued, nothing is written past it.
//! 2. No caller ever waits for the pipe. A server that stops reading fills the queue, and then `send` says so (SPEC 5.11).
//! 3. A frame that is withdrawn, or still whole in the queue at the close, was provably never sent.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::platform::WritePipe;

/// Frames that may wait, notifications apart: twice as many as there may be calls in flight by default.
const QUEUE_FRAMES_MAX: usize = 8192;

/// Replies to the server that may wait. A server that asks without reading must not crowd out the calls.
const QUEUE_REPLIES_MAX: usize = 256;

/// Bytes that may wait. A single frame above it is taken when it is alone.
const QUEUE_BYTES_MAX: usize = 16 << 20;

/// What a frame is, for the bounds and for taking it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A request of ours, by its id.
    Request(u64),
    /// A notification of ours.
    Notification,
    /// An answer to the server.
    Reply,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It is in the pipe.
    Written,
    /// It waits for the pipe.
    Queued,
    /// The queue is full; nothing of it was written.
    Full,
    /// The pipe is closed; nothing of it was written.
    Closed,
}

/// The writing half of a connection.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    queue: Mutex<Queue>,
    /// Wakes the writer task: something is queued, or the pipe is closed or broken.
    wake: Notify,
}

#[derive(Debug)]
struct Queue {
    /// Absent after the close.
    pipe: Option<Arc<WritePipe>>,
    frames: VecDeque<Frame>,
    /// Of all frames, whole.
    bytes: usize,
    replies: usize,
    /// Bytes that went into the pipe.
    sent: usize,
    /// Whether any of them had been read when the queue was stopped.
    was_read: Option<bool>,
    /// How much of the first frame is in the pipe.
    written: usize,
    /// Nothing is taken any more.
    stopped: bool,
    /// Because a write failed.
    broken: bool,
}

#[derive(Debug)]
struct Frame {
    bytes: Box<[u8]>,
    kind: FrameKind,
}

impl FrameWriter {
    /// A writer with an empty queue.
    pub(crate) fn new(pipe: WritePipe) -> Self {
        FrameWriter {
            queue: Mutex::new(Queue {
                pipe: Some(Arc::new(pipe)),
                frames: VecDeque::new(),
                bytes: 0,
                replies: 0,
                sent: 0,
                was_read: None,
                written: 0,
                stopped: false,
                broken: false,
            }),
            wake: Notify::new(),
        }
    }

    /// Writes a frame, which ends with its newline, or queues it. Never waits for the pipe.
    pub(crate) fn send(&self, frame: &[u8], kind: FrameKind) -> Sent {
        let mut queue = self.lock();
        let Some(pipe) = queue.pipe.as_ref().filter(|_| !queue.stopped) else {
            return Sent::Closed;
        };
        let mut written = 0;
        if queue.frames.is_empty() {
            match pipe.write_now(frame) {
                Ok(count) => {
                    queue.sent = queue.sent.saturating_add(count);
                    if count == frame.len() {
                        return Sent::Written;
                    }
                    written = count;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => {
                    queue.stopped = true;
                    queue.broken = true;
                    drop(queue);
                    self.wake.notify_one();
                    return Sent::Closed;
                }
            }
        }
        if !queue.has_room(frame.len(), kind) {
            return Sent::Full;
        }
        queue.push(frame, kind);
        if queue.frames.len() == 1 {
            queue.written = written;
            drop(queue);
            self.wake.notify_one();
        }
        Sent::Queued
    }

    /// Takes a request back; `true` means that nothing of it was written, and nothing will be.
    pub(crate) fn withdraw(&self, request: u64) -> bool {
        let mut queue = self.lock();
        let begun = usize::from(queue.written > 0);
        let wanted = FrameKind::Request(request);
        match queue.frames.iter().skip(begun).position(|frame| frame.kind == wanted) {
            Some(place) => queue.remove(begun + place),
            None => false,
        }
    }

    /// The requests that wait, of which nothing was written yet.
    pub(crate) fn unsent(&self) -> HashSet<u64> {
        self.lock().unsent().collect()
    }

    /// Takes no frame any more, and gives back the requests of which nothing was written. The pipe stays open.
    pub(crate) fn stop(&self) -> Vec<u64> {
        let mut queue = self.lock();
        queue.stopped = true;
        // Later there is no pipe to ask.
        queue.was_read = Some(queue.was_read());
        let unsent = queue.unsent().collect();
        queue.frames = VecDeque::new();
        queue.bytes = 0;
        queue.replies = 0;
        queue.written = 0;
        unsent
    }

    /// Whether the server has read anything; `true` as well where the system does not say.
    pub(crate) fn was_read(&self) -> bool {
        self.lock().was_read()
    }

    /// Closes the pipe: the server reads the end of its input.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.stopped = true;
        queue.pipe = None;
        drop(queue);
        self.wake.notify_one();
    }

    /// Writes what is queued, until the pipe is closed (`Ok`) or broken. The body of the connection's one writer task.
    ///
    /// A dropped future leaves the queue as it is.
    pub(crate) async fn drain(&self) -> io::Result<()> {
        loop {
            self.wake.notified().await;
            let pipe = {
                let queue = self.lock();
                match &queue.pipe {
                    None => return Ok(()),
                    Some(_) if queue.broken => return Err(io::ErrorKind::BrokenPipe.into()),
                    Some(pipe) => pipe.clone(),
                }
            };
            tokio::select! {
                biased;
                // A close wakes too; the wake-up is passed on, so that the loop sees it.
                () = self.wake.notified() => self.wake.notify_one(),
                flushed = pipe.writing(|| self.flush(&pipe)) => flushed?,
            }
        }
    }

    /// Writes as much of the queue as the pipe takes.
    fn flush(&self, pipe: &WritePipe) -> io::Result<()> {
        let mut queue = self.lock();
        while let Some(frame) = queue.frames.front() {
            let count = pipe.write_now(&frame.bytes[queue.written..])?;
            queue.sent = queue.sent.saturating_add(count);
            queue.written += count;
            if queue.written == queue.frames[0].bytes.len() {
                queue.written = 0;
                queue.remove(0);
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn was_read(&self) -> bool {
        let asked = || self.pipe.as_ref()?.unread();
        self.was_read.unwrap_or_else(|| asked().is_none_or(|unread| unread < self.sent))
    }

    fn has_room(&self, bytes: usize, kind: FrameKind) -> bool {
        // A frame that was begun must be ended, and finds the queue empty. A notification always has room: it takes back a
        // request that was written, each once, so that the calls in flight bound them; and without it the server would work on.
        self.frames.is_empty()
            || kind == FrameKind::Notification
            || (self.frames.len() < QUEUE_FRAMES_MAX
                && self.bytes.saturating_add(bytes) <= QUEUE_BYTES_MAX
                && (kind != FrameKind::Reply || self.replies < QUEUE_REPLIES_MAX))
    }

    /// The requests of which nothing is in the pipe.
    fn unsent(&self) -> impl Iterator<Item = u64> {
        let begun = usize::from(self.written > 0);
        self.frames.iter().skip(begun).filter_map(|frame| match frame.kind {
            FrameKind::Request(id) => Some(id),
            FrameKind::Notification | FrameKind::Reply => None,
        })
    }

    fn push(&mut self, frame: &[u8], kind: FrameKind) {
        self.bytes += frame.len();
        self.replies += usize::from(kind == FrameKind::Reply);
        self.frames.push_back(Frame { bytes: frame.into(), kind });
    }

    fn remove(&mut self, place: usize) -> bool {
        let Some(frame) = self.frames.remove(place) else {
            return false;
        };
        self.bytes -= frame.bytes.len();
        self.replies -= usize::from(frame.kind == FrameKind::Reply);
        true
    }
}
