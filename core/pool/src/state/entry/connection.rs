//! What a connection reports: it stands, it could not be made, it was lost, nothing of it is left.

use std::sync::Arc;

use super::{ListingProgress, Phase, Stage, Why, Wire};
use crate::acceptance::QuarantinedTools;
use crate::base::ids::{ConnectionId, EntryId};
use crate::catalog::{Catalog, CatalogDifference};
use crate::error::{Error, ErrorCode};
use crate::state::effect::Effect;
use crate::state::report::messages::{self, reason};
use crate::state::report::notice::Notice;
use crate::state::session::acquire::AcquireGrants;
use crate::state::session::ask::{End, NOW};
use crate::state::terms::{CloseExit, CloseMode, LossReason};
use crate::state::{PoolState, RestartRefusal};

impl PoolState {
    /// An attempt succeeded: publish, answer who waited, tell who held it through its absence
    /// (SPEC 8.5).
    pub(in crate::state) fn connected(
        &mut self,
        connection: ConnectionId,
        catalog: Arc<Catalog>,
        out: &mut Vec<Effect>,
    ) {
        if self.current(connection) != Some(Stage::Attempting) {
            return;
        }
        let id = connection.entry;
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let Phase::Connecting { why } = entry.phase else {
            debug_assert!(false, "an attempt that nobody wants");
            return;
        };
        entry.error = None;
        let server = entry.server;
        let mut told = Vec::new();
        if why != Why::First {
            let (attempts, downtime) = entry.health.come_back(self.now);
            if why == Why::Restart {
                entry.health.reset();
            }
            let generation = connection.generation;
            let notice = Notice::Reconnected { entry: id, generation, attempts, downtime };
            self.tell_holders(id, notice, &mut told);
        }
        self.forget_error(server);
        if let Some(news) = self.take_lists(id, catalog, out) {
            self.tell_news(id, news, &mut told);
        }
        let since = self.now;
        let generation = connection.generation;
        let wire = Some(Wire { generation, stage: Stage::Established, is_forgone: false });
        let listing = ListingProgress::default();
        self.place(id, Phase::Connected { since, planned: None, listing }, wire);
        let AcquireGrants { grants, newcomers } = self.grant_waiters(id);
        let unheld = self.entries.get(id).is_some_and(|entry| entry.holders.is_empty());
        if let Some(end) = unheld.then(|| self.plan_close(id)).flatten() {
            self.report_restarts(id, &Ok(()), out);
            self.end(id, end, out);
            return;
        }
        self.publish(id, out);
        out.extend(grants);
        self.report_restarts(id, &Ok(()), out);
        self.announce(id, reason::CONNECTED, out);
        out.append(&mut told);
        self.tell_held(id, newcomers, out);
    }

    /// An attempt failed, and nothing of it is left (SPEC 3.3).
    pub(in crate::state) fn connect_failed(
        &mut self,
        connection: ConnectionId,
        error: Error,
        out: &mut Vec<Effect>,
    ) {
        let id = connection.entry;
        match self.current(connection) {
            Some(Stage::Attempting) => {}
            // It was cancelled; this is one of its two ways to say that it is gone.
            Some(Stage::Ending) => return self.gone(id, CloseExit::Clean, out),
            Some(Stage::Established) | None => return,
        }
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let Phase::Connecting { why } = entry.phase else {
            debug_assert!(false, "an attempt that nobody wants");
            return;
        };
        let (server, wanted, awaited) = (entry.server, entry.is_wanted(), entry.is_awaited());
        self.remember_error(server, &error);
        self.place(id, Phase::Connecting { why }, None);
        match why {
            _ if error.code() == ErrorCode::AuthRequired && awaited => {
                self.lacked_credentials(id, why, error, out);
            }
            _ if !wanted => {
                let reason = reason::CONNECT_FAILED;
                self.end(id, End { reason, error: Some(error), how: NOW }, out);
            }
            Why::Retry => self.schedule(id, error, None, out),
            Why::Revive => self.fail_quietly(id, error, out),
            Why::First | Why::Fresh | Why::Restart => {
                self.fail(id, error, reason::CONNECT_FAILED, None, out);
            }
        }
    }

    /// An established connection was lost.
    pub(in crate::state) fn disconnected(
        &mut self,
        connection: ConnectionId,
        reason: LossReason,
        error: Error,
        out: &mut Vec<Effect>,
    ) {
        if self.current(connection) == Some(Stage::Established) {
            self.lose(connection, reason, error, out);
        }
    }

    /// Nothing of a connection is left.
    pub(in crate::state) fn closed(
        &mut self,
        connection: ConnectionId,
        exit: CloseExit,
        out: &mut Vec<Effect>,
    ) {
        match self.current(connection) {
            Some(Stage::Ending) => self.gone(connection.entry, exit, out),
            Some(Stage::Attempting) if exit == CloseExit::Unbegun => {
                self.unbegun(connection.entry, out);
            }
            // It ended without saying so first.
            Some(Stage::Attempting) => {
                self.connect_failed(connection, messages::ended_silently(), out);
            }
            Some(Stage::Established) => {
                let error = messages::ended_silently();
                self.lose(connection, LossReason::TransportClosed, error, out);
                self.gone(connection.entry, exit, out);
            }
            None => {}
        }
    }

