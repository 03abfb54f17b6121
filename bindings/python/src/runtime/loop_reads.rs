//! Answers that an event loop reads itself: it watches the output of servers that is on loan to it.
//!
//! A call that waits alone is then answered by the one thread that waits for it, which the server
//! wakes. All of this is on the loop's thread, but for the end of a loan, which comes through the
//! bridge's queue.

use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use trunkline::{EventLoop, LoopReader, Operation, Reader};

use crate::runtime::interpreter::{call_python, report};

/// What one event loop has on loan.
pub struct Loans {
    event_loop: EventLoop,
    open: Mutex<Vec<OpenLoan>>,
}

struct OpenLoan {
    loan: Arc<LoopReader>,
    is_watched: bool,
}

impl Loans {
    /// Nothing yet. `over` hears of loans that are over, on any thread.
    pub fn new(over: impl Fn(u64) + Send + Sync + 'static) -> Loans {
        Loans { event_loop: EventLoop::new(over), open: Mutex::default() }
    }

    /// Lets the loop read the answer to a call that was just started, if nobody else needs to read.
    /// A loop that cannot watch the descriptor, as `select` cannot any number, leaves that to the
    /// library.
    ///
    /// # Errors
    /// An exception that is no `Exception`, such as `KeyboardInterrupt`; the answer is then left to
    /// the library as well.
    pub fn await_answer(&self, operation: &Operation, bridge: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = match operation.read_on(&self.event_loop) {
            Reader::Library => return Ok(()),
            Reader::Loan(number) => number,
            Reader::NewLoan(loan) => {
                let number = loan.number();
                self.open().push(OpenLoan { loan: Arc::new(loan), is_watched: false });
                number
            }
        };
        let unwatched = self.loan(number, |open| !std::mem::replace(&mut open.is_watched, true));
        let Some(loan) = unwatched else { return Ok(()) };
        // Without the lock: it is Python that runs.
        let watched = (loan.descriptor(), number).into_pyobject(bridge.py());
        watched.and_then(|given| call_python(&bridge.getattr("watch")?, given)).or_else(|error| {
            self.loan(number, |open| std::mem::take(&mut open.is_watched));
            loan.give_up();
            if error.is_instance_of::<PyException>(bridge.py()) { Ok(()) } else { Err(error) }
        })
    }

    /// Reads what is there, and stops watching when the library is to read.
    pub fn read(&self, number: u64, bridge: &Bound<'_, PyAny>) {
        let Some(loan) = self.loan(number, |_| true) else { return };
        if !loan.read() && self.loan(number, |open| std::mem::take(&mut open.is_watched)).is_some()
        {
            unwatch(&loan, bridge);
        }
    }

    /// Stops watching for good.
    pub fn close(&self, number: u64, bridge: &Bound<'_, PyAny>) {
        let closed = {
            let mut open = self.open();
            let at = open.iter().position(|open| open.loan.number() == number);
            at.map(|at| open.swap_remove(at))
        };
        // The descriptor is closed behind it: until then no other can have its number.
        if let Some(OpenLoan { loan, is_watched: true }) = closed {
            unwatch(&loan, bridge);
        }
    }

    /// The loan with that number, if the condition holds for it.
    fn loan(
        &self,
        number: u64,
        holds: impl FnOnce(&mut OpenLoan) -> bool,
    ) -> Option<Arc<LoopReader>> {
        let mut open = self.open();
        let open = open.iter_mut().find(|open| open.loan.number() == number)?;
        holds(open).then(|| open.loan.clone())
    }

    fn open(&self) -> MutexGuard<'_, Vec<OpenLoan>> {
        self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn unwatch(loan: &LoopReader, bridge: &Bound<'_, PyAny>) {
    let given = (loan.descriptor(),).into_pyobject(bridge.py());
    if let Err(error) = given.and_then(|given| call_python(&bridge.getattr("unwatch")?, given)) {
        report(error, bridge);
    }
}
