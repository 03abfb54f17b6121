//! The one internal runtime of the process.
//!
//! It starts with the first pool and stops, in the background, when the last pool and its
//! connections are gone. In a forked child nothing of it is touched: the child's first pool starts
//! a runtime of its own.

pub(crate) mod blocking_pool;
pub(crate) mod deadline;
pub(crate) mod handling;
pub(crate) mod texts;

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use trunkline_pool::interface::words;

use crate::platform::{self, OfProcess};
use crate::{Error, ErrorCode, Result};

/// A hold on the process's runtime.
pub(crate) struct Runtime {
    handle: Handle,
    /// Present until drop.
    threads: Option<Threads>,
    waiters: Arc<Waiters>,
    workers: usize,
    fork_generation: u64,
}

const THREAD_NAME: &str = "trunkline";

/// What the runtime runs on.
enum Threads {
    /// One thread, which ends when this is dropped. It has nobody to share work with, so that a
    /// call has less of tokio to pass.
    One {
        _holds: oneshot::Sender<()>,
    },
    Several(tokio::runtime::Runtime),
}

/// The runtime that runs now, if any. Held while it starts.
static CURRENT: OfProcess<Mutex<Weak<Runtime>>> = OfProcess::new();

fn current() -> MutexGuard<'static, Weak<Runtime>> {
    CURRENT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runtime {
    /// The process's runtime; starts it when there is none. A worker that is the only one calls
    /// `on_only_worker` first.
    ///
    /// # Errors
    /// `invalid_argument` when it runs with another number of workers, `limit` (`threads`) when
    /// threads cannot be started.
    pub(crate) fn shared(workers: usize, on_only_worker: fn()) -> Result<Arc<Runtime>> {
        let mut current = current();
        if let Some(runtime) = current.upgrade() {
            return runtime.check_workers(workers).map(|()| runtime);
        }
        let workers = (workers, on_only_worker);
        let runtime =
            Arc::new(Runtime::start(workers, platform::fork_generation(), Waiters::start)?);
        *current = Arc::downgrade(&runtime);
        Ok(runtime)
    }

    /// A hold on the runtime that runs now, for what must not be cut when the last pool goes.
    pub(crate) fn running() -> Option<Arc<Runtime>> {
        current().upgrade()
    }

    fn start(
        (workers, on_only_worker): (usize, fn()),
        fork_generation: u64,
        waiters: impl FnOnce(Handle) -> io::Result<Arc<Waiters>>,
    ) -> Result<Runtime> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock => no_thread(&error),
            _ => Error::new(ErrorCode::Internal, format!("starting the runtime: {error}")),
        };
        let (handle, threads) = Threads::start(workers, on_only_worker).map_err(failed)?;
        match waiters(handle.clone()) {
            Ok(waiters) => {
                Ok(Runtime { handle, threads: Some(threads), waiters, workers, fork_generation })
            }
            Err(error) => {
                threads.end();
                Err(failed(error))
            }
        }
    }

    fn check_workers(&self, workers: usize) -> Result<()> {
        if self.workers == workers {
            return Ok(());
        }
        let message = format!(
            "this pool asks for {workers} workers, and the pools of the process run with {}",
            self.workers
        );
        Err(Error::new(ErrorCode::InvalidArgument, message)
            .with_detail("path", "workers")
            .with_hint("give every pool of a process the same number of `workers`, or none"))
    }

    /// The tokio handle, for spawning and timers.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The threads that may wait.
    pub(crate) fn waiters(&self) -> &Arc<Waiters> {
        &self.waiters
    }

    /// Whether this thread is one of its own, so that others wait for what it does.
    pub(crate) fn is_here(&self) -> bool {
        Handle::try_current().is_ok_and(|current| current.id() == self.handle.id())
    }

    /// Whether this process is a fork of the one that started the runtime.
    pub(crate) fn is_forked(&self) -> bool {
        self.fork_generation != platform::fork_generation()
    }

    /// A timer of this runtime, usable from any executor.
    pub(crate) fn sleep_until(&self, deadline: tokio::time::Instant) -> tokio::time::Sleep {
        let _context = self.handle().enter();
        tokio::time::sleep_until(deadline)
    }
}

