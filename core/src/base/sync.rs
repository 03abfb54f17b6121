//! The locks, numbers and threads of what is checked in many orders of its threads: those of std
//! and of the crates that are used anyway, and shuttle's in the models of the feature `schedules`.
//! They are the same by name and meaning, so that the models run the code itself.

#[cfg(not(feature = "schedules"))]
pub(crate) use self::plain::*;
#[cfg(feature = "schedules")]
pub(crate) use self::scheduled::*;

#[cfg(not(feature = "schedules"))]
mod plain {
    pub(crate) use std::sync::{Mutex, MutexGuard, atomic};
    pub(crate) use std::thread_local;

    pub(crate) use arc_swap::{ArcSwap, Guard};
    pub(crate) use tokio::sync::Notify;
}

#[cfg(feature = "schedules")]
mod scheduled {
    use std::sync::Arc;

    pub(crate) use arc_swap::Guard;
    pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic};
    use shuttle::thread;
    pub(crate) use shuttle::thread_local;
    use tokio::sync::futures::Notified;

    /// That of arc-swap. Before each use another thread may run.
    pub(crate) struct ArcSwap<T>(arc_swap::ArcSwap<T>);

    impl<T> ArcSwap<T> {
        pub(crate) fn from_pointee(value: T) -> Self {
            ArcSwap(arc_swap::ArcSwap::from_pointee(value))
        }

        pub(crate) fn load(&self) -> Guard<Arc<T>> {
            thread::yield_now();
            self.0.load()
        }

        pub(crate) fn load_full(&self) -> Arc<T> {
            thread::yield_now();
            self.0.load_full()
        }

        pub(crate) fn store(&self, value: Arc<T>) {
            thread::yield_now();
            self.0.store(value);
        }
    }

    /// That of tokio, the same way.
    pub(crate) struct Notify(tokio::sync::Notify);

    impl Notify {
        pub(crate) fn new() -> Self {
            Notify(tokio::sync::Notify::new())
        }

        pub(crate) fn notified(&self) -> Notified<'_> {
            thread::yield_now();
            self.0.notified()
        }

        pub(crate) fn notify_one(&self) {
            thread::yield_now();
            self.0.notify_one();
        }

        pub(crate) fn notify_waiters(&self) {
            thread::yield_now();
            self.0.notify_waiters();
        }
    }
}
