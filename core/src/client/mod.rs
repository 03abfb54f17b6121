//! One connection to one server: the handshake, the calls in flight, the lists, and the end of it.
//!
//! The driver makes one [`Connection`] per incarnation of an entry and decides nothing here. A call goes
//! straight from the caller's thread to the wire and back to its completion; no task is spawned for it.

mod attempts;
mod calls;
mod connect;
mod ending;
mod era;
mod failure;
mod frame_transport;
mod freshness;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod in_flight;
mod introduction;
mod keepalive;
mod link;
mod listen;
mod lists;
mod log_level;
mod offers;
mod owed;
mod pages;
mod reading;
mod requests;
mod server_requests;
mod tasks;
mod timer;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use trunkline_pool::acceptance::Held;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::config::{Era, ServerSpec};
pub(crate) use trunkline_pool::in_flight::Callers;
use trunkline_pool::options::{ClientInfo, Handling, NothingListed, Offered, Refusal};
use trunkline_pool::reader_role::Lending;
use trunkline_pool::state::{CloseExit, LossReason, SessionId};

pub(crate) use self::attempts::Attempts;
pub use self::calls::call_result::CallResult;
pub(crate) use self::calls::call_result::Callee;
pub(crate) use self::era::Opening;
pub(crate) use self::failure::out_of_reach;
use self::in_flight::Purpose;
pub use self::introduction::Introduction;
use self::link::{Life, Link};
pub(crate) use self::lists::Listed;
pub(crate) use self::log_level::LevelAnswer;
pub(crate) use self::requests::EARLIER_ROUNDS;
pub(crate) use self::server_requests::Question;
use crate::auth::Credentials;
use crate::lookup::Lookups;
use crate::net::cookies::Jar;
use crate::texts::Text;
use crate::transport::stdio::ProgramCheck;
use crate::transport::{EventLoop, HostServer, ReadBy};
use crate::{Error, Result};

/// What one attempt to connect needs besides the server's configuration.
#[derive(Clone, Debug)]
pub(crate) struct ConnectOptions {
    /// The server's name, for errors and logs.
    pub server: Arc<str>,
    /// How the first words are chosen.
    pub opening: Opening,
    /// The folder that a relative `cwd` and the child start from.
    pub workspace: PathBuf,
    /// Connect and list together.
    pub timeout: Duration,
    /// What of that is over already.
    pub spent: Duration,
    /// From the close of stdin to SIGTERM.
    pub exit_grace: Duration,
    /// From SIGTERM to SIGKILL.
    pub kill_grace: Duration,
    /// Bytes of one frame.
    pub frame_bytes: usize,
    /// Bytes kept of stderr.
    pub stderr_bytes: usize,
    /// When threads that wait for their answers read them themselves.
    pub lending: Lending,
    /// Calls in flight on this connection.
    pub in_flight: u32,
    /// Who the host is; the library itself by default.
    pub client_info: Option<ClientInfo>,
    /// What becomes of a server that lists nothing.
    pub nothing_listed: NothingListed,
    /// Waits before each attempt to have a list that the server did not give, of which the last repeats; none never asks.
    pub quiet_waits: Vec<Duration>,
    /// Silence before the server is asked whether it lives; zero never asks.
    pub keepalive: Duration,
    /// Missed answers in a row that count as loss.
    pub keepalive_misses: u32,
    /// Silence that a call in flight can be the reason of, whatever time it has itself.
    pub call_idle_timeout: Duration,
    /// The capabilities that the server is offered because the host can answer.
    pub offered: Offered,
    /// What a handler of the host has for its answer.
    pub handler_timeout: Duration,
    /// Names or patterns of host variables that every server inherits.
    pub inherit_env: Vec<String>,
    /// What a remote server is sent to be let in.
    pub credentials: Option<Arc<Credentials>>,
    /// What a remote server set, also over earlier connections of the entry.
    pub cookies: Arc<Jar>,
    /// The server itself, when the host provides it.
    pub host: Option<Provided>,
    /// Looks at the program that is about to be started.
    pub program_check: Option<ProgramCheck>,
    /// The look-ups of programs, also those of earlier attempts.
    pub lookups: Arc<Lookups>,
}

