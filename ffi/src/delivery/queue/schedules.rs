//! Results and events that come while the queue is drained: its descriptor is readable whenever
//! something waits, and at rest only then.

use std::sync::{Arc, OnceLock};

use shuttle::sync::Mutex;
use shuttle::thread;
use trunkline::{Event, EventKind, EventMask, Pool, PoolOptions, Servers};

use super::{Entry, Queue};
use crate::abi::item::ItemKind;
use crate::delivery::handle_registry::Objects;
use crate::delivery::outcome::{Value, free_parts};
use crate::delivery::subscription::Subscriber;
use crate::handles::fed::Fed;
use crate::handles::sync::Stream;
use crate::schedules::check;

fn is_readable(queue: &Queue) -> bool {
    let mut watched = libc::pollfd { fd: queue.notify.fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd that lives through the call.
    unsafe { libc::poll(&mut watched, 1, 0) > 0 }
}

fn drain(queue: &Queue, most: usize) -> Vec<u64> {
    let mut tags = Vec::new();
    queue.drain(most, |_, item| {
        tags.push(item.tag);
        // SAFETY: nobody else has the item.
        unsafe { free_parts(&item) };
    });
    tags
}

/// Brings two results, one by one or in a batch, whose bell is heard after both.
fn bring(queue: &Queue, first: u64, is_batch: bool, objects: &Arc<Objects>) {
    let mut rings = false;
    for tag in first..first + 2 {
        queue.register().unwrap();
        if is_batch {
            rings |= queue.add(Entry::Done(tag, Ok(Value::Nothing), objects.leases.clone()));
        } else {
            queue.push_done(tag, Ok(Value::Nothing), &objects.leases);
        }
    }
    if rings {
        queue.announce();
    }
}

/// Two threads drain what two others bring: each result comes once, those of one thread in order.
#[test]
fn every_result_comes_out_once_and_the_descriptor_says_so() {
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let bringing = [(0, false), (10, true)].map(|(first, is_batch)| {
            let (queue, objects) = (queue.clone(), objects.clone());
            thread::spawn(move || bring(&queue, first, is_batch, &objects))
        });
        let draining = [1, 2].map(|most| {
            let queue = queue.clone();
            thread::spawn(move || match is_readable(&queue) {
                true => drain(&queue, most),
                false => Vec::new(),
            })
        });
        bringing.into_iter().for_each(|thread| thread.join().unwrap());
        let taken = draining.map(|thread| thread.join().unwrap());
        let mut taken: Vec<u64> = taken.into_iter().flatten().collect();
        while taken.len() < 4 {
            assert!(is_readable(&queue), "something waits, and nobody is told");
            taken.extend(drain(&queue, 1));
        }
        assert!(!is_readable(&queue), "nothing waits");
        let state = queue.lock();
        assert_eq!((state.owed, state.entries.len()), (0, 0));
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 10, 11]);
    });
    check(threads_that_wait_take_every_result);
}

/// Two threads wait for what two others bring, one of them in a batch: a thread that sleeps is
/// woken for what is left, also for what came while another drained.
fn threads_that_wait_take_every_result() {
    let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
    (0..4).for_each(|_| queue.register().unwrap());
    let waiting = [1, 2].map(|most| {
        let queue = queue.clone();
        thread::spawn(move || {
            let mut taken = Vec::new();
            while queue.wait(None).is_ok() {
                taken.extend(drain(&queue, most));
                if queue.lock().owed == 0 {
                    queue.close();
                }
            }
            taken
        })
    });
    for tag in 0..2 {
        queue.push_done(tag, Ok(Value::Nothing), &objects.leases);
    }
    let (bringing, leases) = (queue.clone(), objects.leases.clone());
    let bringing = thread::spawn(move || {
        let add = |tag| bringing.add(Entry::Done(tag, Ok(Value::Nothing), leases.clone()));
        if add(2) | add(3) {
            bringing.announce();
        }
    });
    bringing.join().unwrap();
    let taken = waiting.map(|thread| thread.join().unwrap());
    let mut taken: Vec<u64> = taken.into_iter().flatten().collect();
    taken.sort_unstable();
    assert_eq!(taken, [0, 1, 2, 3]);
}

/// A queue that is freed while results come does not keep them.
#[test]
fn a_closed_queue_keeps_nothing() {
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let (bringing, theirs) = (queue.clone(), objects.leases.clone());
        let owners = Arc::strong_count(&theirs) - 1;
        queue.register().unwrap();
        queue.register().unwrap();
        let bringing = thread::spawn(move || {
            for tag in 0..2 {
                bringing.push_done(tag, Ok(Value::Nothing), &theirs);
            }
        });
        queue.close();
        bringing.join().unwrap();
        assert_eq!(Arc::strong_count(&objects.leases), owners);
        assert!(drain(&queue, 8).is_empty());
    });
}

