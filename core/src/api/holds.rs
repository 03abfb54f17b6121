//! What a session holds: one hold per lease, and what its view is made of.

mod ids;
mod review;
mod rows;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::state::{EntryId, Generation, PoolInput, Ticket};
use trunkline_pool::view::View;

pub(super) use self::ids::{HoldId, HoldKind};
use self::rows::Rows;
use super::announcements::{AnnouncedState, ListEvent, ServerSnapshot};
use super::deferred::{AllDeferred, CachedServer, InitialAnnounce, VisibleServer};
use super::lease_state::{EntryView, LeaseState};
use super::server_config::{ConfigOwner, ResolvedServer};
use super::session_core::SessionCore;
use crate::driver::{EntryCell, LeaseGuard, ListChange, SessionPort};

/// A session's holds, until it is closed.
#[derive(Default)]
pub(crate) struct LeaseTable {
    inner: Mutex<LeaseTableState>,
}

/// What it was told lies at the beginning, near what else of a session a change is told by.
#[derive(Default)]
#[repr(C)]
struct LeaseTableState {
    told: AnnouncedState,
    closed: bool,
    /// Whether one of the holds may be inherited.
    may_inherit: bool,
    holds: Rows<LeaseRow>,
    /// What is seen of servers that it wants and does not hold.
    deferred: AllDeferred,
}

struct LeaseRow {
    held: Arc<LeaseState>,
    kind: HoldKind,
    /// The view is made of this configuration and these options.
    configured: Arc<ResolvedServer>,
    options: Arc<SessionOptions>,
    having: Attachment,
    /// Tells the answer to the newest question from those to earlier ones.
    asked: u32,
}

/// Whether a session has what it holds.
enum Attachment {
    Held(LeaseGuard),
    /// Not while it has disabled the server, and until it has it again.
    Away {
        /// By which the server is asked for.
        ticket: Option<Ticket>,
    },
}

/// A hold that was added.
pub(super) struct NewHold {
    /// The hold.
    pub(super) id: HoldId,
    held: Arc<LeaseState>,
    replaced: Vec<LeaseGuard>,
}

impl LeaseTable {
    /// Adds a hold, seen by the newest configuration of its origin. What is to be done then is done
    /// by [`finish`](NewHold::finish), once no lock is held.
    ///
    /// # Errors
    /// The hold, when the session is closed or does without the server, when the pool has another
    /// configuration than the one that a lease was asked for by, or when the session holds by
    /// itself already what it would inherit.
    pub(super) fn add(
        &self,
        session: &SessionCore,
        hold: LeaseGuard,
        (kind, origin): (HoldKind, ConfigOwner),
        configured: &Arc<ResolvedServer>,
    ) -> std::result::Result<NewHold, LeaseGuard> {
        let server = hold.cell.server.clone();
        // What is inherited knows the configuration as it runs alone.
        if let Some(written) = configured.kept_by().filter(|_| kind != HoldKind::Inherited) {
            session.driver.keep_as_written(&hold.cell, written);
        }
        let mut inner = self.inner();
        // Under the lock, so that a change of the options or of the source either is seen here or
        // finds the hold.
        let is_late = kind == HoldKind::Inherited && inner.has_own(&server);
        if inner.closed || is_late || session.has_disabled(&server) {
            return Err(hold);
        }
        let newest = session.same_now(&server, origin, configured);
        // What a lease was asked for by is over. A change that comes later finds the hold.
        let stands = newest.as_ref().is_some_and(|newest| !newest.spec.disabled);
        if (kind, origin) == (HoldKind::Lease, ConfigOwner::Pool) && !stands {
            return Err(hold);
        }
        let configured = newest.unwrap_or_else(|| configured.clone());
        let options = session.options();
        let like = inner.newest_of(&server).filter(|row| row.is_seen_by(&configured, &options));
        let like = like.map(|row| row.held.seen());
        let seen = like.filter(|seen| Arc::ptr_eq(&seen.cell, &hold.cell));
        let seen = seen.unwrap_or_else(|| {
            let view =
                Arc::new(View::new(&server, &configured.spec, &options, &session.driver.naming));
            EntryView::new(hold.cell.clone(), view)
        });
        let held = LeaseState::new(seen, (origin, kind));
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
        Ok(NewHold { id, held, replaced })
    }

