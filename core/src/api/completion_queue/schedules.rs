//! The way of results to an event loop: a queue whose bell rings a descriptor, in batches of
//! several threads.

use std::sync::Arc;

use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use super::CompletionQueue;
use crate::base::wakes::Batch;
use crate::schedules::check;

/// A descriptor that is readable from a ring until it is cleared, and a loop that waits for it.
#[derive(Default)]
struct Descriptor {
    readable: Mutex<bool>,
    changed: Condvar,
}

impl Descriptor {
    fn ring(&self) {
        *self.readable.lock().unwrap() = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let readable = self.readable.lock().unwrap();
        drop(self.changed.wait_while(readable, |readable| !*readable).unwrap());
    }

    fn clear(&self) {
        *self.readable.lock().unwrap() = false;
    }
}

/// A loop as the packages have it: it waits, clears what woke it, and takes fewer at a time than
/// there may be.
fn take_all(queue: &CompletionQueue<u32>, descriptor: &Descriptor, many: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    while taken.len() < many {
        descriptor.wait();
        descriptor.clear();
        taken.extend(queue.drain(MOST));
    }
    taken
}

/// Of how many results one look takes at most.
const MOST: usize = 2;

/// A queue that rings a descriptor.
fn ringing() -> (Arc<CompletionQueue<u32>>, Arc<Descriptor>) {
    let descriptor = Arc::new(Descriptor::default());
    let rung = descriptor.clone();
    (Arc::new(CompletionQueue::new(move || rung.ring())), descriptor)
}

#[test]
fn a_loop_takes_every_result_once() {
    check(|| {
        let (queue, descriptor) = ringing();
        let (alone, in_batch) = (queue.clone(), queue.clone());
        let pushing = [
            thread::spawn(move || (0..2).for_each(|number| alone.push(number))),
            thread::spawn(move || {
                let _batch = Batch::begin();
                (10..13).for_each(|number| in_batch.push(number));
            }),
        ];
        let mut taken = take_all(&queue, &descriptor, 5);
        pushing.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(queue.is_empty());
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 10, 11, 12]);
    });
}

/// A loop that reads an answer by itself, and so adds to the queue that it drains right afterwards,
/// while others add to it too.
#[test]
fn a_loop_that_adds_to_its_own_queue_misses_nothing() {
    check(|| {
        let (queue, descriptor) = ringing();
        let other = queue.clone();
        let pushing = thread::spawn(move || (0..3).for_each(|number| other.push(number)));
        queue.before_drain(|| (10..13).for_each(|number| queue.push(number)));
        let mut taken = queue.drain(MOST);
        taken.extend(take_all(&queue, &descriptor, 6 - taken.len()));
        pushing.join().unwrap();
        assert!(queue.is_empty());
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 10, 11, 12]);
    });
}
