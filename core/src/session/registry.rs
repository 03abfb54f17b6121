//! The sessions of a pool by their ids: the live ones, and what closed ones left for who resumes
//! them in time.
//!
//! A session that returns inherits the holds under the same number, so that the reducer sees one
//! session that was away. Handing entries over would need a moment without a holder.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::state::SessionId;

use super::call::calls::Calls;
use super::demand::follow::follow_together;
use super::disabled_servers::Disabled;
use super::session_core::{OwnServers, PoolSessions, SeenSession, SessionCore, SessionHandle};
use crate::auth::Context;
use crate::config::Config;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{Driver, EntryCell, LeaseGuard, SessionSet};
use crate::platform;

/// A pool's sessions. Its lock is never held while a session or a hold is dropped, since that may
/// call back here.
pub(crate) struct SessionRegistry {
    pub(crate) driver: Arc<Driver>,
    pub(crate) config: Arc<Config>,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    live: BTreeMap<Arc<str>, LiveSession>,
    kept: BTreeMap<Arc<str>, ClosedSession>,
}

/// A session that is open.
struct LiveSession {
    number: SessionId,
    core: Weak<SessionCore>,
    session: Weak<SessionHandle>,
    disabled: Arc<Disabled>,
    calls: Arc<Calls>,
    own: Arc<OwnServers>,
}

impl LiveSession {
    /// Its handle; none when it is closed, or the host has none any more.
    fn upgrade(&self) -> Option<Arc<SessionHandle>> {
        self.session.upgrade().filter(|session| !session.core().is_closed())
    }
}

/// What a closed session left.
pub(crate) struct ClosedSession {
    number: SessionId,
    context: Arc<Context>,
    /// Whether it follows what is configured.
    follows: bool,
    holds: Vec<(LeaseGuard, ConfigOwner)>,
    /// When it is given up: tells it from what an earlier session of the same number left.
    until: Instant,
    timer: AbortHandle,
    fork_generation: u64,
}

impl ClosedSession {
    /// Takes what a session that follows holds no more, since the pool has no such configuration of
    /// it.
    fn take_old(&mut self, sessions: &SessionRegistry) -> Vec<(LeaseGuard, ConfigOwner)> {
        let is_old = |hold: &mut (LeaseGuard, ConfigOwner)| {
            hold.1 == ConfigOwner::Pool && !sessions.has(&hold.0)
        };
        if self.follows { self.holds.extract_if(.., is_old).collect() } else { Vec::new() }
    }

    /// Takes the holds, for the session that resumes it.
    pub(crate) fn take(mut self) -> Vec<(LeaseGuard, ConfigOwner)> {
        std::mem::take(&mut self.holds)
    }
}

impl Drop for ClosedSession {
    fn drop(&mut self) {
        // In a forked child the timer, and each holder of its lock, are the parent's.
        if self.fork_generation == platform::fork_generation() {
            self.timer.abort();
        }
    }
}

impl SessionRegistry {
    /// None yet. The driver is told what its sessions are.
    pub(crate) fn new(driver: Arc<Driver>, config: Arc<Config>) -> Arc<SessionRegistry> {
        let sessions = Arc::new(SessionRegistry { driver, config, sessions: Mutex::default() });
        sessions.driver.set_sessions(Arc::<SessionRegistry>::downgrade(&sessions));
        sessions
    }

