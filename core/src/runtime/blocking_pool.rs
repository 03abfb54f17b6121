//! Work that may wait for a file system which is away: on threads that may wait, and one piece of a
//! kind at a time.
//!
//! tokio panics where the system gives no thread for blocking work. So the first thread starts with
//! the runtime, where its failure is a typed error.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::oneshot;

use super::Runtime;
pub(crate) use super::{BlockingWork, no_thread};

/// Does it on a thread that may wait. Nothing comes of work that panics; work whose end nobody
/// waits for is done too.
pub(crate) fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> oneshot::Receiver<T> {
    let (send, end) = oneshot::channel();
    give(Box::new(move || drop(send.send(work()))));
    end
}

/// The same for work of whose end nothing is told.
pub(crate) fn give(work: BlockingWork) {
    match Runtime::running() {
        Some(runtime) => runtime.waiters().give(work),
        // A part of the library that is tested alone.
        None => drop(tokio::task::spawn_blocking(work)),
    }
}

/// Does one after the other, so that one thread at most waits, however often the work is asked for
/// and given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneByOne(Arc<tokio::sync::Mutex<()>>);

impl OneByOne {
    /// Does it once what was begun before is over; nothing comes of work that panics.
    ///
    /// A dropped future leaves work that has begun, and begins none that has not.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = self.0.clone().lock_owned().await;
        let done = begin(move || {
            let _turn = turn;
            work()
        });
        done.await.ok()
    }
}

/// All who ask for the same wait for the same thread; known for as long as somebody asks, or work
/// for it is under way.
#[derive(Debug)]
pub(crate) struct OneByOneOf<K>(Mutex<HashMap<K, Weak<tokio::sync::Mutex<()>>>>);

impl<K> Default for OneByOneOf<K> {
    fn default() -> Self {
        OneByOneOf(Mutex::default())
    }
}

impl<K: Eq + Hash> OneByOneOf<K> {
    /// Where this is asked for.
    pub(crate) fn of(&self, asked: K) -> OneByOne {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&asked).and_then(Weak::upgrade) {
            return OneByOne(turn);
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(asked, Arc::downgrade(&turn));
        OneByOne(turn)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    /// What waits so long hangs.
    const HANG: Duration = Duration::from_secs(90);

    /// SPEC 16.2: work that is given up is waited for by who asks for the same later, and by nobody
    /// else; what is over is forgotten.
    #[test]
    fn work_that_was_given_up_is_waited_for_by_who_asks_for_the_same() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let works = OneByOneOf::default();
            let (go_on, waits) = channel();
            let begins = works.of("away");
            let mut given_up = Box::pin(begins.run(move || waits.recv_timeout(HANG)));
            assert!((&mut given_up).now_or_never().is_none());
            drop(given_up);
            drop(begins);
            let asks_later = works.of("away");
            let mut next = Box::pin(asks_later.run(|| "later"));
            assert!((&mut next).now_or_never().is_none());
            assert_eq!(works.of("here").run(|| "at once").await, Some("at once"));
            assert!((&mut next).now_or_never().is_none());
            go_on.send(()).unwrap();
            assert_eq!(next.await, Some("later"));
            drop(asks_later);
            // A thread lets go of its work a moment after the next may begin.
            let begun = std::time::Instant::now();
            while works.0.lock().unwrap().len() > 1 {
                assert!(begun.elapsed() < HANG, "what is over is remembered");
                drop(works.of("here"));
            }
        });
    }
}
