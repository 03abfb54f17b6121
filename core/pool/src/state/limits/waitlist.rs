//! What sessions want without insisting: a wish that finds the budget or a limit used up is not
//! refused for good. It waits, and begins when there is room (SPEC 9.5, 9.6).
//!
//! ```text
//!   Want ──▶ room ──▶ as an acquire
//!     └────▶ none ──▶ Defer, waits ──▶ nothing is in its way ──▶ as an acquire
//!                       └─▶ cancelled, session closed, gate shut, drain ──▶ Refuse
//! ```
//!
//! 1. Nobody waits for what could begin: room is filled within the step that makes it.
//! 2. Names wait in the order in which they came; all wishes for a key begin together, since they
//!    need one place.
//! 3. A name without room in the budget is announced as refused once for as long as it waits, with
//!    all others of its step. One that only waits for a dying name to be gone is not told of.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use super::ledger::Wishes;
use super::obstacle::Obstacle;
use crate::base::ids::{EntryId, KeyId, ServerId, Ticket};
use crate::error::Error;
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::entry::Entry;
use crate::state::report::messages::{self, reason};
use crate::state::report::notice::{Audience, Notice};
use crate::state::session::ask::{Ask, IfFull};
use crate::state::session::records::OpenTicket;

impl PoolState {
    /// Takes everything that a pass wants, in order.
    pub(in crate::state) fn want(&mut self, asks: Vec<Ask>, out: &mut Vec<Effect>) {
        for ask in asks {
            self.acquire(ask, IfFull::Wait, out);
        }
    }

    /// Makes a wish wait for room, and says so.
    pub(in crate::state) fn park(&mut self, obstacle: &Obstacle, ask: Ask, out: &mut Vec<Effect>) {
        let (ticket, session, server, key) = (ask.ticket, ask.session, ask.server, ask.key);
        let error = self.refusal(obstacle);
        self.tickets.insert(ticket, OpenTicket::Wish { session, server, key });
        if let Some(record) = self.sessions.get_mut(session) {
            record.tickets.insert(ticket);
        }
        let turn = self.queue.next_turn;
        let Some(name) = self.name_mut(server) else { return };
        match &mut name.wishes {
            Some(wishes) => drop(wishes.asks.insert((key, ticket), ask)),
            None => {
                name.wishes = Some(Wishes { turn, asks: BTreeMap::from([((key, ticket), ask)]) });
                self.queue.next_turn += 1;
                self.queue.names.insert(turn, server);
                self.queue.untold.insert(turn);
            }
        }
        out.push(Effect::Defer { ticket, error });
    }

    /// Takes one wish back. Its ticket is out of the books already.
    pub(in crate::state) fn unpark(&mut self, server: ServerId, (key, ticket): (KeyId, Ticket)) {
        let Some(wishes) = self.names.get_mut(server).and_then(|name| name.wishes.as_mut()) else {
            debug_assert!(false, "a wish that waits nowhere");
            return;
        };
        wishes.asks.remove(&(key, ticket));
        self.forget_if_nobody_waits(server);
    }

    /// Ends what those who wait are to take the place of, once nobody holds it: its place may be
    /// all that they lack.
    pub(in crate::state) fn end_replaced_by_wishes(&mut self, out: &mut Vec<Effect>) {
        let is_superseded = |id: &EntryId| self.entries.get(*id).is_some_and(Entry::is_superseded);
        let has_some = |server: &ServerId| {
            self.names.get(*server).is_some_and(|name| {
                !name.replaced.is_empty() || name.entries.values().any(is_superseded)
            })
        };
        let names: Vec<ServerId> = self.queue.names.values().copied().filter(has_some).collect();
        for server in names {
            self.end_replaced(server, out);
        }
    }

