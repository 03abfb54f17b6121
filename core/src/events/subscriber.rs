//! One subscriber's queue: bounded, with one wake-up for all that waits in it.
//!
//! The queue is bounded in bytes too, since a server says how long its messages are. Texts are not
//! cut: a host would have something else than the server said.

use std::collections::VecDeque;
use std::sync::Arc;

use trunkline_pool::interface::EventKind;
use trunkline_pool::state::SessionId;

use super::event::{Event, EventMask};
use super::event_text::{EventBody, QueuedEvent};
use super::json_members::members_of;
use super::subject::EventSubject;
use crate::base::sync::atomic::{AtomicU64, Ordering};
use crate::base::sync::{Mutex, MutexGuard, Notify, thread_local};
use crate::base::wakes;

/// One subscriber's queue. The fields that an event needs stand first, side by side: a list change
/// goes to thousands of queues, which are not in the processor's cache.
#[repr(C)]
pub(crate) struct Subscriber {
    pub(super) mask: EventMask,
    backlog: usize,
    queue: Mutex<EventQueue>,
    /// The thread that is to wake it and has not done so, by its number, or [`NOBODY`]; kept where
    /// the wake is in order.
    owed_by: AtomicU64,
    arrived: Notify,
    wake: Mutex<Option<WakeFn>>,
    /// The thread that runs the wake function now, by its number, or [`NOBODY`].
    waking: AtomicU64,
    /// Held while the wake function runs.
    turn: Mutex<()>,
    pub(super) session: Option<SessionId>,
    /// What the stream continues.
    pub snapshot: String,
}

/// Where an event was put.
#[derive(Default)]
pub(super) struct Pushed {
    /// Somebody waits for it, and nobody was woken for it yet: the subscriber has to be woken.
    pub(super) wakes: bool,
    /// Half of the room is taken now: it cannot wait until all else was told.
    pub(super) is_half: bool,
}

type WakeFn = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
#[repr(C)]
struct EventQueue {
    events: QueuedEvents,
    /// Events that did not fit since the queue was last emptied.
    missed: u64,
    last_missed_seq: u64,
    ended: bool,
    /// Whether there is a wake function.
    has_wake: bool,
    /// Whether a thread that publishes wakes the subscriber before it goes on, such as to the
    /// result of a call. It then does so even where another thread is about to.
    in_order: bool,
    /// How many wait in [`Subscriber::next`].
    waiting: usize,
}

/// Events in the order in which they came. The first lies in the queue itself: mostly there is one.
#[derive(Default)]
struct QueuedEvents {
    /// There is one while there are others.
    first: Option<QueuedEvent>,
    others: VecDeque<QueuedEvent>,
    /// The bytes of all, also of those that wait for other subscribers too.
    bytes: usize,
}

impl QueuedEvents {
    fn len(&self) -> usize {
        self.first.as_ref().map_or(0, |_| 1 + self.others.len())
    }

    fn push(&mut self, event: QueuedEvent) {
        self.bytes += event.bytes();
        match self.first {
            None => self.first = Some(event),
            Some(_) => self.others.push_back(event),
        }
    }

    fn pop(&mut self) -> Option<QueuedEvent> {
        let event = std::mem::replace(&mut self.first, self.others.pop_front())?;
        self.bytes -= event.bytes();
        Some(event)
    }
}

/// One that may wait in [`Subscriber::next`], counted from when it found nothing until it ends.
struct NextWaiter<'a> {
    subscriber: &'a Subscriber,
    is_counted: bool,
}

impl Drop for NextWaiter<'_> {
    fn drop(&mut self) {
        if self.is_counted {
            self.subscriber.queue().waiting -= 1;
        }
    }
}

impl Subscriber {
    pub(super) fn new(
        mask: EventMask,
        session: Option<SessionId>,
        backlog: usize,
        snapshot: String,
    ) -> Subscriber {
        Subscriber {
            mask,
            session,
            backlog,
            snapshot,
            queue: Mutex::default(),
            owed_by: AtomicU64::new(NOBODY),
            arrived: Notify::new(),
            wake: Mutex::new(None),
            waking: AtomicU64::new(NOBODY),
            turn: Mutex::new(()),
        }
    }

