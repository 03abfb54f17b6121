//! What a connection is given, what it tells, and what its requests are made of.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::catalog::ListKind;
use trunkline_pool::config::Era;
use trunkline_pool::in_flight::Callers;
use trunkline_pool::options::{
    ClientInfo, HandlerFuture, HandlerKind, NothingListed, Offered, Refusal, RelayedCall,
};
use trunkline_pool::reader_role::Lending;
use trunkline_pool::state::{CloseExit, LossReason, SessionId};

use super::calls::time_budget::Attempts;
use super::era::Opening;
use super::introduction::Introduction;
use crate::auth::Credentials;
use crate::host_env::SearchCache;
use crate::net::cookies::Jar;
use crate::runtime::texts::Text;
use crate::transport::HostServer;
use crate::transport::stdio::ProgramCheck;
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
    /// Waits before each attempt to have a list that the server did not give. The last one repeats;
    /// an empty list never asks.
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
    pub lookups: Arc<SearchCache>,
}

/// A server that the host provides.
#[derive(Clone)]
pub(crate) struct Provided(pub Arc<dyn HostServer>);

impl std::fmt::Debug for Provided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Provided")
    }
}

/// What a connection tells its driver, in the order of the wire. Called on an I/O thread: must not
/// block.
pub(crate) trait ConnectionEvents: Send + Sync + 'static {
    /// The server's process runs. Called first, and again with the process that takes the place of
    /// one which the first question ended or confused.
    fn started(&self, pid: u32);
    /// The connection is lost; every call in flight was answered before. Called at most once, and
    /// not after a `close`.
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
    /// A log message of the server: the text of the notification's params, and whose call it can be
    /// about.
    fn log(&self, params: &str, callers: Callers);
    /// The server asks for the roots: the text of the result.
    fn roots(&self) -> String;
    /// The server asks something of a host: the answer of the session that it is for.
    ///
    /// # Errors
    /// When nobody is to be asked.
    fn ask(&self, question: ServerQuestion<'_>) -> std::result::Result<HandlerFuture, Refusal>;
    /// A line that the server wrote to stderr, escaped.
    fn stderr(&self, line: &str);
}

/// What a server asks of a host.
#[derive(Clone, Copy)]
pub(crate) struct ServerQuestion<'a> {
    /// Which handler it is for.
    pub kind: HandlerKind,
    /// The protocol's method.
    pub method: &'a str,
    /// The text of its params.
    pub params: &'a str,
    /// Whose call it can be about.
    pub callers: Callers,
}

/// How a request ends: exactly once, on an I/O thread, on the thread that cancelled, or inside
/// `start` itself when nothing could be sent. Must not block. A panic in it is contained and
/// logged.
pub(crate) type ReplyCallback = Box<dyn FnOnce(Result<Reply>) + Send>;

/// Receives the params of progress notifications. Must not block. A panic in it is contained and
/// logged.
pub(crate) type OnProgress = Box<dyn FnMut(&str) + Send>;

/// The `result` of a reply: JSON text as received.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The text.
    pub json: Text,
}

/// A request of ours.
pub(crate) struct OutgoingRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The text of a JSON object.
    pub params: &'a str,
    /// Whether a `_meta` of the caller's may be in it, and so a token of progress of the caller's.
    pub has_own_meta: bool,
    /// The session on whose behalf it is made.
    pub caller: Option<SessionId>,
    /// The attempts that it is one of, whose time in all it has; by default it has its own.
    pub attempts: Option<Attempts>,
    /// In all.
    pub timeout: Duration,
    /// Without progress.
    pub idle_timeout: Duration,
    /// Receives the params of each progress notification, in the order of the wire, before the
    /// result. Its presence asks for progress.
    pub progress: Option<OnProgress>,
    /// Whether the thread that starts it calls `read_here` for its answer right after, or
    /// `read_on`.
    pub reads_here: bool,
    /// What is said of a call that is carried for a client of an endpoint.
    pub relayed: Option<&'a RelayedCall>,
}

impl<'a> OutgoingRequest<'a> {
    /// One of the connection's own: no session makes it, and nobody wants its progress.
    pub(super) fn of_connection(
        method: &'a str,
        params: &'a str,
        timeout: Duration,
    ) -> OutgoingRequest<'a> {
        OutgoingRequest {
            method,
            params,
            has_own_meta: false,
            caller: None,
            attempts: None,
            timeout,
            idle_timeout: timeout,
            progress: None,
            reads_here: false,
            relayed: None,
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