    /// Lets those begin who wait, as far as there is room.
    pub(in crate::state) fn fill_wishes(&mut self, out: &mut Vec<Effect>) {
        let mut first = 0;
        // What was passed over seldom gets room by what begins: it is looked at again when no other
        // is left.
        let next = |pool: &Self, first| {
            let again = || (first > 0).then(|| pool.next_to_begin(0)).flatten();
            pool.next_to_begin(first).or_else(again)
        };
        while let Some((turn, server, key)) = next(self, first) {
            first = turn;
            for ask in self.take_wishes(server, |ask| ask.key == key) {
                self.close_ticket(ask.ticket);
                self.acquire(ask, IfFull::Wait, out);
            }
        }
    }

    /// Why wishes for a name wait that a limit keeps from beginning, and not the budget.
    pub(in crate::state) fn limit_of_wishes(&self, server: ServerId) -> Option<Error> {
        let wishes = self.names.get(server)?.wishes.as_ref()?;
        let obstacle = wishes.asks.values().find_map(|ask| self.obstacle_of_ask(ask))?;
        matches!(obstacle, Obstacle::EntriesOfName | Obstacle::Processes)
            .then(|| self.refusal(&obstacle))
    }

    /// Tells of the names that are refused and were not told of yet, all at once.
    pub(in crate::state) fn tell_refused(&mut self, out: &mut Vec<Effect>) {
        let Some(budget) = self.options.budget.filter(|_| !self.queue.untold.is_empty()) else {
            return;
        };
        let leaving = usize::try_from(self.leaving()).unwrap_or(usize::MAX);
        let beyond = self.queue.names.iter().filter(|(_, server)| !self.has_budget(**server));
        let refused: Vec<(u64, ServerId)> = beyond
            .skip(leaving)
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
    pub(in crate::state) fn refuse_all_wishes(&mut self, out: &mut Vec<Effect>) {
        while let Some((_, &server)) = self.queue.names.first_key_value() {
            for ask in self.take_wishes(server, |_| true) {
                self.close_ticket(ask.ticket);
                out.push(Effect::Refuse { ticket: ask.ticket, error: messages::closing() });
            }
        }
    }

    /// The first name from this turn on that has a key to begin.
    fn next_to_begin(&self, first: u64) -> Option<(u64, ServerId, KeyId)> {
        let mut names = self.queue.names.range(first..);
        names.find_map(|(turn, server)| Some((*turn, *server, self.key_to_begin(*server)?)))
    }

    /// The first key of a name that waits with nothing in its way.
    fn key_to_begin(&self, server: ServerId) -> Option<KeyId> {
        // Most wait for the budget, which is asked once for all keys of a name.
        if !self.has_budget(server) {
            return None;
        }
        let asks = &self.names.get(server)?.wishes.as_ref()?.asks;
        let mut next = asks.first_key_value();
        while let Some((&(key, _), ask)) = next {
            if self.obstacle_of_ask(ask).is_none() {
                return Some(key);
            }
            next = asks.range((Excluded((key, Ticket(u64::MAX))), Unbounded)).next();
        }
        None
    }

    /// Takes wishes for a name out of the queue, those of a key in the order of their tickets.
    fn take_wishes(&mut self, server: ServerId, which: impl Fn(&Ask) -> bool) -> Vec<Ask> {
        let Some(wishes) = self.names.get_mut(server).and_then(|name| name.wishes.as_mut()) else {
            return Vec::new();
        };
        let mut taken = Vec::new();
        wishes.asks.retain(|_, ask| {
            let stays = !which(ask);
            if !stays {
                taken.push(ask.clone());
            }
            stays
        });
        self.forget_if_nobody_waits(server);
        taken
    }

    fn forget_if_nobody_waits(&mut self, server: ServerId) {
        let Some(name) = self.names.get_mut(server) else { return };
        if let Some(wishes) = name.wishes.take_if(|wishes| wishes.asks.is_empty()) {
            self.queue.names.remove(&wishes.turn);
            self.queue.untold.remove(&wishes.turn);
        }
    }
}
