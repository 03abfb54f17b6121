//! Results that come while the queue is drained: its descriptor is readable whenever something waits, and at rest only then.

use std::sync::Arc;

use shuttle::thread;

use super::{Entry, Queue};
use crate::completion::{Value, free_parts};
use crate::objects::Objects;
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
            rings |= queue.add(Entry::Done(tag, Ok(Value::Nothing), objects.clone()));
        } else {
            queue.push_done(tag, Ok(Value::Nothing), objects);
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
        let (queue, objects) = (Queue::new().unwrap(), Objects::new());
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
}

/// A queue that is freed while results come keeps none of them.
#[test]
fn a_closed_queue_keeps_nothing() {
    check(|| {
        let (queue, objects) = (Queue::new().unwrap(), Objects::new());
        let (bringing, theirs) = (queue.clone(), objects.clone());
        queue.register().unwrap();
        queue.register().unwrap();
        let bringing = thread::spawn(move || {
            for tag in 0..2 {
                bringing.push_done(tag, Ok(Value::Nothing), &theirs);
            }
        });
        queue.close();
        bringing.join().unwrap();
        assert_eq!(Arc::strong_count(&objects), 1);
        assert!(drain(&queue, 8).is_empty());
    });
}
