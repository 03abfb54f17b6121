//! What follows a loss: the schedule, the breaker, and giving up (SPEC 8.1, 8.2, 8.5).

use std::sync::Arc;
use std::time::Duration;

use super::health::Verdict;
use super::{Entry, Phase, Why};
use crate::acceptance::QuarantinedTools;
use crate::base::ids::{ConnectionId, EntryId, Moment};
use crate::error::{Error, ErrorCode};
use crate::state::effect::Effect;
use crate::state::report::messages::{self, reason};
use crate::state::report::notice::Notice;
use crate::state::session::ask::{End, NOW};
use crate::state::terms::{Family, LossReason};
use crate::state::{PoolState, RestartRefusal};

/// The longest wait that a server can ask for before it is connected to again.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(300);

/// How long the server asks to be left alone, by the error of the attempt or loss (SPEC 8.4).
fn asked_wait(error: &Error) -> Duration {
    error.retry_after().unwrap_or_default().min(ASKED_WAIT_MAX)
}

/// Whether what failed so may be well later without anybody's doing (SPEC 8.1): what a person has
/// to mend is tried again when that person has done something.
fn may_pass(error: &Error) -> bool {
    !matches!(
        error.code(),
        ErrorCode::InvalidConfig
            | ErrorCode::InvalidArgument
            | ErrorCode::NotAdmitted
            | ErrorCode::AuthRequired
            | ErrorCode::Store
    )
}

impl PoolState {
    /// An established connection of a connected entry is lost; nobody's `Closed` has come yet.
    pub(in crate::state) fn lose(
        &mut self,
        connection: ConnectionId,
        why: LossReason,
        error: Error,
        out: &mut Vec<Effect>,
    ) {
        let id = connection.entry;
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let Phase::Connected { since, .. } = entry.phase else {
            debug_assert!(false, "an established connection of an entry that is not connected");
            return;
        };
        let (phase, wire, server) = (entry.phase.clone(), entry.ending_wire(), entry.server);
        let lacks = error.code() == ErrorCode::AuthRequired;
        let has_others = entry.credentials.has_others();
        self.place(id, phase, wire);
        self.remember_error(server, &error);
        let Some(entry) = self.entries.get_mut(id).filter(|entry| entry.is_wanted()) else {
            self.end(id, End { reason: reason::LOST, error: Some(error), how: NOW }, out);
            return;
        };
        let generation = connection.generation;
        let told = Some(error.clone());
        let notice = Some(Notice::Disconnected { entry: id, generation, reason: why, error: told });
        let own = entry.reconnect.clone();
        let policy = own.as_deref().unwrap_or(&self.options.reconnect);
        match entry.health.lose(self.now, since, policy) {
            _ if lacks && !has_others => self.unauthorize(id, error, notice, out),
            Verdict::BreakerOpen => {
                self.fail(id, messages::crash_loop(error), reason::CRASH_LOOP, notice, out);
            }
            // With the credentials that there are now it was not tried yet.
            Verdict::MayReturn if lacks => {
                self.place_backoff(id, Duration::ZERO, error, notice, out);
            }
            Verdict::MayReturn
                if why == LossReason::SessionLost && entry.health.may_return_at_once() =>
            {
                self.place_backoff(id, Duration::ZERO, error, notice, out);
            }
            Verdict::MayReturn => self.schedule(id, error, notice, out),
        }
    }

    /// Sets the deadline of the next attempt, or gives up when the schedule is used up.
    ///
    /// `first` is what the holders are told before anything that follows from it.
    pub(in crate::state) fn schedule(
        &mut self,
        id: EntryId,
        error: Error,
        first: Option<Notice>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let (family, own) = (entry.family, entry.reconnect.clone());
        let policy = own.as_deref().unwrap_or(&self.options.reconnect);
        let Some(delay) = entry.health.next_delay(family, policy) else {
            if entry.health.is_unstable() {
                self.fail(id, messages::unstable(error), reason::UNSTABLE, first, out);
            } else {
                self.fail(id, error, reason::ATTEMPTS_USED_UP, first, out);
            }
            return;
        };
        let delay = delay.max(asked_wait(&error));
        let delay = match family {
            Family::Local => delay,
            Family::Remote => self.jitter.spread_remote(delay),
        };
        self.place_backoff(id, delay, error, first, out);
    }

    /// Waits for the next attempt.
    fn place_backoff(
        &mut self,
        id: EntryId,
        delay: Duration,
        error: Error,
        first: Option<Notice>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let wire = entry.wire;
        entry.error = Some(error);
        self.place(id, Phase::Backoff { until: self.now.after(delay) }, wire);
        self.publish(id, out);
        self.announce(id, reason::LOST, out);
        if let Some(notice) = first {
            self.tell_holders(id, notice, out);
        }
    }

