//! Which sessions want updates of what, and what the server knows of it (SPEC 7.7).
//!
//! Demands are counted by session and resource: two parts of a host that share a session do not
//! take each other's updates away. A renewed subscription is told as an update, since something may
//! have been missed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use trunkline_pool::state::{Generation, SessionId};

use super::session_port::SessionPort;

/// By URI and session.
type ResourceDemands = HashMap<Box<str>, BTreeMap<SessionId, ResourceDemand>>;

/// What a session wants of a resource.
struct ResourceDemand {
    session: Weak<dyn SessionPort>,
    /// It, and no later one of the session.
    it: Arc<()>,
    /// How many subscriptions there are, those under way included.
    count: usize,
}

/// Who asks for updates of a resource, until that is answered.
pub(crate) struct Asking(Arc<()>);

/// Who wants updates of what, and what the server knows of it.
#[derive(Default)]
pub(crate) struct Resources {
    /// By URI. No map is empty.
    wanted: Mutex<ResourceDemands>,
    /// By URI. Each is held while the server hears of that resource, so that nobody overtakes; what
    /// it does not answer for one holds up no other.
    told: Mutex<HashMap<Box<str>, ResourceSlot>>,
}

/// What the server was told of one resource.
#[derive(Default)]
pub(in crate::driver) struct ResourceSlot {
    told: Arc<tokio::sync::Mutex<ServerKnowledge>>,
    /// Who has it in their hands.
    users: usize,
}

/// What the server of one incarnation was told of a resource.
#[derive(Default)]
pub(in crate::driver) struct ServerKnowledge {
    pub(in crate::driver) generation: Generation,
    pub(in crate::driver) knows: Knows,
}

/// What a server knows of the demand for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::driver) enum Knows {
    /// Of none.
    #[default]
    Nothing,
    /// Perhaps of some: a request was sent, and its answer is not known.
    Perhaps,
    /// Of some.
    Demand,
}

impl Resources {
    /// A session wants updates of a resource, once more.
    pub(crate) fn want(&self, uri: &str, session: &Arc<dyn SessionPort>) -> Asking {
        let mut wanted = self.wanted();
        let sessions = wanted.entry(uri.into()).or_default();
        let (number, session) = (session.recipient().number, Arc::downgrade(session));
        let new = || ResourceDemand { session: session.clone(), it: Arc::default(), count: 0 };
        let demand = sessions.entry(number).or_insert_with(new);
        // One that was resumed has the number of the one before.
        demand.session = session;
        demand.count += 1;
        Asking(demand.it.clone())
    }

    /// Whether what was asked for is still wanted; if not, that was taken away meanwhile.
    pub(crate) fn is_kept(&self, uri: &str, session: SessionId, asking: &Asking) -> bool {
        let wanted = self.wanted();
        let demand = wanted.get(uri).and_then(|sessions| sessions.get(&session));
        demand.is_some_and(|demand| Arc::ptr_eq(&demand.it, &asking.0))
    }

    /// Who asked gives it up.
    pub(crate) fn give_up(&self, uri: &str, session: SessionId, asking: &Asking) {
        self.take_one(uri, session, |demand| Arc::ptr_eq(&demand.it, &asking.0));
    }

    /// One subscription of a session to a resource ends.
    pub(crate) fn unwant(&self, uri: &str, session: SessionId) {
        self.take_one(uri, session, |_| true);
    }

    fn take_one(&self, uri: &str, session: SessionId, is_it: impl FnOnce(&ResourceDemand) -> bool) {
        let mut wanted = self.wanted();
        let Some(sessions) = wanted.get_mut(uri) else { return };
        let Some(demand) = sessions.get_mut(&session).filter(|demand| is_it(demand)) else {
            return;
        };
        demand.count -= 1;
        if demand.count == 0 {
            sessions.remove(&session);
        }
        if sessions.is_empty() {
            wanted.remove(uri);
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
    pub(in crate::driver) fn subscribers(&self, uri: &str) -> Vec<Arc<dyn SessionPort>> {
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
    pub(crate) fn is_wanted(&self, uri: &str) -> bool {
        self.wanted().contains_key(uri)
    }

    /// Takes what the server was told of a resource in hand.
    pub(in crate::driver) fn told(&self, uri: &str) -> InHand<'_> {
        let mut lines = self.lines();
        let line = lines.entry(uri.into()).or_default();
        line.users += 1;
        InHand { resources: self, uri: uri.into(), told: line.told.clone() }
    }

    pub(in crate::driver) fn lines(&self) -> MutexGuard<'_, HashMap<Box<str>, ResourceSlot>> {
        self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wanted(&self) -> MutexGuard<'_, ResourceDemands> {
        self.wanted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What a server was told of a resource, until it is laid down. Where that is nothing, the last
/// lays nothing down.
pub(in crate::driver) struct InHand<'a> {
    resources: &'a Resources,
    uri: Box<str>,
    pub(in crate::driver) told: Arc<tokio::sync::Mutex<ServerKnowledge>>,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        let mut lines = self.resources.lines();
        let Some(line) = lines.get_mut(&self.uri) else { return };
        line.users -= 1;
        // Nobody else has it locked: who does has it in hand.
        let is_untold = || line.told.try_lock().is_ok_and(|told| told.knows == Knows::Nothing);
        if line.users == 0 && is_untold() {
            lines.remove(&self.uri);
        }
    }
}
