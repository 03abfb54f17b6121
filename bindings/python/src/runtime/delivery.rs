//! How results reach Python: through a queue with a descriptor for an event loop, or into a cell
//! that one thread waits for.
//!
//! Both are filled by threads of the library, without Python, and emptied by threads of Python.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use trunkline::{
    CallOptions, CallResult, CompletionQueue, Error, ErrorCode, ProgressFeed, ProgressReceiver,
    Result,
};

use crate::runtime::failure::{OrRaise, constructed, guarded, made};
use crate::runtime::fork::Owned;
use crate::runtime::interpreter::{check_signals, released};
use crate::runtime::loop_reads::Loans;
use crate::runtime::payload::Payload;
use crate::runtime::wakeup::Wakeup;
use crate::runtime::write_batch;

/// Between two looks at pending signals while a thread waits: a tenth of what a user feels as a
/// delay.
pub const SLICE: Duration = Duration::from_millis(50);

/// Results taken in one pass, so that one pass never keeps an event loop from its other work for
/// long; enough that a change which a thousand sessions are told of is one wake-up.
const BATCH: usize = 1024;

/// What reaches an event loop.
pub enum Arrival {
    /// For the waiter under this number.
    Completion(u64, Result<Payload>),
    /// The loop is not to read by this loan any more.
    LoanOver(u64),
}

/// What an event loop takes from a batch: number, whether it is an exception, value.
type Taken = Vec<(u64, bool, Py<PyAny>)>;

type Queue = CompletionQueue<Arrival>;

#[derive(Default)]
struct Slot {
    content: Mutex<Content>,
    changed: Condvar,
    progress: ProgressFeed,
}

#[derive(Default)]
struct Content {
    outcome: Option<Result<Payload>>,
    /// Whether progress waits in the feed.
    has_progress: bool,
    /// A thread sleeps, or did: to wake one that does not takes the system as long.
    sleeps: bool,
    /// Whether a thread waits, or did.
    is_waited_for: bool,
}

/// What a thread that waits finds.
enum Found {
    Progress(Vec<String>),
    Outcome(Result<Payload>),
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn put(&self, outcome: Result<Payload>) {
        self.change(|content| content.outcome = Some(outcome));
    }

    fn tell(&self, event: &str) {
        self.progress.push(event);
        self.change(|content| content.has_progress = true);
    }

    fn change(&self, change: impl FnOnce(&mut Content)) {
        let sleeps = {
            let mut content = self.lock();
            change(&mut content);
            content.sleeps
        };
        if sleeps {
            self.changed.notify_all();
        }
    }

    /// Whether nobody waited before.
    fn begins_to_wait(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_waited_for, true)
    }

    /// Progress first: it came before the end.
    fn wait(&self, at_most: Duration) -> Option<Found> {
        let is_empty = |content: &mut Content| {
            let is_empty = content.outcome.is_none() && !content.has_progress;
            content.sleeps |= is_empty;
            is_empty
        };
        let waited = self.changed.wait_timeout_while(self.lock(), at_most, is_empty);
        let mut content = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        if std::mem::take(&mut content.has_progress) {
            return Some(Found::Progress(self.progress.take()));
        }
        content.outcome.take().map(Found::Outcome)
    }
}

#[derive(Clone)]
enum Target {
    Queue(Arc<Queue>, u64),
    Slot(Arc<Slot>),
}

impl Target {
    fn deliver(self, outcome: Result<Payload>) {
        match self {
            Target::Queue(queue, token) => queue.push(Arrival::Completion(token, outcome)),
            Target::Slot(slot) => slot.put(outcome),
        }
    }
}

/// Where one operation delivers its end. Dropped without one, it delivers `internal`: a waiter
/// always gets an answer.
pub struct Sink(Option<Target>);

impl Sink {
    /// Delivers the end.
    pub fn put(mut self, outcome: Result<Payload>) {
        if let Some(target) = self.0.take() {
            target.deliver(outcome);
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let Some(target) = self.0.take() {
            target.deliver(Err(Error::new(
                ErrorCode::Internal,
                "the operation ended without an answer",
            )));
        }
    }
}

/// What puts the end of a request where it is waited for.
pub fn ended(sink: Sink) -> impl FnOnce(Result<CallResult>) + Send + 'static {
    move |outcome| sink.put(outcome.map(Payload::Call))
}

/// The sink that Python asked for: a [`Bridge`] with the number to deliver under, or a [`Waiter`].
pub fn sink(to: &Bound<'_, PyAny>, token: u64) -> PyResult<Sink> {
    target(to, token).map(|target| Sink(Some(target)))
}