    /// Adds an event, or counts it as missed.
    pub(super) fn push(&self, event: QueuedEvent) -> Pushed {
        let mut queue = self.queue();
        let (before, bytes_before) = (queue.events.len(), queue.events.bytes);
        let (bytes, bytes_max) = (bytes_before + event.bytes(), self.bytes_max());
        let fits = before < self.backlog && (before == 0 || bytes <= bytes_max);
        if queue.missed > 0 || !fits {
            queue.missed += 1;
            queue.last_missed_seq = event.seq;
            return Pushed::default();
        }
        queue.events.push(event);
        let wakes = (queue.has_wake || queue.waiting > 0) && self.is_to_wake(&queue, before);
        let passes_half = bytes_before <= bytes_max / 2 && bytes > bytes_max / 2;
        Pushed { wakes, is_half: before == self.backlog / 2 || passes_half }
    }

    /// How many bytes of events wait, unless one alone has more.
    fn bytes_max(&self) -> usize {
        BYTES_MAX.max(self.backlog.saturating_mul(EVENT_BYTES))
    }

    /// Whether this thread is to wake it, after it had so many events. Asked under the lock of the
    /// queue.
    fn is_to_wake(&self, queue: &EventQueue, before: usize) -> bool {
        if !queue.in_order {
            return before == 0;
        }
        if before == 0 {
            self.owed_by.store(thread_number(), Ordering::Release);
            return true;
        }
        let owed_by = self.owed_by.load(Ordering::Acquire);
        owed_by != NOBODY && owed_by != thread_number()
    }

    /// The next event. What was missed is told where it is missing: after the events that fitted.
    pub(crate) fn try_next(&self) -> Option<Event> {
        let event = self.queue().take();
        event.map(QueuedEvent::take)
    }

    /// The next event, or `None` at the end of the stream.
    pub(crate) async fn next(&self) -> Option<Event> {
        let mut waiting = NextWaiter { subscriber: self, is_counted: false };
        loop {
            if let Some(taken) = self.take_or_wait(&mut waiting) {
                return taken;
            }
            // A notification that came since the look is kept for it.
            self.arrived.notified().await;
        }
    }

    /// What [`next`](Self::next) returns; nothing when it has to wait. The wait is counted under
    /// the same lock, so that the next event wakes it.
    fn take_or_wait(&self, waiting: &mut NextWaiter<'_>) -> Option<Option<Event>> {
        let mut queue = self.queue();
        let event = queue.take();
        if event.is_none() && !queue.ended {
            queue.waiting += usize::from(!waiting.is_counted);
            waiting.is_counted = true;
            return None;
        }
        let others = queue.waiting - usize::from(waiting.is_counted);
        drop(queue);
        if others > 0 {
            // One notification stands for all events in the queue: the next waiter looks in turn.
            self.arrived.notify_one();
        }
        Some(event.map(QueuedEvent::take))
    }

    pub(crate) fn is_ended(&self) -> bool {
        let queue = self.queue();
        queue.ended && queue.events.len() == 0 && queue.missed == 0
    }

    pub(super) fn end(&self) {
        self.queue().ended = true;
        self.wake_now();
    }

    /// Sets the wake function; `in_order` for one that never waits for anything.
    pub(crate) fn set_wake(&self, wake: WakeFn, in_order: bool) {
        let before = lock(&self.wake).replace(wake);
        drop(before);
        let waits = {
            let mut queue = self.queue();
            (queue.has_wake, queue.in_order) = (true, in_order);
            let waits = queue.events.len() > 0 || queue.missed > 0 || queue.ended;
            waits && self.is_to_wake(&queue, 0)
        };
        if waits {
            self.wake_now();
        }
    }

