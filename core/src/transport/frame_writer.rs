//! Outgoing frames: written by the caller's own thread while the pipe takes them, queued otherwise.
//!
//! Invariants:
//! 1. Frames reach the pipe whole and in the order of `send`: as long as one is queued, nothing is
//!    written past it. Requests that a thread joins (`coalesce`), or leaves to the writer task,
//!    are queued without a look at the pipe.
//! 2. No caller ever waits for the pipe. A server that stops reading fills the queue, and then
//!    `send` says so (SPEC 5.11).
//! 3. A frame that is withdrawn, or still whole in the queue at the close, was provably never sent.
//!
//! A task for each write would cost a wake-up for each call. On a host's thread SIGPIPE is blocked
//! for the write, since its disposition belongs to the host.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use tokio::sync::Notify;

use super::coalesce::{self, Flush};
use super::frame_queue::{FrameKind, FrameQueue};
use crate::platform::WritePipe;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// It is in the pipe.
    Written,
    /// It waits for the pipe, or for others that are written with it.
    Queued,
    /// The queue is full; nothing of it was written.
    Full,
    /// The pipe is closed; nothing of it was written.
    Closed,
    /// Something in it that goes into a header is there twice; nothing of it was written.
    Doubled,
}

/// The writing half of a connection.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    queue: Mutex<WriteQueue>,
    /// Wakes the writer task: something is queued, or the pipe is closed or broken.
    wake: Notify,
    /// A write has failed.
    broken: Arc<AtomicBool>,
}

#[derive(Debug)]
struct WriteQueue {
    /// Absent after the close.
    pipe: Option<Arc<WritePipe>>,
    frames: FrameQueue,
    /// Bytes that went into the pipe.
    sent: usize,
    /// Whether any of them had been read when the queue was stopped.
    was_read: Option<bool>,
    /// How much of the first frame is in the pipe.
    written: usize,
    /// The thread that joins all that is queued, which did not find the pipe full.
    held_by: Option<ThreadId>,
    /// Nothing is taken any more.
    stopped: bool,
    /// Because a write failed. Each acquire looks at it, and takes no lock for that.
    broken: Arc<AtomicBool>,
}

impl FrameWriter {
    /// A writer with an empty queue.
    pub(crate) fn new(pipe: WritePipe) -> Self {
        let broken = Arc::new(AtomicBool::new(false));
        FrameWriter {
            queue: Mutex::new(WriteQueue {
                pipe: Some(Arc::new(pipe)),
                frames: FrameQueue::default(),
                sent: 0,
                was_read: None,
                written: 0,
                held_by: None,
                stopped: false,
                broken: broken.clone(),
            }),
            wake: Notify::new(),
            broken,
        }
    }

