//! A stream of events, as Python holds it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::runtime::delivery::{Bridge, SLICE, alarm};
use crate::runtime::failure::{guarded, made};
use crate::runtime::fork::Owned;
use crate::runtime::interpreter::{check_signals, released};

/// Raised when something waits, for threads.
#[derive(Default)]
pub struct Flag {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Flag {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Wakes the thread that waits, or the next one that does.
    pub fn raise(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }

    /// Waits until it is raised, or so long, and lowers it. Whether it was raised.
    fn wait(&self, at_most: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), at_most, |raised| !*raised);
        std::mem::take(&mut *waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0)
    }

    /// Waits without the GIL until it is raised, and lowers it: for threads of the package's own,
    /// which no signal reaches.
    pub fn wait_asleep(&self, py: Python<'_>) {
        released(py, || {
            let waited = self.changed.wait_while(self.lock(), |raised| !*raised);
            *waited.unwrap_or_else(|poisoned| poisoned.into_inner()) = false;
        });
    }

    /// Waits without the GIL until it is raised, or until then, and lowers it; a signal that raises
    /// ends the wait. Whether it was raised.
    pub fn wait_in_slices(&self, py: Python<'_>, deadline: Option<Instant>) -> PyResult<bool> {
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let slice = left.map_or(SLICE, |left| left.min(SLICE));
            if released(py, || self.wait(slice)) {
                return Ok(true);
            }
            check_signals(py)?;
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
        }
    }
}

struct Stream {
    /// Empty once closed.
    source: Mutex<Option<trunkline::Subscription>>,
    flag: Arc<Flag>,
}

impl Stream {
    fn lock(&self) -> MutexGuard<'_, Option<trunkline::Subscription>> {
        self.source.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A stream of events. Dropped, it is unsubscribed.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Subscription(Owned<Stream>);

impl Subscription {
    /// To hand to Python.
    pub fn new(source: trunkline::Subscription) -> Self {
        Subscription(Owned::new(Stream { source: Mutex::new(Some(source)), flag: Arc::default() }))
    }
}

#[pymethods]
impl Subscription {
    /// The snapshot that the stream continues, as JSON text.
    fn snapshot(&self) -> PyResult<String> {
        let stream = self.0.here()?;
        guarded(|| Ok(stream.lock().as_ref().map_or("{}", |source| source.snapshot()).to_owned()))
    }

    /// The events that wait, oldest first, as JSON texts.
    fn take(&self, py: Python<'_>, most: usize) -> PyResult<Py<PyAny>> {
        let stream = self.0.here()?;
        guarded(|| {
            let events: Vec<String> = {
                let source = stream.lock();
                let next = || source.as_ref().and_then(trunkline::Subscription::try_next);
                let texts = std::iter::from_fn(next).map(|event| event.json().to_owned());
                texts.take(most).collect()
            };
            made(py, events)
        })
    }

    /// Whether nothing waits and nothing will come.
    fn ended(&self) -> PyResult<bool> {
        let stream = self.0.here()?;
        guarded(|| Ok(stream.lock().as_ref().is_none_or(trunkline::Subscription::is_ended)))
    }

    /// From here on, wakes a loop under that number.
    fn wake_loop(&self, bridge: &Bound<'_, Bridge>, token: u64) -> PyResult<()> {
        let stream = self.0.here()?;
        let alarm = alarm(bridge, token)?;
        guarded(|| {
            if let Some(source) = stream.lock().as_ref() {
                source.set_wake(alarm);
            }
            Ok(())
        })
    }

    /// From here on, wakes threads in [`wait`](Self::wait).
    fn wake_threads(&self) -> PyResult<()> {
        let stream = self.0.here()?;
        let flag = Arc::clone(&stream.flag);
        guarded(|| {
            if let Some(source) = stream.lock().as_ref() {
                source.set_wake(move || flag.raise());
            }
            Ok(())
        })
    }

    /// Waits until it is woken, without the GIL, or for so many seconds. Whether it was woken.
    #[pyo3(signature = (seconds=None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<bool> {
        let flag = &self.0.here()?.flag;
        let deadline = seconds
            .map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)));
        guarded(|| flag.wait_in_slices(py, deadline))
    }

    /// The same until it is woken, for a thread of the package's own.
    fn wait_asleep(&self, py: Python<'_>) -> PyResult<()> {
        let flag = &self.0.here()?.flag;
        guarded(|| {
            flag.wait_asleep(py);
            Ok(())
        })
    }

    /// Unsubscribes, and wakes the threads that wait. Repeating it does nothing.
    fn close(&self) -> PyResult<()> {
        let stream = self.0.here()?;
        guarded(|| {
            let source = stream.lock().take();
            drop(source);
            stream.flag.raise();
            Ok(())
        })
    }
}
