//! Restart: every entry of a name, or one of them, gets a new incarnation (SPEC 9.1, 9.2).
//!
//! An entry of an old configuration is restarted for those who hold or await it. With the last of
//! them the restart is superseded: no process of a configuration that nobody has any more is begun,
//! or kept.

use std::time::Duration;

use super::{Phase, Why};
use crate::base::ids::{EntryId, ServerId, Ticket};
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::limits::obstacle::Obstacle;
use crate::state::report::messages::{self, reason};
use crate::state::report::notice::Notice;
use crate::state::report::outcomes::{RestartRefusal, RestartReport};
use crate::state::session::records::{OpenTicket, RestartWait};
use crate::state::terms::{CloseMode, LossReason};

impl PoolState {
    /// Restarts the entries of a name in parallel; a restart under way is shared.
    pub(in crate::state) fn restart(
        &mut self,
        ticket: Ticket,
        server: ServerId,
        index: Option<u32>,
        out: &mut Vec<Effect>,
    ) {
        if self.tickets.contains(ticket) {
            debug_assert!(false, "a ticket used twice");
            return;
        }
        if self.closing.is_some() {
            out.push(Effect::Refuse { ticket, error: messages::closing() });
            return;
        }
        let entries: Vec<EntryId> = match (self.names.get(server), index) {
            (None, _) => Vec::new(),
            (Some(name), None) => name.entries.values().copied().collect(),
            (Some(name), Some(index)) => name.entries.get(&index).copied().into_iter().collect(),
        };
        // One report more than there are entries: the answer comes when all were looked at, not
        // before.
        let left = u32::try_from(entries.len()).unwrap_or(u32::MAX).saturating_add(1);
        let wait = RestartWait { since: self.now, left, reports: Vec::new() };
        self.tickets.insert(ticket, OpenTicket::Restart(wait));
        for id in entries {
            match self.restart_refusal(id) {
                Some(refusal) => self.report(ticket, Some((id, Err(refusal))), out),
                None => self.restart_entry(id, ticket, out),
            }
        }
        self.report(ticket, None, out);
    }

    /// Notes the entries of an old configuration. What is restarted for nobody ends at once; the
    /// restart of what is still wanted, when nobody wants it any more ([`settle`](Self::settle)).
    pub(in crate::state) fn reconfigure(
        &mut self,
        outdated: &[EntryId],
        current: &[EntryId],
        out: &mut Vec<Effect>,
    ) {
        for (ids, is_outdated) in [(current, false), (outdated, true)] {
            for &id in ids {
                let Some(entry) = self.entries.get_mut(id) else { continue };
                if entry.is_over() {
                    // What comes in its place waits for it, also when that is the same again.
                    entry.is_outdated |= is_outdated;
                    self.note_replaced(id, out);
                    continue;
                }
                entry.is_outdated = is_outdated;
                if !entry.restarts.is_empty() {
                    self.settle(id, out);
                }
            }
        }
    }

    /// Tells every restart that waits for an entry how it went.
    pub(in crate::state) fn report_restarts(
        &mut self,
        id: EntryId,
        result: &Result<(), RestartRefusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        for ticket in std::mem::take(&mut entry.restarts) {
            self.report(ticket, Some((id, result.clone())), out);
        }
    }

    /// Why an entry cannot be restarted; `None` when it can.
    fn restart_refusal(&self, id: EntryId) -> Option<RestartRefusal> {
        let entry = self.entries.get(id)?;
        match entry.phase {
            Phase::Waiting { why: Why::First, .. } | Phase::Connecting { why: Why::First } => {
                Some(RestartRefusal::InFlight)
            }
            Phase::Ended { .. } => Some(RestartRefusal::Superseded),
            _ if entry.is_superseded() => Some(RestartRefusal::Superseded),
            Phase::Failed { .. } | Phase::Unauthorized { .. } => {
                let obstacle = self.obstacle_of(entry)?;
                Some(match obstacle {
                    Obstacle::Gate(_) => RestartRefusal::NotAdmitted,
                    Obstacle::Budget => RestartRefusal::BudgetWouldExceed,
                    Obstacle::EntriesOfName | Obstacle::Processes | Obstacle::EntryIds => {
                        RestartRefusal::Failed(self.refusal(&obstacle))
                    }
                })
            }
            Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Connected { .. }
            | Phase::Backoff { .. } => None,
        }
    }

    /// Ends the present incarnation, if there is one, and wants the next.
    fn restart_entry(&mut self, id: EntryId, ticket: Ticket, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.restarts.push(ticket);
        if let Phase::Waiting { why: Why::Restart, .. } | Phase::Connecting { why: Why::Restart } =
            entry.phase
        {
            return;
        }
        entry.health.reset();
        let lost = matches!(entry.phase, Phase::Connected { .. }).then_some(entry.generation);
        if lost.is_some() {
            entry.error = None;
            entry.idle.forget_window();
            entry.health.leave(self.now);
        }
        let (live, wire, phase) =
            (entry.live_connection(id), entry.ending_wire(), entry.phase.clone());
        self.place(id, phase, wire);
        self.attempt(id, Why::Restart, out);
        self.announce(id, reason::RESTART, out);
        if let Some(generation) = lost {
            let reason = LossReason::Restart;
            let notice = Notice::Disconnected { entry: id, generation, reason, error: None };
            self.tell_holders(id, notice, out);
        }
        out.extend(live.map(|connection| Effect::Close { connection, how: CloseMode::Now }));
    }

    /// Takes one report of a restart, and answers it with the last.
    fn report(
        &mut self,
        ticket: Ticket,
        report: Option<(EntryId, Result<(), RestartRefusal>)>,
        out: &mut Vec<Effect>,
    ) {
        let now = self.now;
        let report = report
            .and_then(|(entry, result)| Some((entry, self.entries.get(entry)?.index, result)));
        let Some(OpenTicket::Restart(wait)) = self.tickets.get_mut(ticket) else {
            debug_assert!(false, "a report for a restart that is answered");
            return;
        };
        let took = Duration::from_nanos(now.0.saturating_sub(wait.since.0));
        wait.reports.extend(report.map(|(entry, index, result)| RestartReport {
            entry,
            index,
            result: result.map(|()| took),
        }));
        wait.left -= 1;
        if wait.left == 0 {
            let mut reports = std::mem::take(&mut wait.reports);
            reports.sort_by_key(|report| report.entry);
            self.tickets.remove(ticket);
            out.push(Effect::Restarted { ticket, reports });
        }
    }
}
