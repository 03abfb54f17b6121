//! The end of an operation, delivered exactly once: to a callback, to a queue, or to a thread that
//! waits.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use trunkline::{Error, ErrorCode, Operation, Pool, Result, took_results};

use crate::abi::guard::check_may_block;
use crate::abi::panic_guard::{contain, last_panic};
use crate::delivery::handle_registry::{Objects, PoolObject};
use crate::delivery::outcome::{Callback, Value};
use crate::delivery::queue::Queue;

/// Where the end of an operation goes.
pub(crate) enum Target {
    Callback(Callback),
    Queue(Arc<Queue>, u64),
    Waiter(Arc<Waiter>),
}

impl Target {
    /// Makes room for the end before there is anything to end.
    fn register(&self, objects: &Arc<Objects>) -> Result<()> {
        match self {
            Target::Callback(_) => objects.completions.register(),
            Target::Queue(queue, _) => queue.register(),
            Target::Waiter(_) => Ok(()),
        }
    }
}

/// The right and the duty to end one operation. Dropped unused, it ends it with `closed`, or
/// `internal` amid a panic.
pub(crate) struct Completion {
    objects: Arc<Objects>,
    handle: u64,
    target: Option<Target>,
}

impl Completion {
    /// Whether the thread that starts the operation waits for its end.
    pub(crate) fn is_waited_for(&self) -> bool {
        matches!(self.target, Some(Target::Waiter(_)))
    }

    /// Ends the operation.
    pub(crate) fn finish(mut self, outcome: Result<Value>) {
        self.deliver(outcome);
    }

    fn deliver(&mut self, outcome: Result<Value>) {
        let Some(target) = self.target.take() else { return };
        self.objects.operations.remove(self.handle);
        let outcome = match outcome {
            Err(error) if error.code() == ErrorCode::Cancelled && self.objects.is_freed() => {
                Err(freed(error))
            }
            // The panic that ended it unwinds this thread.
            Err(error) if error.code() == ErrorCode::Internal && std::thread::panicking() => {
                Err(last_panic())
            }
            other => other,
        };
        match target {
            Target::Callback(callback) => self.objects.completions.submit(callback, outcome),
            Target::Queue(queue, tag) => queue.push_done(tag, outcome, &self.objects.leases),
            Target::Waiter(waiter) => waiter.finish(outcome),
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if self.target.is_none() {
            return;
        }
        let error = match std::thread::panicking() {
            true => Error::new(ErrorCode::Internal, "the operation panicked"),
            false => Error::new(ErrorCode::Closed, "the operation was dropped before it ended"),
        };
        self.deliver(Err(error));
    }
}

/// Starts an operation. `tell` gets the handle that it has until it ended, before it can end. Once
/// this has succeeded, the target hears of the end exactly once.
///
/// # Errors
/// `limit` or `closed`: nothing was started, and the target hears nothing.
pub(crate) fn begin(
    // Owned: a callback may free the pool object before this function has returned.
    objects: Arc<Objects>,
    target: Target,
    tell: impl FnOnce(u64),
    launch: impl FnOnce(Completion) -> Operation,
) -> Result<()> {
    let handle = objects.operations.reserve()?;
    if let Err(error) = target.register(&objects) {
        objects.operations.remove(handle);
        return Err(error);
    }
    tell(handle);
    let completion = Completion { objects: objects.clone(), handle, target: Some(target) };
    // A panic here drops the completion, which tells the target: the operation counts as accepted.
    if let Ok(operation) = contain(|| Ok(launch(completion))) {
        // It was cancelled, or the pool freed, before it had a place to be cancelled from; or it
        // ended already, which a cancel leaves as it is.
        if let Some(operation) = objects.operations.fill(handle, operation) {
            operation.cancel();
        }
    }
    Ok(())
}

/// Cancels an operation that has not ended, also one that [`begin`] is still starting.
///
/// # Errors
/// `bad_handle` for what never was an operation of these objects.
pub(crate) fn cancel(objects: &Objects, op: u64) -> Result<()> {
    if let Some(operation) = objects.operations.revoke(op)? {
        operation.cancel();
    }
    Ok(())
}

/// What launches work that ends as its future does.
pub(crate) fn later<Work, Ends>(
    pool: &PoolObject,
    work: Work,
) -> impl FnOnce(Completion) -> Operation + use<Work, Ends>
where
    Work: FnOnce(Pool) -> Ends + Send + 'static,
    Ends: Future<Output = Result<Value>> + Send + 'static,
{
    let core = pool.core.clone();
    move |completion: Completion| {
        let ends = work(core.clone());
        core.start(ends, |outcome| completion.finish(outcome))
    }
}

/// Runs an operation and waits for its end.
///
/// # Errors
/// `wrong_thread` inside a callback, and those of the operation.
pub(crate) fn wait(
    objects: &Arc<Objects>,
    launch: impl FnOnce(Completion) -> Operation,
) -> Result<Value> {
    begin_waiting(objects, launch)?.wait()
}

/// Runs an operation whose end is waited for here.
///
/// # Errors
/// `wrong_thread` inside a callback, and those of [`begin`]: nothing was started.
pub(crate) fn begin_waiting(
    objects: &Arc<Objects>,
    launch: impl FnOnce(Completion) -> Operation,
) -> Result<Arc<Waiter>> {
    check_may_block()?;
    // A thread that waits for its answer writes the request itself.
    took_results(0);
    let waiter = Arc::new(Waiter::default());
    let mut launched = None;
    let launch = |completion| launched.insert(launch(completion)).clone();
    begin(objects.clone(), Target::Waiter(waiter.clone()), |_| (), launch)?;
    if let Some(operation) = launched {
        operation.read_here();
    }
    Ok(waiter)
}

/// Where a thread waits for the end of one operation. It has no time limit of its own: every
/// operation has one.
#[derive(Default)]
pub(crate) struct Waiter {
    end: Mutex<End>,
    ended: Condvar,
}

#[derive(Default)]
struct End {
    outcome: Option<Result<Value>>,
    /// The thread sleeps: to wake one that does not takes the system as long.
    sleeps: bool,
}

impl Waiter {
    fn finish(&self, outcome: Result<Value>) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.outcome = Some(outcome);
        let sleeps = end.sleeps;
        drop(end);
        if sleeps {
            self.ended.notify_one();
        }
    }