/// Events of a real pool, in order: a model tells these.
fn events() -> &'static [Event] {
    static EVENTS: OnceLock<Vec<Event>> = OnceLock::new();
    EVENTS.get_or_init(|| {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let stream = pool.subscribe(EventMask(EventKind::Reconciled.bit())).unwrap();
        for number in 0..EVENTS_TOLD {
            let servers = format!(r#"{{"s{number}":{{"command":"sleep","disabled":true}}}}"#);
            let (of_it, servers) = (pool.clone(), Servers::from_json(&servers).unwrap());
            pool.block_on(async move { of_it.reconcile(servers).await }).unwrap();
        }
        std::iter::from_fn(|| stream.try_next()).collect()
    })
}

const EVENTS_TOLD: usize = 3;

/// A subscriber that listens, and what tells it.
fn subscribed(queue: &Arc<Queue>, objects: &Arc<Objects>) -> (Arc<Subscriber>, Arc<Fed>) {
    let fed = Arc::new(Fed::default());
    let handle = objects.subscribers.table.reserve().unwrap();
    let subscriber =
        Subscriber::queued((&objects.subscribers, handle), Stream::Fed(fed.clone()), queue, TAG)
            .unwrap();
    objects.subscribers.table.fill(handle, subscriber.clone());
    subscriber.listen();
    (subscriber, fed)
}

const TAG: u64 = 7;

/// What a host finds in an item: the kind, and of an event its text.
type Taken = Mutex<Vec<(u32, String)>>;

fn take(queue: &Queue, most: usize, taken: &Taken) {
    queue.drain(most, |_, item| {
        // SAFETY: the item was made here, and its text is read before it is freed.
        let text = unsafe { item.buf.as_ref() }.map(|buf| buf.text().to_owned());
        taken.lock().unwrap().push((item.kind as u32, text.unwrap_or_default()));
        // SAFETY: nobody else has the item.
        unsafe { free_parts(&item) };
    });
}

fn texts(events: &[Event]) -> Vec<(u32, String)> {
    events.iter().map(|event| (ItemKind::Event as u32, event.json().to_owned())).collect()
}

/// I-18, SPEC 16.2: two threads drain what a stream tells, one of them an item at a time, while a
/// result comes as well: each event comes once and in order, then the end, once, and the descriptor
/// tells of whatever is left.
#[test]
fn every_event_comes_out_once_and_in_order_and_then_the_end() {
    events();
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let (subscriber, fed) = subscribed(&queue, &objects);
        let leases = objects.leases.clone();
        let taken = Arc::new(Taken::default());
        let telling = thread::spawn(move || {
            events().iter().cloned().for_each(|event| fed.tell(event));
            fed.end();
        });
        let bringing = queue.clone();
        let bringing = thread::spawn(move || {
            bringing.register().unwrap();
            bringing.push_done(1, Ok(Value::Nothing), &leases);
        });
        let draining = [1, 2].map(|most| {
            let (queue, taken) = (queue.clone(), taken.clone());
            thread::spawn(move || (0..3).for_each(|_| take(&queue, most, &taken)))
        });
        telling.join().unwrap();
        bringing.join().unwrap();
        draining.into_iter().for_each(|thread| thread.join().unwrap());
        while is_readable(&queue) {
            take(&queue, 1, &taken);
        }
        assert!(queue.lock().entries.is_empty(), "something waits, and nobody is told");
        assert!(
            objects.subscribers.table.find(subscriber.handle).is_err(),
            "its handle outlives its end"
        );
        assert_eq!(Arc::strong_count(&subscriber), 1, "it is kept beyond its end");
        let mut taken = std::mem::take(&mut *taken.lock().unwrap());
        let done = taken.iter().position(|(kind, _)| *kind == ItemKind::Done as u32);
        taken.remove(done.expect("the result comes"));
        let mut expected = texts(events());
        expected.push((ItemKind::End as u32, String::new()));
        assert_eq!(taken, expected);
    });
}

