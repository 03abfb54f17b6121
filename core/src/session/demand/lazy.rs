//! Wants whose servers run for calls only: asleep until a call needs them, and again when none does
//! (SPEC 14.2).
//!
//! ```text
//!   Looking ──▶ something is kept ──▶ Asleep ──▶ a call ──▶ Pending ──▶ Ready
//!      │                                ▲  ▲                   │          │
//!      │                                │  └── no call waits ──┘          │
//!      └─▶ nothing is: Pending ──▶ Ready ─┴──── the last call has ended ◀─┘
//!                         └──▶ Failed ──▶ Looking, once somebody waits for it; Asleep, once it listed to somebody else
//! ```
//!
//! 1. A question is open, or a hold is there, only while a call needs the server or its tools are
//!    not known.
//! 2. Who needs it is counted under the lock of the wants, under which it is let go too: a call
//!    that comes finds it, or begins it anew.
//! 3. The answer to a question that was given up has an old number, and is dropped, and so
//!    released.
//!
//! What is kept is looked for in no more than the time of the start gate, or [`PATIENCE_MIN`]: a
//! disk that takes longer holds up nobody.
//!
//! A hold that is let go starts the drain of its entry: its delay is how long an idle server stays.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Weak};
use std::time::Duration;

use trunkline_pool::catalog::Catalog;
use trunkline_pool::catalog_cache::CacheKey;
use trunkline_pool::explain::Reason;
use trunkline_pool::state::PoolInput;

use super::follow::ask_for_all;
use super::{CacheProbe, DemandState, NewDemand, ServerDemand, WantId};
use crate::Error;
use crate::driver::LeaseGuard;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::session::lease::lease_state::LeaseState;
use crate::session::session_core::SessionCore;
use crate::session::view::deferred::InitialAnnounce;
use crate::session::view::snapshot::CachedServer;
use crate::storage::catalogs::{CatalogLookup, LookUp};

/// A look has so much time however short the start gate is: a machine that is busy is no reason to
/// start a server whose tools are kept.
const PATIENCE_MIN: Duration = Duration::from_secs(1);

/// A server is needed by a call, until this is dropped.
pub(crate) struct DemandGuard {
    session: Weak<SessionCore>,
    server: Box<str>,
    want: WantId,
}

/// What became of a want that a call waits for.
pub(crate) enum DemandStatus {
    /// Nothing yet.
    Wait,
    /// The server is there.
    Ready(Arc<LeaseState>),
    /// It cannot be had.
    Over(Error),
    /// It is wanted no more, or in another way, or has to be needed anew.
    Gone,
}

/// What is kept of a server for a session.
pub(crate) enum CachedCatalog {
    /// This may be shown.
    Catalog(Arc<Catalog>),
    /// Nothing is.
    Nothing,
    /// It has to be looked for.
    Unknown(CacheKey),
}

/// What is to be done about kept catalogs once no lock is held.
#[derive(Default)]
struct CacheFollowUp {
    ask: Vec<NewDemand>,
    look_for: Vec<CacheKey>,
    look: u64,
}

impl SessionCore {
    /// Whether a server runs for calls only.
    pub(crate) fn is_lazy(&self, configured: &ResolvedServer) -> bool {
        configured.is_lazy(&self.driver.options)
    }

    /// What is kept of a server, without what would be held back.
    pub(crate) fn kept_of(&self, name: &str, configured: &ResolvedServer) -> CachedCatalog {
        let Some(key) = self.cache_key(name, configured) else { return CachedCatalog::Nothing };
        match self.driver.catalogs.known(&key) {
            CatalogLookup::Nothing => CachedCatalog::Nothing,
            CatalogLookup::Unknown => CachedCatalog::Unknown(key),
            CatalogLookup::Catalog(catalog) => {
                let fingerprint = configured.fingerprint(self.offered, &self.context);
                let of = (name, fingerprint);
                CachedCatalog::Catalog(self.driver.show(of, &configured.authority, catalog))
            }
        }
    }

    /// Shows what is kept of the servers that are wanted and not there, and looks for what is not
    /// known to be kept. Asks for those servers that have nothing kept and would sleep otherwise.
    pub(crate) fn show_kept(self: &Arc<Self>) {
        self.show_kept_after(None);
    }

