//! What sessions want without insisting: a wish that finds the budget used up is not refused for good. It waits, and begins
//! when there is room (SPEC 9.5).
//!
//! ```text
//!   Want ──▶ room ──▶ as an acquire
//!     └────▶ none ──▶ Defer, waits ──▶ its name has a place ──▶ as an acquire
//!                       └─▶ cancelled, session closed, gate shut, drain ──▶ Refuse
//! ```
//!
//! 1. Nobody waits whose name has a place, or while the budget has room: it is filled within the step that makes the room.
//! 2. Names wait in the order in which they came; all wishes for a name begin together, since they need one place.
//! 3. A name is told of as refused once for as long as it waits, and together with all others of the same step. One that only
//!    waits for a dying name to be gone is not told of.

use std::collections::{BTreeMap, BTreeSet};

use super::admission::Obstacle;
use super::ask::{Ask, IfFull};
use super::effects::{self, reason};
use super::notice::{Audience, Notice};
use super::protocol::Effect;
use super::{Open, PoolState};
use crate::ids::{ServerId, Ticket};

/// The names that wait for room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Queue {
    /// By order of arrival.
    pub(super) names: BTreeMap<u64, ServerId>,
    /// Those of them that nobody was told of.
    pub(super) untold: BTreeSet<u64>,
    /// Names that came to have a place while wishes for them wait.
    pub(super) woken: Vec<ServerId>,
    next_turn: u64,
}

/// The wishes for one name that wait.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wishes {
    pub(super) turn: u64,
    /// Never empty.
    pub(super) asks: BTreeMap<Ticket, Ask>,
}

impl PoolState {
    /// Takes everything that a pass wants, in order.
    pub(super) fn want(&mut self, asks: Vec<Ask>, out: &mut Vec<Effect>) {
        for ask in asks {
            self.acquire(ask, IfFull::Wait, out);
        }
    }

    /// Makes a wish wait, and says so.
    pub(super) fn park(&mut self, ask: Ask, out: &mut Vec<Effect>) {
        let (ticket, session, server) = (ask.ticket, ask.session, ask.server);
        let error = self.refusal(&Obstacle::Budget);
        self.tickets.insert(ticket, Open::Wish { session, server });
        if let Some(record) = self.sessions.get_mut(session) {
            record.tickets.insert(ticket);
        }
        let turn = self.queue.next_turn;
        let Some(name) = self.name_mut(server) else { return };
        match &mut name.wishes {
            Some(wishes) => drop(wishes.asks.insert(ticket, ask)),
            None => {
                name.wishes = Some(Wishes { turn, asks: BTreeMap::from([(ticket, ask)]) });
                self.queue.next_turn += 1;
                self.queue.names.insert(turn, server);
                self.queue.untold.insert(turn);
            }
        }
        out.push(Effect::Defer { ticket, error });
    }

    /// Takes one wish back. Its ticket is out of the books already.
    pub(super) fn unpark(&mut self, server: ServerId, ticket: Ticket) {
        let Some(wishes) = self.names.get_mut(server).and_then(|name| name.wishes.as_mut()) else {
            debug_assert!(false, "a wish that waits nowhere");
            return;
        };
        wishes.asks.remove(&ticket);
        if wishes.asks.is_empty() {
            drop(self.take_wishes(server));
        }
    }

    /// A name came to have a place: whoever waits for it can begin.
    pub(super) fn wake(&mut self, server: ServerId) {
        if self.names.get(server).is_some_and(|name| name.wishes.is_some()) {
            self.queue.woken.push(server);
        }
    }

    /// Lets those begin who wait, as far as there is room.
    pub(super) fn fill_budget(&mut self, out: &mut Vec<Effect>) {
        while let Some(server) = self.next_to_begin() {
            for ask in self.take_wishes(server) {
                self.close_ticket(ask.ticket);
                self.acquire(ask, IfFull::Refuse, out);
            }
        }
    }

    /// Tells of the names that are refused and were not told of yet, all at once.
    pub(super) fn tell_refused(&mut self, out: &mut Vec<Effect>) {
        let Some(budget) = self.options.budget.filter(|_| !self.queue.untold.is_empty()) else {
            return;
        };
        let leaving = usize::try_from(self.leaving()).unwrap_or(usize::MAX);
        let beyond = self.queue.names.iter().skip(leaving);
        let refused: Vec<(u64, ServerId)> = beyond
            .filter(|(turn, _)| self.queue.untold.contains(turn))
            .map(|(turn, server)| (*turn, *server))
            .collect();
        if refused.is_empty() {
            return;
        }
        for (turn, server) in &refused {
            self.queue.untold.remove(turn);
            self.note_refusal(*server, reason::BUDGET_EXHAUSTED);
        }
        let refused = refused.into_iter().map(|(_, server)| server).collect();
        let notice = Notice::RefusedBatch { budget, usage: self.budget_usage(), refused };
        out.push(Effect::Notify { audience: Audience::Everybody, notice });
    }

    /// Answers every wish that waits: the pool is draining.
    pub(super) fn refuse_all_wishes(&mut self, out: &mut Vec<Effect>) {
        while let Some((_, &server)) = self.queue.names.first_key_value() {
            for ask in self.take_wishes(server) {
                self.close_ticket(ask.ticket);
                out.push(Effect::Refuse { ticket: ask.ticket, error: effects::closing() });
            }
        }
    }

    fn next_to_begin(&mut self) -> Option<ServerId> {
        while let Some(server) = self.queue.woken.pop() {
            if self.has_budget(server) {
                return Some(server);
            }
        }
        let (_, server) = self.queue.names.first_key_value()?;
        self.has_budget(*server).then_some(*server)
    }

    /// Takes a name out of the queue; the wishes for it, in the order of their tickets.
    fn take_wishes(&mut self, server: ServerId) -> impl Iterator<Item = Ask> + use<> {
        let wishes = self.names.get_mut(server).and_then(|name| name.wishes.take());
        if let Some(wishes) = &wishes {
            self.queue.names.remove(&wishes.turn);
            self.queue.untold.remove(&wishes.turn);
        }
        wishes.into_iter().flat_map(|wishes| wishes.asks.into_values())
    }
}
