//! Completion queues: results and events behind one descriptor that a host's loop can poll.
//!
//! The queue keeps the place of a subscription, not its events: a host that does not drain loses
//! the newest with a `lagged`, as it was told.

#[cfg(all(test, feature = "schedules"))]
mod schedules;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use trunkline::interface::words;
use trunkline::{Bell, Error, ErrorCode, Result, took_results};

use crate::abi::guard::check_fork;
use crate::abi::item::Item;
use crate::abi::raw;
use crate::delivery::notify::Notify;
use crate::delivery::outcome::{Leases, Value, item_of};
use crate::handles::sync::{Condvar, Mutex, MutexGuard};

/// A queue of items, with a descriptor that is readable while items wait. One queue may serve
/// several pools, and any thread may drain it.
pub struct QueueObject {
    pub(crate) forks: u32,
    pub(crate) queue: Arc<Queue>,
}

impl QueueObject {
    /// The host's queue, if it belongs to this process.
    ///
    /// # Safety
    /// `queue` is NULL or a queue that is not freed while the result is in use.
    pub(crate) unsafe fn of<'a>(queue: *const QueueObject) -> Result<&'a Arc<Queue>> {
        // SAFETY: as the function's own.
        let queue = unsafe { queue.as_ref() };
        let queue = queue.ok_or_else(|| raw::invalid("queue", "queue is NULL"))?;
        check_fork(queue.forks)?;
        Ok(&queue.queue)
    }
}

/// What brings events to a queue: a subscription.
pub(crate) trait EventSource: Send + Sync {
    /// Takes a place in the queue; whether it had none.
    fn take_place(&self) -> bool;

    /// Gives the place in the queue back; a wake-up from here on takes one again.
    fn leave_place(&self);

    /// Its next event, or its end.
    fn next_item(&self) -> Option<Item>;

    /// Ends it: nothing comes any more.
    fn close(&self);
}

/// What operations and subscriptions hold of a queue.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Held while somebody drains, so that one subscription's events keep their order.
    turn: Mutex<()>,
    notify: Notify,
    /// For threads that wait without a descriptor: something is there, or the queue was closed.
    came: Condvar,
    bell: Bell,
}

/// While entries wait, the bell has rung or the descriptor is readable.
#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// The subscriptions whose events come out of it, by their handles: they end with it.
    subscribers: BTreeMap<u64, Weak<dyn EventSource>>,
    /// Operations that will end, or have ended, in this queue.
    owed: usize,
    /// The bell has rung, and the descriptor is not readable yet.
    rung: bool,
    signalled: bool,
    /// Threads that wait without a descriptor.
    waiting: usize,
    closed: bool,
}

impl State {
    fn check_open(&self) -> Result<()> {
        match self.closed {
            true => Err(Error::new(ErrorCode::Closed, "the queue is closed")),
            false => Ok(()),
        }
    }
}

enum Entry {
    Done(u64, Result<Value>, Arc<Leases>),
    /// The subscriber's stream has something; how much is bounded there.
    Events(Arc<dyn EventSource>),
}

impl Queue {
    pub(crate) fn new() -> Result<Arc<Queue>> {
        let notify = Notify::new().map_err(|error| {
            Error::new(ErrorCode::Limit, format!("no descriptor for the queue: {error}"))
                .with_detail("limit", words::limit::DESCRIPTORS)
        })?;
        Ok(Arc::new_cyclic(|queue: &Weak<Queue>| {
            let queue = queue.clone();
            let bell = Bell::new(move || {
                let _ = queue.upgrade().map(|queue| queue.announce());
            });
            let (state, turn, came) = (Mutex::default(), Mutex::default(), Condvar::new());
            Queue { state, turn, notify, came, bell }
        }))
    }

    /// The descriptor to poll for reading.
    pub(crate) fn fd(&self) -> i32 {
        self.notify.fd()
    }

