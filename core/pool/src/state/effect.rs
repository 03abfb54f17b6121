//! What comes out of the reducer: what a step wants done, as imperatives.

use std::sync::Arc;

use super::limits::obstacle::Admitted;
use super::report::notice::{Audience, Notice};
use super::report::outcomes::{DrainReport, RestartReport};
use super::terms::{CloseMode, Slot};
use crate::acceptance::Configuration;
use crate::approvals::ToolDigests;
use crate::base::ids::{ConnectionId, EntryId, KeyId, LeaseId, ListingNumber, Ticket};
use crate::catalog::Item;
use crate::error::Error;

/// What a step wants done. Effects are carried out in order: `Publish`, then `Grant`, then
/// `Notify`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Start a connection attempt. Answered by `Connected` or `ConnectFailed`, unless a `Close`
    /// comes first.
    Connect {
        /// Which.
        connection: ConnectionId,
        /// Whose configuration.
        key: KeyId,
        /// The gates were asked.
        admitted: Admitted,
    },
    /// End a connection or an attempt. Answered by `Closed`, always (also when it ends by itself
    /// meanwhile), and once: a second `Close` of the same connection only raises the urgency of the
    /// first.
    Close {
        /// Which.
        connection: ConnectionId,
        /// How much patience.
        how: CloseMode,
    },
    /// Nobody wants an attempt any more. Answered by `Closed` with `Unbegun` if nothing of it has
    /// begun, which ends it; else by nothing, and it goes on. There is one at most for each
    /// attempt.
    Forgo {
        /// Which.
        connection: ConnectionId,
    },
    /// List everything again. Answered by `CatalogListed`, unless the connection goes first.
    ListCatalog {
        /// Which connection.
        connection: ConnectionId,
        /// Which listing it is: what the answer carries.
        number: ListingNumber,
    },
    /// Replace what callers of an entry see, whole.
    Publish {
        /// The entry.
        entry: EntryId,
        /// What they see.
        slot: Slot,
    },
    /// Answer an acquire: here is the lease.
    Grant {
        /// The ticket.
        ticket: Ticket,
        /// The lease.
        lease: LeaseId,
        /// The entry that it holds.
        entry: EntryId,
    },
    /// Tell who wished for something that there is no room for it now. The answer follows; until
    /// then the ticket is open.
    Defer {
        /// The ticket.
        ticket: Ticket,
        /// What is in the way.
        error: Error,
    },
    /// Tell who wished for something that its server failed, and is tried again unasked. The answer
    /// follows; until then the ticket is open, and this may be told again.
    Postpone {
        /// The ticket.
        ticket: Ticket,
        /// Why it failed.
        error: Error,
    },
    /// Answer any ticket: no.
    Refuse {
        /// The ticket.
        ticket: Ticket,
        /// Why.
        error: Error,
    },
    /// Answer a restart, one report per entry.
    Restarted {
        /// The ticket.
        ticket: Ticket,
        /// One per entry of the name; empty for an unknown name or index.
        reports: Vec<RestartReport>,
    },
    /// Keep what is accepted now of a configuration whose changed tools are held back.
    KeepAccepted {
        /// The configuration.
        configuration: Configuration,
        /// The digests of all accepted definitions.
        accepted: Arc<ToolDigests>,
        /// What the host accepted just now; nothing when new tools were.
        tool: Option<Item>,
    },
    /// Answer an acceptance: the tool can be used.
    ToolAccepted {
        /// The ticket.
        ticket: Ticket,
    },
    /// Answer a drain.
    Drained {
        /// The ticket.
        ticket: Ticket,
        /// What became of every entry.
        report: DrainReport,
    },
    /// Tell somebody.
    Notify {
        /// Who.
        audience: Audience,
        /// What.
        notice: Notice,
    },
}
