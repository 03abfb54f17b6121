//! What the library logs, on its way to Python's `logging`.

use std::sync::Arc;

use pyo3::prelude::*;
use trunkline::LogFeed;

use crate::objects::subscription::Flag;
use crate::runtime::failure::{OrRaise, constructed, guarded, made};
use crate::runtime::fork::Owned;
use crate::runtime::options::Text;

struct LogRoom {
    feed: LogFeed,
    flag: Arc<Flag>,
}

/// The records of the library, from one level on.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Logs(Owned<LogRoom>);

#[pymethods]
impl Logs {
    #[new]
    fn new(py: Python<'_>, #[pyo3(from_py_with = level)] level: Text) -> PyResult<Self> {
        constructed(py, || {
            let flag = Arc::<Flag>::default();
            let woken = flag.clone();
            let feed = LogFeed::start(&level, move || woken.raise()).or_raise(py)?;
            Ok(Logs(Owned::new(LogRoom { feed, flag })))
        })
    }

    /// The records that wait, oldest first, as JSON texts.
    fn take(&self, py: Python<'_>, most: usize) -> PyResult<Py<PyAny>> {
        let room = self.0.here()?;
        guarded(|| made(py, room.feed.take(most)))
    }

    /// Whether nothing waits and nothing will come.
    fn ended(&self) -> PyResult<bool> {
        let room = self.0.here()?;
        guarded(|| Ok(room.feed.is_ended()))
    }

    /// Waits until it is woken, without the GIL. For a thread of the package's own.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let flag = &self.0.here()?.flag;
        guarded(|| {
            flag.wait_asleep(py);
            Ok(())
        })
    }

    /// Ends it; what waits can still be taken. Repeating it does nothing.
    fn close(&self) -> PyResult<()> {
        let room = self.0.here()?;
        guarded(|| {
            room.feed.end();
            Ok(())
        })
    }
}

fn level(given: &Bound<'_, PyAny>) -> PyResult<Text> {
    Text::read(given, "level")
}