/// Whether the thread that starts an operation reads the answer: it waits for it in
/// [`Waiter::wait`], or it is that of a loop which can watch for it.
pub fn reads_here(to: &Bound<'_, PyAny>) -> bool {
    match to.cast::<Bridge>() {
        Ok(bridge) => bridge.get().0.here().is_ok_and(|ends| ends.loans.get().is_some()),
        Err(_) => true,
    }
}

/// A call that was just started. A loop that can reads its answer, where nobody else needs to read.
pub fn begun(
    to: &Bound<'_, PyAny>,
    operation: trunkline::Operation,
    options: &CallOptions,
) -> PyResult<Py<Operation>> {
    if options.reads_here
        && let Ok(bridge) = to.cast::<Bridge>()
        && let Some(loans) = bridge.get().0.here()?.loans.get()
        && let Err(error) = loans.await_answer(&operation, to)
    {
        // As if it had never begun: nobody has it.
        operation.cancel();
        return Err(error);
    }
    Operation::new(to.py(), operation)
}

fn target(to: &Bound<'_, PyAny>, token: u64) -> PyResult<Target> {
    Ok(match to.cast::<Bridge>() {
        Ok(bridge) => {
            let ends = bridge.get().0.here()?;
            write_batch::write_of_others(Some(ends.number));
            Target::Queue(ends.queue.clone(), token)
        }
        Err(_) => {
            write_batch::write_of_others(None);
            Target::Slot(to.cast::<Waiter>()?.get().0.here()?.clone())
        }
    })
}

/// Where the progress of one call goes: to the same place as its end, and under a number of its
/// own.
pub fn progress(to: &Bound<'_, PyAny>, token: u64) -> PyResult<ProgressReceiver> {
    Ok(match target(to, token)? {
        Target::Slot(slot) => ProgressReceiver::new(move |event| slot.tell(event)),
        Target::Queue(queue, token) => {
            let feed = Arc::new(ProgressFeed::new());
            ProgressReceiver::new(move |event| {
                if feed.push(event) {
                    let outcome = Ok(Payload::Progress(feed.clone()));
                    queue.push(Arrival::Completion(token, outcome));
                }
            })
        }
    })
}

/// A function that makes a bridge's loop look under a number.
pub fn alarm(
    bridge: &Bound<'_, Bridge>,
    token: u64,
) -> PyResult<impl Fn() + Send + Sync + 'static> {
    let target = Target::Queue(bridge.get().0.here()?.queue.clone(), token);
    Ok(move || target.clone().deliver(Ok(Payload::Nothing)))
}

struct Ends {
    /// Which bridge this is, among all of the process.
    number: u64,
    queue: Arc<Queue>,
    wakeup: Arc<Wakeup>,
    /// Absent where the loop cannot watch descriptors.
    loans: OnceLock<Loans>,
}

impl Ends {
    /// What waits. More than a batch makes the loop come again.
    fn take(&self, bridge: &Bound<'_, Bridge>) -> PyResult<Py<PyAny>> {
        let batch = self.queue.drain(BATCH);
        let mut taken: Taken = Vec::with_capacity(batch.len());
        for arrival in batch {
            match arrival {
                Arrival::Completion(token, outcome) => {
                    taken.push(in_python(bridge.py(), token, outcome));
                }
                Arrival::LoanOver(loan) => {
                    if let Some(loans) = self.loans.get() {
                        loans.close(loan, bridge.as_any());
                    }
                }
            }
        }
        made(bridge.py(), taken)
    }
}

/// The results for one event loop, behind one descriptor.
///
/// Its subclass has two methods, which are called on the loop's thread. `watch(descriptor, loan)`
/// makes the loop call `read(loan)` whenever the descriptor can be read; `unwatch(descriptor)` ends
/// that.
#[pyclass(frozen, subclass, weakref, module = "trunkline._trunkline")]
pub struct Bridge(Owned<Ends>);

