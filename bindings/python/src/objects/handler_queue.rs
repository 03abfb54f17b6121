//! Where requests of servers wait for Python's handlers.

use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use trunkline::{HandlerEvent, HandlerQueue, Handlers, Refusal};

use crate::objects::subscription::Flag;
use crate::runtime::delivery::{Bridge, alarm};
use crate::runtime::failure::{OrRaise, constructed, guarded, made};
use crate::runtime::fork::Owned;
use crate::runtime::options::Text;

/// What is called when there is news.
type Wake = Box<dyn Fn() + Send + Sync>;

struct DeskRoom {
    desk: Arc<HandlerQueue>,
    handlers: Handlers,
    wake: Arc<Mutex<Option<Wake>>>,
    flag: Arc<Flag>,
}

fn lock(wake: &Mutex<Option<Wake>>) -> MutexGuard<'_, Option<Wake>> {
    wake.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The requests for the handlers with these names.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Desk(Owned<DeskRoom>);

impl Desk {
    /// The handlers of an option that may be absent.
    pub fn handlers(desk: Option<&Bound<'_, Desk>>) -> PyResult<Handlers> {
        desk.map_or(Ok(Handlers::default()), |desk| Ok(desk.get().0.here()?.handlers.clone()))
    }
}

#[pymethods]
impl Desk {
    #[new]
    fn new(names: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = names.py();
        constructed(py, || {
            let wake: Arc<Mutex<Option<Wake>>> = Arc::default();
            let woken = wake.clone();
            let desk = HandlerQueue::new(move || {
                if let Some(wake) = &*lock(&woken) {
                    wake();
                }
            });
            let names: Vec<Text> = texts(names)?;
            let handlers = desk.handlers(names.iter().map(|name| &**name)).or_raise(py)?;
            Ok(Desk(Owned::new(DeskRoom { desk, handlers, wake, flag: Arc::default() })))
        })
    }

    /// Whether it was made before a fork, by the parent process.
    fn inherited(&self) -> bool {
        self.0.is_inherited()
    }

    /// What waits, oldest first: `asked`, `withdrawn` or `logged`; a number; a JSON text.
    fn take(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let room = self.0.here()?;
        guarded(|| {
            let row = |news| match news {
                HandlerEvent::Asked(number, request) => Some(("asked", number, request.to_json())),
                HandlerEvent::Withdrawn(number) => Some(("withdrawn", number, String::new())),
                HandlerEvent::Logged(event) => Some(("logged", 0, event.into())),
                _ => None,
            };
            made(py, room.desk.take().into_iter().filter_map(row).collect::<Vec<_>>())
        })
    }

    /// Answers a request with the text of a JSON object. Whether anybody waited for it.
    fn answer(&self, number: u64, text: String) -> PyResult<bool> {
        let room = self.0.here()?;
        guarded(|| Ok(room.desk.answer(number, Ok(text))))
    }

    /// Refuses a request.
    fn refuse(&self, number: u64, code: i32, message: String) -> PyResult<bool> {
        let room = self.0.here()?;
        guarded(|| Ok(room.desk.answer(number, Err(Refusal::new(code, message)))))
    }

    /// Says of credentials that they cannot be used: which part of them is wrong, and why.
    fn unfit(&self, number: u64, path: String, why: String) -> PyResult<bool> {
        let room = self.0.here()?;
        guarded(|| Ok(room.desk.answer(number, Err(Refusal::of_unfit(path, why)))))
    }

    /// From here on nobody looks: what waits, taken or not, and what will come is refused.
    fn abandon(&self) -> PyResult<()> {
        let room = self.0.here()?;
        guarded(|| {
            room.desk.abandon();
            Ok(())
        })
    }

    /// From here on, wakes a loop under that number.
    fn wake_loop(&self, bridge: &Bound<'_, Bridge>, token: u64) -> PyResult<()> {
        let room = self.0.here()?;
        let alarm = alarm(bridge, token)?;
        guarded(|| {
            *lock(&room.wake) = Some(Box::new(alarm));
            Ok(())
        })
    }

    /// From here on, wakes threads in [`wait`](Self::wait).
    fn wake_threads(&self) -> PyResult<()> {
        let room = self.0.here()?;
        let flag = room.flag.clone();
        guarded(|| {
            *lock(&room.wake) = Some(Box::new(move || flag.raise()));
            Ok(())
        })
    }

    /// Waits until it is woken, without the GIL. For a thread of the package's own.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let flag = &self.0.here()?.flag;
        guarded(|| {
            flag.wait_asleep(py);
            Ok(())
        })
    }

    /// Wakes the waiter, once.
    fn rouse(&self) -> PyResult<()> {
        self.0.here()?.flag.raise();
        Ok(())
    }
}

fn texts(given: &Bound<'_, PyAny>) -> PyResult<Vec<Text>> {
    given.try_iter()?.map(|name| Text::read(&name?, "handlers")).collect()
}