    /// An attempt that nobody wanted ended before it had begun. A caller that asked for it
    /// meanwhile gets another.
    fn unbegun(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let Phase::Connecting { why } = entry.phase else {
            debug_assert!(false, "an attempt that nobody wants");
            return;
        };
        let is_awaited = entry.is_awaited();
        self.place(id, Phase::Connecting { why }, None);
        if is_awaited {
            self.attempt(id, why, out);
        } else {
            self.end(id, End { reason: reason::UNWANTED, error: None, how: NOW }, out);
        }
    }

    /// Tells the holders how the lists differ, if they do.
    pub(in crate::state) fn tell_change(
        &self,
        id: EntryId,
        before: Arc<Catalog>,
        after: Arc<Catalog>,
        renewed: &[Arc<str>],
        out: &mut Vec<Effect>,
    ) {
        let difference =
            Arc::new(CatalogDifference::between(&before, &after).with_renewed(renewed));
        let Some(entry) = self.entries.get(id).filter(|_| !difference.is_empty()) else {
            return;
        };
        let generation = entry.generation;
        let notice = Notice::CatalogChanged { entry: id, generation, before, after, difference };
        self.tell_holders(id, notice, out);
    }

    /// The incarnation that was ending is gone: go on with what waited for that.
    fn gone(&mut self, id: EntryId, exit: CloseExit, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let phase = entry.phase.clone();
        match &phase {
            Phase::Ended { reason } => {
                let reason = *reason;
                self.place(id, phase, None);
                self.count_exit(exit);
                self.bury(id, reason, out);
            }
            Phase::Connecting { .. } => {
                self.place(id, phase, None);
                self.open_wire(id, out);
            }
            Phase::Backoff { .. } | Phase::Failed { .. } | Phase::Unauthorized { .. } => {
                self.place(id, phase, None);
            }
            Phase::Waiting { .. } | Phase::Connected { .. } => {
                debug_assert!(false, "the end of a connection that was not ending");
            }
        }
    }

    /// Ends an entry: the one way in which one goes.
    ///
    /// Its key is free at once. Its record stays until nothing of it lives outside.
    pub(in crate::state) fn end(&mut self, id: EntryId, end: End, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(id).filter(|entry| !entry.is_over()) else {
            return;
        };
        let connected = matches!(entry.phase, Phase::Connected { .. });
        let (live, wire, generation) =
            (entry.live_connection(id), entry.ending_wire(), entry.generation);
        let (key, server, index) = (entry.key, entry.server, entry.index);
        entry.error = end.error.clone();
        entry.is_hurried |= !matches!(end.how, CloseMode::Graceful { .. });
        let catalog = std::mem::take(&mut entry.catalog);
        entry.held = QuarantinedTools::default();
        let mut told = Vec::new();
        // A session loses a server to the end of the pool, or to a gate, and then lives on without
        // its tools.
        let to_gate = self.closing.is_none();
        if connected {
            let reason = if to_gate { LossReason::Gate } else { LossReason::Shutdown };
            let notice = Notice::Disconnected { entry: id, generation, reason, error: None };
            self.tell_holders(id, notice, &mut told);
        }
        if to_gate {
            self.tell_change(id, catalog, Arc::default(), &[], &mut told);
        }
        self.drop_holds(id);
        self.keys.remove(&key);
        if let Some(name) = self.name_mut(server) {
            name.entries.remove(&index);
        }
        self.place(id, Phase::Ended { reason: end.reason }, wire);
        self.publish(id, out);
        self.refuse_waiters(id, &end.error.clone().unwrap_or_else(messages::cancelled), out);
        let refusal = match end.error {
            _ if self.closing.is_some() => RestartRefusal::Closing,
            Some(error) if error.code() == ErrorCode::NotAdmitted => RestartRefusal::NotAdmitted,
            Some(error) => RestartRefusal::Failed(error),
            None => RestartRefusal::Superseded,
        };
        self.report_restarts(id, &Err(refusal), out);
        if wire.is_none() {
            // No news of an entry comes after it was shown as closed.
            out.append(&mut told);
            self.bury(id, end.reason, out);
        } else {
            self.announce(id, end.reason, out);
            out.append(&mut told);
            out.extend(live.map(|connection| Effect::Close { connection, how: end.how }));
            self.note_replaced(id, out);
        }
    }

    /// Drops the record of an entry that has nothing left.
    fn bury(&mut self, id: EntryId, reason: &'static str, out: &mut Vec<Effect>) {
        self.announce(id, reason, out);
        let server = self.entries.get(id).map(|entry| entry.server);
        self.forget(id);
        if let Some(server) = server {
            self.begin_replacements(server, id, out);
        }
        self.finish_drain(out);
    }
}
