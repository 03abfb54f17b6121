//! Questions to the reducer by their tickets, as data: who asks, and where the answer goes.
//!
//! A grant that is the only effect of its step is carried out under the lock of that step. As a
//! question of its own it would cost a place in this table, a boxed answer and a channel.

use std::sync::Arc;

use trunkline_pool::id_map::IdMap;
use trunkline_pool::state::{Ask, DrainReport, KeyId, RestartReport, SessionId, Ticket};

use super::hold::LeaseGuard;
use super::intern::Interner;
use crate::Error;

/// Where the answer to a ticket goes: called exactly once, never under the mutex, and it must not
/// block.
pub(crate) type TicketCallback = Box<dyn FnOnce(TicketReply) + Send>;

/// The answer to a ticket.
pub(crate) enum TicketReply {
    /// A lease. Dropping it releases it.
    Granted(LeaseGuard),
    /// No.
    Refused(Error),
    /// One report per entry.
    Restarted(Vec<RestartReport>),
    /// The tool can be used.
    ToolAccepted,
    /// The pool is empty.
    Drained(DrainReport),
}

/// What became of an acquire within its own step.
pub(crate) enum Acquired<W> {
    /// It was granted.
    Granted(LeaseGuard),
    /// It is a question like others, whose answer is waited for with this.
    Asked(Ticket, W),
}

/// Something that a session wants without insisting.
pub(crate) struct Wish<'a> {
    /// Makes it, under the mutex.
    pub ask: AskWith<'a>,
    /// Gets the answer.
    pub answer: TicketCallback,
    /// Is told before the answer when it has to wait: at most once for room, and each time that its
    /// server failed.
    pub deferred: WaitListener,
}

/// Makes a question of a ticket.
pub(crate) type AskWith<'a> = Box<dyn FnOnce(Ticket, &mut Interner) -> Ask + 'a>;

/// Hears that a wish has to wait, and why.
pub(crate) type WaitListener = Arc<dyn Fn(Wait, Error) + Send + Sync>;

/// What a wish waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// For room.
    Room,
    /// For its server, which failed and is tried again.
    Server,
}

/// The open questions.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) open: IdMap<Ticket, PendingTicket>,
    /// Wishes that wait. They are not bounded by a limit of their own: each stands in the list of
    /// wants of its session.
    pub(super) waiting: IdMap<Ticket, PendingTicket>,
    last_ticket: u64,
}

/// An open question.
pub(super) struct PendingTicket {
    pub(super) answer: TicketCallback,
    pub(super) deferred: Option<WaitListener>,
    /// Of an acquire or a wish: who asks, and the key, which stays interned until the answer.
    pub(super) acquire: Option<(SessionId, KeyId)>,
}

/// Questions of one pool under way: more wait only when a host asks without end.
pub(super) const QUESTIONS_MAX: usize = 65_536;

impl Questions {
    pub(super) fn ticket(&mut self) -> Ticket {
        self.last_ticket += 1;
        Ticket(self.last_ticket)
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= QUESTIONS_MAX
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<PendingTicket> {
        self.open.remove(&ticket).or_else(|| self.waiting.remove(&ticket))
    }
}