impl Threads {
    fn start(workers: usize, on_only_worker: fn()) -> io::Result<(Handle, Threads)> {
        if workers > 1 {
            let mut builder = Builder::new_multi_thread();
            let runtime = prepared(builder.worker_threads(workers)).build()?;
            return Ok((runtime.handle().clone(), Threads::Several(runtime)));
        }
        let (holds, over) = oneshot::channel();
        // Made where it is dropped: inside another runtime, which the caller may be in, neither may
        // happen.
        let (tell, told) = sync_channel(1);
        std::thread::Builder::new().name(THREAD_NAME.into()).spawn(move || {
            platform::block_all_signals();
            on_only_worker();
            let runtime = match prepared(&mut Builder::new_current_thread()).build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(tell.send(Err(error))),
            };
            // The one who started it waits for this.
            drop(tell.send(Ok(runtime.handle().clone())));
            // Nothing is ever sent: the end of the sender is the end of the runtime.
            let _ = runtime.block_on(over);
            runtime.shutdown_background();
        })?;
        let handle = told.recv().map_err(io::Error::other)??;
        Ok((handle, Threads::One { _holds: holds }))
    }

    /// Ends them in the background. The caller may be inside another runtime, where tokio lets none
    /// just be dropped.
    fn end(self) {
        match self {
            Threads::One { .. } => {}
            Threads::Several(runtime) => runtime.shutdown_background(),
        }
    }
}

/// What both kinds of runtime have in common.
fn prepared(builder: &mut Builder) -> &mut Builder {
    builder
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name(THREAD_NAME)
        .on_thread_start(platform::block_all_signals)
        .enable_all()
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let is_forked = self.is_forked();
        if !is_forked {
            self.waiters.end();
        }
        match self.threads.take() {
            Some(threads) if is_forked => std::mem::forget(threads),
            Some(threads) => threads.end(),
            None => {}
        }
    }
}

/// Threads of tokio's own for what may wait: look-ups of host names. They end when they are idle.
const BLOCKING_THREADS_MAX: usize = 64;

/// Threads beside the first. A few are at work at one time. One that waits for a file system that
/// is away is lost until that is back, and the others must go on: there are at most two for each
/// source.
const MORE_MAX: usize = 63;

/// A piece of work for a thread that may wait.
pub(crate) type BlockingWork = Box<dyn FnOnce() + Send>;

/// The threads of a runtime that may wait (SPEC 16.2).
///
/// The first is there as long as the runtime, so that what is begun is done also while the system
/// gives no thread; only later. Others come while it is at work, and go when nothing is left to do.
pub(crate) struct Waiters {
    runtime: Handle,
    more_max: usize,
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    works: VecDeque<BlockingWork>,
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

    pub(crate) fn give(self: &Arc<Self>, work: BlockingWork) {
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
        // A thread at work looks for more before it rests.
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
            // Its waiters are told by its end.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error where the system gives no thread.
pub(crate) fn no_thread(error: &io::Error) -> Error {
    Error::new(ErrorCode::Limit, format!("there is no thread to be had: {error}"))
        .with_detail("limit", words::limit::THREADS)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// What waits so long hangs.
    const HANG: Duration = Duration::from_secs(90);

    /// SPEC 9.6, 16.2: what has begun of a runtime ends also where its caller is inside another
    /// one.
    #[tokio::test]
    async fn a_runtime_without_a_thread_that_may_wait_is_an_error() {
        for workers in [1, 2] {
            let no_thread = |_| Err(io::ErrorKind::WouldBlock.into());
            let started = Runtime::start((workers, || {}), platform::fork_generation(), no_thread);
            let error = started.err().expect("there is no thread to be had");
            assert_eq!(error.code(), ErrorCode::Limit, "{error}");
        }
    }

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
}
