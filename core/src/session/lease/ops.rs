//! What a session does with its holds: each is decided under the lock of the table, and what
//! follows is done once no lock is held.

use std::sync::{Arc, Weak};

use trunkline_pool::state::PoolInput;
use trunkline_pool::view::View;

use super::ids::{HoldId, HoldKind};
use super::lease_state::{EntryView, LeaseState};
use super::table::{Attachment, LeaseRow};
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{EntryCell, LeaseGuard, SessionPort};
use crate::session::session_core::SessionCore;
use crate::session::view::snapshot::{ServerSnapshot, VisibleServer};

/// A hold that was added.
pub(crate) struct NewHold {
    /// The hold.
    pub(crate) id: HoldId,
    held: Arc<LeaseState>,
    /// What it began with.
    seen: Arc<EntryView>,
    replaced: Vec<LeaseGuard>,
}

impl SessionCore {
    /// Adds a hold, seen by the newest configuration of its origin. What is to be done then is done
    /// by [`finish`](NewHold::finish), once no lock is held.
    ///
    /// # Errors
    /// The hold comes back in three cases. The session is closed or does without the server; the
    /// pool has another configuration than the lease was asked for by; or the session already holds
    /// what it would inherit.
    pub(crate) fn add_hold(
        &self,
        hold: LeaseGuard,
        (kind, origin): (HoldKind, ConfigOwner),
        configured: &Arc<ResolvedServer>,
    ) -> std::result::Result<NewHold, LeaseGuard> {
        let server = hold.cell.server.clone();
        // What is inherited knows the configuration as it runs alone.
        if let Some(written) = configured.kept_by().filter(|_| kind != HoldKind::Inherited) {
            self.driver.keep_as_written(&hold.cell, written);
        }
        let mut inner = self.holds.inner();
        // Under the lock, so that a change of the options or of the source either is seen here or
        // finds the hold.
        let is_late = kind == HoldKind::Inherited && inner.has_own(&server);
        if inner.closed || is_late || self.has_disabled(&server) {
            return Err(hold);
        }
        let newest = self.same_now(&server, origin, configured);
        // What a lease was asked for by is over. A change that comes later finds the hold.
        let stands = newest.as_ref().is_some_and(|newest| !newest.spec.disabled);
        if (kind, origin) == (HoldKind::Lease, ConfigOwner::Pool) && !stands {
            return Err(hold);
        }
        let configured = newest.unwrap_or_else(|| configured.clone());
        let options = self.options();
        let like = inner.newest_of(&server).filter(|row| row.is_seen_by(&configured, &options));
        let like = like.map(|row| row.held.seen());
        let seen = like.filter(|seen| Arc::ptr_eq(&seen.cell, &hold.cell));
        let seen = seen.unwrap_or_else(|| {
            let view =
                Arc::new(View::new(&server, &configured.spec, &options, &self.driver.naming));
            EntryView::new(hold.cell.clone(), view)
        });
        let held = LeaseState::new(seen.clone(), (origin, kind));
        let (having, asked) = (Attachment::Held(hold), 0);
        let row = LeaseRow { held: held.clone(), kind, configured, options, having, asked };
        let id = inner.holds.add(row);
        inner.may_inherit |= kind == HoldKind::Inherited;
        let replaced = match kind {
            HoldKind::Inherited => Vec::new(),
            HoldKind::Lease | HoldKind::Want | HoldKind::Calls => inner.take_inherited(&server),
        };
        if matches!(kind, HoldKind::Want | HoldKind::Calls) {
            inner.deferred.remove(&server);
        }
        inner.told.compare_one(&VisibleServer::Held(held.clone()));
        Ok(NewHold { id, held, seen, replaced })
    }

    /// Takes over what an earlier session of the same id held, seen as this one sees it.
    pub(crate) fn inherit_holds(self: &Arc<Self>, holds: Vec<(LeaseGuard, ConfigOwner)>) {
        let holder: Weak<dyn SessionPort> = Arc::<SessionCore>::downgrade(self);
        for (mut hold, origin) in holds {
            hold.held_by(self.recipient.number, &holder);
            let (spec, host) = (hold.cell.spec.clone(), hold.cell.host.clone());
            let authority = self.driver.authority(hold.cell.key);
            let configured = ResolvedServer::by(authority, spec, host, &self.driver.options);
            match self.add_hold(hold, (HoldKind::Inherited, origin), &configured) {
                Ok(added) => drop(added.finish(self)),
                Err(refused) => drop(refused),
            }
        }
        // A change of the configuration that came meanwhile found them neither where they were kept
        // nor here.
        self.review_holds(&[], &[]);
        self.settled.notify_waiters();
    }

    /// Gives one hold up, as the host asked. Nothing when it is gone already.
    pub(crate) fn release_hold(&self, id: HoldId) {
        let gone = {
            let mut inner = self.holds.inner();
            let gone = inner.holds.remove(id);
            if let Some(row) = gone.as_ref().filter(|row| row.is_had()) {
                let server = &row.held.server;
                if row.held.origin == ConfigOwner::Pool {
                    inner.deferred.renew(server, || ServerSnapshot::of_held(&row.held));
                }
                let seen = inner.seen_of(server);
                inner.told.release(server, seen.as_ref());
            }
            gone
        };
        if let Some(ticket) = gone.as_ref().and_then(LeaseRow::ticket) {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
        drop(gone);
    }

    /// What is kept for this want goes, which the session is told.
    pub(crate) fn forget_deferred(&self, want: u64) {
        {
            let mut inner = self.holds.inner();
            inner.deferred.forget(&[want]);
            inner.compare();
        }
        self.tell_lists();
    }
}

impl NewHold {
    /// Tells the session, and drops what it holds no longer.
    pub(crate) fn finish(self, session: &SessionCore) -> (HoldId, Arc<LeaseState>) {
        let NewHold { id, held, seen, replaced } = self;
        drop(replaced);
        session.tell_lists();
        session.begins_to_hold(&seen.cell);
        (id, held)
    }
}

impl SessionCore {
    /// It holds a connection: one that others share is not told of its own folders (SPEC 15.2,
    /// S-47). The server is told how much of its log is wanted (SPEC 16.8).
    pub(crate) fn begins_to_hold(&self, cell: &Arc<EntryCell>) {
        self.hears.begin(self.recipient.number, cell);
        if !self.roots.load().is_empty() {
            self.leaves_out(cell);
        }
    }

    /// Warns of a connection that others share and that is not told of its own folders, unless it
    /// was warned of the same.
    pub(crate) fn leaves_out(&self, cell: &Arc<EntryCell>) {
        if cell.owner.is_none() && self.untold.note(cell, &self.roots.load_full()) {
            self.driver.warn_of_untold_roots(&self.recipient, cell);
        }
    }
}
