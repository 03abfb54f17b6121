//! The end of a pool: one-way, with one deadline for everything (SPEC 9.7).

use std::time::Duration;

use super::ask::End;
use super::records::{Closing, OpenTicket, Patience};
use crate::base::ids::{EntryId, Moment, Ticket};
use crate::options::DrainMode;
use crate::state::effect::Effect;
use crate::state::entry::Phase;
use crate::state::report::messages::{self, reason};
use crate::state::report::outcomes::DrainReport;
use crate::state::terms::{CloseExit, CloseMode};
use crate::state::{DueTimer, PoolState};

impl PoolState {
    /// Ends everything, or joins the drain under way: of two the earlier deadline and the lesser
    /// patience count.
    pub(in crate::state) fn drain(
        &mut self,
        ticket: Ticket,
        how: DrainMode,
        deadline: Moment,
        out: &mut Vec<Effect>,
    ) {
        if self.tickets.contains(ticket) {
            debug_assert!(false, "a ticket used twice");
            return;
        }
        self.tickets.insert(ticket, OpenTicket::Drain);
        match &mut self.closing {
            None => {
                self.begin_drain(ticket, how, deadline, out);
            }
            Some(closing) => {
                closing.tickets.push(ticket);
                let before = closing.stage;
                if let Patience::Waiting { deadline: set } = before {
                    closing.stage = Patience::Waiting { deadline: set.min(deadline) };
                }
                let after = closing.stage;
                let impatient = how == DrainMode::Force && closing.how == DrainMode::Finish;
                if impatient {
                    closing.how = how;
                }
                self.rearm(DueTimer::Drain, before.due(), after.due());
                if impatient && matches!(after, Patience::Waiting { .. }) {
                    self.close_all(CloseMode::Now, out);
                }
            }
        }
        self.finish_drain(out);
    }

    /// The deadline passed: kill what is left, and a little later answer whether or not it is gone.
    pub(in crate::state) fn drain_is_due(&mut self, out: &mut Vec<Effect>) {
        let now = self.now;
        let Some(closing) = &mut self.closing else {
            return;
        };
        let before = closing.stage;
        closing.stage = match before {
            Patience::Waiting { .. } => Patience::Killing { until: now.after(KILL_GRACE) },
            Patience::Killing { .. } | Patience::Spent => Patience::Spent,
        };
        let after = closing.stage;
        self.rearm(DueTimer::Drain, before.due(), after.due());
        if matches!(after, Patience::Killing { .. }) {
            self.close_all(CloseMode::Kill, out);
        }
        self.finish_drain(out);
    }

    /// Answers the drains when everything is gone, or when there is no patience left.
    pub(in crate::state) fn finish_drain(&mut self, out: &mut Vec<Effect>) {
        let all_gone = self.entries.is_empty();
        let Some(closing) = &mut self.closing else {
            return;
        };
        if !all_gone && closing.stage != Patience::Spent {
            return;
        }
        let before = closing.stage;
        closing.stage = Patience::Spent;
        let left = self.entries.iter().map(|(id, _)| (id, messages::left_behind()));
        let mut report = DrainReport {
            drained: closing.drained,
            forced: closing.forced,
            errors: left.collect(),
        };
        report.errors.sort_by_key(|(entry, _)| *entry);
        let tickets = std::mem::take(&mut closing.tickets);
        self.rearm(DueTimer::Drain, before.due(), None);
        for ticket in tickets {
            self.tickets.remove(ticket);
            out.push(Effect::Drained { ticket, report: report.clone() });
        }
    }

    /// Counts the end of a connection for the drain's report.
    pub(in crate::state) fn count_exit(&mut self, exit: CloseExit) {
        if let Some(closing) = &mut self.closing {
            match exit {
                CloseExit::Clean | CloseExit::Unbegun => closing.drained += 1,
                CloseExit::Forced => closing.forced += 1,
            }
        }
    }

    fn begin_drain(
        &mut self,
        ticket: Ticket,
        how: DrainMode,
        deadline: Moment,
        out: &mut Vec<Effect>,
    ) {
        let stage = Patience::Waiting { deadline };
        let tickets = vec![ticket];
        self.closing = Some(Closing { how, stage, tickets, drained: 0, forced: 0 });
        self.rearm(DueTimer::Drain, None, stage.due());
        self.refuse_all_wishes(out);
        if how == DrainMode::Force {
            self.close_all(CloseMode::Now, out);
        }
        let entries: Vec<(EntryId, CloseMode)> = self
            .entries
            .iter()
            .map(|(id, entry)| match (&entry.phase, how) {
                (Phase::Connected { .. }, DrainMode::Finish) => {
                    (id, CloseMode::Graceful { until: deadline })
                }
                // Without calls there is nothing to wait for.
                _ => (id, CloseMode::Now),
            })
            .collect();
        for (id, how) in entries {
            let error = Some(messages::closing());
            self.end(id, End { reason: reason::DRAIN_ALL, error, how }, out);
        }
    }

    /// Raises the urgency of every end that is under way: a session's own connection may have been
    /// left time for its calls.
    fn close_all(&self, how: CloseMode, out: &mut Vec<Effect>) {
        let ending = self.entries.iter().filter(|(_, record)| record.is_over());
        let connections = ending.filter_map(|(id, entry)| entry.connection(id));
        out.extend(connections.map(|connection| Effect::Close { connection, how }));
    }
}

/// From the kill at the deadline to the answer, whatever is left: 200 ms, so that the caller has it
/// within 250 ms of the deadline.
const KILL_GRACE: Duration = Duration::from_millis(200);
