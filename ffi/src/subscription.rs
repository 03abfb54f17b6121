//! Subscribers: event callbacks on a thread of each subscription's own, and event streams that a
//! queue drains.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use trunkline::interface::words;
use trunkline::{Event, Result, start_callback_thread};

use crate::completion::UserData;
use crate::dispatch::no_thread;
use crate::guard::{forks, in_callback};
use crate::objects::Objects;
use crate::queue::Queue;
use crate::sync::Stream;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::types::{EventFn, Str};

/// What a subscription handle stands for.
pub(crate) struct Subscriber {
    /// `None` once it ended or was closed.
    stream: crate::sync::Mutex<Option<Stream>>,
    /// The pool is gone: the stream ends with what it has.
    is_last: AtomicBool,
    pub(crate) handle: u64,
    /// Not kept by it: their table keeps it until it is over.
    objects: Weak<Objects>,
    pub(crate) way: Way,
}

/// How events reach the host.
pub(crate) enum Way {
    Thread(Arc<Signal>),
    Queue {
        /// Not kept by it: the queue goes when the host frees it.
        queue: Weak<Queue>,
        tag: u64,
        /// Whether the subscription has a place in the queue.
        placed: AtomicBool,
    },
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
        (objects, handle): (&Arc<Objects>, u64),
        stream: impl Into<Stream>,
        queue: &Arc<Queue>,
        tag: u64,
    ) -> Arc<Subscriber> {
        let (place, placed) = (Arc::downgrade(queue), AtomicBool::new(false));
        let way = Way::Queue { queue: place, tag, placed };
        let subscriber = Subscriber::of((objects, handle), stream.into(), way);
        queue.enrol(&subscriber);
        subscriber
    }

    fn of((objects, handle): (&Arc<Objects>, u64), stream: Stream, way: Way) -> Arc<Subscriber> {
        let (stream, is_last) = (crate::sync::Mutex::new(Some(stream)), AtomicBool::new(false));
        let objects = Arc::downgrade(objects);
        Arc::new(Subscriber { stream, is_last, handle, objects, way })
    }

    /// A subscriber with a thread that calls the host. Nothing comes before
    /// [`listen`](Self::listen).
    ///
    /// # Errors
    /// `limit` when there are too many of them, or no thread can be started; the user data is
    /// destroyed.
    pub(crate) fn with_thread(
        (objects, handle): (&Arc<Objects>, u64),
        stream: impl Into<Stream>,
        callback: EventFn,
        user_data: UserData,
    ) -> Result<Arc<Subscriber>> {
        let signal = Arc::new(Signal::default());
        let subscriber =
            Subscriber::of((objects, handle), stream.into(), Way::Thread(signal.clone()));
        let message = "too many subscriptions with a callback";
        objects.subscriptions.enter_thread(words::limit::SUBSCRIPTIONS, message)?;
        let (ours, objects_of_thread) = (subscriber.clone(), objects.clone());
        let body = move || {
            ours.call_until_stopped(&signal, callback, user_data);
            // Whoever closes it until here finds it, and waits.
            ours.give_up_handle();
            drop(ours);
            signal.finish();
            objects_of_thread.subscriptions.leave();
        };
        if let Err(error) = start_callback_thread("trunkline-event", body) {
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
            Way::Queue { .. } => {
                let subscriber = Arc::downgrade(self);
                stream.set_wake_in_order(move || {
                    if let Some(subscriber) = subscriber.upgrade() {
                        subscriber.enter_queue();
                    }
                });
            }
        }
    }

    /// There is something for its queue, if that is there.
    fn enter_queue(self: Arc<Self>) {
        if let Some(queue) = self.queue() {
            queue.push_events(self);
        }
    }

    fn queue(&self) -> Option<Arc<Queue>> {
        match &self.way {
            Way::Thread(_) => None,
            Way::Queue { queue, .. } => queue.upgrade(),
        }
    }

    /// It is over: its handle stands for nothing from here on.
    pub(crate) fn give_up_handle(&self) {
        let objects = self.objects.upgrade();
        drop(objects.and_then(|objects| objects.subscribers.remove(self.handle)));
    }

    /// Takes a place in the queue; whether it had none.
    pub(crate) fn take_place(&self) -> bool {
        matches!(&self.way, Way::Queue { placed, .. } if !placed.swap(true, Ordering::SeqCst))
    }

    /// Gives the place in the queue back; whoever wakes it from here on takes one again.
    pub(crate) fn leave_place(&self) {
        if let Way::Queue { placed, .. } = &self.way {
            placed.store(false, Ordering::SeqCst);
        }
    }

    /// The next event of the stream.
    pub(crate) fn next(&self) -> Next {
        let mut stream = self.lock();
        let Some(open) = stream.as_ref() else { return Next::Nothing };
        // Before the look, which then finds all that came while the pool was there.
        let is_last = self.is_last.load(Ordering::SeqCst);
        if let Some(event) = open.try_next() {
            return Next::Event(event);
        }
        if !is_last && !open.is_ended() {
            return Next::Nothing;
        }
        let ended = stream.take();
        drop(stream);
        drop(ended);
        Next::Ended
    }

    /// The pool goes. A queue still gives what the stream has, and then its end; a thread's
    /// callback is called no more.
    pub(crate) fn end(self: &Arc<Self>) {
        match &self.way {
            Way::Thread(_) => self.stop(),
            Way::Queue { .. } => {
                self.is_last.store(true, Ordering::SeqCst);
                self.clone().enter_queue();
            }
        }
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
    pub(crate) fn close(&self) {
        self.stop();
        match &self.way {
            // Whose thread gives up the handle.
            Way::Thread(signal) => signal.wait_until_finished(),
            Way::Queue { .. } => self.give_up_handle(),
        }
    }

    fn call_until_stopped(&self, signal: &Arc<Signal>, callback: EventFn, user_data: UserData) {
        signal.begin();
        'stream: loop {
            signal.wait_for(|state| std::mem::take(&mut state.woken) || state.stopped);
            loop {
                match self.next() {
                    _ if signal.is_stopped() => break 'stream,
                    Next::Ended => break 'stream,
                    Next::Nothing => break,
                    Next::Event(event) => call(callback, &user_data, &event),
                }
            }
        }
    }

    fn lock(&self) -> crate::sync::MutexGuard<'_, Option<Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        if let Some(queue) = self.queue() {
            queue.strike_off(self.handle);
        }
    }
}

