//! A session is to have something else: every hold is brought in line with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::state::{EntryId, PoolInput, Ticket};
use trunkline_pool::view::Viewed;

use super::ids::{HoldId, HoldKind};
use super::{Attachment, LeaseRow, LeaseTable, LeaseTableState};
use crate::Result;
use crate::api::lease_state::{LeaseState, LeaseStatus};
use crate::api::server_config::{ConfigOwner, ResolvedServer};
use crate::api::session_core::SessionCore;
use crate::driver::{EntryCell, LeaseGuard};

/// What is left to be done about a change, once no lock is held.
#[derive(Default)]
struct ReconcileEffects {
    released: Vec<LeaseGuard>,
    cancelled: Vec<Ticket>,
    returning: Vec<(HoldId, u32, Arc<LeaseState>, Arc<ResolvedServer>)>,
    /// What is lost with its configuration.
    lost: BTreeMap<EntryId, Arc<EntryCell>>,
}

impl LeaseTable {
    /// Brings every hold, and what is kept, in line with what the session is to have now, and tells
    /// it of what is different. `unwanted` go, and what is kept for the wants that are `over`.
    pub(crate) fn review(&self, session: &Arc<SessionCore>, unwanted: &[HoldId], over: &[u64]) {
        let after = {
            let mut inner = self.inner();
            let mut after = ReconcileEffects::default();
            let ids: Vec<HoldId> = inner.holds.ids().collect();
            for id in ids {
                inner.review_one(session, id, unwanted.contains(&id), &mut after);
            }
            // What another hold of the session is on is not lost.
            after.lost.retain(|entry, _| !inner.holds.values().any(|row| row.is_on(*entry)));
            inner.deferred.forget(over);
            inner.deferred.review(session);
            inner.compare();
            after
        };
        for ticket in after.cancelled {
            session.driver.step(PoolInput::CancelAcquire { ticket });
        }
        // Whoever loses it is told of it before it holds it no more.
        for cell in after.lost.values() {
            session.driver.tell_of_configuration(&session.recipient, cell);
        }
        drop(after.released);
        self.tell(session);
        for (id, asked, held, configured) in after.returning {
            self.ask_again(session, (id, asked), &held, &configured);
        }
    }

    /// Asks for the server of a lease that was disabled.
    fn ask_again(
        &self,
        session: &Arc<SessionCore>,
        (id, asked): (HoldId, u32),
        held: &LeaseState,
        configured: &Arc<ResolvedServer>,
    ) {
        let weak = Arc::downgrade(session);
        let ticket = session.ask_for(&held.server, (held.origin, configured), move |result| {
            if let Some(session) = weak.upgrade() {
                session.holds.answered(&session, id, asked, result);
                session.settled.notify_waiters();
            }
        });
        let mut inner = self.inner();
        match inner.holds.get_mut(id).filter(|row| row.asked == asked) {
            Some(row) if row.held.standing() == LeaseStatus::Returning => {
                row.having = Attachment::Away { ticket: Some(ticket) };
            }
            Some(_) => {}
            None => {
                drop(inner);
                session.driver.step(PoolInput::CancelAcquire { ticket });
            }
        }
    }

    fn answered(&self, session: &SessionCore, id: HoldId, asked: u32, result: Result<LeaseGuard>) {
        let back = result.as_ref().ok().map(|hold| hold.cell.clone());
        {
            let mut inner = self.inner();
            let row = inner.holds.get_mut(id).filter(|row| row.asked == asked);
            let Some(row) = row else {
                drop(inner);
                drop(result);
                return;
            };
            match result {
                Ok(hold) => {
                    row.held.come_back(hold.cell.clone());
                    row.having = Attachment::Held(hold);
                }
                Err(error) => {
                    row.having = Attachment::Away { ticket: None };
                    row.held.fail(error);
                }
            }
            inner.compare();
        }
        self.tell(session);
        if let Some(cell) = back {
            session.begins_to_hold(&cell);
        }
    }
}

impl LeaseRow {
    /// It is seen by these from now on, of the same connection.
    fn review(
        &mut self,
        (configured, options): (Arc<ResolvedServer>, Arc<SessionOptions>),
        naming: &Arc<Naming>,
    ) {
        let server = &*self.held.server;
        let before = Viewed { server, spec: &self.configured.spec, options: &self.options };
        let now = Viewed { server, spec: &configured.spec, options: &options };
        if before != now {
            self.held.set_view(now.view(naming));
        }
        (self.configured, self.options) = (configured, options);
    }

    /// The session does without it.
    fn let_go(&mut self, after: &mut ReconcileEffects) {
        match std::mem::replace(&mut self.having, Attachment::Away { ticket: None }) {
            Attachment::Held(hold) => after.released.push(hold),
            Attachment::Away { ticket } => after.cancelled.extend(ticket),
        }
    }
}

impl LeaseTableState {
    fn review_one(
        &mut self,
        session: &Arc<SessionCore>,
        id: HoldId,
        unwanted: bool,
        after: &mut ReconcileEffects,
    ) {
        let Some(row) = self.holds.get_mut(id) else { return };
        let server = row.held.server.clone();
        let disabled = session.has_disabled(&server);
        let stands = matches!(row.kind, HoldKind::Want | HoldKind::Calls)
            || row.held.origin == ConfigOwner::Session
            || session.stands(&server, &row.configured);
        let over = unwanted || (disabled && row.kind == HoldKind::Inherited) || !stands;
        if over {
            row.held.stand(LeaseStatus::Revoked);
            if !stands && let Attachment::Held(hold) = &row.having {
                after.lost.insert(hold.cell.entry, hold.cell.clone());
            }
            row.let_go(after);
            self.holds.remove(id);
            return;
        }
        let newest = session.newest(&server, row.held.origin, &row.configured);
        row.review((newest, session.options()), &session.driver.naming);
        if row.kind != HoldKind::Lease {
            return;
        }
        let standing = row.held.standing();
        if disabled && standing != LeaseStatus::Disabled {
            row.held.stand(LeaseStatus::Disabled);
            row.asked = row.asked.wrapping_add(1);
            row.let_go(after);
        } else if !disabled && standing == LeaseStatus::Disabled {
            row.held.stand(LeaseStatus::Returning);
            row.asked = row.asked.wrapping_add(1);
            after.returning.push((id, row.asked, row.held.clone(), row.configured.clone()));
        }
    }
}