    /// Writes a frame, which ends with its newline, or queues it. Never waits for the pipe.
    pub(crate) fn send(self: &Arc<Self>, frame: &[u8], kind: FrameKind) -> WriteOutcome {
        let may_join = matches!(kind, FrameKind::Request(_)) && frame.len() <= coalesce::BYTES;
        let joining = if may_join { coalesce::on_this_thread() } else { None };
        let mut queue = self.lock();
        let goes_on = queue.held_by.is_some() && queue.held_by == joining;
        let fits = queue.frames.bytes() + frame.len() <= coalesce::BYTES;
        if !(goes_on && fits) && queue.write_held() {
            self.wake.notify_one();
        }
        let Some(pipe) = queue.pipe.as_ref().filter(|_| !queue.stopped) else {
            return WriteOutcome::Closed;
        };
        if joining.is_some() && (queue.held_by == joining || queue.frames.is_empty()) {
            if queue.held_by.is_none() {
                coalesce::note(self.clone());
            }
            queue.held_by = joining;
            queue.frames.push(frame, kind);
            return WriteOutcome::Queued;
        }
        let mut written = 0;
        let is_left = may_join && coalesce::leaves_requests();
        if queue.frames.is_empty() && !is_left {
            match pipe.write_now(frame) {
                Ok(count) => {
                    queue.sent = queue.sent.saturating_add(count);
                    if count == frame.len() {
                        return WriteOutcome::Written;
                    }
                    written = count;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => {
                    queue.break_off();
                    drop(queue);
                    self.wake.notify_one();
                    return WriteOutcome::Closed;
                }
            }
        }
        if !queue.frames.has_room(frame.len(), kind) {
            return WriteOutcome::Full;
        }
        queue.frames.push(frame, kind);
        if queue.frames.len() == 1 {
            queue.written = written;
            drop(queue);
            self.wake.notify_one();
        }
        WriteOutcome::Queued
    }

    /// Takes a request back; `true` means that nothing of it was written, and nothing will be.
    pub(crate) fn withdraw(&self, request: u64) -> bool {
        let mut queue = self.lock();
        let begun = usize::from(queue.written > 0);
        queue.frames.withdraw(request, begun)
    }

    /// The requests that wait and were not begun.
    pub(crate) fn unsent(&self) -> HashSet<u64> {
        let queue = self.lock();
        queue.frames.requests(usize::from(queue.written > 0)).collect()
    }

    /// Takes no frame any more, and gives back the requests that were not begun. The pipe stays
    /// open.
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

    /// Whether a write has failed: nobody reads any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Closes the pipe: the server reads the end of its input.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.stopped = true;
        queue.pipe = None;
        drop(queue);
        self.wake.notify_one();
    }

    /// Writes what is queued, until the pipe is closed (`Ok`) or broken. The body of the
    /// connection's one writer task.
    ///
    /// A dropped future leaves the queue as it is.
    pub(crate) async fn drain(&self) -> io::Result<()> {
        loop {
            self.wake.notified().await;
            let pipe = {
                let queue = self.lock();
                match &queue.pipe {
                    None => return Ok(()),
                    Some(_) if self.is_broken() => return Err(io::ErrorKind::BrokenPipe.into()),
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
        queue.write(pipe).inspect_err(|error| {
            if error.kind() != io::ErrorKind::WouldBlock {
                queue.break_off();
            }
        })
    }

    /// Fills the pipe with dots, which count as nobody's.
    #[cfg(all(test, unix))]
    pub(super) fn fill(&self) {
        let queue = self.lock();
        while queue.pipe.as_ref().is_some_and(|pipe| pipe.write_now(b".").is_ok()) {}
    }

    fn lock(&self) -> MutexGuard<'_, WriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flush for FrameWriter {
    fn flush_held(&self) {
        let mut queue = self.lock();
        if queue.write_held() {
            drop(queue);
            self.wake.notify_one();
        }
    }
}

impl WriteQueue {
    /// Writes what was held back; whether the writer task has to be told, of what is left or of the
    /// end.
    fn write_held(&mut self) -> bool {
        if self.held_by.take().is_none() {
            return false;
        }
        let Some(pipe) = self.pipe.clone() else { return false };
        match self.write(&pipe) {
            Ok(()) => false,
            Err(error) => {
                if error.kind() != io::ErrorKind::WouldBlock {
                    self.break_off();
                }
                true
            }
        }
    }

    /// Writes as much as the pipe takes, small frames together.
    fn write(&mut self, pipe: &WritePipe) -> io::Result<()> {
        while let Some(frames) = self.frames.joined(coalesce::BYTES) {
            let count = pipe.write_now(&frames[self.written..])?;
            drop(frames);
            self.sent = self.sent.saturating_add(count);
            self.written = self.frames.pop_written(self.written + count);
        }
        Ok(())
    }

    /// A write failed: nobody reads any more.
    fn break_off(&mut self) {
        self.stopped = true;
        self.broken.store(true, Ordering::Release);
    }

    fn was_read(&self) -> bool {
        let asked = || self.pipe.as_ref()?.unread();
        self.was_read.unwrap_or_else(|| asked().is_none_or(|unread| unread < self.sent))
    }
}