fn call(callback: EventFn, user_data: &UserData, event: &Event) {
    let Some(callback) = callback else { return };
    let (number, json) = (u32::from(event.kind() as u8), Str::of(event.json()));
    // SAFETY: the host gave the function for this pointer, and the text outlives the call.
    in_callback(|| unsafe { callback(user_data.pointer, number, json) });
}

/// What a thread that calls the host waits for, and what is waited for from it.
#[derive(Default)]
pub(crate) struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
    /// The one whose end the callback of this thread waits for; of any pool.
    waits_for: Mutex<Option<Arc<Signal>>>,
}

#[derive(Default)]
struct SignalState {
    woken: bool,
    stopped: bool,
    finished: bool,
}

impl Signal {
    /// There is something to do.
    pub(crate) fn wake(&self) {
        self.change(|state| state.woken = true);
    }

    /// There will be nothing more.
    pub(crate) fn stop(&self) {
        self.change(|state| state.stopped = true);
    }

    /// Waits until it is woken or stopped; whether it is stopped.
    pub(crate) fn wait_until_woken(&self) -> bool {
        self.wait_for(|state| std::mem::take(&mut state.woken) || state.stopped);
        self.lock().stopped
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// This thread is the one whose signal it is, until it says that it has finished.
    pub(crate) fn begin(self: &Arc<Self>) {
        CURRENT.set(Some((forks(), self.clone())));
    }

    pub(crate) fn finish(&self) {
        self.change(|state| state.finished = true);
    }

    pub(crate) fn is_current(self: &Arc<Self>) -> bool {
        Self::current().is_some_and(|current| Arc::ptr_eq(&current, self))
    }

    /// Waits for its thread to finish, unless that is this one, or waits for this one itself.
    pub(crate) fn wait_until_finished(self: &Arc<Self>) {
        let Some(mine) = Self::current() else { return self.wait_for(|state| state.finished) };
        if mine.may_wait_for(self) {
            self.wait_for(|state| state.finished);
            mine.note_wait(None);
        }
    }

    /// A thread that is ending has none: such threads run no code of the host's then. Nor has a
    /// forked child, in which the thread is none of the library's.
    fn current() -> Option<Arc<Signal>> {
        let current = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
        current.filter(|(made_at, _)| *made_at == forks()).map(|(_, signal)| signal)
    }

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

    /// Notes that this one's callback waits for another to return, unless that is itself, or one
    /// that waits for it, directly or through others. Noted before it looks, so that of callbacks
    /// that close a ring the last one sees it.
    fn may_wait_for(self: &Arc<Self>, other: &Arc<Signal>) -> bool {
        self.note_wait(Some(other.clone()));
        let mut next = Some(other.clone());
        while let Some(signal) = next {
            if Arc::ptr_eq(&signal, self) {
                self.note_wait(None);
                return false;
            }
            next = signal.lock_wait().clone();
        }
        true
    }

    fn note_wait(&self, other: Option<Arc<Signal>>) {
        *self.lock_wait() = other;
    }

    fn lock_wait(&self) -> MutexGuard<'_, Option<Arc<Signal>>> {
        self.waits_for.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The one whose thread this is, in the process of that many forks; none on every other thread.
    static CURRENT: RefCell<Option<(u32, Arc<Signal>)>> = const { RefCell::new(None) };
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::guard::tests::holds_in_child;

    /// SPEC 16.3: who waits for whom in the parent is nothing to a child that was forked inside a
    /// callback, and may be locked there.
    #[test]
    fn a_child_that_was_forked_inside_a_callback_waits_for_its_own() {
        let parents = Arc::new(Signal::default());
        parents.begin();
        let locked = parents.lock_wait();
        let waits = holds_in_child(|| {
            let own = Arc::new(Signal::default());
            own.finish();
            own.wait_until_finished();
            true
        });
        drop(locked);
        CURRENT.take();
        assert!(waits);
    }
}
