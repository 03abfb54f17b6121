//! One connection to one server: the handshake, the calls in flight, the lists, and the end of it.
//!
//! The driver makes one [`Connection`] per incarnation of an entry and decides nothing here. A call
//! goes straight from the caller's thread to the wire and back to its completion; no task is
//! spawned for it.

mod calls;
mod connection;
mod era;
mod errors;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod introduction;
mod lifecycle;
mod lists;
mod log_level;
mod server_requests;
mod state;
mod types;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use trunkline_pool::acceptance::QuarantinedTools;
use trunkline_pool::config::ServerSpec;
pub(crate) use trunkline_pool::in_flight::Callers;
use trunkline_pool::state::CloseExit;

pub use self::calls::call_result::CallResult;
pub(crate) use self::calls::call_result::Callee;
use self::calls::in_flight::Purpose;
pub(crate) use self::calls::requests::EARLIER_ROUNDS;
pub(crate) use self::calls::time_budget::Attempts;
use self::connection::{Life, Link};
pub(crate) use self::era::Opening;
pub(crate) use self::errors::out_of_reach;
pub use self::introduction::Introduction;
pub(crate) use self::lists::list_all::ServerListing;
pub(crate) use self::log_level::LevelAnswer;
use self::state::ignored_counts::Ignored;
pub(crate) use self::types::{
    ConnectOptions, ConnectionEvents, GivenUp, Kill, OnProgress, OutgoingRequest, Provided, Reply,
    ReplyCallback, RequestId, ServerFacts, ServerQuestion, Unconnected,
};
use crate::Result;
use crate::transport::{AnswerReader, EventLoop};

/// An established connection. Cheap to clone; dropping it closes nothing (the driver closes).
#[derive(Clone)]
pub(crate) struct Connection(Arc<Link>);

impl Connection {
    /// Starts the server, finds out what it speaks and lists everything, within `options.timeout`.
    ///
    /// When it fails nothing is left running: the process tree is ended first, and the error is
    /// returned only then. When `given_up` says how, or is dropped, the attempt gives up the same
    /// way, with the error `cancelled`; a later `Kill::Now` cuts the graces short, also those of an
    /// attempt that failed by itself. Dropping the future leaves the ending to the runtime.
    pub(crate) async fn connect(
        spec: &ServerSpec,
        options: ConnectOptions,
        events: Arc<dyn ConnectionEvents>,
        given_up: GivenUp,
    ) -> std::result::Result<(Connection, ServerListing), Unconnected> {
        let connected = lifecycle::connect::connect(spec, options, events, given_up).await;
        connected.map(|(link, listed)| (Connection(link), listed))
    }

    /// Writes a request; `done` is called exactly once, whatever happens. Never blocks: a full pipe
    /// queues, and a full queue fails the request with `limit`, `not_sent`.
    pub(crate) fn start(&self, request: OutgoingRequest<'_>, done: ReplyCallback) -> RequestId {
        self.0.start(request, done, Purpose::Call)
    }

    /// The same for what no call of a host waits for: it is not limited like those, and the end of
    /// the connection does not wait for it.
    pub(crate) fn start_apart(
        &self,
        request: OutgoingRequest<'_>,
        done: ReplyCallback,
    ) -> RequestId {
        self.0.start(request, done, Purpose::Own)
    }

    /// Reads the answer to a request on this thread, which waits for it, if nobody else needs to
    /// read, and completes it here. Returns when it has ended, or as soon as another thread reads,
    /// which completes it then. Blocks for milliseconds at most.
    pub(crate) fn read_here(&self, RequestId(id): RequestId) {
        self.0.wire.read_here(id, &*self.0);
    }

    /// Lets the event loop that started a request as one that is read here read its answer, if
    /// nobody else needs to read.
    pub(crate) fn read_on(&self, event_loop: &EventLoop, RequestId(id): RequestId) -> AnswerReader {
        self.0.wire.lend_to(event_loop, id, &*self.0)
    }