    pub(crate) fn wait(&self) -> Result<Value> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(outcome) = end.outcome.take() {
                return outcome;
            }
            end.sleeps = true;
            end = self.ended.wait(end).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The end of an operation that was cancelled because the pool is freed; a call may have run.
fn freed(cancelled: Error) -> Error {
    let error =
        Error::new(ErrorCode::Closed, "the pool was freed while the operation was under way");
    let error = match cancelled.outcome() {
        Some(outcome) => error.with_outcome(outcome),
        None => error,
    };
    error.with_cause(cancelled)
}

#[cfg(test)]
mod tests {
    use trunkline::Outcome;

    use super::*;
    use crate::abi::guard::{in_callback, prepare_process};

    fn closed() -> Error {
        Error::new(ErrorCode::Closed, "it was dropped")
    }

    fn error_of(outcome: Result<Value>) -> Error {
        match outcome {
            Err(error) => error,
            Ok(_) => panic!("it succeeded"),
        }
    }

    /// I-17, I-18: an operation whose start panics was accepted, and ends with what the panic said.
    #[test]
    fn an_operation_whose_start_panics_ends_with_internal() {
        prepare_process();
        let objects = Objects::new().unwrap();
        let error = error_of(wait(&objects, |_completion| panic!("amid the start")));
        assert_eq!(
            (error.code(), error.message()),
            (ErrorCode::Internal, "panicked: amid the start")
        );
        assert!(error.detail()["place"].as_str().unwrap().contains("completion.rs:"));
    }

    /// SPEC 16.2: the host may keep the handle where its callback finds it, and where `destroy`
    /// frees it.
    #[test]
    fn the_handle_is_told_before_the_operation_can_end() {
        let (objects, waiter) = (Objects::new().unwrap(), Arc::new(Waiter::default()));
        let told = std::cell::Cell::new(0);
        let tell = |handle| told.set(handle);
        let begun = begin(objects.clone(), Target::Waiter(waiter.clone()), tell, |completion| {
            assert_eq!(told.get(), completion.handle);
            panic!("nothing to start")
        });
        assert!(begun.is_ok() && told.get() != 0);
        assert_eq!(error_of(waiter.wait()).message(), "panicked: nothing to start");
    }

    /// SPEC 16.2: nobody of the host's is on that thread, so that only the error can say what
    /// happened and where.
    #[test]
    fn an_operation_that_panics_later_ends_with_internal_and_its_place() {
        prepare_process();
        let (pool, objects) = (
            trunkline::Pool::new(trunkline::PoolOptions::default()).unwrap(),
            Objects::new().unwrap(),
        );
        let error = error_of(wait(&objects, |completion| {
            let future = async { panic!("amid the work") };
            pool.start(future, |outcome| completion.finish(outcome))
        }));
        assert_eq!(
            (error.code(), error.message()),
            (ErrorCode::Internal, "panicked: amid the work")
        );
        assert!(error.detail()["place"].as_str().unwrap().contains("completion.rs:"));
    }

