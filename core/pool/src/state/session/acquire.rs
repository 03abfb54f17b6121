//! Acquire, its cancellation, and what becomes of an entry that nobody wants (SPEC 3.2-3.7).

use super::ask::{Ask, End, IfFull, NOW};
use super::records::OpenTicket;
use crate::base::ids::{EntryId, Generation, SessionId, Ticket};
use crate::config::Share;
use crate::error::Error;
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::entry::health::Health;
use crate::state::entry::idle::IdleClock;
use crate::state::entry::{Credentials, Entry, Phase, Why, Wire};
use crate::state::limits::obstacle::Obstacle;
use crate::state::report::messages::{self, reason};
use crate::state::terms::{CloseMode, Family};

/// What became of those who waited for an entry.
#[derive(Default)]
pub(in crate::state) struct AcquireGrants {
    pub(in crate::state) grants: Vec<Effect>,
    /// The sessions that did not hold it before.
    pub(in crate::state) newcomers: Vec<SessionId>,
}

impl PoolState {
    /// Grants, makes wait or refuses.
    pub(in crate::state) fn acquire(&mut self, ask: Ask, if_full: IfFull, out: &mut Vec<Effect>) {
        if self.tickets.contains(ask.ticket) {
            debug_assert!(false, "a ticket used twice");
            return;
        }
        if self.closing.is_some() {
            out.push(Effect::Refuse { ticket: ask.ticket, error: messages::closing() });
        } else if !self.sessions.get(ask.session).is_some_and(|session| session.is_open()) {
            out.push(Effect::Refuse { ticket: ask.ticket, error: messages::closed() });
        } else if let Some(&entry) = self.keys.get(&ask.key) {
            self.join(entry, ask, if_full, out);
        } else {
            self.begin(ask, if_full, out);
        }
    }

    /// Cancels an acquire that is still open.
    pub(in crate::state) fn cancel_acquire(&mut self, ticket: Ticket, out: &mut Vec<Effect>) {
        self.withdraw(ticket, messages::cancelled(), out);
    }

    /// Answers one open acquire or wish with an error.
    pub(in crate::state) fn withdraw(
        &mut self,
        ticket: Ticket,
        error: Error,
        out: &mut Vec<Effect>,
    ) {
        let entry = match self.tickets.get(ticket) {
            Some(OpenTicket::Acquire { entry, .. }) => Some(*entry),
            Some(&OpenTicket::Wish { server, key, .. }) => {
                self.unpark(server, (key, ticket));
                None
            }
            Some(OpenTicket::Restart(_) | OpenTicket::Drain) | None => return,
        };
        self.close_ticket(ticket);
        out.push(Effect::Refuse { ticket, error });
        let Some(id) = entry else { return };
        if let Some(entry) = self.entries.get_mut(id) {
            entry.waiters.remove(&ticket);
        }
        self.settle(id, out);
    }

    /// Answers all who wait for an entry with one error.
    pub(in crate::state) fn refuse_waiters(
        &mut self,
        id: EntryId,
        error: &Error,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        for ticket in std::mem::take(&mut entry.waiters).into_keys() {
            self.close_ticket(ticket);
            out.push(Effect::Refuse { ticket, error: error.clone() });
        }
    }

    /// Leases for all who wait for an entry.
    pub(in crate::state) fn grant_waiters(&mut self, id: EntryId) -> AcquireGrants {
        let mut granted = AcquireGrants::default();
        let Some(entry) = self.entries.get_mut(id) else {
            return granted;
        };
        let waiters = std::mem::take(&mut entry.waiters);
        for ticket in waiters.into_keys() {
            let Some(session) = self.close_ticket(ticket) else { continue };
            let (lease, newcomer) = self.hold(session, id);
            granted.newcomers.extend(newcomer);
            granted.grants.push(Effect::Grant { ticket, lease, entry: id });
        }
        granted
    }

    /// Begins an attempt as soon as nothing of the last one is left and there is a process slot for
    /// it.
    ///
    /// The caller has seen that there is no [obstacle](Self::obstacle), or the entry has its place
    /// still.
    pub(in crate::state) fn attempt(&mut self, id: EntryId, why: Why, out: &mut Vec<Effect>) {
        self.raise_generation(id);
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let (claims, wire) = (entry.claims(), entry.wire);
        let must_wait = entry.family == Family::Local
            && !claims.slot
            && self.slots.used >= self.options.limits.processes;
        if must_wait {
            let turn = claims.turn.unwrap_or(self.slots.next_turn);
            self.slots.next_turn = self.slots.next_turn.max(turn + 1);
            self.place(id, Phase::Waiting { why, turn }, None);
            self.publish(id, out);
            return;
        }
        self.place(id, Phase::Connecting { why }, wire);
        self.publish(id, out);
        if wire.is_none() {
            self.open_wire(id, out);
        }
    }

