//! The keys of the live view. A thread of its own waits for them: what has begun like a key is read
//! until the key is there, however long that takes.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};

/// Dropped, it reads no more keys, but for one that has begun.
pub(super) struct Keys {
    events: Receiver<Result<Event>>,
    is_over: Arc<AtomicBool>,
}

impl Keys {
    /// Reads from now on. The terminal is raw.
    pub(super) fn begin() -> Result<Keys> {
        let (send, events) = sync_channel(EVENTS_MAX);
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        thread::Builder::new().name("trunkline-keys".into()).spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                let event = match event::poll(LOOK) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                let is_last = event.is_err();
                if send.send(event).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Keys { events, is_over })
    }

    /// What comes within that time.
    pub(super) fn next(&self, time: Duration) -> Result<Option<Event>> {
        match self.events.recv_timeout(time) {
            Ok(event) => event.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Error::from(ErrorKind::UnexpectedEof)),
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The next key is for the program that has the terminal then.
        let end = Instant::now() + END_MAX;
        let left = || end.saturating_duration_since(Instant::now());
        while !matches!(
            self.events.recv_timeout(left()),
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)
        ) {}
    }
}

/// Keys that are held down faster than the view is drawn wait in the terminal.
const EVENTS_MAX: usize = 64;

/// How often is looked whether the view is over.
const LOOK: Duration = Duration::from_millis(20);

/// How long the end waits for the thread, which waits itself where half of a key was pressed.
const END_MAX: Duration = Duration::from_millis(200);