    /// Makes room for one result.
    ///
    /// # Errors
    /// `limit` when the queue holds and awaits too many, `closed` when it is closed.
    pub(crate) fn register(&self) -> Result<()> {
        let mut state = self.lock();
        state.check_open()?;
        if state.owed >= RESULTS_MAX {
            return Err(Error::new(ErrorCode::Limit, "the queue is full; drain it")
                .with_detail("limit", words::limit::QUEUE));
        }
        state.owed += 1;
        Ok(())
    }

    /// Notes a subscriber whose events will come out of it.
    ///
    /// # Errors
    /// `closed` when it is closed.
    pub(crate) fn enrol(&self, handle: u64, subscriber: Weak<dyn EventSource>) -> Result<()> {
        let mut state = self.lock();
        state.check_open()?;
        state.subscribers.insert(handle, subscriber);
        Ok(())
    }

    /// Forgets one that is gone.
    pub(crate) fn strike_off(&self, handle: u64) {
        self.lock().subscribers.remove(&handle);
    }

    /// Adds the end of an operation that was registered.
    pub(crate) fn push_done(&self, tag: u64, outcome: Result<Value>, leases: &Arc<Leases>) {
        self.push(Entry::Done(tag, outcome, leases.clone()));
    }

    /// Notes that a subscriber's stream has something.
    pub(crate) fn push_events(&self, subscriber: Arc<dyn EventSource>) {
        self.push(Entry::Events(subscriber));
    }

    fn push(&self, entry: Entry) {
        if self.add(entry) {
            self.bell.ring();
        }
    }

    /// Whether the bell is to be rung. A subscriber that has its place already gets no other.
    fn add(&self, entry: Entry) -> bool {
        let mut state = self.lock();
        let enters = match &entry {
            Entry::Done(..) => !state.closed,
            // Under the lock, so that a source that has a place stands there.
            Entry::Events(subscriber) => !state.closed && subscriber.take_place(),
        };
        if !enters {
            drop(state);
            drop(entry);
            return false;
        }
        state.entries.push_back(entry);
        let rings = !state.rung && !state.signalled;
        state.rung |= rings;
        rings
    }

