//! Threads that tell events, and who waits for them: nothing is lost, and nobody is woken into
//! nothing or left asleep.

use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use trunkline_pool::interface::EventKind;

use super::Hub;
use crate::base::wakes::Batch;
use crate::events::subscriber::Subscriber;
use crate::events::{Event, EventMask, EventSubject};
use crate::schedules::check;

const KIND: EventKind = EventKind::Warning;

fn tell(hub: &Hub, times: usize) {
    (0..times).for_each(|_| hub.publish(KIND, None, &EventSubject::default(), &[]));
}

fn subscribe(hub: &Hub) -> Arc<Subscriber> {
    hub.subscribe(EventMask::ALL, None, || ().into()).unwrap()
}

/// How many events one stands for: those that were missed are told as one.
fn stands_for(event: &Event) -> usize {
    let text: serde_json::Value = serde_json::from_str(event.json()).unwrap();
    let missed = text.get("missed").and_then(serde_json::Value::as_u64);
    usize::try_from(missed.unwrap_or(1)).unwrap()
}

/// A thread that sleeps until the wake function rings.
#[derive(Default)]
struct Sleeper {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Sleeper {
    fn ring(&self) {
        *self.rung.lock().unwrap() = true;
        self.changed.notify_one();
    }

    fn sleep(&self) {
        let rung = self.rung.lock().unwrap();
        let mut rung = self.changed.wait_while(rung, |rung| !*rung).unwrap();
        *rung = false;
    }
}

/// Two tell, one of them in a batch, to somebody who has room for two and begins to listen
/// meanwhile.
#[test]
fn who_is_told_hears_of_everything_in_order() {
    check(|| {
        let hub = Arc::new(Hub::new(2));
        let subscriber = subscribe(&hub);
        let (alone, in_batch) = (hub.clone(), hub.clone());
        let telling = [
            thread::spawn(move || tell(&alone, 2)),
            thread::spawn(move || {
                let _batch = Batch::begin();
                tell(&in_batch, 3);
            }),
        ];
        let sleeper = Arc::new(Sleeper::default());
        let ringing = sleeper.clone();
        subscriber.set_wake(Arc::new(move || ringing.ring()), false);
        let (mut heard, mut last) = (0, 0);
        while heard < 5 {
            sleeper.sleep();
            while let Some(event) = subscriber.try_next() {
                assert!(event.seq() > last, "{} after {last}", event.seq());
                last = event.seq();
                heard += stands_for(&event);
            }
        }
        telling.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((heard, subscriber.try_next().is_none()), (5, true));
    });
}

/// SPEC 5.9: what a thread told is heard before it goes on, also when another one that told
/// something before is still to wake. So the result of a call, which comes next, is heard after its
/// progress.
#[test]
fn what_is_told_is_heard_before_its_thread_goes_on() {
    check(|| {
        let hub = Arc::new(Hub::new(8));
        let subscriber = subscribe(&hub);
        let heard = Arc::new(AtomicUsize::new(0));
        let (hearing, listening) = (heard.clone(), subscriber.clone());
        subscriber.set_wake(
            Arc::new(move || {
                while let Some(event) = listening.try_next() {
                    hearing.fetch_max(usize::try_from(event.seq()).unwrap(), Ordering::SeqCst);
                }
            }),
            true,
        );
        let telling = [false, true].map(|is_batch| {
            let (hub, heard) = (hub.clone(), heard.clone());
            thread::spawn(move || {
                let _batch = is_batch.then(Batch::begin);
                let about = EventSubject::default();
                let event = hub.publish_and_keep(KIND, None, &about, &[], || true).unwrap();
                let told = usize::try_from(event.seq()).unwrap();
                assert!(is_batch || heard.load(Ordering::SeqCst) >= told, "it is not heard yet");
            })
        });
        telling.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(heard.load(Ordering::SeqCst), 2);
        subscriber.silence();
    });
}

/// Two wait for the events of one stream: each event goes to one of them, and its end to both.
#[test]
fn two_who_wait_for_one_stream_share_it() {
    check(|| {
        let hub = Arc::new(Hub::new(8));
        let subscriber = subscribe(&hub);
        let waiting = [(); 2].map(|()| {
            let subscriber = subscriber.clone();
            thread::spawn(move || std::iter::from_fn(|| block_on(subscriber.next())).count())
        });
        tell(&hub, 3);
        hub.end();
        let heard: usize = waiting.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(heard, 3);
    });
}

/// I-16: no wake function runs once it was taken away, and one that takes itself away does not wait
/// for itself.
#[test]
fn nobody_is_woken_once_it_is_silent() {
    check(|| {
        let hub = Arc::new(Hub::new(8));
        let subscriber = subscribe(&hub);
        let (is_silent, woken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (silent, count) = (is_silent.clone(), woken.clone());
        subscriber.set_wake(
            Arc::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
                assert!(!silent.load(Ordering::SeqCst), "woken after its end");
                count.fetch_add(1, Ordering::SeqCst);
            }),
            false,
        );
        let telling = hub.clone();
        let other = thread::spawn(move || tell(&telling, 1));
        let ending = thread::spawn(move || hub.end());
        subscriber.silence();
        is_silent.store(true, Ordering::SeqCst);
        other.join().unwrap();
        ending.join().unwrap();
        assert_eq!(woken.load(Ordering::SeqCst) % 2, 0, "a wake function was cut off");
    });
}
