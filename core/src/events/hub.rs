//! Events on their way to subscribers: in order and bounded.
//!
//! An event is published under the lock of the subscribers, and a release goes through that lock
//! once before it returns. So nothing is published for a holder after its release.

#[cfg(all(test, feature = "schedules"))]
mod schedules;

use std::collections::hash_map::Entry;
use std::num::NonZeroU64;
use std::sync::Arc;

use serde_json::{Map, Value};
use trunkline_pool::id_map::IdMap;
use trunkline_pool::interface::EventKind;
use trunkline_pool::state::SessionId;

use super::event::{Event, EventMask};
use super::event_text::{EventBody, QueuedEvent};
use super::json_members::members_of;
use super::recipient::Recipient;
use super::subject::EventSubject;
use super::subscriber::Subscriber;
use crate::base::sync::atomic::{AtomicBool, Ordering};
use crate::base::sync::{Mutex, MutexGuard};
use crate::base::wakes::{wake, wake_so_far};
use crate::{Error, ErrorCode, Result};

/// The pool's subscribers, and the order of its events.
pub(crate) struct Hub {
    backlog: usize,
    /// Set under the lock, and read without: a status that is taken between two events asks for it
    /// too.
    ended: AtomicBool,
    inner: Mutex<HubState>,
}

#[derive(Default)]
struct HubState {
    seq: u64,
    pool: Vec<Arc<Subscriber>>,
    sessions: IdMap<SessionId, Own>,
}

/// The subscribers of one session: nearly always one.
struct Own {
    first: Arc<Subscriber>,
    others: Vec<Arc<Subscriber>>,
}

impl Own {
    fn new(first: Arc<Subscriber>) -> Own {
        Own { first, others: Vec::new() }
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Subscriber>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Without one; nothing when it was the only one.
    fn without(mut self, gone: &Arc<Subscriber>) -> Option<Own> {
        self.others.retain(|other| !Arc::ptr_eq(other, gone));
        if !Arc::ptr_eq(&self.first, gone) {
            return Some(self);
        }
        let first = (!self.others.is_empty()).then(|| self.others.remove(0))?;
        Some(Own { first, ..self })
    }
}

impl Hub {
    pub(crate) fn new(backlog: usize) -> Hub {
        Hub { backlog, ended: AtomicBool::new(false), inner: Mutex::default() }
    }

    /// Adds a subscriber to the pool's events, or to those of one session. `status` is taken
    /// between two events, so that what follows continues it.
    ///
    /// # Errors
    /// `closed` after [`end`](Self::end).
    pub(crate) fn subscribe(
        &self,
        mask: EventMask,
        session: Option<SessionId>,
        status: impl FnOnce() -> Value,
    ) -> Result<Arc<Subscriber>> {
        let mut inner = self.inner();
        self.check_open()?;
        let mut snapshot = Map::new();
        snapshot.insert("v".into(), 1.into());
        snapshot.insert("seq".into(), inner.seq.into());
        snapshot.insert("status".into(), status());
        let snapshot = Value::Object(snapshot).to_string();
        let subscriber = Arc::new(Subscriber::new(mask, session, self.backlog, snapshot));
        match session {
            None => inner.pool.push(subscriber.clone()),
            Some(id) => match inner.sessions.entry(id) {
                Entry::Occupied(mut own) => own.get_mut().others.push(subscriber.clone()),
                Entry::Vacant(place) => drop(place.insert(Own::new(subscriber.clone()))),
            },
        }
        Ok(subscriber)
    }

    /// Takes a subscriber out, and ends its stream.
    pub(crate) fn unsubscribe(&self, subscriber: &Arc<Subscriber>) {
        let mut inner = self.inner();
        match subscriber.session {
            None => inner.pool.retain(|other| !Arc::ptr_eq(other, subscriber)),
            Some(id) => {
                let left = inner.sessions.remove(&id).and_then(|own| own.without(subscriber));
                if let Some(own) = left {
                    inner.sessions.insert(id, own);
                }
            }
        }
    }

    /// Ends the streams of a session; what waits in them can still be taken.
    pub(crate) fn end_session(&self, session: SessionId) {
        let gone = self.inner().sessions.remove(&session);
        gone.iter().flat_map(Own::iter).for_each(|subscriber| subscriber.end());
    }

    /// Ends every stream; what waits in them can still be taken.
    pub(crate) fn end(&self) {
        let gone: Vec<_> = {
            let mut inner = self.inner();
            self.ended.store(true, Ordering::Release);
            let sessions = std::mem::take(&mut inner.sessions);
            let pool = std::mem::take(&mut inner.pool);
            pool.into_iter().chain(sessions.values().flat_map(Own::iter).cloned()).collect()
        };
        gone.iter().for_each(|subscriber| subscriber.end());
    }

    /// Fails once every stream has ended: that is the last that a close does.
    pub(crate) fn check_open(&self) -> Result<()> {
        match self.ended.load(Ordering::Acquire) {
            true => Err(Error::new(ErrorCode::Closed, "the pool is closed")),
            false => Ok(()),
        }
    }