    /// Sees to an entry that lost a waiter or its last holder: nothing stays that nobody wants.
    pub(in crate::state) fn settle(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        if entry.is_wanted() {
            return;
        }
        let restarting = !entry.restarts.is_empty();
        match &entry.phase {
            _ if restarting && entry.is_superseded() => {
                self.end(id, End { reason: reason::SUPERSEDED, error: None, how: NOW }, out);
            }
            Phase::Connected { .. } => self.go_idle(id, out),
            // An attempt under way goes on, and what comes up goes straight to drain (SPEC 3.4).
            Phase::Connecting { .. } if entry.live_connection(id).is_some() => self.forgo(id, out),
            Phase::Connecting { .. } | Phase::Waiting { .. } if restarting => {}
            Phase::Connecting { .. } | Phase::Waiting { .. } | Phase::Backoff { .. } => {
                self.end(id, End { reason: reason::UNWANTED, error: None, how: NOW }, out);
            }
            Phase::Failed { .. } => {
                self.end(id, End { reason: reason::UNWANTED, error: None, how: NOW }, out);
            }
            Phase::Unauthorized { .. } => self.keep_unauthorized(id, out),
            Phase::Ended { .. } => {}
        }
    }

    /// Drops an attempt that nobody wants if it has not begun, as when others are in front of it.
    fn forgo(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id).filter(|entry| !entry.is_awaited()) else {
            return;
        };
        let Some(connection) = entry.live_connection(id) else { return };
        if let Some(wire) = entry.wire.filter(|wire| !wire.is_forgone) {
            let phase = entry.phase.clone();
            self.place(id, phase, Some(Wire { is_forgone: true, ..wire }));
            out.push(Effect::Forgo { connection });
        }
    }

    /// Starts the drain of a connected entry that nobody holds, or ends it if its time is over.
    fn go_idle(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        match self.plan_close(id) {
            Some(end) => self.end(id, end, out),
            None => {
                self.publish(id, out);
                self.announce(id, reason::RELEASED, out);
            }
        }
    }

    /// Sets the deadline of a connected entry that nobody holds; how it ends when there is nothing
    /// to wait for.
    ///
    /// A session's own connection is of no use to anybody else: it ends with its last call, which
    /// has the drain delay to finish (SPEC 2.2).
    pub(in crate::state) fn plan_close(&mut self, id: EntryId) -> Option<End> {
        let (now, delay, cap) = (self.now, self.options.drain_delay, self.options.idle_cap);
        let entry = self.entries.get_mut(id)?;
        let Phase::Connected { since, listing, .. } = entry.phase else {
            return None;
        };
        if entry.share == Share::Session {
            let how = CloseMode::Graceful { until: now.after(delay) };
            return Some(End { reason: reason::RELEASED, error: None, how });
        }
        let plan = entry.idle.plan(now, delay, cap);
        if plan.at <= now {
            return Some(End { reason: plan.reason, error: None, how: NOW });
        }
        let wire = entry.wire;
        self.place(id, Phase::Connected { since, planned: Some(plan), listing }, wire);
        None
    }

    /// The deadline of an entry: its drain is over, or its next attempt begins.
    pub(in crate::state) fn entry_is_due(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        match &entry.phase {
            Phase::Connected { planned: Some(plan), .. } => {
                let reason = plan.reason;
                self.end(id, End { reason, error: None, how: NOW }, out);
            }
            Phase::Unauthorized { until: Some(_) } => {
                self.end(id, End { reason: reason::IDLE_CAP, error: None, how: NOW }, out);
            }
            Phase::Backoff { .. } => self.attempt(id, Why::Retry, out),
            Phase::Failed { until: Some(_) } => self.revive(id, out),
            Phase::Connected { .. }
            | Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Failed { until: None }
            | Phase::Unauthorized { .. }
            | Phase::Ended { .. } => debug_assert!(false, "a deadline in a phase that has none"),
        }
    }

    /// Takes a ticket out of the books; the session that asked.
    pub(in crate::state) fn close_ticket(&mut self, ticket: Ticket) -> Option<SessionId> {
        let Some(OpenTicket::Acquire { session, .. } | OpenTicket::Wish { session, .. }) =
            self.tickets.remove(ticket)
        else {
            debug_assert!(false, "a waiter without an open acquire");
            return None;
        };
        if let Some(record) = self.sessions.get_mut(session) {
            record.tickets.remove(&ticket);
        }
        Some(session)
    }

    /// An acquire of an entry that there is.
    fn join(&mut self, id: EntryId, ask: Ask, if_full: IfFull, out: &mut Vec<Effect>) {
        let (ticket, session) = (ask.ticket, ask.session);
        let is_wish = if_full == IfFull::Wait;
        if let Some(entry) = self.entries.get_mut(id) {
            entry.reconnect.clone_from(&ask.reconnect);
        }
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        match entry.phase {
            Phase::Connected { .. } => self.attach(id, ticket, session, out),
            Phase::Waiting { .. } | Phase::Connecting { .. } | Phase::Backoff { .. } => {
                self.wait_for(id, (ticket, session), is_wish);
                self.speak_up(id, out);
            }
            Phase::Unauthorized { .. } if !entry.credentials.has_others() => {
                let error = entry.error.clone().unwrap_or_else(messages::ended_silently);
                out.push(Effect::Refuse { ticket, error });
            }
            Phase::Failed { .. } | Phase::Unauthorized { .. } => {
                if let Some(obstacle) = self.obstacle_of(entry) {
                    return self.stop_at(&obstacle, ask, if_full, out);
                }
                self.wait_for(id, (ticket, session), is_wish);
                self.attempt(id, Why::Fresh, out);
                self.announce(id, reason::ACQUIRE, out);
            }
            Phase::Ended { .. } => {
                debug_assert!(false, "a key leads to an entry that is over");
                out.push(Effect::Refuse { ticket, error: messages::closed() });
            }
        }
    }

    /// An acquire of a connected entry.
    fn attach(&mut self, id: EntryId, ticket: Ticket, session: SessionId, out: &mut Vec<Effect>) {
        let (lease, newcomer) = self.hold(session, id);
        let grant = Effect::Grant { ticket, lease, entry: id };
        let Some(Entry {
            phase: Phase::Connected { since, planned: Some(_), listing }, wire, ..
        }) = self.entries.get(id)
        else {
            out.push(grant);
            self.tell_held(id, newcomer, out);
            return;
        };
        let (phase, wire) =
            (Phase::Connected { since: *since, planned: None, listing: *listing }, *wire);
        self.place(id, phase, wire);
        self.publish(id, out);
        out.push(grant);
        self.announce(id, reason::HELD, out);
        self.tell_held(id, newcomer, out);
    }

    /// An acquire of a key that has no entry.
    fn begin(&mut self, ask: Ask, if_full: IfFull, out: &mut Vec<Effect>) {
        if self.admit(ask.server, ask.key).is_ok() {
            self.end_replaced(ask.server, out);
        }
        if let Some(obstacle) = self.obstacle_of_ask(&ask) {
            return self.stop_at(&obstacle, ask, if_full, out);
        }
        self.make_way(ask.server, out);
        let id = self.make_entry(&ask);
        self.wait_for(id, (ask.ticket, ask.session), if_full == IfFull::Wait);
        self.attempt(id, Why::First, out);
        self.announce(id, reason::ACQUIRE, out);
    }

    /// Answers an ask that cannot begin; a wish waits for room.
    fn stop_at(&mut self, obstacle: &Obstacle, ask: Ask, if_full: IfFull, out: &mut Vec<Effect>) {
        let waits = obstacle.is_lack_of_room() && if_full == IfFull::Wait;
        // Wishes that the budget refuses are noted when the notice of them goes to everybody.
        if !(waits && matches!(obstacle, Obstacle::Budget)) {
            self.note_refusal(ask.server, obstacle.reason());
        }
        if waits {
            return self.park(obstacle, ask, out);
        }
        let error = self.refusal(obstacle);
        out.push(Effect::Refuse { ticket: ask.ticket, error });
    }

    /// The record of a new entry, before its first attempt: nothing of it exists, as of a failed
    /// one.
    fn make_entry(&mut self, ask: &Ask) -> EntryId {
        let id = EntryId(self.next_entry);
        self.next_entry += 1;
        let mut index = 0;
        if let Some(name) = self.name_mut(ask.server) {
            index = name.next_index;
            name.next_index = index.saturating_add(1);
            name.entries.insert(index, id);
        }
        self.keys.insert(ask.key, id);
        let entry = Entry {
            index,
            server: ask.server,
            key: ask.key,
            family: ask.family,
            share: ask.share,
            reconnect: ask.reconnect.clone(),
            generation: Generation(0),
            phase: Phase::Failed { until: None },
            wire: None,
            shown: None,
            fingerprint: ask.fingerprint,
            on_tool_change: ask.on_tool_change,
            catalog: Default::default(),
            held: Default::default(),
            error: None,
            holders: Default::default(),
            waiters: Default::default(),
            restarts: Vec::new(),
            is_outdated: false,
            is_hurried: false,
            idle: IdleClock::default(),
            health: Health::default(),
            credentials: Credentials::default(),
        };
        self.accepted.enter(entry.configuration());
        self.entries.insert(id, entry);
        id
    }

    /// Somebody asks for what is tried quietly: from now on it is an attempt like any other.
    fn speak_up(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else { return };
        let (why, wire) = (Why::Fresh, entry.wire);
        let phase = match entry.phase {
            Phase::Waiting { why: Why::Revive, turn } => Phase::Waiting { why, turn },
            Phase::Connecting { why: Why::Revive } => Phase::Connecting { why },
            _ => return,
        };
        self.place(id, phase, wire);
        self.publish(id, out);
        self.announce(id, reason::ACQUIRE, out);
    }

    fn wait_for(&mut self, id: EntryId, (ticket, session): (Ticket, SessionId), is_wish: bool) {
        self.tickets.insert(ticket, OpenTicket::Acquire { session, entry: id });
        if let Some(record) = self.sessions.get_mut(session) {
            record.tickets.insert(ticket);
        }
        if let Some(entry) = self.entries.get_mut(id) {
            entry.waiters.insert(ticket, is_wish);
        }
    }
}
