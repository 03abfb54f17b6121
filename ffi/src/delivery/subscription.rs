//! Subscribers: event callbacks on a thread of each subscription's own, and event streams that a
//! queue drains.
//!
//! A callback that closes another one waits for it, unless that one waits for the first. Refusing a
//! close inside callbacks would make every host queue such work.

use std::sync::{Arc, PoisonError, Weak};

use trunkline::interface::words;
use trunkline::{Event, Result, start_callback_thread};

use crate::abi::buf::Buf;
use crate::abi::guard::in_callback;
use crate::abi::item::{Item, ItemKind};
use crate::abi::types::{EventFn, Status, Str};
use crate::abi::user_data::UserData;
use crate::delivery::queue::{EventSource, Queue};
use crate::delivery::signal::Signal;
use crate::handles::callback_tracker::{Running, no_thread};
use crate::handles::sync::Stream;
use crate::handles::sync::atomic::{AtomicBool, Ordering};
use crate::handles::table::Table;

/// The subscriptions of one pool.
pub(crate) struct Subscribers {
    pub(crate) table: Table<Arc<Subscriber>>,
    /// The threads of those that have one.
    pub(crate) threads: Running,
}

/// What a subscription handle stands for.
pub(crate) struct Subscriber {
    /// `None` once it ended or was closed.
    stream: crate::handles::sync::Mutex<Option<Stream>>,
    /// The pool is gone: the stream ends with what it has.
    is_last: AtomicBool,
    pub(crate) handle: u64,
    /// Not kept by it: their table keeps it until it is over.
    subscribers: Weak<Subscribers>,
    way: Way,
}

/// How events reach the host.
enum Way {
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
enum Next {
    Event(Event),
    Nothing,
    /// Told once.
    Ended,
}

impl Subscriber {
    /// A subscriber whose events wait in its stream until the queue is drained. Nothing comes
    /// before [`listen`](Self::listen).
    ///
    /// # Errors
    /// `closed` when the queue is closed.
    pub(crate) fn queued(
        (subscribers, handle): (&Arc<Subscribers>, u64),
        stream: impl Into<Stream>,
        queue: &Arc<Queue>,
        tag: u64,
    ) -> Result<Arc<Subscriber>> {
        let (place, placed) = (Arc::downgrade(queue), AtomicBool::new(false));
        let way = Way::Queue { queue: place, tag, placed };
        let subscriber = Subscriber::of((subscribers, handle), stream.into(), way);
        let weak: Weak<Subscriber> = Arc::downgrade(&subscriber);
        queue.enrol(handle, weak)?;
        Ok(subscriber)
    }

    fn of(
        (subscribers, handle): (&Arc<Subscribers>, u64),
        stream: Stream,
        way: Way,
    ) -> Arc<Subscriber> {
        let (stream, is_last) =
            (crate::handles::sync::Mutex::new(Some(stream)), AtomicBool::new(false));
        let subscribers = Arc::downgrade(subscribers);
        Arc::new(Subscriber { stream, is_last, handle, subscribers, way })
    }

    /// A subscriber with a thread that calls the host. Nothing comes before
    /// [`listen`](Self::listen).
    ///
    /// # Errors
    /// `limit` when there are too many of them, or no thread can be started; the user data is
    /// destroyed.
    pub(crate) fn with_thread(
        (subscribers, handle): (&Arc<Subscribers>, u64),
        stream: impl Into<Stream>,
        callback: EventFn,
        user_data: UserData,
    ) -> Result<Arc<Subscriber>> {
        let signal = Arc::new(Signal::default());
        let subscriber =
            Subscriber::of((subscribers, handle), stream.into(), Way::Thread(signal.clone()));
        let message = "too many subscriptions with a callback";
        subscribers.threads.enter_thread(words::limit::SUBSCRIPTIONS, message)?;
        let (ours, ours_among) = (subscriber.clone(), subscribers.clone());
        let body = move || {
            ours.call_until_stopped(&signal, callback, user_data);
            // A thread that closes it until here finds it, and waits.
            ours.give_up_handle();
            drop(ours);
            signal.finish();
            ours_among.threads.leave();
        };
        if let Err(error) = start_callback_thread("trunkline-event", body) {
            subscribers.threads.leave();
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
                stream.set_wake(move || signal.wake());
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
    fn give_up_handle(&self) {
        let subscribers = self.subscribers.upgrade();
        drop(subscribers.and_then(|subscribers| subscribers.table.remove(self.handle)));
    }

    /// The next event of the stream.
    fn next(&self) -> Next {
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
            signal.stop();
        }
    }

    /// Ends the deliveries. When it returns, no callback runs or will. Excepted are the one that
    /// this thread is in, and one that waits in turn for this thread's own.
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
            signal.wait_until_woken();
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

    fn lock(&self) -> crate::handles::sync::MutexGuard<'_, Option<Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSource for Subscriber {
    fn take_place(&self) -> bool {
        matches!(&self.way, Way::Queue { placed, .. } if !placed.swap(true, Ordering::SeqCst))
    }

    fn leave_place(&self) {
        if let Way::Queue { placed, .. } = &self.way {
            placed.store(false, Ordering::SeqCst);
        }
    }

    fn next_item(&self) -> Option<Item> {
        let Way::Queue { tag, .. } = self.way else { return None };
        let mut item = Item {
            tag,
            handle: self.handle,
            kind: ItemKind::Event,
            status: Status::Ok,
            event: 0,
            reserved: 0,
            buf: std::ptr::null_mut(),
            error: std::ptr::null_mut(),
            reserved_more: [0; 2],
        };
        match self.next() {
            Next::Nothing => return None,
            Next::Ended => {
                self.give_up_handle();
                item.kind = ItemKind::End;
            }
            Next::Event(event) => {
                item.event = u32::from(event.kind() as u8);
                item.buf = Buf::from(event).into_raw();
            }
        }
        Some(item)
    }

    fn close(&self) {
        Subscriber::close(self);
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
