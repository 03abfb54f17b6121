//! Typed options, parsed once from JSON; their names and defaults are those of the registry.

mod cache;
pub(crate) mod check;
mod client_info;
mod drain;
mod files;
mod handlers;
mod log_level;
mod longest;
mod parse;
mod progress;
mod reconnect;
mod serve;
mod start;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

pub use self::cache::CatalogCache;
pub use self::check::unknown_option;
pub use self::client_info::{ClientIcon, ClientInfo};
pub use self::drain::DrainMode;
pub use self::files::{LoadOptions, Reconnected, ReloadOptions};
pub use self::handlers::{
    HandlerFuture, HandlerKind, HandlerResult, Handlers, Offered, Refusal, ServerRequest,
};
pub(crate) use self::log_level::LOG_LEVELS;
pub use self::log_level::LogLevel;
pub use self::longest::{longest, within_bounds};
pub use self::progress::{Progress, ProgressReceiver};
pub use self::reconnect::{Reconnect, ServerReconnect};
pub use self::serve::{
    Admission, NewClient, OnClient, Parking, RelayedCall, ServeLimits, ServeOptions,
};
pub use self::start::Start;
use crate::catalog::Filter;
use crate::interface::words::budget_mode;
use crate::layers::scope::Scope;
use crate::naming::NameStyle;
use crate::shapes::ToolFormat;
pub use parse::roots_from_json;

/// Options of a pool.
///
/// A time has at most what its option takes in JSON (docs/reference/options.md): a longer one,
/// `Duration::MAX` too, counts as that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// The workspace folder; the current directory by default.
    pub workspace: Option<String>,
    /// Threads of the internal runtime, process-wide: 1 to 64, default 1.
    pub workers: usize,
    /// Transports whose connections sessions share (words of `ServerSpec::transport_name`).
    pub shared_transports: Vec<String>,
    /// From the last release to the close: 30 s.
    pub drain_delay: Duration,
    /// From first becoming idle to the close, whatever happens between: 5 min.
    pub idle_cap: Duration,
    /// From the close of stdin to SIGTERM: 1 s.
    pub exit_grace: Duration,
    /// From SIGTERM to SIGKILL: 1 s.
    pub kill_grace: Duration,
    /// Connect and list together; `None` = 30 s for stdio, 5 s for remote. 100 ms to 300 s.
    pub connect_timeout: Option<Duration>,
    /// A call in all: 10 min.
    pub call_timeout: Duration,
    /// A call without progress: 300 s.
    pub call_idle_timeout: Duration,
    /// What a handler of the host has for its answer: 10 min.
    pub handler_timeout: Duration,
    /// Without a word from a server, until it is asked whether it lives: 30 s. Zero never asks.
    pub keepalive: Duration,
    /// Misses in a row that count as loss: 3.
    pub keepalive_misses: u32,
    /// How lost connections come back.
    pub reconnect: Reconnect,
    /// How many servers may run, counted by name; as many as there are by default.
    pub budget: Option<Budget>,
    /// Bounds.
    pub limits: Limits,
    /// How long opening a session waits for its servers: 250 ms.
    pub start_gate: Duration,
    /// When a close or a drain kills what is left, unless it has a time of its own: 10 s.
    pub close_timeout: Duration,
    /// When servers start that do not say so themselves: with the sessions.
    pub start: Start,
    /// How many servers connect at one time: 1 to 1024; by the machine's cores by default.
    pub start_parallel: Option<usize>,
    /// Names or patterns of host variables that every server inherits.
    pub inherit_env: Vec<String>,
    /// The folders that servers are told of, as paths; the workspace alone by default.
    pub roots: Option<Vec<String>>,
    /// How exposed names are made.
    pub name_style: NameStyle,
    /// Exposed names that the host keeps for itself.
    pub reserved_names: Vec<String>,
    /// Patterns of the servers that may run; `None` is all of them, none is none.
    pub allowed: Option<Vec<String>>,
    /// Patterns of the servers that may not run, whatever else admits them.
    pub excluded: Vec<String>,
    /// Patterns of the servers that may run, whatever gates are set later; `None` bounds nothing.
    pub launch_allowed: Option<Vec<String>>,
    /// What becomes of a tool whose definition changed, whichever server has it. `None` is
    /// [`OnToolChange::Quarantine`] for servers that need approval, and [`OnToolChange::Notify`]
    /// for the others.
    pub on_tool_change: Option<OnToolChange>,
    /// Who the host is, as servers are told; the library itself by default.
    pub client_info: Option<ClientInfo>,
    /// What becomes of a server that lists nothing.
    pub nothing_listed: NothingListed,
    /// Whether the workspace is trusted; it is not by default (SPEC 11.4).
    pub trusted: bool,
    /// The scopes whose servers may start in a workspace that is not trusted.
    pub untrusted_sources: Vec<Scope>,
    /// Where what servers listed last is kept for the next process; in the platform's cache folder
    /// by default.
    pub cache: CatalogCache,
    /// Where decisions about servers are kept: `memory`, or the whole path of a file; in the
    /// platform's state folder by default.
    pub approvals: Option<String>,
    /// Whether commands in the values of settings run; those of the project and the workspace never
    /// do.
    pub commands: bool,
    /// The file that sign-ins are kept in, as a whole path; the memory alone by default.
    pub tokens: Option<String>,
    /// The file that the status is written to each second, as a whole path; none by default.
    pub status_file: Option<String>,
    /// What answers the servers of sessions without a handler of their own.
    pub handlers: Handlers,
}

