//! What a session holds: one hold per lease, and what its view is made of.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::pool::Configured;
use super::session::SessionCore;
use crate::driver::{EntryCell, LeaseHold};
use crate::{Error, ErrorCode, Result};

/// A session's holds, until it is closed.
#[derive(Default)]
pub(crate) struct Holds {
    inner: Mutex<Inner>,
}

/// One hold of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HoldId(u64);

#[derive(Default)]
struct Inner {
    last: u64,
    closed: bool,
    holds: BTreeMap<HoldId, Held>,
    /// What an earlier session of the same id held, until this one holds the server itself.
    inherited: Vec<LeaseHold>,
}

struct Held {
    hold: LeaseHold,
    follower: Option<Follower>,
}

/// A lease that ends when the pool's configuration of its server is another.
pub(super) struct Follower {
    pub(super) configured: Arc<Configured>,
    pub(super) standing: Arc<Standing>,
}

/// Whether a lease still holds its server: shared by the lease and by who may end it.
#[derive(Default)]
pub(super) struct Standing(AtomicU8);

const HELD: u8 = 0;
const RELEASED: u8 = 1;
const REVOKED: u8 = 2;

impl Standing {
    /// The host lets go; `false` when it did before, or the lease was ended.
    pub(super) fn release(&self) -> bool {
        self.0.compare_exchange(HELD, RELEASED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// # Errors
    /// `closed`, with `detail.reason` `released` or `config`.
    pub(super) fn held(&self) -> Result<()> {
        let (message, reason) = match self.0.load(Ordering::Acquire) {
            HELD => return Ok(()),
            RELEASED => ("the lease is closed", "released"),
            _ => ("the server's configuration changed; acquire it again", "config"),
        };
        Err(Error::new(ErrorCode::Closed, message).with_detail("reason", reason))
    }

    fn revoke(&self) {
        let _ = self.0.compare_exchange(HELD, REVOKED, Ordering::AcqRel, Ordering::Acquire);
    }
}

impl Holds {
    /// Adds a hold; `None` (and the hold is given up) when the session is closed.
    pub(super) fn add(&self, hold: LeaseHold, follower: Option<Follower>) -> Option<HoldId> {
        let mut inner = self.inner();
        if inner.closed {
            drop(inner);
            return None;
        }
        inner.last += 1;
        let id = HoldId(inner.last);
        let server = hold.cell.server.clone();
        inner.holds.insert(id, Held { hold, follower });
        let replaced: Vec<_> =
            inner.inherited.extract_if(.., |old| old.cell.server == server).collect();
        drop(inner);
        drop(replaced);
        Some(id)
    }

    /// Takes over what an earlier session of the same id held. The session sees it through its own filters.
    pub(super) fn inherit(&self, session: &Arc<SessionCore>, mut holds: Vec<LeaseHold>) {
        for hold in &mut holds {
            session.set_filter(&hold.cell.server, &hold.cell.spec);
            hold.held_by(session.number, Arc::downgrade(session));
        }
        self.inner().inherited = holds;
    }

    /// Gives one hold up. Nothing when it is gone already.
    pub(super) fn remove(&self, id: HoldId) {
        let gone = self.inner().holds.remove(&id);
        drop(gone);
    }

    /// Ends the leases whose server the pool no longer has as it was: their tools go at once (SPEC 13.1).
    pub(super) fn revoke(&self, session: &SessionCore) {
        let followers: Vec<_> = {
            let inner = self.inner();
            let all = inner.holds.iter().filter_map(|(id, held)| {
                let follower = held.follower.as_ref()?;
                Some((*id, held.hold.cell.server.clone(), follower.configured.clone()))
            });
            all.collect()
        };
        for (id, server, configured) in followers {
            if session.stands(&server, &configured) {
                continue;
            }
            let gone = self.inner().holds.remove(&id);
            if let Some(held) = gone {
                held.follower.iter().for_each(|follower| follower.standing.revoke());
            }
        }
    }

    /// The session is closed: everything that it held, for who may resume it.
    pub(super) fn close(&self) -> Vec<LeaseHold> {
        let (holds, inherited) = {
            let mut inner = self.inner();
            inner.closed = true;
            (std::mem::take(&mut inner.holds), std::mem::take(&mut inner.inherited))
        };
        let holds = holds.into_values().map(|held| held.hold);
        let mut holds: Vec<_> = holds.chain(inherited).collect();
        holds.iter_mut().for_each(LeaseHold::leave);
        holds
    }

    /// The entries that are seen, in the order of their servers' names; of several of one name, the newest hold's.
    pub(super) fn cells(&self) -> Vec<Arc<EntryCell>> {
        let inner = self.inner();
        let held = inner.holds.values().map(|held| &held.hold);
        let held = inner.inherited.iter().chain(held);
        let newest: BTreeMap<&str, &Arc<EntryCell>> =
            held.map(|hold| (&*hold.cell.server, &hold.cell)).collect();
        newest.into_values().cloned().collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
