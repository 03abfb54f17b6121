//! What a session holds: one hold per lease, and what its view is made of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::state::SessionId;

use super::session::SessionCore;
use crate::driver::{EntryCell, LeaseHold};

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
    holds: BTreeMap<HoldId, LeaseHold>,
    /// What an earlier session of the same id held, until this one holds the server itself.
    inherited: Vec<LeaseHold>,
}

impl Holds {
    /// Adds a hold; `None` (and the hold is given up) when the session is closed.
    pub(super) fn add(&self, session: &Arc<SessionCore>, hold: LeaseHold) -> Option<HoldId> {
        let mut inner = self.inner();
        if inner.closed {
            drop(inner);
            return None;
        }
        inner.last += 1;
        let id = HoldId(inner.last);
        hold.cell.hold(session);
        let server = hold.cell.server.clone();
        inner.holds.insert(id, hold);
        let replaced: Vec<_> =
            inner.inherited.extract_if(.., |old| old.cell.server == server).collect();
        drop(inner);
        replaced.iter().for_each(|old| old.leaves(session.number));
        drop(replaced);
        Some(id)
    }

    /// Takes over what an earlier session of the same id held. The session sees it through its own filters.
    pub(super) fn inherit(&self, session: &Arc<SessionCore>, holds: Vec<LeaseHold>) {
        for hold in &holds {
            session.set_filter(&hold.cell.server, &hold.cell.spec);
            hold.cell.hold(session);
        }
        self.inner().inherited = holds;
    }

    /// Gives one hold up. Nothing when it is gone already.
    pub(super) fn remove(&self, id: HoldId, session: SessionId) {
        let gone = self.inner().holds.remove(&id);
        if let Some(hold) = gone {
            hold.leaves(session);
        }
    }

    /// The session is closed: everything that it held, for who may resume it.
    pub(super) fn close(&self, session: SessionId) -> Vec<LeaseHold> {
        let (holds, inherited) = {
            let mut inner = self.inner();
            inner.closed = true;
            (std::mem::take(&mut inner.holds), std::mem::take(&mut inner.inherited))
        };
        let holds: Vec<_> = holds.into_values().chain(inherited).collect();
        holds.iter().for_each(|hold| hold.leaves(session));
        holds
    }

    /// The entries that are seen, in the order of their servers' names; of several of one name, the newest hold's.
    pub(super) fn cells(&self) -> Vec<Arc<EntryCell>> {
        let inner = self.inner();
        let held = inner.inherited.iter().chain(inner.holds.values());
        let newest: BTreeMap<&str, &Arc<EntryCell>> =
            held.map(|hold| (&*hold.cell.server, &hold.cell)).collect();
        newest.into_values().cloned().collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