    /// Opens a session that wants nothing yet, or one that takes up what a closed one of the same
    /// id left (SPEC 3.13). It keeps `pool`.
    ///
    /// # Errors
    /// The live session of that id, if there is one.
    pub(crate) fn open(
        self: &Arc<Self>,
        (options, roots): (SessionOptions, Vec<PathBuf>),
        pool: Arc<dyn Any + Send + Sync>,
    ) -> std::result::Result<Arc<SessionHandle>, Arc<SessionHandle>> {
        let id: Arc<str> = options.id.as_str().into();
        let mut sessions = self.sessions();
        let live = sessions.live.get(&id).and_then(LiveSession::upgrade);
        if let Some(live) = live {
            // It may be the last handle by now, and its drop comes back here.
            drop(sessions);
            return Err(live);
        }
        let kept = sessions.kept.remove(&id);
        let resumed = kept.as_ref().map(|kept| (kept.number, kept.context.clone()));
        let (core, is_kept) = self.open_core((options, roots), resumed);
        let (number, disabled, calls) =
            (core.recipient.number, core.disabled.clone(), core.calls.clone());
        let own = core.own_servers().clone();
        let weak = Arc::downgrade(&core);
        let handle = SessionHandle::new(core, pool);
        let session = Arc::downgrade(&handle);
        let live = LiveSession { number, core: weak, session, disabled, calls, own };
        sessions.live.insert(id, live);
        drop(sessions);
        // The time of the reducer may be up before the one here is: then nothing of it is held any
        // more.
        if let Some(kept) = kept.filter(|_| is_kept) {
            let core = handle.core();
            // Not under the lock: subscribers hear of it, and may look at the pool.
            core.inherit_holds(kept.take());
            // Connections of its own were told of the folders that the closed session had.
            self.driver.session_roots_changed(&**core);
        }
        Ok(handle)
    }

    /// A session with its number; whether what a closed one left of it is there still.
    fn open_core(
        self: &Arc<Self>,
        (options, roots): (SessionOptions, Vec<PathBuf>),
        resumed: Option<(SessionId, Arc<Context>)>,
    ) -> (Arc<SessionCore>, bool) {
        let mut opened = None;
        let (resumed, left) = resumed.unzip();
        let is_kept = self.driver.open_session(resumed, |number| {
            let core = SessionCore::new(
                (&self.driver, &self.config),
                self.clone(),
                (options, roots),
                (number, left),
            );
            Arc::<SessionCore>::downgrade(opened.insert(Arc::new(core)))
        });
        (opened.expect("open_session calls its argument"), is_kept)
    }
}

impl PoolSessions for SessionRegistry {
    fn session_closed(
        self: Arc<Self>,
        session: &SessionCore,
        keep_for: Duration,
        holds: Vec<(LeaseGuard, ConfigOwner)>,
    ) {
        let (id, number) = (session.recipient.id.clone(), session.recipient.number);
        let context = session.context.clone();
        let mut sessions = self.sessions();
        if sessions.live.get(&id).is_some_and(|live| live.number == number) {
            sessions.live.remove(&id);
        }
        // Another may have opened with the id since this one began to close: nobody resumes what is
        // left then.
        let is_taken = sessions.live.contains_key(&id);
        if keep_for.is_zero() || holds.is_empty() || is_taken {
            drop(sessions);
            drop(holds);
            return;
        }
        let until = Instant::now() + keep_for.min(KEPT_LONGEST);
        let timer = self.forget_later(id.clone(), until);
        let (follows, fork_generation) = (session.kept.is_none(), platform::fork_generation());
        let mut kept =
            ClosedSession { number, context, follows, holds, until, timer, fork_generation };
        // Under the lock: a change that comes later finds it.
        let old = kept.take_old(&self);
        let replaced = sessions.kept.insert(id, kept);
        drop(sessions);
        drop((replaced, old));
    }

    fn disabled_by(&self) -> BTreeMap<Box<str>, Vec<Arc<str>>> {
        let mut by_server: BTreeMap<Box<str>, Vec<Arc<str>>> = BTreeMap::new();
        for (id, disabled) in self.disabled_in_sessions() {
            for server in disabled.servers().iter() {
                by_server.entry(server.clone()).or_default().push(id.clone());
            }
        }
        by_server
    }

    fn sessions_seen(&self) -> (Vec<SeenSession>, usize) {
        let sessions = self.sessions();
        let live = sessions.live.iter().map(|(id, live)| (id.clone(), live.calls.clone()));
        (live.collect(), sessions.kept.len())
    }