/// The most bytes of a [`status_file`](PoolOptions::status_file), for who writes it and who reads
/// it: some hundred servers with all that is kept of their stderr, or thousands without.
pub const STATUS_FILE_BYTES_MAX: usize = 16 << 20;

/// What becomes of a tool whose definition changed (SPEC 7.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnToolChange {
    /// Sessions are told, and it can be used at once.
    #[default]
    Notify,
    /// It is neither listed nor called until the host accepts it.
    Quarantine,
}

/// What becomes of a server that lists nothing (SPEC 4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NothingListed {
    /// It is connected, and a warning says so.
    #[default]
    Warn,
    /// It is refused.
    Error,
}

/// How many servers may run, counted by name (SPEC 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Names of servers that may run at one time.
    pub limit: u32,
    /// What the limit means; `warn` by default.
    pub mode: BudgetMode,
}

/// What the budget's limit means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetMode {
    /// Nothing: it is only shown.
    Off,
    /// The pool warns before the limit is reached, and refuses nothing.
    #[default]
    Warn,
    /// The pool warns, and nothing begins beyond the limit.
    Enforce,
}

impl BudgetMode {
    /// The word in options, events and `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            BudgetMode::Off => budget_mode::OFF,
            BudgetMode::Warn => budget_mode::WARN,
            BudgetMode::Enforce => budget_mode::ENFORCE,
        }
    }
}

/// Bounds of a pool (SPEC 9.6).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Server processes in all.
    pub processes: u32,
    /// Entries of one server name.
    pub entries_per_name: u32,
    /// Calls in flight of one session.
    pub in_flight_per_session: u32,
    /// Calls in flight on one entry.
    pub in_flight_per_entry: u32,
    /// Bytes of one frame: 64 MiB.
    pub frame_bytes: usize,
    /// Bytes kept of a server's stderr: 64 KiB.
    pub stderr_bytes: usize,
    /// Events waiting for one subscriber: 1024.
    pub event_backlog: usize,
}

/// Options of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// The id; must not be that of a live session.
    pub id: String,
    /// The servers it wants without asking; all by default.
    pub servers: ServerSelection,
    /// Filters per server name.
    pub filters: BTreeMap<String, Filter>,
    /// The trust mark per server name, on the session's own copy of the server's tools (SPEC 6.2).
    pub trust: BTreeMap<String, bool>,
    /// Patterns per server name of the tools that are marked always-load, on the session's own
    /// copy.
    pub always_load: BTreeMap<String, Vec<String>>,
    /// Which of the pool's configurations it goes by: the newest.
    pub follow: Follow,
    /// How long its holds stay after a close: 0. More than a year counts as a year.
    pub keep_for: Duration,
    /// Folders of its own that servers are told of, where the connection is its own (SPEC 15.2).
    pub roots: Vec<String>,
    /// How grave log messages of its servers have to be to be heard; as each server has it by
    /// default.
    pub log_level: Option<LogLevel>,
    /// What answers the servers that it calls; the pool's where one is missing.
    pub handlers: Handlers,
}

