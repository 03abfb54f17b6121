//! No event after the release, the close or the drop that ends it has returned (SPEC 8.5, I-16).
//!
//! A release is an event's last moment: whatever is published later has a greater `seq` than a
//! snapshot taken after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use rig::{HANG, Rig, acquire, host, text};
use serde_json::{Value, json};
use trunkline::{CallOptions, Event, EventMask, Lease, Pool, Subscription};

use crate::rounds;

/// The number of the newest event now.
fn seq(pool: &Pool) -> u64 {
    let snapshot: Value =
        serde_json::from_str(pool.subscribe(EventMask(0)).unwrap().snapshot()).unwrap();
    snapshot["seq"].as_u64().unwrap()
}

/// What waits in a stream that is newer than `seq` and about that session.
fn later_than(events: &Subscription, seq: u64, session: &str) -> Vec<String> {
    let waiting = std::iter::from_fn(|| events.try_next());
    let of_session =
        |event: &Event| serde_json::from_str::<Value>(event.json()).unwrap()["session"] == session;
    let later = waiting.filter(|event| event.seq() > seq && of_session(event));
    later.map(|event| event.json().to_owned()).collect()
}

/// Two sessions hold a server; the events of the first stop the one who delivers, before those of
/// the second are.
struct Held {
    rig: Rig,
    first: (trunkline::Session, Lease, Subscription),
    second: (trunkline::Session, Lease),
    go_on: mpsc::Sender<()>,
    stopped: mpsc::Receiver<()>,
}

impl Held {
    async fn new() -> Held {
        let rig = Rig::new(json!({}));
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let (first, second) = (rig.session("a"), rig.session("b"));
        let (of_first, of_second) = (acquire(&first, "s").await, acquire(&second, "s").await);
        let events = first.subscribe(EventMask::ALL).unwrap();
        let (go_on, wait) = mpsc::channel();
        let (tell, stopped) = mpsc::channel();
        let wait = Mutex::new(wait);
        events.set_wake(move || {
            tell.send(()).unwrap();
            wait.lock().unwrap().recv_timeout(HANG).unwrap();
        });
        Held { rig, first: (first, of_first, events), second: (second, of_second), go_on, stopped }
    }

    /// Changes the list, and returns while the news is on its way from the first to the second.
    fn change(&self) {
        let call = r#"{"add":["x"]}"#;
        self.first.1.start_call_tool("change_list", call, &CallOptions::default(), drop);
        self.stopped.recv_timeout(HANG).unwrap();
    }

    /// Lets the news go on, and waits until it has arrived where it may.
    fn go_on(&self) {
        self.go_on.send(()).unwrap();
        self.first.2.set_wake(|| {});
        // What is carried out later than the news is carried out after it.
        let (send, acquired) = mpsc::channel();
        let third = self.rig.session("c");
        let future = async move { Ok(acquire(&third, "s").await) };
        self.rig.pool.start(future, move |lease| drop(send.send(lease.map(drop))));
        acquired.recv_timeout(HANG).unwrap().unwrap();
    }
}

/// SPEC 8.5, I-16: the release overtakes news that another thread is about to deliver.
#[test]
fn no_event_of_a_server_comes_after_its_release_has_returned() {
    let held = host(Held::new());
    let of_session = held.second.0.subscribe(EventMask::ALL).unwrap();
    let of_pool = held.rig.pool.subscribe(EventMask::ALL).unwrap();
    held.change();
    held.second.1.release();
    let released = seq(&held.rig.pool);
    held.go_on();
    assert_eq!(later_than(&of_session, released, "b"), [""; 0]);
    assert_eq!(later_than(&of_pool, released, "b"), [""; 0]);
    assert_ne!(later_than(&held.first.2, 0, "a"), [""; 0], "the first session is told");
}

