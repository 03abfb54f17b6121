//! What is asked for, and how an entry that nobody asks for ends.

use std::sync::Arc;

use crate::base::ids::{KeyId, ServerId, SessionId, Ticket};
use crate::config::Fingerprint;
use crate::config::Share;
use crate::error::Error;
use crate::options::{OnToolChange, Reconnect};
use crate::state::terms::{CloseMode, Family};

/// What an acquire or a wish asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// What the answer names.
    pub ticket: Ticket,
    /// Who asks.
    pub session: SessionId,
    /// The pool key.
    pub key: KeyId,
    /// The server's name, for the entry index, the gates and the budget.
    pub server: ServerId,
    /// The identity of its configuration, for the tools that are accepted.
    pub fingerprint: Fingerprint,
    /// What becomes of its changed tools.
    pub on_tool_change: OnToolChange,
    /// The kind of transport, for reconnect delays and the limit of processes.
    pub family: Family,
    /// Whether the connection is the pool's or the session's own.
    pub share: Share,
    /// How a lost connection comes back, where that is not the pool's way. The newest ask of a key
    /// decides.
    pub reconnect: Option<Arc<Reconnect>>,
}

/// What becomes of an ask that there is no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum IfFull {
    Refuse,
    Wait,
}

/// What the host accepts: this definition of a tool, wherever the server lists it.
pub(in crate::state) struct Acceptance {
    pub(in crate::state) ticket: Ticket,
    pub(in crate::state) server: ServerId,
    pub(in crate::state) tool: Arc<str>,
    /// Of the definition that the host was shown.
    pub(in crate::state) digest: [u8; 32],
}

/// How an entry ends.
pub(in crate::state) struct End {
    /// Why, as a stable word.
    pub(in crate::state) reason: &'static str,
    /// What waiters and callers are told.
    pub(in crate::state) error: Option<Error>,
    /// How patient the close is, if there is something to close.
    pub(in crate::state) how: CloseMode,
}

/// There is nothing to be patient for: the calls had the drain delay to finish, or nobody may make
/// one any more.
pub(in crate::state) const NOW: CloseMode = CloseMode::Now;
