//! What callbacks may do, and what is left of a watcher.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::*;
use crate::platform;

fn options() -> WatchOptions {
    WatchOptions { debounce: DEBOUNCE, ..WatchOptions::default() }
}

/// SPEC 13.5: what is told may lead to other files.
#[test]
fn a_callback_may_declare_files() {
    let place = Place::new();
    let (first, second) = (place.at("first"), place.at("second"));
    let (teller, told) = channel();
    let slot: Arc<OnceLock<Watcher>> = Arc::default();
    let (own, next) = (Arc::downgrade(&slot), second.clone());
    let watcher = Watcher::new(options(), move |changed| {
        let slot = own.upgrade().unwrap();
        slot.get().unwrap().set_files(BTreeSet::from([next.clone()]));
        let _ = teller.send(changed);
    });
    slot.get_or_init(|| watcher.unwrap()).set_files(BTreeSet::from([first.clone()]));
    for path in [first, second] {
        fs::write(&path, "new").unwrap();
        assert_eq!(told.recv_timeout(HANG).unwrap(), BTreeSet::from([path]));
    }
}

/// SPEC 13.5: the watcher ends with the callback that drops it.
#[test]
fn a_callback_may_drop_the_watcher() {
    let place = Place::new();
    let (teller, told) = channel();
    let slot: Arc<Mutex<Option<Watcher>>> = Arc::default();
    let own = slot.clone();
    let watcher = Watcher::new(options(), move |_| {
        drop(own.lock().unwrap().take());
        let _ = teller.send(());
    });
    let mut kept = slot.lock().unwrap();
    kept.insert(watcher.unwrap()).set_files(BTreeSet::from([place.at("s.json")]));
    drop(kept);
    place.write("s.json", "new");
    told.recv_timeout(HANG).unwrap();
    // The closure goes with the thread that ran it.
    assert!(told.recv_timeout(HANG).is_err());
}

/// SPEC 13.5: a callback that runs is waited for, and none comes later.
#[test]
fn nothing_is_told_after_the_drop() {
    let place = Place::new();
    for _ in 0..20 {
        let (is_gone, teller) = (Arc::new(AtomicBool::new(false)), channel());
        let seen = is_gone.clone();
        let watcher = Watcher::new(options(), move |_| {
            let _ = teller.0.send(());
            std::thread::yield_now();
            assert!(!seen.load(Ordering::SeqCst), "told after the drop");
        });
        let watcher = watcher.unwrap();
        watcher.set_files(BTreeSet::from([place.at("s.json")]));
        place.write("s.json", "new");
        teller.1.recv_timeout(HANG).unwrap();
        place.write("s.json", "newer");
        drop(watcher);
        is_gone.store(true, Ordering::SeqCst);
        // The closure is gone too.
        assert!(teller.1.iter().count() <= 1);
    }
}

/// SPEC 13.5: a callback that panics is not the last one.
#[test]
fn a_callback_that_panics_is_not_the_last() {
    let place = Place::new();
    let (teller, told) = channel();
    let watcher = Watcher::new(options(), move |_| {
        let _ = teller.send(());
        panic!("in a callback");
    });
    let watcher = watcher.unwrap();
    watcher.set_files(BTreeSet::from([place.at("s.json")]));
    for text in ["one", "two"] {
        place.write("s.json", text);
        told.recv_timeout(HANG).unwrap();
    }
}

/// SPEC 13.5: files that are written while they are declared and undeclared from several threads do
/// no harm.
#[test]
fn files_may_be_declared_by_several_threads() {
    let watched = Watched::new(Place::new(), &["s.json"]);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (watcher, place) = (&watched.watcher, &watched.place);
            scope.spawn(move || {
                let files = BTreeSet::from([place.at(&format!("{number}.json"))]);
                for round in 0..50 {
                    watcher.set_files(files.clone());
                    place.write(&format!("{number}.json"), &round.to_string());
                }
            });
        }
    });
    watched.declare(&["s.json"]);
    watched.place.write("s.json", "new");
    watched.hears("s.json", Some("new"));
}

/// I-25, SPEC 13.5: neither a thread nor a descriptor, with what inotify has behind it, is left of
/// any of them.
#[test]
#[cfg(target_os = "linux")]
fn a_hundred_watchers_leave_nothing() {
    let name = "watch::tests::ends::a_hundred_watchers_leave_nothing";
    platform::alone_in_a_process(name, || {
        let count = |of: &str| fs::read_dir(format!("/proc/self/{of}")).unwrap().count();
        let now = || (count("fd"), count("task"));
        let place = Place::new();
        let one = |number: u32| {
            let (teller, told) = channel();
            let watcher = Watcher::new(options(), move |_| {
                let _ = teller.send(());
            })
            .unwrap();
            watcher.set_files(BTreeSet::from([place.at("s.json"), place.at("a/b")]));
            if number.is_multiple_of(10) {
                place.write("s.json", &number.to_string());
                told.recv_timeout(HANG).unwrap();
            }
        };
        one(0);
        let base = now();
        (0..100).for_each(one);
        until(|| now() <= base);
    });
}
