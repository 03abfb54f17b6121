//! What the library's threads hand to the JavaScript thread.

use std::rc::Rc;
use std::sync::Arc;

use napi::sys;
use trunkline::{CallResult, CompletionQueue, Error, ProgressFeed};

use crate::runtime::environment::Environment;
use crate::runtime::failure;

/// The queue of one environment.
pub type Queue = CompletionQueue<Arrival>;

/// One thing that arrived.
pub enum Arrival {
    /// An operation ended.
    Settled {
        /// The number of its promise.
        number: u64,
        /// Its result.
        result: Result<Settled, Error>,
    },
    /// A call that goes on made progress.
    Progress {
        /// The number of its promise.
        number: u64,
        /// What waits to be told.
        feed: Arc<ProgressFeed>,
    },
    /// The output of a server is not on loan to the event loop any more.
    LoanOver {
        /// The number of the loan.
        loan: u64,
    },
    /// A subscription went from empty to not empty, or ended.
    Readable {
        /// The number of the subscription.
        subscription: u64,
    },
}

impl Arrival {
    /// Bytes that JavaScript gets with it, where that may be many.
    pub fn bytes(&self) -> usize {
        match self {
            Arrival::Settled { result: Ok(Settled::Call(result)), .. } => result.json().len(),
            _ => 0,
        }
    }
}

/// Makes a JavaScript object, on the thread of the environment.
pub type Make = Box<dyn FnOnce(&Rc<Environment>) -> napi::Result<sys::napi_value> + Send>;

/// A result, not yet a JavaScript value.
pub enum Settled {
    /// `undefined`.
    Nothing,
    /// A JSON text of ours.
    Text(String),
    /// A JSON text of a server, as received.
    Call(CallResult),
    /// What makes an object of it.
    Object(Make),
}

impl Settled {
    /// A report as JSON text.
    pub fn report(report: serde_json::Value) -> Settled {
        Settled::Text(report.to_string())
    }
}

/// The duty to settle one promise. Exactly one result comes of it, whatever happens: dropped
/// unused, it answers `internal`.
pub struct Reply {
    queue: Arc<Queue>,
    number: u64,
    is_sent: bool,
}

impl Reply {
    /// The duty to settle the promise with that number.
    pub fn new(queue: Arc<Queue>, number: u64) -> Reply {
        Reply { queue, number, is_sent: false }
    }

    /// Settles it. From any thread.
    pub fn send(mut self, result: Result<Settled, Error>) {
        self.is_sent = true;
        self.queue.push(Arrival::Settled { number: self.number, result });
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.is_sent {
            let result = Err(failure::internal("the operation ended without an answer"));
            self.queue.push(Arrival::Settled { number: self.number, result });
        }
    }
}
