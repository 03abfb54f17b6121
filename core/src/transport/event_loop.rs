//! A server's output while an event loop may read it: what the loop has of it, and what the stream
//! has of the loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::platform::PipeCopy;

/// An event loop that is told by its system when a descriptor can be read, and reads the answers to
/// its own calls then.
#[doc(hidden)]
#[derive(Clone)]
pub struct EventLoop(Arc<OnOver>);

type OnOver = dyn Fn(u64) + Send + Sync;

impl EventLoop {
    /// `over` is called on any thread with the number of a loan that is over, once for each; it
    /// must not block.
    pub fn new(over: impl Fn(u64) + Send + Sync + 'static) -> EventLoop {
        EventLoop(Arc::new(over))
    }
}

/// Who reads the answer to a call of an event loop.
pub(crate) enum AnswerReader {
    /// The library, as always.
    Library,
    /// The loop, which polls for the loan with this number already.
    Loan(u64),
    /// The loop, once it polls.
    NewLoan(LentOutput),
}

/// The loop's part of a loan.
pub(crate) struct LentOutput {
    pub(crate) pipe: PipeCopy,
    terms: Arc<Terms>,
}

/// The stream's part of a loan, which is over when this is dropped.
pub(crate) struct Borrower {
    event_loop: EventLoop,
    terms: Arc<Terms>,
}

struct Terms {
    number: u64,
    /// For whose answer.
    request: AtomicU64,
}

impl LentOutput {
    /// A loan to that loop, for the answer to this request.
    pub(crate) fn new(
        event_loop: &EventLoop,
        request: u64,
        pipe: PipeCopy,
    ) -> (LentOutput, Borrower) {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let terms = Arc::new(Terms { number, request: AtomicU64::new(request) });
        let borrower = Borrower { event_loop: event_loop.clone(), terms: terms.clone() };
        (LentOutput { pipe, terms }, borrower)
    }

    /// Unique in the process.
    pub(crate) fn number(&self) -> u64 {
        self.terms.number
    }

    /// The request whose answer is waited for.
    pub(crate) fn request(&self) -> u64 {
        self.terms.request.load(Ordering::Acquire)
    }
}

impl Borrower {
    /// Goes on for the answer to another request of the same loop, and gives its number; nothing
    /// for another loop.
    pub(crate) fn renew(&self, event_loop: &EventLoop, request: u64) -> Option<u64> {
        Arc::ptr_eq(&self.event_loop.0, &event_loop.0).then(|| {
            self.terms.request.store(request, Ordering::Release);
            self.terms.number
        })
    }
}

impl Drop for Borrower {
    fn drop(&mut self) {
        (self.event_loop.0)(self.terms.number);
    }
}

impl std::fmt::Debug for Borrower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Borrower").field(&self.terms.number).finish()
    }
}
