//! A future that waits for something rare beside what is ready all the time, in one task.
//!
//! A waiter for two things polls both when either wakes it. This one has a waker of its own, so
//! that a poll for the other's sake asks it nothing.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled once, and then whenever it was woken.
pub(crate) struct Seldom<F> {
    future: Pin<Box<F>>,
    bell: Arc<WakeFlag>,
    /// What the bell has, so that nobody takes its lock to see that it is the same.
    waker: Option<Waker>,
}

/// What the future wakes.
struct WakeFlag {
    rung: AtomicBool,
    /// Of the task that waits.
    waker: Mutex<Option<Waker>>,
}

impl<F: Future> Seldom<F> {
    pub(crate) fn new(future: F) -> Self {
        let bell = WakeFlag { rung: AtomicBool::new(true), waker: Mutex::default() };
        Seldom { future: Box::pin(future), bell: Arc::new(bell), waker: None }
    }
}

/// A dropped future drops the one in it.
impl<F: Future> Future for Seldom<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // In this order: who rings after the question finds the waker.
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.waker = Some(context.waker().clone());
            self.bell.listen(context.waker());
        }
        let rung = &self.bell.rung;
        if !rung.load(Ordering::Acquire) || !rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(self.bell.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl WakeFlag {
    fn listen(&self, waker: &Waker) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::*;

    /// How often something was woken.
    #[derive(Default)]
    pub(crate) struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Count {
        pub(crate) fn now(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn it_is_polled_when_it_was_woken_and_not_before() {
        let (sender, mut receiver) = oneshot::channel();
        let mut polls = 0;
        let mut seldom = Seldom::new(std::future::poll_fn(|context| {
            polls += 1;
            Pin::new(&mut receiver).poll(context).map(|end| (end, polls))
        }));
        let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let mut poll = |count: &Arc<Count>| {
            let waker = Waker::from(count.clone());
            Pin::new(&mut seldom).poll(&mut Context::from_waker(&waker))
        };
        for _ in 0..5 {
            assert!(poll(&first).is_pending());
        }
        // The task may have changed since: the last one that asked is woken.
        assert!(poll(&second).is_pending());
        sender.send("over").unwrap();
        assert_eq!((first.now(), second.now()), (0, 1));
        assert_eq!(poll(&first), Poll::Ready((Ok("over"), 2)));
    }

    #[test]
    fn what_is_ready_at_once_is_ready_at_the_first_poll() {
        let mut ready = Seldom::new(std::future::ready(7));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut ready).poll(&mut context), Poll::Ready(7));
    }
}
