//! Slots that are published while others wait for them, and incarnations that follow one another.

use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::thread;
use tokio::sync::mpsc;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::state::{CloseMode, EntryState, Generation, LossReason, Slot};

use super::{Control, EntryCell};
use crate::schedules::check;

fn cell() -> Arc<EntryCell> {
    EntryCell::listing("server", Arc::new(Catalog::default()))
}

/// As `Retry::next_connection` waits: until what it looks for is published.
async fn wait_for(cell: &EntryCell, generation: Generation) {
    loop {
        let mut changed = std::pin::pin!(cell.changed.notified());
        changed.as_mut().enable();
        if cell.load().slot.generation >= generation {
            return;
        }
        changed.await;
    }
}

/// A waiter for a slot is woken by it, and no reader sees an older one after a newer one.
#[test]
fn who_waits_for_a_slot_sees_it() {
    check(|| {
        let cell = cell();
        let waiting = [2, 3].map(|number| {
            let cell = cell.clone();
            thread::spawn(move || block_on(wait_for(&cell, Generation(number))))
        });
        let reader = cell.clone();
        let reading = thread::spawn(move || {
            let seen = [0; 3].map(|_| reader.load_full().slot.generation);
            assert!(seen.is_sorted(), "{seen:?}");
        });
        for number in [2, 3] {
            let slot = cell.load_full().slot.clone();
            let state = EntryState::Reconnecting;
            cell.publish(Slot { generation: Generation(number), state, ..slot });
        }
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
        reading.join().unwrap();
    });
}

/// The end of one incarnation, told late, takes nothing of the next.
#[test]
fn the_end_of_an_incarnation_leaves_the_next_alone() {
    check(|| {
        let cell = cell();
        let (first, _first) = mpsc::channel(1);
        cell.begin(Generation(1), first);
        cell.started(Generation(1), 1);
        let late = cell.clone();
        let ending = thread::spawn(move || late.ended(Generation(1)));
        let (second, mut told) = mpsc::channel(1);
        cell.begin(Generation(2), second);
        cell.started(Generation(2), 2);
        assert!(!cell.control(Generation(1), Control::Lost(LossReason::Keepalive)));
        assert!(cell.control(Generation(2), Control::Close(CloseMode::Now)));
        ending.join().unwrap();
        assert_eq!(cell.pid(), Some(2));
        assert!(matches!(told.try_recv(), Ok(Control::Close(_))));
    });
}