impl SessionOptions {
    /// Whether they state anything of single servers.
    pub fn has_filters(&self) -> bool {
        !(self.filters.is_empty() && self.trust.is_empty() && self.always_load.is_empty())
    }
}

/// A change of a live session's options; what is absent stays as it is (SPEC 6.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigureOptions {
    /// The servers that it wants from now on.
    pub servers: Option<ServerSelection>,
    /// Patterns per server name, in place of all before.
    pub include: Option<BTreeMap<String, Vec<String>>>,
    /// Patterns per server name, in place of all before.
    pub exclude: Option<BTreeMap<String, Vec<String>>>,
    /// The trust marks, in place of all before.
    pub trust: Option<BTreeMap<String, bool>>,
    /// The always-load patterns, in place of all before.
    pub always_load: Option<BTreeMap<String, Vec<String>>>,
    /// Folders of its own, in place of all before (SPEC 15.2).
    pub roots: Option<Vec<String>>,
}

/// Which of the pool's configurations a session goes by (SPEC 13.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// The newest: it follows every change.
    #[default]
    Newest,
    /// The one that there was when it was opened. The gates and the session's own servers are as of
    /// any other.
    Opened,
}

/// The servers that a session wants without asking for them by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerSelection {
    /// Every admitted server.
    #[default]
    All,
    /// These.
    Names(Vec<String>),
}

impl ServerSelection {
    /// Whether the server of that name is among them.
    pub fn names(&self, server: &str) -> bool {
        match self {
            ServerSelection::All => true,
            ServerSelection::Names(names) => names.iter().any(|name| name == server),
        }
    }
}

/// Options of one call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallOptions {
    /// In all; the server's or the pool's by default. More than a year counts as a year.
    pub timeout: Option<Duration>,
    /// Without progress; the pool's by default. More than a year counts as a year.
    pub idle_timeout: Option<Duration>,
    /// Whether progress is asked for and delivered as `progress` events.
    pub progress: Progress,
    /// `_meta` of the request: the text of a JSON object. A `progressToken` in it does not go out:
    /// the library has its own.
    pub meta: Option<String>,
    /// What is sent again after a loss.
    pub retry: Retry,
    /// Whether the call waits while the server is reconnecting, at most for its time in all.
    pub wait: bool,
    /// The shape that a model was given the tool in: arguments that have other names there go to
    /// the server under its own. Of calls of tools; others take no notice.
    pub shape: Option<ToolFormat>,
    /// Whether a tool that the server does not list is asked of the server all the same: never one
    /// that the session is kept from (SPEC 5.2). Of calls of tools by the server's own names;
    /// others take no notice.
    pub unlisted: bool,
    /// Whether the thread that starts the call reads its answer itself: right after, by
    /// `Operation::read_here`. Of the functions that start a call without a future; the others take
    /// no notice. Who forgets to read waits for milliseconds more.
    pub reads_here: bool,
    /// What an endpoint has to say of a call that it carries for a client.
    #[doc(hidden)]
    pub relayed: Option<RelayedCall>,
}

/// What is sent again, through the next connection, when a call's own is lost (SPEC 5.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// Nothing.
    #[default]
    Never,
    /// What was provably never sent.
    NotSent,
    /// Also a call of a tool that is declared read-only or idempotent, by a session that trusts the
    /// server.
    Safe,
}

/// Options of an explicit acquire.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AcquireOptions {
    /// How long this acquire waits; the connect's own time by default. Its end is `timeout` and
    /// gives the hold up. One that no clock reaches has no end.
    pub timeout: Option<Duration>,
    /// The scope that a configuration given with it counts as: `session` by default; that of
    /// `project` or `workspace` needs the approval and the trust that a file of it would need (SPEC
    /// 11.3).
    pub origin: Option<Scope>,
    /// How grave log messages of this server have to be to be heard by the session; as the session
    /// has it by default.
    pub log_level: Option<LogLevel>,
}

