//! A session is to have something else: every hold is brought in line with it.
//!
//! There is one review for every kind of change. Separate events would have to agree about each
//! pair of changes that meet.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::state::{EntryId, PoolInput, Ticket};
use trunkline_pool::view::Viewed;

use super::ids::{HoldId, HoldKind};
use super::lease_state::{LeaseState, LeaseStatus};
use super::table::{Attachment, LeaseRow, LeaseTableState};
use crate::Result;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{EntryCell, LeaseGuard};
use crate::session::session_core::SessionCore;

/// What is left to be done about a change, once no lock is held.
#[derive(Default)]
struct ReconcileEffects {
    released: Vec<LeaseGuard>,
    cancelled: Vec<Ticket>,
    returning: Vec<(HoldId, u32, Arc<LeaseState>, Arc<ResolvedServer>)>,
    /// What is lost with its configuration.
    lost: BTreeMap<EntryId, Arc<EntryCell>>,
}

impl SessionCore {
    /// Brings every hold, and what is kept, in line with what the session is to have now, and tells
    /// it of what is different. `unwanted` go, and what is kept for the wants that are `over`.
    pub(crate) fn review_holds(self: &Arc<Self>, unwanted: &[HoldId], over: &[u64]) {
        let after = {
            let mut inner = self.holds.inner();
            let mut after = ReconcileEffects::default();
            let ids: Vec<HoldId> = inner.holds.ids().collect();
            for id in ids {
                self.review_one((&mut inner, id), unwanted.contains(&id), &mut after);
            }
            // What another hold of the session is on is not lost.
            after.lost.retain(|entry, _| !inner.holds.values().any(|row| row.is_on(*entry)));
            inner.deferred.forget(over);
            let newest =
                |server: &str, configured: &_| self.newest(server, ConfigOwner::Pool, configured);
            inner.deferred.review((&self.options(), &self.driver.naming), newest);
            inner.compare();
            after
        };
        for ticket in after.cancelled {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
        // A session that loses it hears so while it still holds it.
        for cell in after.lost.values() {
            self.driver.tell_of_configuration(&self.recipient, cell);
        }
        drop(after.released);
        self.tell_lists();
        for (id, asked, held, configured) in after.returning {
            self.ask_again((id, asked), &held, &configured);
        }
    }

    /// Asks for the server of a lease that was disabled.
    fn ask_again(
        self: &Arc<Self>,
        (id, asked): (HoldId, u32),
        held: &LeaseState,
        configured: &Arc<ResolvedServer>,
    ) {
        let weak = Arc::downgrade(self);
        let ticket = self.ask_for(&held.server, (held.origin, configured), move |result| {
            if let Some(session) = weak.upgrade() {
                session.come_back(id, asked, result);
                session.settled.notify_waiters();
            }
        });
        let mut inner = self.holds.inner();
        match inner.holds.get_mut(id).filter(|row| row.asked == asked) {
            Some(row) if row.held.standing() == LeaseStatus::Returning => {
                row.having = Attachment::Away { ticket: Some(ticket) };
            }
            Some(_) => {}
            None => {
                drop(inner);
                self.driver.step(PoolInput::CancelAcquire { ticket });
            }
        }
    }

    fn come_back(&self, id: HoldId, asked: u32, result: Result<LeaseGuard>) {
        let back = result.as_ref().ok().map(|hold| hold.cell.clone());
        {
            let mut inner = self.holds.inner();
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
        self.tell_lists();
        if let Some(cell) = back {
            self.begins_to_hold(&cell);
        }
    }

    /// Brings one hold in line, under the lock of the table.
    fn review_one(
        &self,
        (table, id): (&mut LeaseTableState, HoldId),
        unwanted: bool,
        after: &mut ReconcileEffects,
    ) {
        let Some(row) = table.holds.get_mut(id) else { return };
        let server = row.held.server.clone();
        let disabled = self.has_disabled(&server);
        let stands = matches!(row.kind, HoldKind::Want | HoldKind::Calls)
            || row.held.origin == ConfigOwner::Session
            || self.stands(&server, &row.configured);
        let over = unwanted || (disabled && row.kind == HoldKind::Inherited) || !stands;
        if over {
            row.held.stand(LeaseStatus::Revoked);
            if !stands && let Attachment::Held(hold) = &row.having {
                after.lost.insert(hold.cell.entry, hold.cell.clone());
            }
            row.let_go(after);
            table.holds.remove(id);
            return;
        }
        let newest = self.newest(&server, row.held.origin, &row.configured);
        row.review((newest, self.options()), &self.driver.naming);
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
