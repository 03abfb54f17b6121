//! The way of results to an event loop: a queue whose bell rings a descriptor, in batches of several threads.

use std::sync::Arc;

use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use super::Batch;
use crate::CompletionQueue;
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

/// A loop that takes fewer at a time than there may be, as the bridges of the packages do: cleared before it looks, and rung again by itself
/// where it leaves something.
fn take_all(queue: &CompletionQueue<u32>, descriptor: &Descriptor, many: usize) -> Vec<u32> {
    const MOST: usize = 2;
    let mut taken = Vec::new();
    while taken.len() < many {
        descriptor.wait();
        descriptor.clear();
        let batch = queue.drain(MOST);
        if batch.len() == MOST {
            descriptor.ring();
        }
        taken.extend(batch);
    }
    taken
}

#[test]
fn a_loop_takes_every_result_once() {
    check(|| {
        let descriptor = Arc::new(Descriptor::default());
        let ringing = descriptor.clone();
        let queue = Arc::new(CompletionQueue::new(move || ringing.ring()));
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
