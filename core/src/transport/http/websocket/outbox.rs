//! What waits to be written to a websocket.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::transport::frame_queue::FrameQueue;
use crate::transport::{FrameKind, WriteOutcome};

/// The frames of one connection, and the word that there will be no more.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    frames: FrameQueue,
    /// Nothing is taken any more.
    stopped: bool,
    /// The server is to be told farewell.
    closed: bool,
}

/// What the writer does next.
pub(super) enum WriterStep {
    /// Writes this.
    Frame(Box<[u8]>),
    /// Nothing, until it is woken.
    Wait,
    /// Tells the server farewell.
    Close,
}

impl Outbox {
    /// Queues a frame. Never waits.
    pub(super) fn send(&self, frame: &[u8], kind: FrameKind) -> WriteOutcome {
        let mut state = self.state();
        if state.stopped {
            return WriteOutcome::Closed;
        }
        if !state.frames.has_room(frame.len(), kind) {
            return WriteOutcome::Full;
        }
        state.frames.push(frame, kind);
        drop(state);
        self.wake.notify_one();
        WriteOutcome::Queued
    }

    /// Takes a request back; `true` means that nothing of it was written, and nothing will be.
    pub(super) fn withdraw(&self, request: u64) -> bool {
        self.state().frames.withdraw(request, 0)
    }

    /// The requests that were not begun.
    pub(super) fn unsent(&self) -> HashSet<u64> {
        self.state().frames.requests(0).collect()
    }

    /// Takes no frame any more, and gives back the requests that were not begun.
    pub(super) fn stop(&self) -> Vec<u64> {
        let mut state = self.state();
        state.stopped = true;
        std::mem::take(&mut state.frames).requests(0).collect()
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.closed = true;
        drop(state);
        self.wake.notify_one();
    }

    /// What is to be written now. A frame that is given out counts as written.
    pub(super) fn next(&self) -> WriterStep {
        let mut state = self.state();
        match state.frames.pop() {
            Some(frame) => WriterStep::Frame(frame),
            None if state.closed => WriterStep::Close,
            None => WriterStep::Wait,
        }
    }

    /// Waits until there may be something to write.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Waits until nothing more comes. For who does not write yet: it takes the wakings.
    pub(super) async fn closed(&self) {
        while !self.state().closed {
            self.woken().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
