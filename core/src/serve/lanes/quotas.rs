//! What each principal may have at one time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bounds::LaneBounds;
use crate::serve::lane::Principal;

/// Counts what principals have.
pub(super) struct Quotas {
    connections_max: usize,
    sessions_max: usize,
    body_bytes_max: usize,
    used: Mutex<HashMap<Principal, [usize; 3]>>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuotaKind {
    Connections,
    Sessions,
    /// Bytes of bodies that are being read.
    BodyBytes,
}

/// A share of a quota, until it is dropped.
pub(super) struct Seat {
    quotas: Arc<Quotas>,
    who: Principal,
    kind: QuotaKind,
    amount: usize,
}

/// As many bodies of the largest size may be on their way at one time.
const BODIES_MAX: usize = 8;

impl Quotas {
    pub(super) fn new(bounds: &LaneBounds) -> Arc<Quotas> {
        Arc::new(Quotas {
            connections_max: bounds.connections as usize,
            sessions_max: bounds.sessions as usize,
            body_bytes_max: bounds.body_bytes.saturating_mul(BODIES_MAX),
            used: Mutex::default(),
        })
    }

    /// A share for a principal; `None` when that would be too much.
    pub(super) fn take(
        self: &Arc<Self>,
        who: &Principal,
        kind: QuotaKind,
        amount: usize,
    ) -> Option<Seat> {
        let mut all = self.used();
        let used = all.get(who).map_or(0, |used| used[kind as usize]);
        let wanted = used.checked_add(amount).filter(|wanted| *wanted <= self.max(kind))?;
        all.entry(who.clone()).or_default()[kind as usize] = wanted;
        drop(all);
        Some(Seat { quotas: self.clone(), who: who.clone(), kind, amount })
    }

    fn max(&self, kind: QuotaKind) -> usize {
        match kind {
            QuotaKind::Connections => self.connections_max,
            QuotaKind::Sessions => self.sessions_max,
            QuotaKind::BodyBytes => self.body_bytes_max,
        }
    }

    fn used(&self) -> MutexGuard<'_, HashMap<Principal, [usize; 3]>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Whose it is.
    pub(super) fn who(&self) -> &Principal {
        &self.who
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut all = self.quotas.used();
        let Some(used) = all.get_mut(&self.who) else { return };
        let share = &mut used[self.kind as usize];
        *share = share.saturating_sub(self.amount);
        if *used == [0; 3] {
            all.remove(&self.who);
        }
    }
}
