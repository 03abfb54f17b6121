//! Work under way.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::task::AbortHandle;

use super::calls::CallHandle;
use crate::driver::Driver;
use crate::platform;
use crate::transport::write_held;
use crate::{Error, ErrorCode, Result};

/// Something started that ends exactly once: with its result, or with an error (`cancelled`,
/// `closed`, …).
///
/// Dropping it cancels nothing.
#[derive(Clone)]
pub struct Operation {
    kind: OperationKind,
    fork_generation: u64,
}

#[derive(Clone)]
enum OperationKind {
    /// It ended before it was returned.
    Ended,
    /// A call, by its number.
    Call(CallHandle, u64),
    /// A future on the internal runtime.
    Task(AbortHandle),
}

impl Operation {
    pub(crate) fn ended() -> Operation {
        Operation::new(OperationKind::Ended)
    }

    pub(crate) fn call(started: CallHandle, number: u64) -> Operation {
        Operation::new(OperationKind::Call(started, number))
    }

    fn new(kind: OperationKind) -> Operation {
        Operation { kind, fork_generation: platform::fork_generation() }
    }

    /// Ends it with `cancelled`, unless it already ended. May be called from any thread, and again.
    ///
    /// A call's `done` runs before this returns; the server is told, and its answer is dropped. In
    /// a forked child it does nothing: the work is the parent's.
    pub fn cancel(&self) {
        if self.fork_generation != platform::fork_generation() {
            return;
        }
        match &self.kind {
            OperationKind::Ended => {}
            OperationKind::Call(started, _) => started.cancel(),
            OperationKind::Task(task) => task.abort(),
        }
    }

    /// For the thread that started a call with [`CallOptions::reads_here`] and waits for its end:
    /// reads the answer on this thread where nobody else needs to read, and calls `done` here. So
    /// no other thread has to wake this one. It returns when the call has ended, or another thread
    /// reads for it, which calls `done` then: so the caller goes on to wait. It blocks for
    /// milliseconds at most while the server is silent.
    ///
    /// Threads that wait one after another, each alone, have this on a server over pipes; all
    /// others read elsewhere, as always.
    ///
    /// [`CallOptions::reads_here`]: trunkline_pool::options::CallOptions::reads_here
    pub fn read_here(&self) {
        if self.fork_generation != platform::fork_generation() {
            return;
        }
        write_held();
        match &self.kind {
            OperationKind::Call(started, _) => started.read_here(),
            OperationKind::Ended | OperationKind::Task(_) => {}
        }
    }

    /// The call that it is, in the process that started it.
    pub(crate) fn started(&self) -> Option<&CallHandle> {
        match &self.kind {
            OperationKind::Call(started, _)
                if self.fork_generation == platform::fork_generation() =>
            {
                Some(started)
            }
            OperationKind::Call(..) | OperationKind::Ended | OperationKind::Task(_) => None,
        }
    }

    /// For a call: the number under which its `progress` events come; unique within its session.
    pub fn call_number(&self) -> Option<u64> {
        match self.kind {
            OperationKind::Call(_, number) => Some(number),
            OperationKind::Ended | OperationKind::Task(_) => None,
        }
    }
}

/// Runs a future on the internal runtime; `done` gets its result exactly once.
pub(crate) fn start<T: Send + 'static>(
    driver: &Arc<Driver>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    done: impl FnOnce(Result<T>) + Send + 'static,
) -> Operation {
    if let Err(error) = driver.check_process() {
        done(Err(error));
        return Operation::ended();
    }
    let completion = Completion { done: Some(done), result: PhantomData };
    // In this order they are dropped when it is cancelled before it begins: what the future holds
    // is given up before `done` tells the end.
    let work = (future, completion);
    let task = driver.spawn(async move {
        let (future, completion) = work;
        let result = future.await;
        completion.finish(result);
    });
    Operation::new(OperationKind::Task(task.abort_handle()))
}

/// Calls `done` exactly once: with the result, or with an error when it is dropped before there is
/// one.
struct Completion<T, F: FnOnce(Result<T>)> {
    done: Option<F>,
    result: PhantomData<fn(T)>,
}

impl<T, F: FnOnce(Result<T>)> Completion<T, F> {
    fn finish(mut self, result: Result<T>) {
        self.call(result);
    }

    fn call(&mut self, result: Result<T>) {
        if let Some(done) = self.done.take() {
            // The host's code: its panic ends here.
            if catch_unwind(AssertUnwindSafe(|| done(result))).is_err() {
                tracing::error!("a completion panicked");
            }
        }
    }
}

impl<T, F: FnOnce(Result<T>)> Drop for Completion<T, F> {
    fn drop(&mut self) {
        let error = if std::thread::panicking() {
            Error::new(ErrorCode::Internal, "the operation panicked")
        } else {
            Error::new(ErrorCode::Cancelled, "the operation was cancelled")
        };
        self.call(Err(error));
    }
}