    /// Gives up on an entry until somebody asks, or a quiet attempt is due. One that nobody holds,
    /// and that no wish waits for, ends instead: nothing is stored but the error.
    pub(in crate::state) fn fail(
        &mut self,
        id: EntryId,
        error: Error,
        why: &'static str,
        first: Option<Notice>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let server = entry.server;
        let until = self.next_revival(id, &error);
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        if entry.holders.is_empty() && (until.is_none() || !entry.is_wished()) {
            self.remember_error(server, &error);
            self.end(id, End { reason: why, error: Some(error), how: NOW }, out);
            return;
        }
        self.give_up(id, Phase::Failed { until }, (error, why), first, out);
    }

    /// A quiet attempt is due: it is made where there is room for it, and else when the next one
    /// is.
    pub(in crate::state) fn revive(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        if self.obstacle_of(entry).is_none() {
            return self.attempt(id, Why::Revive, out);
        }
        let (error, wire) =
            (entry.error.clone().unwrap_or_else(messages::ended_silently), entry.wire);
        let until = self.next_revival(id, &error);
        self.place(id, Phase::Failed { until }, wire);
    }

    /// A quiet attempt failed: status shows the newest error, and no event says so.
    pub(in crate::state) fn fail_quietly(
        &mut self,
        id: EntryId,
        error: Error,
        out: &mut Vec<Effect>,
    ) {
        let until = self.next_revival(id, &error);
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        if until.is_none() && entry.holders.is_empty() {
            return self.fail(id, error, reason::CONNECT_FAILED, None, out);
        }
        entry.error = Some(error.clone());
        let wire = entry.wire;
        self.place(id, Phase::Failed { until }, wire);
        self.publish(id, out);
        self.refuse_or_postpone(id, &error, out);
        self.announce(id, reason::CONNECT_FAILED, out);
    }

    /// When a quiet attempt of an entry that has failed so is due; never, for what time does not
    /// mend.
    fn next_revival(&mut self, id: EntryId, error: &Error) -> Option<Moment> {
        let entry = self.entries.get_mut(id)?;
        let own = entry.reconnect.clone();
        let policy = own.as_deref().unwrap_or(&self.options.reconnect);
        let crashes = error.code() == ErrorCode::CrashLoop;
        let delay =
            may_pass(error).then(|| entry.health.next_revival(crashes, policy)).flatten()?;
        let delay = delay.max(asked_wait(error));
        Some(self.now.after(self.jitter.spread(delay)))
    }

    /// Whether a failed entry is tried again unasked.
    pub(in crate::state) fn may_revive(&self, entry: &Entry) -> bool {
        let policy = entry.reconnect.as_deref().unwrap_or(&self.options.reconnect);
        !policy.revive.is_empty() && entry.error.as_ref().is_some_and(may_pass)
    }

    /// Answers who waits for an entry that has failed. The wishes among them hear of it, and wait
    /// on for the next attempt.
    fn refuse_or_postpone(&mut self, id: EntryId, error: &Error, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        if !matches!(entry.phase, Phase::Failed { until: Some(_) }) {
            return self.refuse_waiters(id, error, out);
        }
        let waiters = entry.waiters.clone();
        entry.waiters.retain(|_, is_wish| *is_wish);
        for (ticket, is_wish) in waiters {
            let error = error.clone();
            if is_wish {
                out.push(Effect::Postpone { ticket, error });
            } else {
                self.close_ticket(ticket);
                out.push(Effect::Refuse { ticket, error });
            }
        }
    }

    /// Leaves an entry in a phase without a connection and without lists, and tells everybody.
    pub(in crate::state) fn give_up(
        &mut self,
        id: EntryId,
        phase: Phase,
        (error, why): (Error, &'static str),
        first: Option<Notice>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let before = std::mem::take(&mut entry.catalog);
        entry.held = QuarantinedTools::default();
        entry.error = Some(error.clone());
        let (server, wire, generation) = (entry.server, entry.wire, entry.generation);
        self.remember_error(server, &error);
        self.place(id, phase, wire);
        self.publish(id, out);
        self.refuse_or_postpone(id, &error, out);
        self.report_restarts(id, &Err(RestartRefusal::Failed(error.clone())), out);
        self.announce(id, why, out);
        // The holders hear of the failure first, and then that the tools are gone (SPEC 5.8).
        for notice in first.into_iter().chain([Notice::Failed { entry: id, generation, error }]) {
            self.tell_holders(id, notice, out);
        }
        self.tell_change(id, before, Arc::default(), &[], out);
    }
}
