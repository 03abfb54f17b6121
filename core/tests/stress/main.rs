//! The pool under load and under faults, with real processes: what must hold however many ask,
//! cancel and fail at once.
//!
//! A time is asserted only where it is part of the promise, and then with a bound that a busy
//! machine keeps; `cargo xtask bench` measures it against its goal. The default forms fit into a
//! minute on two cores; the long ones are chosen by `TRUNKLINE_STRESS=full`.
#![cfg(target_os = "linux")]

mod acquires;
mod base;
mod blocked;
mod bytes;
mod canaries;
mod cancels;
mod changes;
mod churn;
mod drain;
mod edits;
mod events;
mod frames;
mod gates;
mod leaks;
mod lists;
mod loss;
mod polls;
mod soak;
mod waits;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often something is done: in the default form, and in the long one.
fn rounds(default: usize, full: usize) -> usize {
    match std::env::var("TRUNKLINE_STRESS") {
        Ok(form) if form == "full" => full,
        Ok(form) => panic!("TRUNKLINE_STRESS is `full` or not set, not {form:?}"),
        Err(_) => default,
    }
}

/// Raises a flag when it goes, also by a panic: the threads that look at it end with their waiter.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The one in the middle, which a machine that does other work changes least.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
