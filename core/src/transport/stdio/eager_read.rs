//! A look for the answer as soon as its request is written, before the thread that reads goes to
//! sleep.
//!
//! A server that shares a core with its host has mostly answered when the write returns: then the
//! sleep is saved, and all that it takes to be woken from it. Where the server is not that quick a
//! look is in vain, and soon only few requests are followed by one.

use std::future::poll_fn;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Poll, Waker};

/// After so many looks in vain there are few.
const IN_VAIN_MAX: u32 = 4;

/// Then so many requests have one look: a server may be quick again.
const REQUESTS_PER_LOOK: u32 = 64;

/// What the one who writes and the one who reads know of each other. Both are on one thread, so
/// that nothing here needs an order.
#[derive(Debug, Default)]
pub(super) struct Early {
    is_asked: AtomicBool,
    /// Looks that found nothing, since one found something.
    in_vain: AtomicU32,
    /// Requests that could have had a look since there are few.
    requests: AtomicU32,
    /// Of the one task that reads, whose wakers are all the same.
    reader: OnceLock<Waker>,
}

impl Early {
    /// A request was written, and nothing else waits for an answer: the reader is asked to look, if
    /// that is worth it.
    pub(super) fn ask(&self) {
        if self.is_worth_it()
            && let Some(reader) = self.reader.get()
        {
            self.is_asked.store(true, Ordering::Relaxed);
            reader.wake_by_ref();
        }
    }

    /// Resolves when the reader is to look. For one task alone; a dropped future changes nothing.
    pub(super) async fn asked(&self) {
        poll_fn(|context| {
            if self.is_asked.load(Ordering::Relaxed) {
                self.is_asked.store(false, Ordering::Relaxed);
                return Poll::Ready(());
            }
            self.reader.get_or_init(|| context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// What the look came to.
    pub(super) fn looked(&self, found: bool) {
        let in_vain = self.in_vain.load(Ordering::Relaxed);
        let in_vain = if found { 0 } else { in_vain.saturating_add(1) };
        self.in_vain.store(in_vain, Ordering::Relaxed);
    }

    fn is_worth_it(&self) -> bool {
        if self.in_vain.load(Ordering::Relaxed) < IN_VAIN_MAX {
            return true;
        }
        let requests = self.requests.load(Ordering::Relaxed).wrapping_add(1);
        self.requests.store(requests, Ordering::Relaxed);
        requests.is_multiple_of(REQUESTS_PER_LOOK)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::Context;

    use super::*;
    use crate::base::poll_on_wake::tests::Count;

    #[test]
    fn a_reader_that_waits_is_woken_and_looks_once() {
        let (early, count) = (Early::default(), Arc::new(Count::default()));
        // Nobody reads yet.
        early.ask();
        let waker = Waker::from(count.clone());
        let mut context = Context::from_waker(&waker);
        assert!(pin!(early.asked()).poll(&mut context).is_pending());
        early.ask();
        assert_eq!(count.now(), 1);
        assert!(pin!(early.asked()).poll(&mut context).is_ready());
        assert!(pin!(early.asked()).poll(&mut context).is_pending());
    }

    #[test]
    fn looks_in_vain_become_few_until_one_finds_something() {
        let early = Early::default();
        let looks = |requests: u32| {
            let is_looked_for = |_: &u32| {
                let is_it = early.is_worth_it();
                if is_it {
                    early.looked(false);
                }
                is_it
            };
            (0..requests).filter(is_looked_for).count()
        };
        assert_eq!(looks(IN_VAIN_MAX + 10 * REQUESTS_PER_LOOK), IN_VAIN_MAX as usize + 10);
        early.looked(true);
        assert_eq!(looks(IN_VAIN_MAX), IN_VAIN_MAX as usize);
    }
}