    /// SPEC 5.5, 16.2: the host has the handle before the library has the operation.
    #[test]
    fn an_operation_that_is_cancelled_amid_its_start_ends_with_cancelled() {
        let (pool, objects) = (
            trunkline::Pool::new(trunkline::PoolOptions::default()).unwrap(),
            Objects::new().unwrap(),
        );
        let (waiter, (send, sent)) =
            (Arc::new(Waiter::default()), tokio::sync::oneshot::channel::<()>());
        let begun = begin(
            objects.clone(),
            Target::Waiter(waiter.clone()),
            |_| (),
            |completion| {
                cancel(&objects, completion.handle).unwrap();
                let future = async { sent.await.map(|()| Value::Nothing).map_err(|_| closed()) };
                pool.start(future, |outcome| completion.finish(outcome))
            },
        );
        assert!(begun.is_ok());
        // One that nobody cancelled has its result in the end; one that comes beside the cancel may
        // be first.
        let (over, is_over) = std::sync::mpsc::channel::<()>();
        let late = std::thread::spawn(move || {
            let _ = is_over.recv_timeout(std::time::Duration::from_secs(90));
            let _ = send.send(());
        });
        assert_eq!(error_of(waiter.wait()).code(), ErrorCode::Cancelled);
        drop(over);
        late.join().unwrap();
    }

    /// I-17: the thread that carries an operation out may go away with it.
    #[test]
    fn a_completion_that_is_dropped_ends_its_operation_with_closed() {
        let objects = Objects::new().unwrap();
        let waiter = Arc::new(Waiter::default());
        let target = Some(Target::Waiter(waiter.clone()));
        let handle = objects.operations.reserve().unwrap();
        let completion = Completion { objects: objects.clone(), handle, target };
        std::thread::spawn(move || drop(completion)).join().unwrap();
        assert_eq!(error_of(waiter.wait()).code(), ErrorCode::Closed);
        assert!(objects.operations.remove(handle).is_none());
    }

    /// I-17
    #[test]
    fn a_completion_that_has_finished_says_nothing_when_it_is_dropped() {
        let objects = Objects::new().unwrap();
        let waiter = Arc::new(Waiter::default());
        let target = Some(Target::Waiter(waiter.clone()));
        let completion = Completion { objects, handle: 0, target };
        completion.finish(Ok(Value::Nothing));
        assert!(matches!(waiter.wait(), Ok(Value::Nothing)));
        assert!(waiter.end.lock().unwrap().outcome.is_none());
    }

    /// I-19, SPEC 5.12: a call that ends with its pool may have run, which its error says.
    #[test]
    fn a_call_that_ends_with_its_pool_keeps_its_outcome() {
        let objects = Objects::new().unwrap();
        let waiter = Arc::new(Waiter::default());
        let target = Some(Target::Waiter(waiter.clone()));
        let completion = Completion { objects: objects.clone(), handle: 0, target };
        objects.free();
        let cancelled = Error::new(ErrorCode::Cancelled, "the call was cancelled");
        completion.finish(Err(cancelled.with_outcome(Outcome::Unknown)));
        let error = error_of(waiter.wait());
        assert_eq!((error.code(), error.outcome()), (ErrorCode::Closed, Some(Outcome::Unknown)));
    }

    /// The others find their end without it.
    #[test]
    fn a_thread_that_sleeps_is_woken_by_the_end() {
        let (waiter, (send, ended)) = (Arc::new(Waiter::default()), std::sync::mpsc::channel());
        let waits = waiter.clone();
        std::thread::spawn(move || send.send(waits.wait().is_ok()));
        while !waiter.end.lock().unwrap().sleeps {
            std::thread::yield_now();
        }
        waiter.finish(Ok(Value::Nothing));
        assert_eq!(ended.recv_timeout(std::time::Duration::from_secs(90)), Ok(true));
    }

    #[test]
    fn only_a_thread_that_waits_is_to_read_the_answer() {
        // SAFETY: NULL is all defaults.
        let settings = unsafe { crate::ops::call_options::call_options(std::ptr::null()) }.unwrap();
        let reads_here = |target| {
            let target = Some(target);
            settings
                .options(&Completion { objects: Objects::new().unwrap(), handle: 0, target })
                .reads_here
        };
        assert!(reads_here(Target::Waiter(Arc::default())));
        assert!(!reads_here(Target::Queue(Queue::new().unwrap(), 0)));
    }

    /// I-18: a wait on a thread that runs a callback would wait for itself.
    #[test]
    fn a_wait_inside_a_callback_starts_nothing() {
        let objects = Objects::new().unwrap();
        in_callback(|| {
            let error = error_of(wait(&objects, |_completion| panic!("it was started")));
            assert_eq!(error.code(), ErrorCode::WrongThread);
        });
    }
}
