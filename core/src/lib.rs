//! A shared connection pool for MCP servers, for programs that host agents.
//!
//! A host makes one [`Pool`] for each workspace and one [`Session`] for each conversation. Sessions
//! that want the same server hold the same process of it; when the last one lets go, the process
//! stays for a while and then ends, with everything that it started. The pool works on an internal
//! runtime of its own: its futures can be awaited on any executor, and its functions be called from
//! any thread.
//!
//! ```
//! use trunkline::{AcquireOptions, CallOptions, Pool, PoolOptions, Servers, SessionOptions};
//!
//! # fn main() -> trunkline::Result<()> {
//! # let command = std::env::var("TRUNKLINE_TESTSERVER")
//! #     .unwrap_or_else(|_| format!("{}/../target/debug/trunkline-testserver", env!("CARGO_MANIFEST_DIR")));
//! let pool = Pool::new(PoolOptions::default())?;
//! let shared = pool.clone();
//! pool.block_on(async move {
//!     # let servers = format!(r#"{{"demo": {{"command": "{command}"}}}}"#);
//!     # let _ =
//!     r#"{"demo": {"command": "trunkline-testserver"}}"#;
//!     shared.reconcile(Servers::from_json(&servers)?).await?;
//!
//!     let chat = shared.session(SessionOptions::new("chat-1"))?;
//!     let lease = chat.acquire("demo", None, &AcquireOptions::default()).await?;
//!     let result = lease.call_tool("echo", r#"{"message": "hi"}"#, &CallOptions::default()).await?;
//!     assert!(result.json().contains("hi"));
//!     assert!(chat.tools()?.iter().any(|tool| &*tool.name == "mcp__demo__echo"));
//!
//!     shared.close().await
//! })
//! # }
//! ```
//!
//! # Five ideas
//!
//! 1. **A server is its configuration.** Two sessions share a process exactly when everything that
//!    defines the transport is equal: command, arguments, folder, environment and the rest of what
//!    [`ServerSpec`] hashes.
//! 2. **A lease is a hold.** [`Session::acquire`] gives one and waits for the server; dropping it
//!    lets go. A session also holds, unasked, every server of the pool that its options want.
//!    Cancelling is dropping: an acquire, a call or a whole session that is dropped leaves nothing
//!    behind.
//! 3. **A call ends exactly once**: with the server's result, byte for byte, or with an [`Error`].
//!    Its [`code`](Error::code) is stable, and its [`outcome`](Error::outcome) says whether the
//!    server can have seen the call. A lost connection answers every call at once; the lease works
//!    again after the reconnect.
//! 4. **A view is published whole.** What a session sees changes at one moment from the old lists
//!    to the new ones. An event says what is different.
//! 5. **One rule, four languages.** Errors, events and options are one table ([`interface`]),
//!    shared with C, Python and Node.
//!
//! # Threads
//!
//! The first pool starts the runtime of the process: one worker thread, unless its options say
//! otherwise. Every signal is blocked on the library's threads, so that the host's handlers run on
//! the host's. Closures given to the library run on those threads, never under a lock; they must
//! not block. A host's thread that blocks for one call after another reads their answers itself
//! where it asks to ([`Operation::read_here`]). It then calls what it gave to those calls. After a
//! `fork`, every function fails with `forked` in the child.
#![deny(unsafe_code)]

mod api;
mod auth;
mod base;
mod client;
mod config;
mod driver;
mod events;
#[cfg(test)]
#[path = "../tests/rig/folder.rs"]
mod folder;
#[allow(
    dead_code,
    unused_imports,
    reason = "the settings files that are loaded are what calls all of it"
)]
mod host_env;
mod inspect;
mod net;
#[cfg(feature = "otlp")]
pub mod otlp;
#[cfg(not(feature = "otlp"))]
#[path = "otlp/none.rs"]
mod otlp;
mod platform;
mod report;
mod runtime;
#[cfg(all(test, feature = "schedules"))]
#[path = "../tests/rig/schedules.rs"]
mod schedules;
#[cfg(test)]
#[path = "../tests/rig/score.rs"]
mod score;
mod serve;
mod session;
mod storage;
#[cfg(test)]
#[path = "../tests/rig/testserver.rs"]
mod testserver;
mod transport;
mod watch;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use self::api::{CompletionQueue, HandlerEvent, HandlerQueue, Lease, Pool, Session};
#[doc(hidden)]
pub use self::base::{bounded_reader as bounded, panics};
pub use self::driver::server_config::Servers;
pub use self::host_env::settings_discovery::detect;
#[doc(hidden)]
pub use self::host_env::settings_discovery::{known_places, misfits};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use self::inspect::fuzzing;
pub use self::serve::Serving;
pub use self::session::call::operation::Operation;
pub use self::session::call::progress::ProgressFeed;
pub use self::session::view::list::{List, ListedItem, ShapedTools};
#[doc(hidden)]
pub use api::{Bell, LoopReader, Reader};
pub use client::{CallResult, Introduction};
pub use events::log_feed::LogFeed;
pub use events::{Event, EventMask, Subscription};
#[doc(hidden)]
pub use inspect::{
    FolderInUse, LoginShell, PATH_OF_DESKTOP, Start, Surroundings, Way, certificate_variables,
    find_start, find_way, folders_in_use, login_shell, misread_proxies, proxy_variables,
    root_variables, trusted_roots,
};
pub use inspect::{find_program, own_folders};
#[doc(hidden)]
pub use platform::start_callback_thread;
#[doc(hidden)]
pub use transport::{EventLoop, WriteBatch, leaves_requests, took_results};
pub use transport::{HostConnection, HostServer};
pub use trunkline_pool::config::ServerSpec;
pub use trunkline_pool::gates::GateLists;
pub use trunkline_pool::interface::{self, EventKind};
#[doc(hidden)]
pub use trunkline_pool::json::Apart;
pub use trunkline_pool::layers::{Scope, SourceName, Switch, WorkspaceTrust};
pub use trunkline_pool::options::{
    AcquireOptions, Admission, CallOptions, CatalogCache, ClientIcon, ClientInfo, ConfigureOptions,
    DrainOptions, Follow, HandlerFuture, HandlerKind, HandlerResult, Handlers, LoadOptions,
    LogLevel, NewClient, Offered, OnClient, Parking, PoolOptions, Progress, ProgressReceiver,
    Reconnected, Refusal, ReloadOptions, Retry, ServeLimits, ServeOptions, ServerRequest,
    ServerSelection, SessionOptions, SignInOptions, StatusOptions, roots_from_json,
};
#[doc(hidden)]
pub use trunkline_pool::options::{RelayedCall, unknown_option};
pub use trunkline_pool::shapes::{self, ToolFormat};
pub use trunkline_pool::state::EntryState;
pub use trunkline_pool::{Error, ErrorCode, Outcome, Result, settings};
