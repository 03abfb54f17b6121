//! Which sessions want updates of what (SPEC 7.7).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, MutexGuard, Weak};

use trunkline_pool::state::SessionId;

use super::Resources;
use crate::api::SessionCore;

/// By URI and session.
pub(super) type Wanted = HashMap<Box<str>, BTreeMap<SessionId, Demand>>;

/// What a session wants of a resource.
#[derive(Default)]
pub(super) struct Demand {
    session: Weak<SessionCore>,
    /// One more for each who asks for it and is not answered yet.
    asked: Arc<()>,
    /// Whether anybody who asked was answered.
    stands: bool,
}

/// Who asks for updates of a resource, until that is answered. What a session wants goes with the last, unless it stands.
pub(crate) struct Asking(Arc<()>);

impl Resources {
    /// A session wants updates of a resource.
    pub(crate) fn want(&self, uri: &str, session: &Arc<SessionCore>) -> Asking {
        let mut wanted = self.wanted();
        let sessions = wanted.entry(uri.into()).or_default();
        let demand = sessions.entry(session.number).or_default();
        // One that was resumed has the number of the one before.
        demand.session = Arc::downgrade(session);
        Asking(demand.asked.clone())
    }

    /// Who asked has been answered: the session wants it until it says otherwise. Whether it still does; if not, that was taken away
    /// meanwhile.
    pub(crate) fn keep(&self, uri: &str, session: SessionId, asking: &Asking) -> bool {
        let mut wanted = self.wanted();
        let demand = wanted.get_mut(uri).and_then(|sessions| sessions.get_mut(&session));
        let demand = demand.filter(|demand| Arc::ptr_eq(&demand.asked, &asking.0));
        demand.is_some_and(|demand| {
            demand.stands = true;
            true
        })
    }

    /// Who asked gives it up: the session no longer wants it, unless others of it rely on that.
    pub(crate) fn give_up(&self, uri: &str, session: SessionId, asking: Asking) {
        let mut wanted = self.wanted();
        let Some(sessions) = wanted.get_mut(uri) else { return };
        let goes = sessions.get(&session).is_some_and(|demand| {
            // Itself, and what it is of.
            let others = Arc::strong_count(&demand.asked) > 2;
            Arc::ptr_eq(&demand.asked, &asking.0) && !demand.stands && !others
        });
        // Under the lock, so that of several the last one sees that it is.
        drop(asking);
        if goes {
            sessions.remove(&session);
        }
        if sessions.is_empty() {
            wanted.remove(uri);
        }
    }

    /// A session no longer wants updates of a resource.
    pub(crate) fn unwant(&self, uri: &str, session: SessionId) {
        let mut wanted = self.wanted();
        if let Some(sessions) = wanted.get_mut(uri) {
            sessions.remove(&session);
            if sessions.is_empty() {
                wanted.remove(uri);
            }
        }
    }

    /// A session wants nothing any more; the resources that nobody wants then.
    pub(in crate::driver) fn unwant_all(&self, session: SessionId) -> Vec<Box<str>> {
        let mut unwanted = Vec::new();
        self.wanted().retain(|uri, sessions| {
            sessions.remove(&session);
            if sessions.is_empty() {
                unwanted.push(uri.clone());
            }
            !sessions.is_empty()
        });
        unwanted
    }

    /// The sessions that want updates of a resource.
    pub(in crate::driver) fn subscribers(&self, uri: &str) -> Vec<Arc<SessionCore>> {
        let wanted = self.wanted();
        let sessions = wanted.get(uri).into_iter().flat_map(BTreeMap::values);
        sessions.filter_map(|demand| demand.session.upgrade()).collect()
    }

    /// Whether a session wants updates of a resource.
    pub(in crate::driver) fn is_wanted_by(&self, uri: &str, session: SessionId) -> bool {
        self.wanted().get(uri).is_some_and(|sessions| sessions.contains_key(&session))
    }

    /// The resources that somebody wants updates of.
    pub(in crate::driver) fn uris(&self) -> Vec<Box<str>> {
        self.wanted().keys().cloned().collect()
    }

    /// Whether anybody wants updates of a resource.
    pub(super) fn is_wanted(&self, uri: &str) -> bool {
        self.wanted().contains_key(uri)
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