/// I-16: so does the close of a session, for the pool's subscribers too.
#[test]
fn no_event_of_a_session_comes_after_its_close_has_returned() {
    let held = host(Held::new());
    let of_session = held.second.0.subscribe(EventMask::ALL).unwrap();
    let of_pool = held.rig.pool.subscribe(EventMask::ALL).unwrap();
    held.change();
    held.second.0.close(None);
    let closed = seq(&held.rig.pool);
    held.go_on();
    assert_eq!(later_than(&of_session, closed, "b"), [""; 0]);
    assert_eq!(later_than(&of_pool, closed, "b"), [""; 0]);
    assert!(of_session.is_ended());
}

/// SPEC 8.5, I-16: the same as a race, with a server that changes its lists without end.
#[test]
fn a_release_in_a_storm_of_changes_is_the_last_moment_of_its_events() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let (changing, session) = (rig.session("changing"), rig.session("a"));
        let lease = acquire(&changing, "s").await;
        let stop = Arc::new(AtomicBool::new(false));
        let storm = std::thread::spawn({
            let (stop, pool) = (stop.clone(), rig.pool.clone());
            move || change_without_end(&pool, lease, &stop)
        });
        let of_session = session.subscribe(EventMask::ALL).unwrap();
        let of_pool = rig.pool.subscribe(EventMask::ALL).unwrap();
        for round in 0..rounds(100, 5_000) {
            let held = acquire(&session, "s").await;
            if round % 4 == 0 {
                // Long enough for news to be on its way.
                text(&held, "pid", json!({})).await;
            }
            held.release();
            let released = seq(&rig.pool);
            std::thread::yield_now();
            assert_eq!(later_than(&of_session, released, "a"), [""; 0], "round {round}");
            assert_eq!(later_than(&of_pool, released, "a"), [""; 0], "round {round}");
        }
        stop.store(true, Ordering::SeqCst);
        storm.join().unwrap();
    });
}

fn change_without_end(pool: &Pool, lease: Lease, stop: &AtomicBool) {
    let lease = Arc::new(lease);
    let mut names = ["x", "y"].into_iter().cycle();
    while !stop.load(Ordering::SeqCst) {
        let (lease, name) = (lease.clone(), names.next().unwrap());
        let other = if name == "x" { "y" } else { "x" };
        let change = async move {
            let arguments = json!({ "add": [name], "remove": [other] });
            text(&lease, "change_list", arguments).await;
            Ok(())
        };
        pool.block_on(change).unwrap();
    }
}

/// I-16: a dropped subscription's function neither runs nor will, no matter who is publishing.
#[test]
fn no_wake_runs_after_the_drop_of_its_subscription_in_a_storm() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let stop = Arc::new(AtomicBool::new(false));
        let storm = std::thread::spawn({
            let (stop, pool) = (stop.clone(), rig.pool.clone());
            move || change_without_end(&pool, lease, &stop)
        });
        let woken = Arc::new(AtomicBool::new(false));
        let mut ever = false;
        for round in 0..rounds(100, 5_000) {
            let dropped = Arc::new(AtomicBool::new(false));
            let events = session.subscribe(EventMask::ALL).unwrap();
            let (after, seen) = (dropped.clone(), woken.clone());
            let late = Arc::new(AtomicBool::new(false));
            let noted = late.clone();
            events.set_wake(move || {
                seen.store(true, Ordering::SeqCst);
                std::thread::yield_now();
                noted.fetch_or(after.load(Ordering::SeqCst), Ordering::SeqCst);
            });
            if round % 4 == 0 {
                events.next().await.unwrap();
            }
            drop(events);
            dropped.store(true, Ordering::SeqCst);
            std::thread::yield_now();
            assert!(!late.load(Ordering::SeqCst), "round {round}");
            ever |= woken.load(Ordering::SeqCst);
        }
        assert!(ever, "no wake-up fell into the test");
        stop.store(true, Ordering::SeqCst);
        storm.join().unwrap();
    });
}