    fn brought_by_sessions(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        let sessions = self.sessions();
        let own = sessions.live.values().map(|live| live.own.clone()).collect::<Vec<_>>();
        drop(sessions);
        let brought = own.iter().flat_map(|own| {
            let own = own.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            own.iter().map(|(name, one)| (name.clone(), one.clone())).collect::<Vec<_>>()
        });
        brought.collect()
    }
}

impl SessionRegistry {
    /// The configuration is another: what closed sessions hold of it that is gone, or is another
    /// connection now, is released as live ones release it (SPEC 13.1).
    fn review_kept(&self) {
        let mut sessions = self.sessions();
        let old: Vec<_> = sessions.kept.values_mut().flat_map(|kept| kept.take_old(self)).collect();
        drop(sessions);
        drop(old);
    }

    /// Whether a hold is on what the pool has configured.
    fn has(&self, hold: &LeaseGuard) -> bool {
        self.config.configured(&hold.cell.server).is_ok_and(|configured| {
            let is_on = !configured.spec.disabled;
            is_on && self.driver.is_key(hold.cell.key, |key| configured.leads_to(key))
        })
    }

    /// What the live sessions are. No session is kept open by it: the host may let go of its last
    /// handle meanwhile.
    fn live_cores(&self) -> Vec<Arc<SessionCore>> {
        let sessions = self.sessions();
        let cores = sessions.live.values().filter_map(|live| live.core.upgrade());
        cores.filter(|core| !core.is_closed()).collect()
    }

    /// The live sessions.
    pub(crate) fn live_sessions(&self) -> Vec<Arc<SessionHandle>> {
        let sessions = self.sessions();
        sessions.live.values().filter_map(LiveSession::upgrade).collect()
    }

    /// What the live sessions do without, by their ids. No session is held meanwhile.
    pub(crate) fn disabled_in_sessions(&self) -> Vec<(Arc<str>, Arc<Disabled>)> {
        let sessions = self.sessions();
        sessions.live.iter().map(|(id, live)| (id.clone(), live.disabled.clone())).collect()
    }

    /// Gives up what closed sessions left.
    pub(crate) fn forget_all_kept(&self) {
        let gone = std::mem::take(&mut self.sessions().kept);
        drop(gone);
    }

    fn forget_later(self: &Arc<Self>, id: Arc<str>, until: Instant) -> AbortHandle {
        let weak = Arc::downgrade(self);
        let task = self.driver.spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(sessions) = weak.upgrade() {
                sessions.forget_kept(&id, until);
            }
        });
        task.abort_handle()
    }

    fn forget_kept(&self, id: &str, until: Instant) {
        let mut sessions = self.sessions();
        let is_it = sessions.kept.get(id).is_some_and(|kept| kept.until == until);
        let gone = is_it.then(|| sessions.kept.remove(id));
        drop(sessions);
        drop(gone);
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl SessionSet for SessionRegistry {
    fn reconcile_all(&self) -> bool {
        self.review_kept();
        // Each takes what is newest when its turn comes: a session that opens or another change
        // that comes meanwhile makes no session miss anything. The handles stay until all have
        // followed.
        let sessions = self.live_sessions();
        let cores: Vec<_> = sessions.iter().map(|session| session.core().clone()).collect();
        follow_together(&cores);
        !cores.is_empty()
    }

    fn retry_undecided(&self) {
        self.live_cores().iter().for_each(|session| session.want_the_undecided());
    }

    fn refresh_from_cache(&self, server: &str) {
        self.live_cores().iter().for_each(|session| session.show_newer(server));
    }

    fn on_connected(&self, cell: &EntryCell) {
        let sessions = self.live_cores();
        sessions.iter().for_each(|session| session.show_newer(&cell.server));
        SessionCore::want_what_came(&sessions, cell);
    }
}

/// The longest that holds are kept: a year, which every clock can represent.
const KEPT_LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