    /// What does not keep it.
    pub(crate) fn downgrade(&self) -> WeakConnection {
        WeakConnection(Arc::downgrade(&self.0))
    }

    /// Ends a request with `cancelled` and tells the server. Nothing when it already ended.
    pub(crate) fn cancel(&self, id: RequestId) {
        self.0.cancel(id);
    }

    /// Lists everything again, all pages (SPEC 4.3). Dropping the future cancels the requests under
    /// way.
    pub(crate) async fn list(&self) -> Result<ServerListing> {
        self.0.relist().await.map_err(errors::kept)
    }

    /// Whether it was lost, which is told only once the exit of its process is known, or was waited
    /// for.
    pub(crate) fn is_lost(&self) -> bool {
        match self.0.stands() {
            Life::Lost => true,
            Life::Open => self.0.wire.is_broken(),
            Life::Connecting | Life::Closing => false,
        }
    }

    /// Calls in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.0.calls.count()
    }

    /// Waits until no call is in flight, or the connection is lost.
    pub(crate) async fn quiet(&self) {
        self.0.calls.quiet().await;
    }

    /// Ends it: calls in flight end with `call_interrupted`, then the ordered shutdown of SPEC 9.8,
    /// until nothing of the process tree is left. `kill` skips the graces. May be called again with
    /// `kill` while a patient close is under way.
    pub(crate) async fn close(&self, kill: Kill) -> CloseExit {
        self.0.close(kill).await
    }

    /// What is kept of the server's stderr, escaped, oldest line first.
    pub(crate) fn stderr_tail(&self) -> Vec<String> {
        self.0.stderr_lines()
    }

    /// Whether what is in a call's arguments may have to be in its headers too.
    pub(crate) fn mirrors_arguments(&self) -> bool {
        self.0.metadata.is_modern() && self.0.wire.mirrors_arguments()
    }

    /// The word for its transport, where its configuration leaves that open.
    pub(crate) fn transport(&self) -> Option<&'static str> {
        self.0.wire.transport()
    }

    /// What is different about tools that are held back is told without the secrets that the server
    /// has (S-48).
    pub(crate) fn hide_in(&self, held: &QuarantinedTools) {
        let hide = |json: &str| self.0.redactor.json(json).into_owned();
        for tool in held.tools() {
            tool.difference_without(&hide);
        }
    }

    /// Whether a text that the server listed says back a secret that it has.
    pub(crate) fn says_secret(&self, json: &str) -> bool {
        matches!(self.0.redactor.json(json), Cow::Owned(_))
    }

    /// The first lines of the server that are no messages.
    pub(crate) fn noise_lines(&self) -> Vec<String> {
        self.0.ignored.noise_lines()
    }

    /// How much of what the server sent nobody wanted, by kind.
    pub(crate) fn ignored(&self) -> [(&'static str, u64); 3] {
        let Ignored { noise, replies, notifications, .. } = &self.0.ignored;
        [("noise", noise), ("replies", replies), ("notifications", notifications)]
            .map(|(kind, counter)| (kind, counter.load(Ordering::Relaxed)))
    }

    /// The negotiated protocol version, and the server's name and version as it gave them.
    pub(crate) fn server_facts(&self) -> ServerFacts {
        self.0.facts.get().cloned().unwrap_or_default()
    }
}

/// A connection that may be gone.
pub(crate) struct WeakConnection(Weak<Link>);

impl WeakConnection {
    /// Reads what there is for a loop that waits for the answer to a request; whether it is to go
    /// on with that.
    pub(crate) fn read_ready(&self, request: u64) -> bool {
        self.0.upgrade().is_some_and(|link| link.wire.read_ready(request, &*link))
    }

    /// Somebody waits for an answer without reading it.
    pub(crate) fn recall_reader(&self) {
        self.0.upgrade().into_iter().for_each(|link| link.wire.recall_reader());
    }
}
