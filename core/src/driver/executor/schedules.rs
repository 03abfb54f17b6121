//! Threads that queue at one time: each piece is carried out once, in the order in which it was
//! queued, one at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::sync::{Mutex, MutexGuard};
use shuttle::thread;

use super::{Queued, run};
use crate::schedules::check;

#[derive(Default)]
struct Queue {
    work: VecDeque<u32>,
    executing: bool,
    queued: Vec<u32>,
}

impl Queued for Queue {
    type Next = u32;

    fn executing(&mut self) -> &mut bool {
        &mut self.executing
    }

    fn next(&mut self) -> Option<u32> {
        self.work.pop_front()
    }
}

#[derive(Default)]
struct Driver {
    queue: Mutex<Queue>,
    carried_out: Mutex<Vec<u32>>,
    is_busy: AtomicBool,
}

impl Driver {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap()
    }

    fn step(&self, piece: u32) {
        let mut queue = self.lock();
        queue.work.push_back(piece);
        queue.queued.push(piece);
        run(|| self.lock(), queue, |piece| self.carry_out(piece));
    }

    /// What is carried out may queue more, and go into the same function.
    fn carry_out(&self, piece: u32) {
        assert!(!self.is_busy.swap(true, Ordering::SeqCst), "two are at it");
        self.carried_out.lock().unwrap().push(piece);
        self.is_busy.store(false, Ordering::SeqCst);
        if piece < 10 {
            self.step(piece + 10);
        }
    }
}

#[test]
fn what_is_queued_is_carried_out_once_and_in_order() {
    check(|| {
        let driver = Arc::new(Driver::default());
        let step = |piece| {
            let driver = driver.clone();
            thread::spawn(move || {
                driver.step(piece);
                driver.step(piece + 1);
            })
        };
        for thread in [step(1), step(3), step(5)] {
            thread.join().unwrap();
        }
        let queue = driver.lock();
        assert!(queue.work.is_empty() && !queue.executing);
        assert_eq!(queue.queued.len(), 12);
        assert_eq!(*driver.carried_out.lock().unwrap(), queue.queued);
    });
}