#[pymethods]
impl Bridge {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        constructed(py, || {
            let wakeup = Arc::new(Wakeup::new()?);
            let ringer = Arc::clone(&wakeup);
            let queue = Arc::new(CompletionQueue::new(move || ringer.ring()));
            let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
            Ok(Bridge(Owned::new(Ends { number, queue, wakeup, loans: OnceLock::new() })))
        })
    }

    /// From now on the loop reads answers by itself, where it can.
    fn read_answers(&self) -> PyResult<()> {
        let ends = self.0.here()?;
        guarded(|| {
            let queue = ends.queue.clone();
            ends.loans.get_or_init(|| Loans::new(move |loan| queue.push(Arrival::LoanOver(loan))));
            Ok(())
        })
    }

    /// The descriptor that is readable while results wait.
    fn fileno(&self) -> PyResult<i32> {
        Ok(self.0.here()?.wakeup.descriptor())
    }

    /// Whether it was made before a fork, by the parent process.
    fn inherited(&self) -> bool {
        self.0.is_inherited()
    }

    /// The results that wait: number, whether it is an exception, value.
    fn drain(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let ends = slf.get().0.here()?;
        guarded(|| {
            // Cleared before the queue is looked at: a result that comes in between rings again.
            ends.wakeup.clear();
            ends.take(slf)
        })
    }

    /// Reads what the server has written whose output is on loan, and gives the results that wait.
    fn read(slf: &Bound<'_, Self>, loan: u64) -> PyResult<Py<PyAny>> {
        let ends = slf.get().0.here()?;
        guarded(|| {
            if let Some(loans) = ends.loans.get() {
                ends.queue.before_drain(|| loans.read(loan, slf.as_any()));
            }
            ends.take(slf)
        })
    }

    /// Requests of this thread for this bridge are held back until `write_joined`, another thread
    /// sends or this one waits.
    fn join_requests(&self) -> PyResult<()> {
        let ends = self.0.here()?;
        guarded(|| {
            write_batch::hold(ends.number);
            Ok(())
        })
    }

    /// Writes what is held back.
    fn write_joined(&self) -> PyResult<()> {
        self.0.here()?;
        guarded(|| {
            write_batch::write();
            Ok(())
        })
    }

    /// Waits until results wait, or for at most so many seconds. For a thread of its own.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let wakeup = &self.0.here()?.wakeup;
        guarded(|| {
            Ok(released(py, || wakeup.wait(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)))))
        })
    }
}

fn in_python(py: Python<'_>, token: u64, outcome: Result<Payload>) -> (u64, bool, Py<PyAny>) {
    match outcome.or_raise(py).and_then(|payload| payload.into_python(py)) {
        Ok(value) => (token, false, value),
        Err(error) => (token, true, error.into_value(py).into_any()),
    }
}

/// The end of one operation, for a thread that waits.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Waiter(Owned<Arc<Slot>>);

#[pymethods]
impl Waiter {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        constructed(py, || Ok(Waiter(Owned::new(Arc::default()))))
    }

    /// Whether the end is there.
    fn filled(&self) -> PyResult<bool> {
        Ok(self.0.here()?.lock().outcome.is_some())
    }

    /// Waits for the end, without the GIL; a signal that raises cancels the operation. After
    /// `seconds`, if given, `None`. Of a call whose progress is told here: the list of the events
    /// that came before the end, which is waited for again.
    #[pyo3(signature = (operation, seconds=None))]
    fn wait(
        &self,
        py: Python<'_>,
        operation: &Operation,
        seconds: Option<f64>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let slot = self.0.here()?;
        let deadline = seconds
            .map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)));
        let reading = operation.0.here()?;
        guarded(|| {
            let mut reads = slot.begins_to_wait().then_some(|| reading.read_here());
            loop {
                let left =
                    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
                let slice = left.map_or(SLICE, |left| left.min(SLICE));
                // Under one release of the GIL: to have it again may take as long as a call.
                let found = released(py, || {
                    reads.take().into_iter().for_each(|read| read());
                    slot.wait(slice)
                });
                match found {
                    Some(Found::Outcome(outcome)) => {
                        return outcome.or_raise(py)?.into_python(py).map(Some);
                    }
                    Some(Found::Progress(events)) => {
                        return Ok(Some(events.into_pyobject(py)?.into_any().unbind()));
                    }
                    None => {}
                }
                if let Err(interrupt) = check_signals(py) {
                    operation.cancel()?;
                    return Err(interrupt);
                }
                if left.is_some_and(|left| left.is_zero()) {
                    return Ok(None);
                }
            }
        })
    }
}

/// An operation under way.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Operation(Owned<trunkline::Operation>);

impl Operation {
    /// To hand to Python.
    pub fn new(py: Python<'_>, operation: trunkline::Operation) -> PyResult<Py<Operation>> {
        Py::new(py, Operation(Owned::new(operation)))
    }
}

#[pymethods]
impl Operation {
    /// Ends it with `cancelled`, unless it has ended.
    pub fn cancel(&self) -> PyResult<()> {
        let operation = self.0.here()?;
        guarded(|| {
            operation.cancel();
            Ok(())
        })
    }
}
