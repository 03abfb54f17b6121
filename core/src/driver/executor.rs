//! Who carries out what is queued: a role. A thread that finds it free takes it until the queue is
//! empty.

#[cfg(all(test, feature = "schedules"))]
mod schedules;

use std::ops::DerefMut;

/// A queue that a mutex guards, of what is carried out without it.
pub(super) trait Queued {
    /// What is carried out at one time.
    type Next;

    /// Whether somebody is at it.
    fn executing(&mut self) -> &mut bool;

    /// Takes out what comes next.
    fn next(&mut self) -> Option<Self::Next>;
}

/// Gives the mutex back, and carries out the queue, in order and without the mutex. If somebody is
/// at it already, that thread carries out what was just queued as well. `carry_out` must not panic.
pub(super) fn run<Q: Queued, G: DerefMut<Target = Q>>(
    lock: impl Fn() -> G,
    mut queued: G,
    carry_out: impl Fn(Q::Next),
) {
    if std::mem::replace(queued.executing(), true) {
        return;
    }
    while let Some(next) = queued.next() {
        drop(queued);
        carry_out(next);
        queued = lock();
    }
    // Under the same lock under which the queue was seen empty: a thread that queues from here on
    // finds the role free.
    *queued.executing() = false;
}
