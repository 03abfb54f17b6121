//! The table of what a session holds: a row for each hold, and what its view is made of. Nothing
//! here knows the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::state::{EntryId, Ticket};

use super::ids::{HoldId, HoldKind};
use super::lease_state::LeaseState;
use super::rows::Rows;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{EntryCell, LeaseGuard};
use crate::session::view::announcements::AnnouncedState;
use crate::session::view::deferred::{AllDeferred, InitialAnnounce};
use crate::session::view::snapshot::{CachedServer, ServerSnapshot, VisibleServer};

/// A session's holds, until it is closed.
#[derive(Default)]
pub(crate) struct LeaseTable {
    inner: Mutex<LeaseTableState>,
}

/// What it was told lies at the beginning, near what else of a session a change is told by.
#[derive(Default)]
#[repr(C)]
pub(crate) struct LeaseTableState {
    pub(crate) told: AnnouncedState,
    pub(crate) closed: bool,
    /// Whether one of the holds may be inherited.
    pub(crate) may_inherit: bool,
    pub(crate) holds: Rows<LeaseRow>,
    /// What is seen of servers that it wants and does not hold.
    pub(crate) deferred: AllDeferred,
}

pub(crate) struct LeaseRow {
    pub(crate) held: Arc<LeaseState>,
    pub(crate) kind: HoldKind,
    /// The view is made of this configuration and these options.
    pub(crate) configured: Arc<ResolvedServer>,
    pub(crate) options: Arc<SessionOptions>,
    pub(crate) having: Attachment,
    /// Tells the answer to the newest question from those to earlier ones.
    pub(crate) asked: u32,
}

/// Whether a session has what it holds.
pub(crate) enum Attachment {
    Held(LeaseGuard),
    /// Not while it has disabled the server, and until it has it again.
    Away {
        /// By which the server is asked for.
        ticket: Option<Ticket>,
    },
}

impl LeaseTable {
    /// This is kept of a server that the session wants. The caller tells of it.
    pub(crate) fn defer(&self, deferred: CachedServer, first: InitialAnnounce) {
        let mut inner = self.inner();
        if inner.closed {
            return;
        }
        let server = deferred.server.clone();
        inner.deferred.put(deferred);
        if first == InitialAnnounce::Told {
            inner.told.expect(&server);
        }
        inner.compare_one(&server);
    }

    /// Whether something is kept of the server of this want.
    pub(crate) fn defers(&self, server: &str, want: u64) -> bool {
        self.inner().deferred.of(server).is_some_and(|deferred| deferred.want == want)
    }

    /// A want lets its server go for now, whose tools stay listed: as they are, else as they were
    /// kept. The hold is to be dropped, and the session told, once no lock is held.
    pub(crate) fn rest(
        &self,
        (id, want): (HoldId, u64),
        kept: Option<(Arc<Catalog>, HeldBack)>,
        naming: &Arc<Naming>,
    ) -> Option<LeaseGuard> {
        let mut inner = self.inner();
        let row = inner.holds.remove(id)?;
        let (server, sight) = (row.held.server.clone(), ServerSnapshot::of_held(&row.held));
        let shown = sight.shows.then_some((sight.catalog, sight.held_back));
        if let Some(lists) = shown.or(kept) {
            let of = (&*server, want);
            let seen_by = (&*row.options, naming);
            inner.deferred.put(CachedServer::new(of, lists, &row.configured, seen_by));
        }
        inner.compare_one(&server);
        row.into_hold()
    }

    /// A hold that is there.
    pub(crate) fn held(&self, id: HoldId) -> Option<Arc<LeaseState>> {
        self.inner().holds.get(id).map(|row| row.held.clone())
    }

    /// The session is closed: everything that it held, for who may resume it.
    pub(crate) fn close(&self) -> Vec<(LeaseGuard, ConfigOwner)> {
        let (holds, told) = {
            let mut inner = self.inner();
            inner.closed = true;
            let seen = (std::mem::take(&mut inner.told), std::mem::take(&mut inner.deferred));
            (std::mem::take(&mut inner.holds), seen)
        };
        drop(told);
        let held = |row: LeaseRow| {
            let origin = row.held.origin;
            row.into_hold().map(|hold| (hold, origin))
        };
        let mut holds: Vec<_> = holds.into_values().filter_map(held).collect();
        holds.iter_mut().for_each(|(hold, _)| hold.leave());
        holds
    }

    /// What is seen, in the order of the servers' names; of several holds of one name, the newest,
    /// and without any what is kept.
    pub(crate) fn seen(&self) -> Vec<VisibleServer> {
        self.inner().seen()
    }