    /// The same when that look is over, or takes long: what it did not find is not there.
    fn show_kept_after(self: &Arc<Self>, look: Option<(u64, LookUp)>) {
        let CacheFollowUp { ask, look_for, look } = self.sort_out_kept(look);
        self.tell_lists();
        if !look_for.is_empty() {
            let session = Arc::downgrade(self);
            let patience = self.driver.options.start_gate.max(PATIENCE_MIN);
            self.driver.catalogs.look_up(look_for, patience, move |told| {
                if let Some(session) = session.upgrade() {
                    session.show_kept_after(Some((look, told)));
                }
            });
        }
        let ask: Vec<_> = ask.into_iter().map(|added| (self.clone(), added)).collect();
        ask_for_all(&ask);
        self.settled.notify_waiters();
    }

    fn sort_out_kept(&self, told: Option<(u64, LookUp)>) -> CacheFollowUp {
        let mut wants = self.wants();
        let first = if wants.shown { InitialAnnounce::Told } else { InitialAnnounce::Untold };
        wants.shown = true;
        wants.looks += 1;
        let mut sorted = CacheFollowUp { look: wants.looks, ..CacheFollowUp::default() };
        for (name, want) in &mut wants.servers {
            let is_there = !(want.is_open() || matches!(want.state, DemandState::Looking));
            if is_there || want.kept == CacheProbe::Taken {
                continue;
            }
            match (self.kept_of(name, &want.configured), want.kept) {
                (CachedCatalog::Catalog(catalog), _) => {
                    self.defer((name, want), catalog, first);
                    if let DemandState::Looking = want.state {
                        want.sleep(None);
                    }
                }
                (CachedCatalog::Unknown(key), CacheProbe::Never) => {
                    want.kept = CacheProbe::At(sorted.look);
                    sorted.look_for.push(key);
                    continue;
                }
                (CachedCatalog::Unknown(_), CacheProbe::At(look)) => match told {
                    Some((over, LookUp::Over)) if over == look => {
                        sorted.ask.extend(want.learn(name));
                    }
                    Some((overdue, LookUp::Overdue)) if overdue == look => {
                        // What comes late is shown then.
                        sorted.ask.extend(want.learn(name));
                        continue;
                    }
                    Some(_) | None => continue,
                },
                (CachedCatalog::Nothing | CachedCatalog::Unknown(_), _) => {
                    sorted.ask.extend(want.learn(name))
                }
            }
            want.kept = CacheProbe::Taken;
        }
        sorted
    }

    /// Shows what is kept of a server; whether something is.
    pub(crate) fn defer_kept(&self, name: &str, want: &ServerDemand) -> bool {
        let CachedCatalog::Catalog(catalog) = self.kept_of(name, &want.configured) else {
            return false;
        };
        self.defer((name, want), catalog, InitialAnnounce::Told);
        true
    }

    /// Shows these lists of a server that is wanted and not there, in the place of those that were
    /// shown of it.
    fn defer(
        &self,
        (server, want): (&str, &ServerDemand),
        catalog: Arc<Catalog>,
        first: InitialAnnounce,
    ) {
        let lists = (catalog, self.driver.held_of(server));
        let of = (server, want.born.0);
        let seen_by = (&*self.options(), &self.driver.naming);
        let deferred = CachedServer::new(of, lists, &want.seen_by.0, seen_by);
        self.holds.defer(deferred, first);
    }

    /// Somebody waits for a server that runs for calls only and whose one start failed: it begins
    /// as it began.
    pub(crate) fn learn_again(self: &Arc<Self>, server: &str) {
        {
            let mut wants = self.wants();
            let id = wants.next();
            let want = wants.servers.get_mut(server).filter(|want| want.has_learned_nothing());
            let Some(want) = want else { return };
            (want.id, want.state, want.ticket) = (id, DemandState::Looking, None);
            want.kept = CacheProbe::Never;
        }
        self.show_kept();
    }

    /// Something newer may be kept of a server that the session shows from the cache, or could
    /// learn nothing of.
    pub(crate) fn show_newer(&self, server: &str) {
        {
            let mut wants = self.wants();
            let Some(want) = wants.servers.get_mut(server) else { return };
            let learns_now = want.has_learned_nothing();
            if !(learns_now || self.holds.defers(server, want.born.0)) {
                return;
            }
            let catalog = match self.kept_of(server, &want.configured) {
                CachedCatalog::Catalog(catalog) => catalog,
                // It listed nothing.
                CachedCatalog::Nothing if !learns_now => Arc::default(),
                CachedCatalog::Nothing | CachedCatalog::Unknown(_) => return,
            };
            if learns_now {
                want.sleep(None);
                want.clear_failure();
            }
            self.defer((server, want), catalog, InitialAnnounce::Told);
        }
        self.tell_lists();
        self.settled.notify_waiters();
    }