/// A server that the host provides.
#[derive(Clone)]
pub(crate) struct Provided(pub Arc<dyn HostServer>);

impl std::fmt::Debug for Provided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Provided")
    }
}

/// What a connection tells its driver, in the order of the wire. Called on an I/O thread: must not block.
pub(crate) trait ConnectionEvents: Send + Sync + 'static {
    /// The server's process runs. Called first, and again with the process that takes the place of one which the first
    /// question ended or confused.
    fn started(&self, pid: u32);
    /// The connection is lost; every call in flight was answered before. Called at most once, and not after a `close`.
    fn lost(&self, reason: LossReason, error: Error);
    /// How the process of a lost connection ended, in words: that was not known when the loss was
    /// told.
    fn exited_late(&self, how: &str);
    /// The server announced that a list changed.
    fn list_changed(&self, list: ListKind);
    /// The server announced that a resource was updated.
    fn resource_updated(&self, uri: &str);
    /// The server says that what was asked by this id, and without secrets by that, is over.
    fn elicitation_completed(&self, id: &str, shown: &str);
    /// What the server announced of resources may not have come.
    fn resources_missed(&self);
    /// A log message of the server: the text of the notification's params, and whose call it can be about.
    fn log(&self, params: &str, callers: Callers);
    /// The server asks for the roots: the text of the result.
    fn roots(&self) -> String;
    /// The server asks something of a host: the answer of whoever it is for.
    ///
    /// # Errors
    /// When nobody is to be asked.
    fn ask(&self, question: Question<'_>) -> std::result::Result<Handling, Refusal>;
    /// A line that the server wrote to stderr, escaped.
    fn stderr(&self, line: &str);
}

/// How a request ends: exactly once, on an I/O thread, on the thread that cancelled, or inside `start` itself when
/// nothing could be sent. Must not block. A panic in it is contained and logged.
pub(crate) type Done = Box<dyn FnOnce(Result<Reply>) + Send>;

/// Receives the params of progress notifications. Must not block. A panic in it is contained and logged.
pub(crate) type OnProgress = Box<dyn FnMut(&str) + Send>;

/// The `result` of a reply: JSON text as received.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The text.
    pub json: Text,
}

/// A request of ours.
pub(crate) struct Request<'a> {
    /// The method.
    pub method: &'a str,
    /// The text of a JSON object.
    pub params: &'a str,
    /// The session on whose behalf it is made.
    pub caller: Option<SessionId>,
    /// The attempts that it is one of, whose time in all it has; by default it has its own.
    pub attempts: Option<Attempts>,
    /// In all.
    pub timeout: Duration,
    /// Without progress.
    pub idle_timeout: Duration,
    /// Receives the params of each progress notification, in the order of the wire, before the result. Its presence
    /// asks for progress.
    pub progress: Option<OnProgress>,
    /// Whether the thread that starts it calls `read_here` for its answer right after, or `read_on`.
    pub reads_here: bool,
}

impl<'a> Request<'a> {
    /// One of the connection's own: no session makes it, and nobody wants its progress.
    fn of_connection(method: &'a str, params: &'a str, timeout: Duration) -> Request<'a> {
        Request {
            method,
            params,
            caller: None,
            attempts: None,
            timeout,
            idle_timeout: timeout,
            progress: None,
            reads_here: false,
        }
    }
}

/// The id of a request of ours on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestId(pub u64);

/// An attempt that failed, or was given up.
pub(crate) struct Unconnected {
    /// Why.
    pub error: Error,
    /// How what it had started ended; clean when it had started nothing.
    pub exit: CloseExit,
}

/// An established connection. Cheap to clone; dropping it closes nothing (the driver closes).
#[derive(Clone)]
pub(crate) struct Connection(Arc<Link>);