    /// Tells the pool's subscribers, and with `session` that session's, unless it is closed.
    pub(crate) fn publish(
        &self,
        kind: EventKind,
        session: Option<&Recipient>,
        about: &EventSubject,
        fields: &[(&str, Value)],
    ) {
        self.publish_if(kind, session, about, fields, || true);
    }

    /// Waits for an event that is being published: what no longer stands now is the reason of no
    /// event from here on.
    pub(crate) fn settle(&self) {
        drop(self.inner());
    }

    /// [`publish`](Self::publish), unless the reason to tell that session is gone.
    ///
    /// `stands` is asked under the lock. Who ends the reason calls [`settle`](Self::settle)
    /// afterwards, and so knows that nothing more comes (SPEC 8.5, I-16), also when another thread
    /// was about to deliver.
    pub(crate) fn publish_if(
        &self,
        kind: EventKind,
        session: Option<&Recipient>,
        about: &EventSubject,
        fields: &[(&str, Value)],
        stands: impl FnOnce() -> bool,
    ) {
        self.tell(kind, session, stands, |seq| {
            QueuedEvent::new(seq, session, EventBody::new(kind, about, members_of(fields)))
        });
    }

    /// [`publish_if`](Self::publish_if), of a list that is another, with its number and what is
    /// said to all.
    pub(crate) fn publish_list(
        &self,
        kind: EventKind,
        (session, revision): (&Recipient, u64),
        said: impl FnOnce() -> Arc<EventBody>,
        stands: impl FnOnce() -> bool,
    ) {
        let revision = NonZeroU64::new(revision);
        self.tell(kind, Some(session), stands, |seq| QueuedEvent {
            revision,
            ..QueuedEvent::new(seq, Some(session), said())
        });
    }

    /// [`publish_if`](Self::publish_if), and the event itself, whether or not somebody subscribed
    /// to it; none when there is no reason for it any more.
    pub(crate) fn publish_and_keep(
        &self,
        kind: EventKind,
        session: Option<&Recipient>,
        about: &EventSubject,
        fields: &[(&str, Value)],
        stands: impl FnOnce() -> bool,
    ) -> Option<Event> {
        let said = EventBody::new(kind, about, members_of(fields));
        let event = |seq| QueuedEvent::new(seq, session, said.clone());
        let seq = self.tell(kind, session, stands, event)?;
        Some(event(seq).take())
    }

    /// Tells it, made when somebody wants it; its number, unless there was no reason for it any
    /// more.
    fn tell(
        &self,
        kind: EventKind,
        session: Option<&Recipient>,
        stands: impl FnOnce() -> bool,
        event: impl FnOnce(u64) -> QueuedEvent,
    ) -> Option<u64> {
        let mut guard = self.inner();
        if session.is_some_and(Recipient::is_closed) || !stands() {
            return None;
        }
        let inner = &mut *guard;
        inner.seq += 1;
        let seq = inner.seq;
        let own = session.and_then(|session| inner.sessions.get(&session.number));
        let subscribers = inner.pool.iter().chain(own.into_iter().flat_map(Own::iter));
        let woken = put(kind, subscribers, || event(seq));
        drop(guard);
        woken.wake();
        Some(seq)
    }

    /// Tells every subscriber, of the pool and of each session, the same event once.
    pub(crate) fn publish_to_all(&self, kind: EventKind, fields: &[(&str, Value)]) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        inner.seq += 1;
        let seq = inner.seq;
        let subscribers = inner.pool.iter().chain(inner.sessions.values().flat_map(Own::iter));
        let woken = put(kind, subscribers, || {
            QueuedEvent::new(
                seq,
                None,
                EventBody::new(kind, &EventSubject::default(), members_of(fields)),
            )
        });
        drop(guard);
        woken.wake();
    }

    fn inner(&self) -> MutexGuard<'_, HubState> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Puts one event into the queues of those who want it, if there is anybody; who is to be woken.
///
/// The lock is held: two events must reach every queue in the order of their numbers.
fn put<'a>(
    kind: EventKind,
    subscribers: impl Iterator<Item = &'a Arc<Subscriber>>,
    event: impl FnOnce() -> QueuedEvent,
) -> WakeList {
    let mut interested = subscribers.filter(|subscriber| subscriber.mask.contains(kind));
    let mut woken = WakeList::default();
    let Some(mut last) = interested.next() else {
        return woken;
    };
    let event = event();
    for next in interested {
        woken.push(last, event.clone());
        last = next;
    }
    woken.push(last, event);
    woken
}

/// The subscribers that are to be woken once no lock is held.
#[derive(Default)]
struct WakeList {
    first: Option<Arc<Subscriber>>,
    others: Vec<Arc<Subscriber>>,
    /// Somebody cannot wait for the end of a batch.
    hurries: bool,
}

impl WakeList {
    fn push(&mut self, subscriber: &Arc<Subscriber>, event: QueuedEvent) {
        let pushed = subscriber.push(event);
        self.hurries |= pushed.is_half;
        if !pushed.wakes {
            return;
        }
        match self.first {
            None => self.first = Some(subscriber.clone()),
            Some(_) => self.others.push(subscriber.clone()),
        }
    }

    fn wake(self) {
        if let Some(first) = self.first {
            wake(first);
            self.others.into_iter().for_each(wake);
        }
        if self.hurries {
            wake_so_far();
        }
    }
}