    /// A call needs a server that the session wants: it is begun if it sleeps. Nothing when it is
    /// not wanted.
    pub(crate) fn need(self: &Arc<Self>, server: &str) -> Option<DemandGuard> {
        let (born, begins) = {
            let mut wants = self.wants();
            let id = wants.next();
            let want = wants.servers.get_mut(server)?;
            let mut begins = None;
            if let Some(lazy) = &mut want.lazy {
                lazy.users += 1;
                if let DemandState::Asleep(_) = want.state {
                    (want.id, want.state, want.ticket) = (id, DemandState::Pending, None);
                    let (server, configured) = (server.into(), want.configured.clone());
                    begins = Some(NewDemand { server, configured, want: id });
                }
            }
            (want.born, begins)
        };
        let need = DemandGuard { session: Arc::downgrade(self), server: server.into(), want: born };
        if let Some(added) = begins {
            self.begin(&added);
        }
        Some(need)
    }

    /// Asks for a server that slept. Without room the answer is a refusal, since a call waits for
    /// it.
    fn begin(self: &Arc<Self>, added: &NewDemand) {
        let NewDemand { server, configured, want } = added;
        let (session, name, id) = (Arc::downgrade(self), server.clone(), *want);
        let asked = configured.clone();
        let ticket = self.ask_for(server, (ConfigOwner::Pool, configured), move |result| {
            if let Some(session) = session.upgrade() {
                session.settle(&name, (id, &asked), result);
            }
        });
        self.wished(added, ticket);
    }

    /// What has become of a server that is needed.
    pub(crate) fn look_at(&self, need: &DemandGuard) -> DemandStatus {
        let wants = self.wants();
        let want = wants.servers.get(&need.server).filter(|want| want.born == need.want);
        let Some(want) = want else { return DemandStatus::Gone };
        match &want.state {
            DemandState::Looking | DemandState::Pending | DemandState::Over => DemandStatus::Wait,
            DemandState::Ready(hold) => {
                self.holds.held(*hold).map_or(DemandStatus::Gone, DemandStatus::Ready)
            }
            DemandState::Waiting(error)
            | DemandState::Failed(error)
            | DemandState::Asleep(Some(error)) => DemandStatus::Over(error.clone()),
            // Nobody has begun it for the call: it was wanted anew, and something was kept.
            DemandState::Asleep(None) => DemandStatus::Gone,
        }
    }

    /// A call needs a server no more. With the last of them it is let go.
    fn leave(self: &Arc<Self>, server: &str, born: WantId) {
        let (mut ticket, mut rests) = (None, None);
        {
            let mut wants = self.wants();
            let id = wants.next();
            let want = wants.servers.get_mut(server).filter(|want| want.born == born);
            let Some(want) = want else { return };
            let Some(lazy) = &mut want.lazy else { return };
            lazy.users -= 1;
            if !want.is_of_no_use() {
                return;
            }
            match want.state {
                DemandState::Ready(_) => rests = self.rest(server, want),
                DemandState::Pending => {
                    ticket = want.open_ticket();
                    (want.id, want.state, want.ticket) = (id, DemandState::Asleep(None), None);
                }
                _ => {}
            }
        }
        self.tell_lists();
        drop(rests);
        if let Some(ticket) = ticket {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
    }

    /// Lets go what a want holds. What comes out is dropped, and so released, once no lock is held.
    pub(crate) fn rest(&self, server: &str, want: &mut ServerDemand) -> Option<LeaseGuard> {
        let DemandState::Ready(hold) = want.state else { return None };
        let kept = match self.kept_of(server, &want.configured) {
            CachedCatalog::Catalog(catalog) => Some((catalog, self.driver.held_of(server))),
            CachedCatalog::Nothing | CachedCatalog::Unknown(_) => None,
        };
        want.ticket = None;
        want.sleep(None);
        self.holds.rest((hold, want.born.0), kept, &self.driver.naming)
    }

    /// Why a server is not there whose kept catalog is shown.
    pub(crate) fn why_deferred(&self, server: &str) -> Option<Reason> {
        let wants = self.wants();
        match &wants.servers.get(server)?.state {
            DemandState::Asleep(_) => Some(Reason::Asleep),
            DemandState::Looking | DemandState::Pending | DemandState::Over => {
                Some(Reason::Connecting)
            }
            DemandState::Waiting(_) => Some(Reason::Budget),
            DemandState::Ready(_) | DemandState::Failed(_) => None,
        }
    }
}

impl Drop for DemandGuard {
    fn drop(&mut self) {
        if let Some(session) = self.session.upgrade() {
            session.leave(&self.server, self.want);
        }
    }
}
