//! Where requests of servers wait for the host's functions.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use trunkline::interface::words;
use trunkline::{
    Error, ErrorCode, HandlerEvent, HandlerQueue, HandlerResult, Handlers, Result,
    start_callback_thread,
};

use crate::abi::guard::in_callback;
use crate::abi::raw;
use crate::abi::types::{AskFn, DestroyFn, HandlerNumber, RequestEvent, Str};
use crate::abi::user_data::UserData;
use crate::delivery::signal::Signal;
use crate::handles::callback_tracker::{Running, no_thread};

/// What a host gives where it gives handlers.
pub(crate) struct HandlerTable {
    pub(crate) offered: u64,
    pub(crate) ask: AskFn,
    pub(crate) user_data: UserData,
}

impl HandlerTable {
    pub(crate) fn new(
        offered: u64,
        ask: AskFn,
        (user_data, destroy): (*mut c_void, DestroyFn),
    ) -> HandlerTable {
        HandlerTable { offered, ask, user_data: UserData::new(user_data, destroy) }
    }

    /// The names of the handlers that the host has.
    fn names(&self) -> Result<Vec<&'static str>> {
        const NAMES: [(HandlerNumber, &str); 9] = [
            (HandlerNumber::Sampling, "sampling"),
            (HandlerNumber::SamplingTools, "sampling_tools"),
            (HandlerNumber::Elicitation, "elicitation"),
            (HandlerNumber::ElicitationUrl, "elicitation_url"),
            (HandlerNumber::Logging, "logging"),
            (HandlerNumber::Credentials, "credentials"),
            (HandlerNumber::Inputs, "inputs"),
            (HandlerNumber::Secrets, "secrets"),
            (HandlerNumber::Entries, "entries"),
        ];
        let known = NAMES.iter().fold(0, |known, (number, _)| known | 1 << *number as u32);
        if self.offered & !known != 0 {
            return Err(raw::invalid("offered", "offered has a bit that stands for no handler"));
        }
        let has = |number: HandlerNumber| self.offered & (1 << number as u32) != 0;
        Ok(NAMES.iter().filter(|(number, _)| has(*number)).map(|(_, name)| *name).collect())
    }
}

/// The handler queues of one pool.
#[derive(Default)]
pub(crate) struct HandlerQueues {
    rows: Mutex<Rows>,
    /// One for each queue.
    pub(crate) threads: Running,
}

/// By id: the queue, and what its thread waits for.
type Rows = HashMap<u32, (Weak<HandlerQueue>, Arc<Signal>)>;

impl HandlerQueues {
    /// Handlers that run on a thread of their own, from the time when their pool or session is
    /// there until it is gone.
    pub(crate) fn open(self: &Arc<Self>, given: HandlerTable) -> Result<(Handlers, ReadyHandlers)> {
        static LAST: AtomicU32 = AtomicU32::new(1);
        if given.ask.is_none() {
            return Err(raw::invalid("ask", "ask is NULL"));
        }
        let names = given.names()?;
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        let signal = Arc::new(Signal::default());
        let over = Over(signal.clone());
        let desk = HandlerQueue::new(move || over.0.wake());
        let handlers = desk.handlers(names)?;
        let message = "too many sessions with handlers of their own";
        self.threads.enter_thread(words::limit::HANDLERS, message)?;
        self.rows().insert(id, (Arc::downgrade(&desk), signal.clone()));
        let (desk, queues) = (Arc::downgrade(&desk), self.clone());
        let (begin, begun) = sync_channel(1);
        let body = move || {
            let given: Option<HandlerTable> = begun.recv().ok();
            if let Some(given) = &given {
                serve(id, &desk, &signal, given);
            }
            queues.rows().remove(&id);
            drop(given);
            queues.threads.leave();
        };
        if let Err(error) = start_callback_thread("trunkline-handler", body) {
            self.rows().remove(&id);
            self.threads.leave();
            return Err(no_thread(error));
        }
        Ok((handlers, ReadyHandlers { given, begin }))
    }

    /// Ends the threads, once what waits was told.
    pub(crate) fn stop(&self) {
        let signals: Vec<_> = self.rows().values().map(|(_, signal)| signal.clone()).collect();
        signals.iter().for_each(|signal| signal.stop());
    }

    pub(crate) fn answer(&self, request: u64, result: HandlerResult) -> Result<()> {
        let [desk, number] = [request >> 32, request & u64::from(u32::MAX)];
        let desk = u32::try_from(desk).ok().and_then(|id| self.rows().get(&id)?.0.upgrade());
        match desk.is_some_and(|desk| desk.answer(number, result)) {
            true => Ok(()),
            false => Err(Error::new(ErrorCode::BadHandle, "nobody waits for this answer")),
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a queue's thread waits for: dropped instead, because the pool or session of the handlers
/// failed, it is over without a word to the host. The user data is destroyed here.
pub(crate) struct ReadyHandlers {
    given: HandlerTable,
    begin: SyncSender<HandlerTable>,
}

impl ReadyHandlers {
    /// Lets the host be told what is asked.
    pub(crate) fn begin(self) {
        // The thread waits for nothing else.
        let _ = self.begin.send(self.given);
    }
}

/// Ends a queue's thread with the queue.
struct Over(Arc<Signal>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Tells the host what comes, until the queue is over or stopped and nothing waits.
fn serve(id: u32, desk: &Weak<HandlerQueue>, signal: &Signal, given: &HandlerTable) {
    loop {
        let stopped = signal.wait_until_woken();
        for news in desk.upgrade().map(|desk| desk.take()).unwrap_or_default() {
            let request = |number: u64| u64::from(id) << 32 | number & u64::from(u32::MAX);
            match news {
                HandlerEvent::Asked(number, asked) => {
                    tell(given, RequestEvent::Asked, request(number), &asked.to_json());
                }
                HandlerEvent::Withdrawn(number) => {
                    tell(given, RequestEvent::Withdrawn, request(number), "");
                }
                HandlerEvent::Logged(event) => tell(given, RequestEvent::Logged, 0, &event),
                _ => {}
            }
        }
        if stopped {
            return;
        }
    }
}

fn tell(given: &HandlerTable, event: RequestEvent, request: u64, json: &str) {
    let Some(ask) = given.ask else { return };
    // SAFETY: the host gave the function for this pointer, and the text outlives the call.
    in_callback(|| unsafe { ask(given.user_data.pointer, event as u32, request, Str::of(json)) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::handle_registry::Objects;
    use crate::handles::callback_tracker::THREADS_MAX;

    extern "C" fn nothing(_: *mut c_void, _: u32, _: u64, _: Str) {
        crate::abi::panic_guard::guarded((), || ());
    }

    fn open(objects: &Objects) -> Result<()> {
        let given = HandlerTable::new(0, Some(nothing), (std::ptr::null_mut(), None));
        objects.handler_queues.open(given).map(drop)
    }

    /// SPEC 3.8: a thousand sessions with handlers leave room for subscriptions, and the other way
    /// round.
    #[test]
    fn handlers_are_counted_apart_from_subscriptions() {
        let objects = Objects::new().unwrap();
        while objects.subscribers.threads.enter(THREADS_MAX) {}
        assert!(open(&objects).is_ok());
    }

    /// SPEC 3.8: the error is about what was opened.
    #[test]
    fn too_many_sessions_with_handlers_are_refused_as_such() {
        let objects = Objects::new().unwrap();
        while objects.handler_queues.threads.enter(THREADS_MAX) {}
        let error = open(&objects).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Limit);
        assert_eq!(error.detail()["limit"], words::limit::HANDLERS);
    }
}
