//! Work that may wait for a file system which is away: on threads that may wait, and one piece of a kind at a time.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use trunkline_pool::interface::words;

use crate::platform;
use crate::runtime::{Runtime, THREAD_NAME};
use crate::{Error, ErrorCode};

/// Threads beside the first. A few are at work at one time, but one that waits for a file system that is away is lost until that is back, and the
/// others must go on: there are at most two for each source.
const MORE_MAX: usize = 63;

/// A piece of work for a thread that may wait.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// The threads of a runtime that may wait (SPEC 16.2).
///
/// The first is there as long as the runtime, so that what is begun is done also while the system gives no thread; only later. Others come
/// while it is at work, and go when nothing is left to do.
pub(crate) struct Waiters {
    runtime: Handle,
    more_max: usize,
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    works: VecDeque<Work>,
    /// Whether the first has nothing to do, and was not called.
    rests: bool,
    /// Threads beside the first.
    more: usize,
    over: bool,
}

impl Waiters {
    /// The first of them.
    ///
    /// # Errors
    /// Those of the system, which gives no thread.
    pub(crate) fn start(runtime: Handle) -> io::Result<Arc<Waiters>> {
        Waiters::with(runtime, MORE_MAX)
    }

    fn with(runtime: Handle, more_max: usize) -> io::Result<Arc<Waiters>> {
        let (state, news) = Default::default();
        let waiters = Arc::new(Waiters { runtime, more_max, state, news });
        waiters.begin(Waiters::stay)?;
        Ok(waiters)
    }

    /// No more comes. What was given is done.
    pub(crate) fn end(&self) {
        self.state().over = true;
        self.news.notify_one();
    }

    fn give(self: &Arc<Self>, work: Work) {
        {
            let mut state = self.state();
            state.works.push_back(work);
            if std::mem::take(&mut state.rests) {
                return self.news.notify_one();
            }
            if state.more >= self.more_max {
                return;
            }
            state.more += 1;
        }
        // Whoever is at work looks for more before it rests.
        if self.begin(Waiters::help).is_err() {
            self.state().more -= 1;
        }
    }

    fn begin(self: &Arc<Self>, body: fn(&Waiters)) -> io::Result<()> {
        let waiters = self.clone();
        let thread = std::thread::Builder::new().name(THREAD_NAME.into());
        let body = move || {
            platform::block_all_signals();
            let _context = waiters.runtime.enter();
            body(&waiters);
        };
        thread.spawn(body).map(drop)
    }

    fn stay(&self) {
        loop {
            let mut state = self.work();
            if state.over {
                return;
            }
            state.rests = true;
            let is_idle = |state: &mut State| state.rests && !state.over;
            drop(self.news.wait_while(state, is_idle).unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn help(&self) {
        self.work().more -= 1;
    }

    /// Does what there is.
    fn work(&self) -> MutexGuard<'_, State> {
        loop {
            let mut state = self.state();
            let Some(work) = state.works.pop_front() else { return state };
            drop(state);
            // Whoever waits for it is told by its end.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does it on a thread that may wait. Nothing comes of work that panics; work whose end nobody waits for is done too.
pub(crate) fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> oneshot::Receiver<T> {
    let (send, end) = oneshot::channel();
    give(Box::new(move || drop(send.send(work()))));
    end
}

/// The same for work of whose end nothing is told.
pub(crate) fn give(work: Work) {
    match Runtime::running() {
        Some(runtime) => runtime.waiters().give(work),
        // A part of the library that is tested alone.
        None => drop(tokio::task::spawn_blocking(work)),
    }
}

/// The error where the system gives no thread.
pub(crate) fn no_thread(error: &io::Error) -> Error {
    Error::new(ErrorCode::Limit, format!("there is no thread to be had: {error}"))
        .with_detail("limit", words::limit::THREADS)
}

/// Does one after the other, so that one thread at most waits, however often the work is asked for and given up.
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

/// Who asks for the same waits for the same thread, whoever it is; known for as long as somebody asks, or work for it is under way.
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

    /// SPEC 16.2: also what was given before its end, and after a piece that panicked.
    #[test]
    fn a_thread_alone_does_everything_in_turn() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let waiters = Waiters::with(runtime.handle().clone(), 0).unwrap();
        let (send, told) = channel();
        for name in ["first", "panics", "last"] {
            let send = send.clone();
            waiters.give(Box::new(move || {
                send.send(name).unwrap();
                assert!(name != "panics", "as a piece of work may");
            }));
        }
        waiters.end();
        drop((waiters, send));
        assert_eq!(told.iter().collect::<Vec<_>>(), ["first", "panics", "last"]);
    }

    /// SPEC 16.2: what waits for a file system holds up nothing else.
    #[test]
    fn what_comes_while_the_first_waits_has_a_thread_of_its_own() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let waiters = Waiters::start(runtime.handle().clone()).unwrap();
        let (go_on, waits) = channel();
        let (send, told) = channel();
        let tell = send.clone();
        waiters.give(Box::new(move || tell.send(waits.recv_timeout(HANG)).unwrap()));
        waiters.give(Box::new(move || send.send(Ok("other")).unwrap()));
        assert_eq!(told.recv_timeout(HANG), Ok(Ok("other")));
        go_on.send("first").unwrap();
        assert_eq!(told.recv_timeout(HANG), Ok(Ok("first")));
        waiters.end();
    }

    /// SPEC 16.2: work that is given up is waited for by who asks for the same later, and by nobody else; what is over is forgotten.
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
