//! Subscribers: event callbacks on a thread of each subscription's own, and event streams that a
//! queue drains.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use trunkline::{Error, ErrorCode, Event, Result, Subscription};

use crate::completion::UserData;
use crate::dispatch::no_thread;
use crate::guard::in_callback;
use crate::objects::Objects;
use crate::queue::Queue;
use crate::types::{EventFn, Str};

/// What a subscription handle stands for.
pub(crate) struct Subscriber {
    /// `None` once it ended or was closed.
    stream: Mutex<Option<Subscription>>,
    pub(crate) way: Way,
}

/// How events reach the host.
pub(crate) enum Way {
    Thread(Arc<Signal>),
    Queue { queue: Arc<Queue>, tag: u64, handle: u64 },
}

/// What a stream gives next.
pub(crate) enum Next {
    Event(Event),
    Nothing,
    /// Told once.
    Ended,
}

impl Subscriber {
    /// A subscriber whose events wait in its stream until the queue is drained. Nothing comes
    /// before [`listen`](Self::listen).
    pub(crate) fn queued(
        stream: Subscription,
        queue: Arc<Queue>,
        tag: u64,
        handle: u64,
    ) -> Arc<Subscriber> {
        let way = Way::Queue { queue, tag, handle };
        Arc::new(Subscriber { stream: Mutex::new(Some(stream)), way })
    }

    /// A subscriber with a thread that calls the host. Nothing comes before
    /// [`listen`](Self::listen).
    ///
    /// # Errors
    /// `limit` when there are too many of them, or no thread can be started; the user data is
    /// destroyed.
    pub(crate) fn with_thread(
        objects: &Arc<Objects>,
        stream: Subscription,
        callback: EventFn,
        user_data: UserData,
    ) -> Result<Arc<Subscriber>> {
        let signal = Arc::new(Signal::default());
        let way = Way::Thread(signal.clone());
        let subscriber = Arc::new(Subscriber { stream: Mutex::new(Some(stream)), way });
        objects.subscriptions.enter()?;
        let (ours, objects_of_thread) = (subscriber.clone(), objects.clone());
        let body = move || {
            ours.call_until_stopped(&signal, callback, user_data);
            drop(ours);
            signal.change(|state| state.finished = true);
            objects_of_thread.subscriptions.leave();
        };
        let started = thread::Builder::new().name("trunkline-event".to_owned()).spawn(body);
        if let Err(error) = started {
            objects.subscriptions.leave();
            return Err(no_thread(error));
        }
        Ok(subscriber)
    }

    /// Lets the events come.
    pub(crate) fn listen(self: &Arc<Self>) {
        let stream = self.lock();
        let Some(stream) = stream.as_ref() else { return };
        match &self.way {
            Way::Thread(signal) => {
                let signal = signal.clone();
                stream.set_wake(move || signal.change(|state| state.woken = true));
            }
            Way::Queue { queue, .. } => {
                let (queue, subscriber) = (queue.clone(), Arc::downgrade(self));
                stream.set_wake(move || {
                    if let Some(subscriber) = subscriber.upgrade() {
                        queue.push_events(subscriber);
                    }
                });
            }
        }
    }

    /// The next event of the stream.
    pub(crate) fn next(&self) -> Next {
        let mut stream = self.lock();
        let Some(open) = stream.as_ref() else { return Next::Nothing };
        if let Some(event) = open.try_next() {
            return Next::Event(event);
        }
        if !open.is_ended() {
            return Next::Nothing;
        }
        let ended = stream.take();
        drop(stream);
        drop(ended);
        Next::Ended
    }

    /// Ends the deliveries without waiting for one that is under way.
    pub(crate) fn stop(&self) {
        let stream = self.lock().take();
        drop(stream);
        if let Way::Thread(signal) = &self.way {
            signal.change(|state| state.stopped = true);
        }
    }

    /// Ends the deliveries. When it returns, no callback runs or will, but for the one that this
    /// thread is in, and for one that waits in turn for this thread's own.
    pub(crate) fn close(self: &Arc<Self>, subscriptions: &Subscriptions) {
        self.stop();
        let Way::Thread(signal) = &self.way else { return };
        let (mine, theirs) = (CURRENT.with(Cell::get), signal.id());
        if mine == theirs || !subscriptions.may_wait(mine, theirs) {
            return;
        }
        signal.wait_for(|state| state.finished);
        subscriptions.waited(mine);
    }

    fn call_until_stopped(&self, signal: &Arc<Signal>, callback: EventFn, user_data: UserData) {
        CURRENT.with(|current| current.set(signal.id()));
        let stopped = |signal: &Signal| signal.lock().stopped;
        'stream: loop {
            signal.wait_for(|state| std::mem::take(&mut state.woken) || state.stopped);
            loop {
                match self.next() {
                    _ if stopped(signal) => break 'stream,
                    Next::Ended => break 'stream,
                    Next::Nothing => break,
                    Next::Event(event) => call(callback, &user_data, &event),
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Subscription>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn call(callback: EventFn, user_data: &UserData, event: &Event) {
    let Some(callback) = callback else { return };
    let (number, json) = (u32::from(event.kind() as u8), Str::of(event.json()));
    // SAFETY: the host gave the function for this pointer, and the text outlives the call.
    in_callback(|| unsafe { callback(user_data.pointer, number, json) });
}

/// What a subscription's thread waits for, and what is waited for from it.
#[derive(Default)]
pub(crate) struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default)]
struct SignalState {
    woken: bool,
    stopped: bool,
    finished: bool,
}

impl Signal {
    fn change(&self, change: impl FnOnce(&mut SignalState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait_for(&self, mut holds: impl FnMut(&mut SignalState) -> bool) {
        let mut state = self.lock();
        while !holds(&mut state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The threads of one pool's subscriptions, and which waits for which.
#[derive(Default)]
pub(crate) struct Subscriptions {
    state: Mutex<Threads>,
    quiet: Condvar,
}

#[derive(Default)]
struct Threads {
    count: usize,
    waits: HashMap<usize, usize>,
}

impl Subscriptions {
    /// Waits until no thread is left; whether that was so by the deadline.
    pub(crate) fn wait_until_quiet(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        while state.count > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.quiet.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn enter(&self) -> Result<()> {
        let mut state = self.lock();
        if state.count >= THREADS_MAX {
            return Err(Error::new(ErrorCode::Limit, "too many subscriptions with a callback")
                .with_detail("limit", "subscriptions")
                .with_hint("subscribe with a queue"));
        }
        state.count += 1;
        Ok(())
    }

    fn leave(&self) {
        self.lock().count -= 1;
        self.quiet.notify_all();
    }

    /// Notes that a callback waits for another to return, unless that one waits for it, directly or
    /// through others.
    fn may_wait(&self, mine: usize, theirs: usize) -> bool {
        if mine == 0 {
            return true;
        }
        let mut state = self.lock();
        let mut next = theirs;
        while let Some(further) = state.waits.get(&next) {
            next = *further;
            if next == mine {
                return false;
            }
        }
        state.waits.insert(mine, theirs);
        true
    }

    fn waited(&self, mine: usize) {
        self.lock().waits.remove(&mine);
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The subscription whose thread this is; 0 on every other thread.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Subscriptions with a callback in one pool; each has a thread, so that a callback that blocks
/// holds up only itself.
const THREADS_MAX: usize = 1024;