impl Connection {
    /// Starts the server, finds out what it speaks and lists everything, within `options.timeout`.
    ///
    /// When it fails nothing is left running: the process tree is ended first, and the error is returned only then. When `given_up`
    /// says how, or is dropped, the attempt gives up the same way, with the error `cancelled`; a later `Kill::Now` cuts the
    /// graces short, also those of an attempt that failed by itself. Dropping the future leaves the ending to the runtime.
    pub(crate) async fn connect(
        spec: &ServerSpec,
        options: ConnectOptions,
        events: Arc<dyn ConnectionEvents>,
        given_up: GivenUp,
    ) -> std::result::Result<(Connection, Listed), Unconnected> {
        connect::connect(spec, options, events, given_up).await
    }

    /// Writes a request; `done` is called exactly once, whatever happens. Never blocks: a full pipe queues, and a full
    /// queue fails the request with `limit`, `not_sent`.
    pub(crate) fn start(&self, request: Request<'_>, done: Done) -> RequestId {
        self.0.start(request, done, Purpose::Call)
    }

    /// The same for what no call of a host waits for: it is not limited like those, and the end of the connection does not wait for it.
    pub(crate) fn start_apart(&self, request: Request<'_>, done: Done) -> RequestId {
        self.0.start(request, done, Purpose::Own)
    }

    /// Reads the answer to a request on this thread, which waits for it, if nobody else needs to read, and completes it here. Returns
    /// when it has ended, or as soon as another thread reads, which completes it then. Blocks for milliseconds at most.
    pub(crate) fn read_here(&self, RequestId(id): RequestId) {
        self.0.wire.read_here(id, &*self.0);
    }

    /// Lets the event loop that started a request as one that is read here read its answer, if nobody else needs to read.
    pub(crate) fn read_on(&self, event_loop: &EventLoop, RequestId(id): RequestId) -> ReadBy {
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

    /// Lists everything again, all pages (SPEC 4.3). Dropping the future cancels the requests under way.
    pub(crate) async fn list(&self) -> Result<Listed> {
        self.0.relist().await.map_err(failure::kept)
    }

    /// Whether it was lost, which is told only once the exit of its process is known, or was waited for.
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

    /// Ends it: calls in flight end with `call_interrupted`, then the ordered shutdown of SPEC 9.8, until nothing of the
    /// process tree is left. `kill` skips the graces. May be called again with `kill` while a patient close is under way.
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

    /// What is different about tools that are held back is told without the secrets that the server has (S-48).
    pub(crate) fn hide_in(&self, held: &Held) {
        let hide = |json: &str| self.0.redactor.json(json).into_owned();
        for tool in held.tools() {
            tool.difference_without(&hide);
        }
    }

    /// Whether a text that the server listed says back a secret that it has.
    pub(crate) fn says_secret(&self, json: &str) -> bool {
        matches!(self.0.redactor.json(json), Cow::Owned(_))
    }

    /// The negotiated protocol version, and the server's name and version as it gave them.
    pub(crate) fn server_facts(&self) -> ServerFacts {
        self.0.facts.get().cloned().unwrap_or_default()
    }
}

/// A connection that may be gone.
pub(crate) struct WeakConnection(Weak<Link>);

impl WeakConnection {
    /// Reads what there is for a loop that waits for the answer to a request; whether it is to go on with that.
    pub(crate) fn read_ready(&self, request: u64) -> bool {
        self.0.upgrade().is_some_and(|link| link.wire.read_ready(request, &*link))
    }

    /// Somebody waits for an answer without reading it.
    pub(crate) fn recall_reader(&self) {
        self.0.upgrade().into_iter().for_each(|link| link.wire.recall_reader());
    }
}

/// Tells an attempt that it is no longer wanted, and how much patience its end may have.
pub(crate) type GivenUp = tokio::sync::watch::Receiver<Option<Kill>>;

/// Whether a close waits for the server's own exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kill {
    /// The graces hold.
    AfterGraces,
    /// SIGKILL at once.
    Now,
}

/// What the server said of itself: unverified.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerFacts {
    /// The protocol family; absent before the server said anything.
    pub era: Option<Era>,
    /// The negotiated protocol version.
    pub protocol_version: String,
    /// The server's own name.
    pub name: String,
    /// The server's own version.
    pub version: String,
    /// All that it said.
    pub introduction: Option<Introduction>,
    /// Whether it can be told how much of its log is wanted.
    pub has_logging: bool,
}