/// SPEC 5.9: the progress of a call comes out before its result, also when another thread has news
/// for the same subscription and has not woken it yet.
#[test]
fn progress_comes_out_before_the_result() {
    events();
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let (_subscriber, fed) = subscribed(&queue, &objects);
        queue.register().unwrap();
        let [other, progress] = [events()[0].clone(), events()[1].clone()];
        let expected = progress.json().to_owned();
        let telling = fed.clone();
        let telling = thread::spawn(move || telling.tell(other));
        let bringing = queue.clone();
        let bringing = thread::spawn(move || {
            fed.tell(progress);
            bringing.push_done(1, Ok(Value::Nothing), &objects.leases);
        });
        let taken = Taken::default();
        take(&queue, 1, &taken);
        telling.join().unwrap();
        bringing.join().unwrap();
        take(&queue, 9, &taken);
        let taken = std::mem::take(&mut *taken.lock().unwrap());
        let place = |found: &dyn Fn(&(u32, String)) -> bool| taken.iter().position(found).unwrap();
        let done = place(&|(kind, _)| *kind == ItemKind::Done as u32);
        assert!(place(&|(_, text)| *text == expected) < done, "the result comes first");
    });
}

/// I-18: a stream has one place in the queue, no matter who tells and takes meanwhile.
#[test]
fn a_stream_has_one_place() {
    events();
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let (_subscriber, fed) = subscribed(&queue, &objects);
        let telling = thread::spawn(move || {
            events().iter().cloned().for_each(|event| fed.tell(event));
            fed.end();
        });
        let taken = Taken::default();
        for _ in 0..EVENTS_TOLD {
            take(&queue, 1, &taken);
            assert!(queue.lock().entries.len() <= 1, "it stands there twice");
        }
        telling.join().unwrap();
        assert!(queue.lock().entries.len() <= 1, "it stands there twice");
        while is_readable(&queue) {
            take(&queue, 1, &taken);
        }
        assert_eq!(taken.lock().unwrap().len(), EVENTS_TOLD + 1);
    });
}

/// SPEC 16.2: a subscription that is closed while its events are told and taken gives nothing
/// afterwards, and leaves no place behind that keeps the descriptor readable; nor does a queue that
/// is freed keep the subscriber.
#[test]
fn a_closed_subscription_or_queue_leaves_nothing() {
    events();
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let (subscriber, fed) = subscribed(&queue, &objects);
        let telling = thread::spawn(move || {
            events().iter().cloned().for_each(|event| fed.tell(event));
        });
        let taken = Arc::new(Taken::default());
        let (draining, theirs) = (queue.clone(), taken.clone());
        let draining = thread::spawn(move || take(&draining, 1, &theirs));
        subscriber.close();
        let after = Taken::default();
        take(&queue, 9, &after);
        telling.join().unwrap();
        draining.join().unwrap();
        take(&queue, 9, &after);
        assert!(after.lock().unwrap().is_empty(), "events of a closed subscription");
        assert!(taken.lock().unwrap().len() <= 1);
        assert!(!is_readable(&queue), "nothing waits");
        assert_eq!(Arc::strong_count(&subscriber), 1, "a closed subscription is kept");
        let (left, _fed) = subscribed(&queue, &objects);
        let (other, fed) = subscribed(&queue, &objects);
        let telling = thread::spawn(move || {
            fed.tell(events()[0].clone());
            fed.end();
        });
        let closing = other.clone();
        let closing = thread::spawn(move || closing.close());
        queue.close();
        telling.join().unwrap();
        closing.join().unwrap();
        take(&queue, 9, &after);
        assert!(after.lock().unwrap().is_empty(), "events of a closed queue");
        for it in [left, other] {
            assert_eq!(Arc::strong_count(&it), 1, "a subscriber outlives its queue");
        }
        assert_eq!(Arc::strong_count(&queue), 1, "a subscription holds its queue");
    });
}

/// SPEC 16.2, 16.6: of a pool that is freed while events are told and taken come those that were
/// told before, in order, and then the end, once; nothing is kept of it.
#[test]
fn a_subscription_of_a_freed_pool_gives_what_it_has_and_its_end() {
    events();
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
        let (subscriber, fed) = subscribed(&queue, &objects);
        let taken = Arc::new(Taken::default());
        let (draining, theirs) = (queue.clone(), taken.clone());
        let draining = thread::spawn(move || (0..2).for_each(|_| take(&draining, 1, &theirs)));
        fed.tell(events()[0].clone());
        let telling = thread::spawn(move || fed.tell(events()[1].clone()));
        objects.subscribers.table.clear().iter().for_each(Subscriber::end);
        telling.join().unwrap();
        draining.join().unwrap();
        while is_readable(&queue) {
            take(&queue, 1, &taken);
        }
        assert!(queue.lock().entries.is_empty(), "something waits, and nobody is told");
        assert_eq!(Arc::strong_count(&subscriber), 1, "the queue holds it");
        let mut taken = std::mem::take(&mut *taken.lock().unwrap());
        assert_eq!(taken.pop(), Some((ItemKind::End as u32, String::new())));
        assert!(!taken.is_empty(), "what was told before");
        assert_eq!(taken, texts(&events()[..taken.len()]));
    });
}