/// Options of a sign-in. What the server's own `oauth` says goes first.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SignInOptions {
    /// Where the authorization server sends the person back to.
    pub redirect_uri: Option<String>,
    /// The address of the document that says who the client is.
    pub client_metadata_url: Option<String>,
    /// The name by which the client is registered; `trunkline` by default.
    pub client_name: Option<String>,
}

/// Options of `status` and `metrics`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusOptions {
    /// Whether memory and processor time of the servers' processes are looked up, for which the
    /// table of all processes is read.
    pub processes: bool,
}

/// Options of a drain and of a close (SPEC 9.7).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DrainOptions {
    /// Whether calls may finish first; they may by default.
    pub mode: DrainMode,
    /// When what is left is killed; `None` = the pool's `close_timeout`. One that no clock reaches
    /// kills nothing.
    pub timeout: Option<Duration>,
}

impl SessionOptions {
    /// A session with that id, and defaults.
    pub fn new(id: impl Into<String>) -> SessionOptions {
        SessionOptions {
            id: id.into(),
            servers: ServerSelection::All,
            filters: BTreeMap::new(),
            trust: BTreeMap::new(),
            always_load: BTreeMap::new(),
            follow: Follow::Newest,
            keep_for: Duration::ZERO,
            roots: Vec::new(),
            log_level: None,
            handlers: Handlers::default(),
        }
    }

    /// Takes a change up: each member that it has replaces that member whole.
    pub fn configure(&mut self, change: ConfigureOptions) {
        let ConfigureOptions { servers, include, exclude, trust, always_load, roots } = change;
        if let Some(include) = include {
            self.filters.values_mut().for_each(|filter| filter.include = None);
            for (server, patterns) in include {
                self.filters.entry(server).or_default().include = Some(patterns);
            }
        }
        if let Some(exclude) = exclude {
            self.filters.values_mut().for_each(|filter| filter.exclude.clear());
            for (server, patterns) in exclude {
                self.filters.entry(server).or_default().exclude = patterns;
            }
        }
        self.filters.retain(|_, filter| *filter != Filter::default());
        self.servers = servers.unwrap_or_else(|| std::mem::take(&mut self.servers));
        self.trust = trust.unwrap_or_else(|| std::mem::take(&mut self.trust));
        self.always_load = always_load.unwrap_or_else(|| std::mem::take(&mut self.always_load));
        self.roots = roots.unwrap_or_else(|| std::mem::take(&mut self.roots));
    }
}

impl Default for PoolOptions {
    fn default() -> Self {
        PoolOptions {
            workspace: None,
            workers: 1,
            shared_transports: vec!["stdio".into(), "websocket".into()],
            drain_delay: Duration::from_secs(30),
            idle_cap: Duration::from_secs(300),
            exit_grace: Duration::from_secs(1),
            kill_grace: Duration::from_secs(1),
            connect_timeout: None,
            call_timeout: Duration::from_secs(600),
            call_idle_timeout: Duration::from_secs(300),
            handler_timeout: Duration::from_secs(600),
            keepalive: Duration::from_secs(30),
            keepalive_misses: 3,
            reconnect: Reconnect::default(),
            budget: None,
            limits: Limits::default(),
            start_gate: Duration::from_millis(250),
            close_timeout: Duration::from_secs(10),
            start: Start::Eager,
            start_parallel: None,
            inherit_env: Vec::new(),
            roots: None,
            name_style: NameStyle::default(),
            reserved_names: Vec::new(),
            allowed: None,
            excluded: Vec::new(),
            launch_allowed: None,
            on_tool_change: None,
            client_info: None,
            nothing_listed: NothingListed::Warn,
            trusted: false,
            untrusted_sources: vec![Scope::Launch, Scope::Session, Scope::Runtime],
            cache: CatalogCache::On,
            approvals: None,
            commands: false,
            tokens: None,
            status_file: None,
            handlers: Handlers::default(),
        }
    }
}

impl Default for DrainOptions {
    fn default() -> Self {
        DrainOptions { mode: DrainMode::Finish, timeout: None }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            processes: 1024,
            entries_per_name: 256,
            in_flight_per_session: 1024,
            in_flight_per_entry: 4096,
            frame_bytes: 64 << 20,
            stderr_bytes: 64 << 10,
            event_backlog: 1024,
        }
    }
}
