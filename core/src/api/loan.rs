//! Answers that an event loop reads itself.

use crate::client::WeakConnection;
use crate::platform;
use crate::session::call::calls::CallHandle;
use crate::session::call::operation::Operation;
use crate::transport::{self, EventLoop, LentOutput};

/// Who reads the answer to a call of an event loop.
#[doc(hidden)]
pub enum Reader {
    /// The library, as always.
    Library,
    /// The loop, by the loan with this number, which it has.
    Loan(u64),
    /// The loop, by this loan.
    NewLoan(LoopReader),
}

/// The output of a server on loan to an event loop. The loop polls its descriptor, and calls
/// [`read`](Self::read) when that can be read, until [`EventLoop`] is told that the loan is over.
#[doc(hidden)]
pub struct LoopReader {
    output: LentOutput,
    connection: WeakConnection,
    fork_generation: u64,
}

impl LoopReader {
    /// Unique in the process.
    pub fn number(&self) -> u64 {
        self.output.number()
    }

    /// The descriptor to poll, which is closed when this is dropped.
    pub fn descriptor(&self) -> i32 {
        self.output.pipe.number()
    }

    /// Reads what is there, without waiting. An answer to the call for which the output was lent
    /// last ends that call here; everything else is left to the library. `false`: the loop is not
    /// to poll before its next call is read by this loan again.
    #[must_use]
    pub fn read(&self) -> bool {
        self.fork_generation == platform::fork_generation()
            && self.connection.read_ready(self.output.request())
    }

    /// Leaves it to the library to read, where the loop cannot poll.
    pub fn give_up(&self) {
        self.connection.recall_reader();
    }
}

impl Operation {
    /// For the event loop that started a call with [`CallOptions::reads_here`], right after: lets
    /// the loop read the answer by itself where nobody else needs to read, so that no other thread
    /// has to wake it.
    ///
    /// [`CallOptions::reads_here`]: trunkline_pool::options::CallOptions::reads_here
    #[doc(hidden)]
    #[must_use]
    pub fn read_on(&self, event_loop: &EventLoop) -> Reader {
        let Some(CallHandle::Once(connection, id)) = self.started() else { return Reader::Library };
        match connection.read_on(event_loop, *id) {
            transport::AnswerReader::Library => Reader::Library,
            transport::AnswerReader::Loan(number) => Reader::Loan(number),
            transport::AnswerReader::NewLoan(output) => Reader::NewLoan(LoopReader {
                output,
                connection: connection.downgrade(),
                fork_generation: platform::fork_generation(),
            }),
        }
    }
}
