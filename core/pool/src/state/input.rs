//! What goes into the reducer: commands, which are imperatives, and events, which are past tense.
//!
//! Every event from the outside carries the [`ConnectionId`] that it is about, so that a stale one
//! can be dropped in one place.

use std::sync::Arc;
use std::time::Duration;

use super::session::ask::Ask;
use super::terms::{CloseExit, LossReason};
use crate::acceptance::{Configuration, Recalled};
use crate::base::ids::{
    ConnectionId, EntryId, KeyId, LeaseId, ListingNumber, Moment, ServerId, SessionId, Ticket,
};
use crate::catalog::Catalog;
use crate::error::Error;
use crate::gates::Gate;
use crate::options::DrainMode;

/// One thing that a host asked for, or that happened outside.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoolInput {
    /// A session begins. Its id was never used before.
    OpenSession {
        /// The new session.
        session: SessionId,
    },
    /// A session ends: its holds go, and its acquires under way are answered with `closed`.
    ///
    /// With `keep_for` the holds go only after that time, unless the session is resumed
    /// (SPEC 3.13).
    CloseSession {
        /// The session.
        session: SessionId,
        /// How long its holds stay; zero by default.
        keep_for: Duration,
    },
    /// The closed session's holds are taken over by the same session, opened again within
    /// `keep_for`.
    ResumeSession {
        /// The session.
        session: SessionId,
    },
    /// A session wants a hold on the entry of a key. Answered by `Grant` or `Refuse`.
    Acquire(Ask),
    /// What sessions want without insisting, all of one pass. Each is answered like an acquire; but
    /// one that the budget or a limit has no room for is deferred, and begins when there is.
    Want {
        /// The wishes, in the order in which they are to be served.
        asks: Vec<Ask>,
    },
    /// Gates of some names and of some keys. Those of the others stay. What is no longer admitted
    /// by both of its gates ends.
    SetGates {
        /// By name: what the lists say.
        names: Vec<(ServerId, Gate)>,
        /// By key: what is decided of a configuration.
        keys: Vec<(KeyId, Gate)>,
    },
    /// Nobody keeps these keys any more: nothing waits for them, and nothing of them is left. Their
    /// gates are forgotten, and their numbers may stand for others.
    ForgetKeys {
        /// The keys.
        keys: Vec<KeyId>,
    },
    /// The asker no longer waits. Answered by `Refuse(cancelled)` when the ticket was still open,
    /// else by nothing.
    CancelAcquire {
        /// The ticket of the acquire.
        ticket: Ticket,
    },
    /// A lease ends. Repeating it does nothing.
    Release {
        /// The lease.
        lease: LeaseId,
    },
    /// Replace the connections of a server's entries, or of one of them. Answered by `Restarted`.
    Restart {
        /// What the answer names.
        ticket: Ticket,
        /// The server.
        server: ServerId,
        /// The entry index, or all of the name.
        index: Option<u32>,
    },
    /// The pool's configuration changed. What of it is old is restarted for those only who hold or
    /// await it: any other restart ends with `superseded`, under way or asked for later.
    Reconfigure {
        /// Entries of a configuration that was replaced, removed or switched off.
        outdated: Vec<EntryId>,
        /// Entries of one that the pool has now, perhaps again.
        current: Vec<EntryId>,
    },
    /// Accept the definition of a tool that is held back. Answered by `ToolAccepted` or `Refuse`.
    AcceptTool {
        /// What the answer names.
        ticket: Ticket,
        /// The server.
        server: ServerId,
        /// The server's own name of the tool.
        tool: Arc<str>,
        /// The digest of the definition that the host was shown.
        digest: [u8; 32],
    },
    /// What was accepted of a server's tools before this pool saw them. Nothing follows from it,
    /// but for lists that are read later.
    Recall {
        /// The configuration.
        configuration: Configuration,
        /// What was accepted.
        recalled: Recalled,
    },
    /// End everything, one-way. Answered by `Drained`.
    Drain {
        /// What the answer names.
        ticket: Ticket,
        /// Whether calls may finish first.
        how: DrainMode,
        /// When what is left is killed.
        deadline: Moment,
    },
    /// There are other credentials than before: the host signed in, or gave a token.
    CredentialsChanged {
        /// The entries whose connections are made with them. An attempt that is begun later has the
        /// new ones anyway.
        entries: Vec<EntryId>,
    },
    /// A connection is negotiated and listed.
    Connected {
        /// Which.
        connection: ConnectionId,
        /// What it listed.
        catalog: Arc<Catalog>,
    },
    /// A connection attempt failed, and nothing of it is left.
    ConnectFailed {
        /// Which.
        connection: ConnectionId,
        /// Why.
        error: Error,
    },
    /// An established connection was lost. Its `Closed` follows when nothing of it is left.
    Disconnected {
        /// Which.
        connection: ConnectionId,
        /// The reason that holders are told.
        reason: LossReason,
        /// The particulars.
        error: Error,
    },
    /// The server announced that one of its lists changed.
    CatalogStale {
        /// Which connection.
        connection: ConnectionId,
    },
    /// A listing that `ListCatalog` asked for ended; on an error the old list stays.
    CatalogListed {
        /// Which connection.
        connection: ConnectionId,
        /// Which listing; the result of any but the last that began changes nothing.
        number: ListingNumber,
        /// The new lists.
        result: Result<Arc<Catalog>, Error>,
    },
    /// Nothing of a connection is left: no process, socket or task.
    Closed {
        /// Which.
        connection: ConnectionId,
        /// Whether it had to be killed.
        exit: CloseExit,
    },
}