    fn wake_now(&self) {
        self.arrived.notify_one();
        self.run_wake();
        if self.owed_by.load(Ordering::Relaxed) == NOBODY {
            return;
        }
        let _ = self.owed_by.compare_exchange(
            thread_number(),
            NOBODY,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
    }

    /// Runs the wake function, one thread at a time, and never after [`silence`](Self::silence) has
    /// returned.
    fn run_wake(&self) {
        if lock(&self.wake).is_none() {
            return;
        }
        if self.is_waking_here() {
            // The wake function itself caused an event; the thread that it woke finds the event as
            // well.
            return;
        }
        let turn = lock(&self.turn);
        let wake = lock(&self.wake).clone();
        if let Some(wake) = wake {
            self.waking.store(thread_number(), Ordering::Relaxed);
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || wake()));
            self.waking.store(NOBODY, Ordering::Relaxed);
        }
        drop(turn);
    }

    /// Takes the wake function away, and waits for a running one, unless it is the caller.
    pub(crate) fn silence(&self) {
        // The host's function is dropped without the lock, as it is called.
        let before = lock(&self.wake).take();
        drop(before);
        if !self.is_waking_here() {
            drop(lock(&self.turn));
        }
    }

    /// Whether this thread runs the wake function now: nobody else has its number there.
    fn is_waking_here(&self) -> bool {
        self.waking.load(Ordering::Relaxed) == thread_number()
    }

    fn queue(&self) -> MutexGuard<'_, EventQueue> {
        lock(&self.queue)
    }
}

impl EventQueue {
    /// The next event that waits.
    fn take(&mut self) -> Option<QueuedEvent> {
        if let Some(event) = self.events.pop() {
            return Some(event);
        }
        let missed = std::mem::take(&mut self.missed);
        let seq = self.last_missed_seq;
        (missed > 0).then(|| {
            let fields = [("missed", missed.into())];
            let said =
                EventBody::new(EventKind::Lagged, &EventSubject::default(), members_of(&fields));
            QueuedEvent::new(seq, None, said)
        })
    }
}

impl wakes::Wake for Subscriber {
    fn wake(&self) {
        self.wake_now();
    }
}