    /// What the host has no room for stays before all that came meanwhile, which may be the result
    /// of a call whose progress it has.
    fn keep_first(&self, subscriber: Arc<dyn EventSource>) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if !subscriber.take_place() {
            // Somebody told it more, and gave it a place behind the others.
            let ours =
                |entry: &Entry| matches!(entry, Entry::Events(it) if Arc::ptr_eq(it, &subscriber));
            if let Some(place) = state.entries.iter().position(ours) {
                state.entries.remove(place);
            }
        }
        state.entries.push_front(Entry::Events(subscriber));
    }

    /// The bell is heard: the descriptor tells of what is left by now.
    fn announce(&self) {
        let mut state = self.lock();
        state.rung = false;
        if !state.entries.is_empty() {
            self.signal(&mut state);
        }
    }

    /// Waits until something is there, for so long at most; without a limit when none is given.
    ///
    /// # Errors
    /// `timeout` when nothing came, `closed` when it is closed.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> Result<()> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = self.lock();
        loop {
            state.check_open()?;
            if !state.entries.is_empty() {
                return Ok(());
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(nothing_came(limit));
            }
            state.waiting += 1;
            state = match left {
                Some(left) => {
                    self.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.came.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.waiting -= 1;
        }
    }

    /// Refuses a queue that is closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.lock().check_open()
    }

    /// Takes up to `most` items out, oldest first, and gives each to `take` with its number.
    pub(crate) fn drain(&self, most: usize, mut take: impl FnMut(usize, Item)) -> usize {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut count, mut results) = (0, 0);
        while count < most {
            let Some(entry) = self.lock().entries.pop_front() else { break };
            match entry {
                Entry::Done(tag, outcome, leases) => {
                    self.lock().owed -= 1;
                    take(count, item_of(outcome, tag, &leases));
                    count += 1;
                    results += 1;
                }
                Entry::Events(subscriber) => {
                    subscriber.leave_place();
                    while count < most
                        && let Some(item) = subscriber.next_item()
                    {
                        take(count, item);
                        count += 1;
                    }
                    if count == most {
                        self.keep_first(subscriber);
                    }
                }
            }
        }
        let mut state = self.lock();
        took_results(results + state.entries.len());
        if !state.entries.is_empty() || state.closed {
            // The bell may have been heard while its only entry was in hand here.
            self.signal(&mut state);
        } else if std::mem::take(&mut state.signalled) {
            self.notify.clear();
        }
        count
    }

    /// Ends it: what waits in it is dropped, its subscriptions end, and threads that wait or
    /// poll are woken.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.signal(&mut state);
        let entries = std::mem::take(&mut state.entries);
        let subscribers = std::mem::take(&mut state.subscribers);
        drop(state);
        drop(entries);
        for subscriber in subscribers.into_values().filter_map(|subscriber| subscriber.upgrade()) {
            subscriber.close();
        }
    }

    /// The descriptor is readable, and who waits is woken. Not only when it becomes so: while
    /// somebody drains, it stays readable, and others find nothing and wait.
    fn signal(&self, state: &mut State) {
        if state.waiting > 0 {
            self.came.notify_all();
        }
        if !state.signalled {
            state.signalled = true;
            self.notify.set();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nothing_came(limit: Option<Duration>) -> Error {
    let limit = limit.map_or(0, |limit| limit.as_millis().try_into().unwrap_or(u64::MAX));
    Error::new(ErrorCode::Timeout, format!("nothing came into the queue within {limit} ms"))
        .with_detail("which", words::deadline::TOTAL)
        .with_detail("limit_ms", limit)
}

/// Results that one queue holds and awaits together. A host that is so far behind has stopped
/// draining.
const RESULTS_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    mod waiting;

    use trunkline::{EventKind, EventMask, Pool, PoolOptions, Servers, leaves_requests};

    use super::*;
    use crate::abi::item::ItemKind;
    use crate::delivery::completion::wait;
    use crate::delivery::handle_registry::Objects;
    use crate::delivery::outcome::free_parts;
    use crate::delivery::subscription::Subscriber;

    /// A subscriber of these objects.
    fn subscribed(
        objects: &Arc<Objects>,
        stream: trunkline::Subscription,
        queue: &Arc<Queue>,
    ) -> Arc<Subscriber> {
        let handle = objects.subscribers.table.reserve().unwrap();
        let subscriber =
            Subscriber::queued((&objects.subscribers, handle), stream, queue, 1).unwrap();
        objects.subscribers.table.fill(handle, subscriber.clone());
        subscriber
    }

    /// SPEC 16.2, 16.6: once its end was told nothing keeps a subscription, and so it keeps neither
    /// its handle nor the queue.
    #[test]
    fn a_subscription_whose_end_was_told_is_gone() {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let subscriber = subscribed(&objects, pool.subscribe(EventMask(0)).unwrap(), &queue);
        subscriber.listen();
        let (handle, kept) = (subscriber.handle, Arc::downgrade(&subscriber));
        drop(subscriber);
        let closing = pool.close();
        pool.block_on(closing).unwrap();
        assert!(objects.subscribers.table.find(handle).is_ok(), "its end was not told yet");
        let mut taken = Vec::new();
        queue.drain(9, |_, item| taken.push((item.kind, item.handle)));
        assert_eq!(taken, [(ItemKind::End, handle)]);
        assert!(kept.upgrade().is_none() && objects.subscribers.table.find(handle).is_err());
        assert!(queue.lock().subscribers.is_empty());
        assert_eq!(Arc::strong_count(&queue), 1);
    }

    /// SPEC 16.2: the host has no other way to what would come out of it.
    #[test]
    fn a_queue_that_is_freed_ends_its_subscriptions() {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let subscriber = subscribed(&objects, pool.subscribe(EventMask::ALL).unwrap(), &queue);
        subscriber.listen();
        let (handle, kept) = (subscriber.handle, Arc::downgrade(&subscriber));
        drop(subscriber);
        assert_eq!(Arc::strong_count(&queue), 1);
        queue.close();
        assert!(kept.upgrade().is_none() && objects.subscribers.table.find(handle).is_err());
    }

    /// I-18: a host that takes fewer items at a time than there are leaves the place where it was;
    /// the next wake-up then finds it there.
    #[test]
    fn a_subscription_has_one_place_in_the_queue_however_often_it_is_woken() {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let subscriber = subscribed(&objects, pool.subscribe(EventMask::ALL).unwrap(), &queue);
        for _ in 0..3 {
            queue.push_events(subscriber.clone());
        }
        assert_eq!(queue.lock().entries.len(), 1);
        assert_eq!(queue.drain(1, |_, _| ()), 0);
        queue.push_events(subscriber);
        assert_eq!(queue.lock().entries.len(), 1);
    }

    fn is_readable(queue: &Queue) -> bool {
        let mut watched = libc::pollfd { fd: queue.notify.fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd that lives through the call.
        unsafe { libc::poll(&mut watched, 1, 0) > 0 }
    }

    /// SPEC 16.2: of what arrives together the host is woken when all of it is there, unless it
    /// came by itself and took it.
    #[test]
    fn the_descriptor_is_readable_once_the_bell_is_heard() {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let add = |tag| {
            queue.register().unwrap();
            queue.add(Entry::Done(tag, Ok(Value::Nothing), objects.leases.clone()))
        };
        assert_eq!([add(1), add(2)], [true, false], "it rings once");
        assert!(!is_readable(&queue));
        queue.announce();
        assert!(is_readable(&queue) && !add(3), "it is readable already");
        assert_eq!(queue.drain(9, |_, _| ()), 3);
        assert!(!is_readable(&queue) && add(4));
        assert_eq!(queue.drain(9, |_, _| ()), 1);
        queue.announce();
        assert!(!is_readable(&queue), "nothing is left");
    }

    /// What a host calls after several results is left to the library's thread, also where it takes
    /// them one by one; a call that waits for its answer is not.
    #[test]
    fn a_thread_that_takes_several_results_leaves_its_next_requests() {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let bring = |count| {
            for tag in 0..count {
                queue.register().unwrap();
                queue.push_done(tag, Ok(Value::Nothing), &objects.leases);
            }
        };
        let leaves_after = |most| {
            queue.drain(most, |_, _| ());
            leaves_requests()
        };
        bring(1);
        assert!(!leaves_after(9), "it came alone");
        bring(2);
        assert!(leaves_after(9));
        assert!(!leaves_after(9), "nothing came");
        bring(2);
        assert_eq!([leaves_after(1), leaves_after(1)], [true, false]);
        bring(2);
        assert!(leaves_after(9));
        assert!(wait(&objects, |_completion| panic!("nothing to start")).is_err());
        assert!(!leaves_requests(), "it waits");
    }

    /// I-18: the only entry may be in hand when the bell is heard, and have more in it than the
    /// host takes.
    #[test]
    fn what_a_subscription_has_left_keeps_the_descriptor_readable() {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let stream = pool.subscribe(EventMask(EventKind::Reconciled.bit())).unwrap();
        let subscriber = subscribed(&objects, stream, &queue);
        for servers in [r#"{"s":{"command":"sleep","disabled":true}}"#, "{}"] {
            let servers = Servers::from_json(servers).unwrap();
            let of_it = pool.clone();
            pool.block_on(async move { of_it.reconcile(servers).await }).unwrap();
        }
        assert!(queue.add(Entry::Events(subscriber)));
        let taken = queue.drain(1, |_, item| {
            queue.announce();
            // SAFETY: nobody else has the item.
            unsafe { free_parts(&item) };
        });
        assert_eq!(taken, 1);
        assert!(is_readable(&queue));
    }
}
