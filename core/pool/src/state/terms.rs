//! The words of the reducer: what entries and connections are, how they end, and what is counted of
//! them.

use std::sync::Arc;

use crate::acceptance::QuarantinedTools;
use crate::base::ids::{Generation, Moment};
use crate::catalog::Catalog;
use crate::error::Error;
use crate::interface::words::{entry_state, loss_reason};

/// The kinds of transport that the reducer tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// stdio and websocket: fixed reconnect delays; counts as a process.
    Local,
    /// http and sse: growing reconnect delays with jitter; no process.
    Remote,
}

/// What callers of an entry see: published whole, never half.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The incarnation, or the one that is coming.
    pub generation: Generation,
    /// The visible state.
    pub state: EntryState,
    /// What the entry lists and may be used; stays while reconnecting.
    pub catalog: Arc<Catalog>,
    /// The tools that are held back: no view has them, and no call reaches them.
    pub held: QuarantinedTools,
    /// Why it is not connected.
    pub error: Option<Error>,
}

/// The state of an entry as hosts see it (SPEC 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EntryState {
    /// The first connection is being made.
    Spawning,
    /// Connected and held.
    Active,
    /// Connected and held by nobody.
    Draining,
    /// Lost, and on the way back.
    Reconnecting,
    /// Waiting for credentials.
    AuthRequired,
    /// Lost for good, until somebody asks for it.
    Failed,
    /// Gone.
    Closed,
}

impl EntryState {
    /// The name in events and in `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            EntryState::Spawning => entry_state::SPAWNING,
            EntryState::Active => entry_state::ACTIVE,
            EntryState::Draining => entry_state::DRAINING,
            EntryState::Reconnecting => entry_state::RECONNECTING,
            EntryState::AuthRequired => entry_state::AUTH_REQUIRED,
            EntryState::Failed => entry_state::FAILED,
            EntryState::Closed => entry_state::CLOSED,
        }
    }

    /// Whether there is a connection that takes calls.
    pub fn is_connected(self) -> bool {
        matches!(self, EntryState::Active | EntryState::Draining)
    }
}

/// Why a connection was lost (SPEC 8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// The server closed it, or its process ended.
    TransportClosed,
    /// Reading or writing failed, or the server broke the protocol.
    TransportError,
    /// The server no longer answers.
    Keepalive,
    /// The remote session is gone.
    SessionLost,
    /// A restart was asked for.
    Restart,
    /// A gate no longer admits it.
    Gate,
    /// Its configuration changed.
    Config,
    /// The pool is draining.
    Shutdown,
}

impl LossReason {
    /// The name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            LossReason::TransportClosed => loss_reason::TRANSPORT_CLOSED,
            LossReason::TransportError => loss_reason::TRANSPORT_ERROR,
            LossReason::Keepalive => loss_reason::KEEPALIVE,
            LossReason::SessionLost => loss_reason::SESSION_LOST,
            LossReason::Restart => loss_reason::RESTART,
            LossReason::Gate => loss_reason::GATE,
            LossReason::Config => loss_reason::CONFIG,
            LossReason::Shutdown => loss_reason::SHUTDOWN,
        }
    }
}

/// How patient the end of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseMode {
    /// Calls in flight may finish until `until`, then the ordered shutdown (SPEC 9.8).
    Graceful {
        /// When calls are cut.
        until: Moment,
    },
    /// Calls are cut at once, then the ordered shutdown.
    Now,
    /// Calls are cut and the process is killed at once.
    Kill,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseExit {
    /// By itself, or when its stdin closed.
    Clean,
    /// Only after a signal.
    Forced,
    /// There was nothing to end: the attempt had not begun.
    Unbegun,
}

/// How much of the budget is taken, in names of servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Names with something that runs: connected, draining or dying.
    pub live: u32,
    /// Names that are connecting, or on the way back.
    pub reserved: u32,
}