    /// Takes over what an earlier session of the same id held, seen as this one sees it.
    pub(super) fn inherit(
        &self,
        session: &Arc<SessionCore>,
        holds: Vec<(LeaseGuard, ConfigOwner)>,
    ) {
        let holder: Weak<dyn SessionPort> = Arc::<SessionCore>::downgrade(session);
        for (mut hold, origin) in holds {
            hold.held_by(session.recipient.number, &holder);
            let (spec, host) = (hold.cell.spec.clone(), hold.cell.host.clone());
            let authority = session.driver.authority(hold.cell.key);
            let configured = ResolvedServer::by(authority, spec, host, &session.driver.options);
            match self.add(session, hold, (HoldKind::Inherited, origin), &configured) {
                Ok(added) => drop(added.finish(session)),
                Err(refused) => drop(refused),
            }
        }
        // A change of the configuration that came meanwhile found them neither where they were kept
        // nor here.
        self.review(session, &[], &[]);
        session.settled.notify_waiters();
    }

    /// Gives one hold up, as the host asked. Nothing when it is gone already.
    pub(super) fn remove(&self, session: &SessionCore, id: HoldId) {
        let gone = {
            let mut inner = self.inner();
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
            session.driver.step(PoolInput::CancelAcquire { ticket });
        }
        drop(gone);
    }

