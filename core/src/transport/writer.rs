//! Outgoing frames: written by the caller's own thread while the pipe takes them, queued otherwise.
//!
//! Invariants:
//! 1. Frames reach the pipe whole and in the order of `send`: as long as one is queued, nothing is written past it.
//! 2. No caller ever waits for the pipe. A server that stops reading fills the queue, and then `send` says so (SPEC 5.11).
//! 3. A frame that is withdrawn, or still whole in the queue at the close, was provably never sent.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::queue::{FrameKind, FrameQueue};
use crate::platform::WritePipe;

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
    frames: FrameQueue,
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

impl FrameWriter {
    /// A writer with an empty queue.
    pub(crate) fn new(pipe: WritePipe) -> Self {
        FrameWriter {
            queue: Mutex::new(Queue {
                pipe: Some(Arc::new(pipe)),
                frames: FrameQueue::default(),
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
        if !queue.frames.has_room(frame.len(), kind) {
            return Sent::Full;
        }
        queue.frames.push(frame, kind);
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
        queue.frames.withdraw(request, begun)
    }

    /// The requests that wait, of which nothing was written yet.
    pub(crate) fn unsent(&self) -> HashSet<u64> {
        let queue = self.lock();
        queue.frames.requests(usize::from(queue.written > 0)).collect()
    }

    /// Takes no frame any more, and gives back the requests of which nothing was written. The pipe stays open.
    pub(crate) fn stop(&self) -> Vec<u64> {
        let mut queue = self.lock();
        queue.stopped = true;
        // Later there is no pipe to ask.
        queue.was_read = Some(queue.was_read());
        let begun = usize::from(std::mem::take(&mut queue.written) > 0);
        std::mem::take(&mut queue.frames).requests(begun).collect()
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
        while let Some(frame) = queue.frames.first() {
            let whole = frame.len();
            let count = pipe.write_now(&frame[queue.written..])?;
            queue.sent = queue.sent.saturating_add(count);
            queue.written += count;
            if queue.written == whole {
                queue.written = 0;
                queue.frames.pop();
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
}