/// A number that no other thread has or had. A thread has it to the very end, unlike the one that
/// std gives it.
fn thread_number() -> u64 {
    static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(NOBODY);
    thread_local! {
        static NUMBER: u64 = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    NUMBER.with(|number| *number)
}

const NOBODY: u64 = 0;

/// Bytes of what waits for one subscriber: a server says how long its log messages are, up to a
/// frame each.
pub(crate) const BYTES_MAX: usize = 16 << 20;

/// The least room of each event of the backlog: a host that makes room for very many has it for all
/// of the usual length.
const EVENT_BYTES: usize = 1 << 10;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn event(kind: EventKind, seq: u64) -> QueuedEvent {
        QueuedEvent::new(seq, None, EventBody::new(kind, &EventSubject::default(), |_| ()))
    }

    /// SPEC 16.2: what was missed waits as events do, for a listener that is woken from now on,
    /// too.
    #[test]
    fn what_was_missed_wakes_who_begins_to_listen() {
        let kind = EventKind::Lagged;
        let subscriber = Subscriber::new(EventMask(kind.bit()), None, 1, String::new());
        for seq in 1..=2 {
            let _ = subscriber.push(event(kind, seq));
        }
        assert_eq!(subscriber.try_next().map(|event| event.seq()), Some(1));
        let woken = Arc::new(AtomicUsize::new(0));
        let count = woken.clone();
        subscriber.set_wake(Arc::new(move || _ = count.fetch_add(1, Ordering::SeqCst)), false);
        assert_eq!(woken.load(Ordering::SeqCst), 1);
        assert_eq!(subscriber.try_next().map(|event| event.seq()), Some(2));
    }

    /// SPEC 16.6: events come in the order of their numbers, whether one waits or several do.
    #[test]
    fn what_waits_keeps_its_order() {
        let kind = EventKind::Warning;
        let subscriber = Subscriber::new(EventMask(kind.bit()), None, 3, String::new());
        let (mut told, mut heard) = (0, Vec::new());
        for (tells, takes) in [(2, 1), (1, 2), (1, 2), (3, 1), (1, 4)] {
            for _ in 0..tells {
                told += 1;
                let _ = subscriber.push(event(kind, told));
            }
            heard.extend((0..takes).map_while(|_| subscriber.try_next()).map(|event| event.seq()));
        }
        assert_eq!(heard, (1..=told).collect::<Vec<u64>>());
        assert!(!subscriber.is_ended() && subscriber.try_next().is_none());
    }

    /// An event whose text has some MiB.
    fn large(mib: usize) -> Arc<EventBody> {
        EventBody::new(EventKind::Log, &EventSubject::default(), |json| {
            json.add_written(&format!(r#""data":"{}""#, "x".repeat(mib << 20)));
        })
    }

    /// What waits, by its length in MiB: a `lagged` by how many it stands for, below zero.
    fn drained(subscriber: &Subscriber) -> Vec<i64> {
        let events = std::iter::from_fn(|| subscriber.try_next());
        let text = |event: Event| match event.kind() {
            EventKind::Lagged => {
                let json: serde_json::Value = serde_json::from_str(event.json()).unwrap();
                -json["missed"].as_i64().unwrap()
            }
            _ => i64::try_from(event.json().len() >> 20).unwrap(),
        };
        events.map(text).collect()
    }

    /// S-24, SPEC 9.6: how long events are is for a server to say, and so no number of them bounds
    /// what is kept of them.
    #[test]
    fn what_waits_is_bounded_in_bytes_too() {
        let subscriber = Subscriber::new(EventMask::ALL, None, 1024, String::new());
        let tell = |said: &Arc<EventBody>| subscriber.push(QueuedEvent::new(1, None, said.clone()));
        let (one, most, small) = (large(1), large(20), large(0));
        for _ in 0..100 {
            let _ = tell(&one);
        }
        let _ = tell(&small);
        let mut kept = drained(&subscriber);
        let missed = -kept.pop().unwrap();
        assert!((8..=16).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept.len() as i64 + missed, kept.iter().sum()), (101, kept.len() as i64));
        // What is taken makes room again, also for one that is longer alone.
        for said in [&small, &small, &most, &small] {
            let _ = tell(said);
        }
        assert_eq!(drained(&subscriber), [0, 0, -2]);
        for said in [&most, &small] {
            let _ = tell(said);
        }
        assert_eq!(drained(&subscriber), [20, -1]);
        let _ = tell(&small);
        assert_eq!(drained(&subscriber), [0]);
    }

    /// SPEC 16.2: the first event of an empty queue wakes who waits for it, and nobody where nobody
    /// does: what waits is found by the next look.
    #[test]
    fn an_event_wakes_who_waits() {
        let kind = EventKind::Warning;
        let subscriber = Subscriber::new(EventMask(kind.bit()), None, 8, String::new());
        let push = |seq| subscriber.push(event(kind, seq)).wakes;
        let mut context = Context::from_waker(Waker::noop());
        let mut looks =
            |next: Pin<&mut dyn Future<Output = Option<Event>>>| match next.poll(&mut context) {
                Poll::Ready(event) => event.map(|event| event.seq()),
                Poll::Pending => None,
            };
        assert!(!push(1));
        assert_eq!(looks(pin!(subscriber.next())), Some(1));
        {
            let mut waits = pin!(subscriber.next());
            assert_eq!(looks(waits.as_mut()), None);
            assert!(push(2) && !push(3));
            subscriber.wake_now();
            assert_eq!(looks(waits), Some(2));
        }
        assert_eq!(looks(pin!(subscriber.next())), Some(3));
        // Who was dropped waits no more.
        assert_eq!(looks(pin!(subscriber.next())), None);
        assert!(!push(4));
        subscriber.set_wake(Arc::new(|| ()), false);
        assert_eq!(looks(pin!(subscriber.next())), Some(4));
        assert!(push(5));
    }
}