    /// This is kept of a server that the session wants. The caller [tells](Self::tell) of it.
    pub(super) fn defer(&self, deferred: CachedServer, first: InitialAnnounce) {
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
    pub(super) fn defers(&self, server: &str, want: u64) -> bool {
        self.inner().deferred.of(server).is_some_and(|deferred| deferred.want == want)
    }

    /// What is kept for this want goes, which the session is told.
    pub(super) fn forget_deferred(&self, session: &SessionCore, want: u64) {
        {
            let mut inner = self.inner();
            inner.deferred.forget(&[want]);
            inner.compare();
        }
        self.tell(session);
    }

    /// A want lets its server go for now, whose tools stay listed: as they are, else as they were
    /// kept. The hold is to be dropped, and the session [told](Self::tell), once no lock is held.
    pub(super) fn rest(
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
    pub(super) fn held(&self, id: HoldId) -> Option<Arc<LeaseState>> {
        self.inner().holds.get(id).map(|row| row.held.clone())
    }

    /// The session is closed: everything that it held, for who may resume it.
    pub(super) fn close(&self) -> Vec<(LeaseGuard, ConfigOwner)> {
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
    pub(super) fn seen(&self) -> Vec<VisibleServer> {
        self.inner().seen()
    }

    /// The lists of an entry are others, which the session is told as far as it sees it.
    pub(crate) fn listed(&self, session: &SessionCore, change: &Arc<ListChange>) {
        let mut tells = false;
        let first = {
            let told = &mut self.inner().told;
            let news = told.listed(change);
            told.look_at_filters(change);
            match news {
                Some(news) => told.next_with(news, &mut tells),
                None => told.next(&mut tells),
            }
        };
        self.tell_from(first, tells, session);
    }

    /// Tools of an entry are held back newly, which the session is told as far as it sees them.
    /// They may come between the grant and the hold that is made of it: then they are seen as the
    /// configuration of the entry has it.
    pub(crate) fn held_back(
        &self,
        session: &SessionCore,
        (cell, generation): (&Arc<EntryCell>, Generation),
        held: &HeldBack,
    ) {
        {
            let mut inner = self.inner();
            let is_there = inner.holds.values().any(|row| row.is_on(cell.entry));
            let naming = &session.driver.naming;
            let view = || View::new(&cell.server, &cell.spec, &session.options(), naming);
            inner.told.held_back(cell, generation, held, (!is_there).then(view));
        }
        self.tell(session);
    }

    /// The entry of the newest hold on a server.
    pub(super) fn cell_of(&self, server: &str) -> Option<Arc<EntryCell>> {
        self.inner().newest_of(server).map(|row| row.held.cell())
    }

    /// The entries that are held.
    pub(super) fn cells(&self) -> Vec<Arc<EntryCell>> {
        self.inner().newest().values().map(|row| row.held.cell()).collect()
    }

    /// Whether the session has not given the server up.
    pub(super) fn has(&self, server: &str) -> bool {
        self.inner().told.has(server)
    }

    /// Tells the session what waits to be told, unless somebody is at it.
    pub(super) fn tell(&self, session: &SessionCore) {
        let mut tells = false;
        let first = self.inner().told.next(&mut tells);
        self.tell_from(first, tells, session);
    }

    fn tell_from(&self, first: Option<ListEvent>, mut tells: bool, session: &SessionCore) {
        let mut next = first;
        while let Some(news) = next {
            news.tell(session);
            next = self.inner().told.next(&mut tells);
        }
    }

    /// How leases on a server stand, of which none is held by a want.
    pub(super) fn lease_on(&self, server: &str) -> Option<Arc<LeaseState>> {
        let inner = self.inner();
        let row = inner.holds.values().rev().find(|row| &*row.held.server == server)?;
        Some(row.held.clone())
    }

    /// Of each server that it holds how the newest hold stands.
    pub(super) fn newest(&self) -> BTreeMap<Arc<str>, Arc<LeaseState>> {
        let inner = self.inner();
        inner.holds.values().map(|row| (row.held.server.clone(), row.held.clone())).collect()
    }

    fn inner(&self) -> MutexGuard<'_, LeaseTableState> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl NewHold {
    /// Tells the session, and drops what it holds no longer.
    pub(super) fn finish(self, session: &SessionCore) -> (HoldId, Arc<LeaseState>) {
        let NewHold { id, held, replaced } = self;
        drop(replaced);
        session.holds.tell(session);
        session.begins_to_hold(&held.cell());
        (id, held)
    }
}

impl LeaseRow {
    fn is_on(&self, entry: EntryId) -> bool {
        matches!(&self.having, Attachment::Held(hold) if hold.cell.entry == entry)
    }

    fn is_had(&self) -> bool {
        matches!(self.having, Attachment::Held(_))
    }

    fn ticket(&self) -> Option<Ticket> {
        match self.having {
            Attachment::Held(_) => None,
            Attachment::Away { ticket } => ticket,
        }
    }

    fn into_hold(self) -> Option<LeaseGuard> {
        match self.having {
            Attachment::Held(hold) => Some(hold),
            Attachment::Away { .. } => None,
        }
    }

    /// Whether its view is made of these.
    fn is_seen_by(&self, configured: &Arc<ResolvedServer>, options: &Arc<SessionOptions>) -> bool {
        Arc::ptr_eq(&self.configured, configured) && Arc::ptr_eq(&self.options, options)
    }
}

impl LeaseTableState {
    /// The holds that are seen, by server.
    fn newest(&self) -> BTreeMap<&str, &LeaseRow> {
        let held = self.holds.values().filter(|row| row.is_had());
        held.map(|row| (&*row.held.server, row)).collect()
    }

    /// The hold that is seen of a server.
    fn newest_of(&self, server: &str) -> Option<&LeaseRow> {
        let mut rows = self.holds.values().rev();
        rows.find(|row| row.is_had() && &*row.held.server == server)
    }

    /// Whether the session holds a server by itself.
    fn has_own(&self, server: &str) -> bool {
        let is_it = |row: &LeaseRow| row.kind != HoldKind::Inherited && &*row.held.server == server;
        self.holds.values().any(|row| row.is_had() && is_it(row))
    }

    /// Takes what was inherited of a server, which the session holds itself now.
    fn take_inherited(&mut self, server: &str) -> Vec<LeaseGuard> {
        if !self.may_inherit {
            return Vec::new();
        }
        let is_it = |row: &LeaseRow| row.kind == HoldKind::Inherited && &*row.held.server == server;
        let gone = self.holds.take(is_it);
        self.may_inherit = self.holds.values().any(|row| row.kind == HoldKind::Inherited);
        gone.into_iter().filter_map(LeaseRow::into_hold).collect()
    }

    /// Finds what is different from what the session was told.
    fn compare(&mut self) {
        let seen = self.seen();
        self.told.compare(&seen);
    }

    /// The same of one server of which something is seen.
    fn compare_one(&mut self, server: &Arc<str>) {
        match self.seen_of(server) {
            Some(seeing) => self.told.compare_one(&seeing),
            None => self.compare(),
        }
    }

    fn seen(&self) -> Vec<VisibleServer> {
        let kept =
            self.deferred.all().map(|one| (&*one.server, VisibleServer::Deferred(one.clone())));
        let mut seen: BTreeMap<&str, VisibleServer> = kept.collect();
        let newest = self.newest().into_iter();
        seen.extend(newest.map(|(server, row)| (server, VisibleServer::Held(row.held.clone()))));
        seen.into_values().collect()
    }

    fn seen_of(&self, server: &str) -> Option<VisibleServer> {
        let held = self.newest_of(server).map(|row| VisibleServer::Held(row.held.clone()));
        held.or_else(|| self.deferred.of(server).cloned().map(VisibleServer::Deferred))
    }
}