    /// The entry of the newest hold on a server.
    pub(crate) fn cell_of(&self, server: &str) -> Option<Arc<EntryCell>> {
        self.inner().newest_of(server).map(|row| row.held.cell())
    }

    /// The entries that are held.
    pub(crate) fn cells(&self) -> Vec<Arc<EntryCell>> {
        self.inner().newest().values().map(|row| row.held.cell()).collect()
    }

    /// Whether the session has not given the server up.
    pub(crate) fn has(&self, server: &str) -> bool {
        self.inner().told.has(server)
    }

    /// How leases on a server stand that no want holds.
    pub(crate) fn lease_on(&self, server: &str) -> Option<Arc<LeaseState>> {
        let inner = self.inner();
        let row = inner.holds.values().rev().find(|row| &*row.held.server == server)?;
        Some(row.held.clone())
    }

    /// Of each server that it holds how the newest hold stands.
    pub(crate) fn newest(&self) -> BTreeMap<Arc<str>, Arc<LeaseState>> {
        let inner = self.inner();
        inner.holds.values().map(|row| (row.held.server.clone(), row.held.clone())).collect()
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, LeaseTableState> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl LeaseRow {
    pub(crate) fn is_on(&self, entry: EntryId) -> bool {
        matches!(&self.having, Attachment::Held(hold) if hold.cell.entry == entry)
    }

    pub(crate) fn is_had(&self) -> bool {
        matches!(self.having, Attachment::Held(_))
    }

    pub(crate) fn ticket(&self) -> Option<Ticket> {
        match self.having {
            Attachment::Held(_) => None,
            Attachment::Away { ticket } => ticket,
        }
    }

    pub(crate) fn into_hold(self) -> Option<LeaseGuard> {
        match self.having {
            Attachment::Held(hold) => Some(hold),
            Attachment::Away { .. } => None,
        }
    }

    /// Whether its view is made of these.
    pub(crate) fn is_seen_by(
        &self,
        configured: &Arc<ResolvedServer>,
        options: &Arc<SessionOptions>,
    ) -> bool {
        Arc::ptr_eq(&self.configured, configured) && Arc::ptr_eq(&self.options, options)
    }
}

impl LeaseTableState {
    /// The holds that are seen, by server.
    pub(crate) fn newest(&self) -> BTreeMap<&str, &LeaseRow> {
        let held = self.holds.values().filter(|row| row.is_had());
        held.map(|row| (&*row.held.server, row)).collect()
    }

    /// The hold that is seen of a server.
    pub(crate) fn newest_of(&self, server: &str) -> Option<&LeaseRow> {
        let mut rows = self.holds.values().rev();
        rows.find(|row| row.is_had() && &*row.held.server == server)
    }

    /// Whether the session holds a server by itself.
    pub(crate) fn has_own(&self, server: &str) -> bool {
        let is_it = |row: &LeaseRow| row.kind != HoldKind::Inherited && &*row.held.server == server;
        self.holds.values().any(|row| row.is_had() && is_it(row))
    }

    /// Takes what was inherited of a server, which the session holds itself now.
    pub(crate) fn take_inherited(&mut self, server: &str) -> Vec<LeaseGuard> {
        if !self.may_inherit {
            return Vec::new();
        }
        let is_it = |row: &LeaseRow| row.kind == HoldKind::Inherited && &*row.held.server == server;
        let gone = self.holds.take(is_it);
        self.may_inherit = self.holds.values().any(|row| row.kind == HoldKind::Inherited);
        gone.into_iter().filter_map(LeaseRow::into_hold).collect()
    }

    /// Finds what is different from what the session was told.
    pub(crate) fn compare(&mut self) {
        let seen = self.seen();
        self.told.compare(&seen);
    }

    /// The same for one server that the session sees.
    pub(crate) fn compare_one(&mut self, server: &Arc<str>) {
        match self.seen_of(server) {
            Some(seeing) => self.told.compare_one(&seeing),
            None => self.compare(),
        }
    }

    pub(crate) fn seen(&self) -> Vec<VisibleServer> {
        let kept =
            self.deferred.all().map(|one| (&*one.server, VisibleServer::Deferred(one.clone())));
        let mut seen: BTreeMap<&str, VisibleServer> = kept.collect();
        let newest = self.newest().into_iter();
        seen.extend(newest.map(|(server, row)| (server, VisibleServer::Held(row.held.clone()))));
        seen.into_values().collect()
    }

    pub(crate) fn seen_of(&self, server: &str) -> Option<VisibleServer> {
        let held = self.newest_of(server).map(|row| VisibleServer::Held(row.held.clone()));
        held.or_else(|| self.deferred.of(server).cloned().map(VisibleServer::Deferred))
    }
}
