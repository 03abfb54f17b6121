//! Events on their way to subscribers: in order, bounded, and each written as JSON once.

use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use trunkline_pool::id_map::IdMap;
use trunkline_pool::interface::EventKind;
use trunkline_pool::state::{Generation, SessionId};

use super::EntryCell;
use super::subscriber::Subscriber;
use crate::api::{Event, EventMask, SessionCore};
use crate::{Error, ErrorCode, Result};

/// The pool's subscribers, and the order of its events.
pub(crate) struct Hub {
    backlog: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    seq: u64,
    ended: bool,
    pool: Vec<Arc<Subscriber>>,
    sessions: IdMap<SessionId, Vec<Arc<Subscriber>>>,
}

/// What an event is about.
#[derive(Default)]
pub(crate) struct About {
    /// The server's name.
    pub server: Option<Arc<str>>,
    /// The entry's index.
    pub entry_index: Option<u32>,
    /// The incarnation.
    pub generation: Option<Generation>,
}

impl About {
    /// An incarnation of an entry.
    pub(crate) fn entry(cell: &EntryCell, generation: Generation) -> About {
        About {
            server: Some(cell.server.clone()),
            entry_index: Some(cell.index),
            generation: Some(generation),
        }
    }

    /// A server that may have no entry.
    pub(crate) fn server(name: Arc<str>) -> About {
        About { server: Some(name), ..About::default() }
    }
}

/// Whom an event was told.
enum Told {
    /// There was no reason for it any more.
    Nobody,
    /// No subscriber wanted it, so it was not written.
    Unheard { seq: u64 },
    /// Some.
    Heard(Event),
}

impl Hub {
    pub(crate) fn new(backlog: usize) -> Hub {
        Hub { backlog, inner: Mutex::default() }
    }

    /// Adds a subscriber to the pool's events, or to those of one session. `status` is taken between two events, so
    /// that what follows continues it.
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
        if inner.ended {
            return Err(Error::new(ErrorCode::Closed, "the pool is closed"));
        }
        let mut snapshot = Map::new();
        snapshot.insert("v".into(), 1.into());
        snapshot.insert("seq".into(), inner.seq.into());
        snapshot.insert("status".into(), status());
        let snapshot = Value::Object(snapshot).to_string();
        let subscriber = Arc::new(Subscriber::new(mask, session, self.backlog, snapshot));
        match session {
            None => inner.pool.push(subscriber.clone()),
            Some(id) => inner.sessions.entry(id).or_default().push(subscriber.clone()),
        }
        Ok(subscriber)
    }

    /// Takes a subscriber out, and ends its stream.
    pub(crate) fn unsubscribe(&self, subscriber: &Arc<Subscriber>) {
        let mut inner = self.inner();
        let keep = |other: &Arc<Subscriber>| !Arc::ptr_eq(other, subscriber);
        match subscriber.session {
            None => inner.pool.retain(keep),
            Some(id) => {
                if let Some(list) = inner.sessions.get_mut(&id) {
                    list.retain(keep);
                    if list.is_empty() {
                        inner.sessions.remove(&id);
                    }
                }
            }
        }
    }

    /// Ends the streams of a session; what waits in them can still be taken.
    pub(crate) fn end_session(&self, session: SessionId) {
        let gone = self.inner().sessions.remove(&session).unwrap_or_default();
        gone.iter().for_each(|subscriber| subscriber.end());
    }

    /// Ends every stream; what waits in them can still be taken.
    pub(crate) fn end(&self) {
        let gone: Vec<_> = {
            let mut inner = self.inner();
            inner.ended = true;
            let sessions = std::mem::take(&mut inner.sessions);
            inner.pool.drain(..).chain(sessions.into_values().flatten()).collect()
        };
        gone.iter().for_each(|subscriber| subscriber.end());
    }

    /// Tells the pool's subscribers, and with `session` that session's, unless it is closed.
    pub(crate) fn publish(
        &self,
        kind: EventKind,
        session: Option<&SessionCore>,
        about: &About,
        fields: &[(&str, Value)],
    ) {
        self.publish_if(kind, session, about, fields, || true);
    }

    /// Waits for an event that is being published: what no longer stands now is the reason of no event from here on.
    pub(crate) fn settle(&self) {
        drop(self.inner());
    }

    /// [`publish`](Self::publish), unless the reason to tell that session is gone.
    ///
    /// `stands` is asked under the lock. Who ends the reason calls [`settle`](Self::settle) afterwards, and so knows that
    /// nothing more comes (SPEC 8.5, I-16), also when another thread was about to deliver.
    pub(super) fn publish_if(
        &self,
        kind: EventKind,
        session: Option<&SessionCore>,
        about: &About,
        fields: &[(&str, Value)],
        stands: impl FnOnce() -> bool,
    ) {
        self.tell(kind, session, about, members_of(fields), stands);
    }

    /// [`publish_if`](Self::publish_if), with fields that are written only when somebody hears of them.
    pub(super) fn publish_written(
        &self,
        kind: EventKind,
        session: &SessionCore,
        about: &About,
        fields: impl FnOnce(&mut Members),
        stands: impl FnOnce() -> bool,
    ) {
        self.tell(kind, Some(session), about, fields, stands);
    }

    /// [`publish_if`](Self::publish_if), and the event itself, whether or not somebody subscribed to it; none when there is no
    /// reason for it any more.
    pub(crate) fn publish_and_keep(
        &self,
        kind: EventKind,
        session: Option<&SessionCore>,
        about: &About,
        fields: &[(&str, Value)],
        stands: impl FnOnce() -> bool,
    ) -> Option<Event> {
        match self.tell(kind, session, about, members_of(fields), stands) {
            Told::Nobody => None,
            Told::Unheard { seq } => {
                let fields = members_of(fields);
                Some(Event::new(kind, seq, write(kind, seq, session, about, fields)))
            }
            Told::Heard(event) => Some(event),
        }
    }

    fn tell(
        &self,
        kind: EventKind,
        session: Option<&SessionCore>,
        about: &About,
        fields: impl FnOnce(&mut Members),
        stands: impl FnOnce() -> bool,
    ) -> Told {
        let mut inner = self.inner();
        if session.is_some_and(SessionCore::is_closed) || !stands() {
            return Told::Nobody;
        }
        inner.seq += 1;
        let seq = inner.seq;
        let own = session.and_then(|session| inner.sessions.get(&session.number));
        let subscribers = inner.pool.iter().chain(own.into_iter().flatten());
        let interested = interested(kind, subscribers);
        let event = || Event::new(kind, seq, write(kind, seq, session, about, fields));
        match deliver(inner, &interested, event) {
            Some(event) => Told::Heard(event),
            None => Told::Unheard { seq },
        }
    }

    /// Tells every subscriber, of the pool and of each session, the same event once.
    pub(super) fn publish_to_all(&self, kind: EventKind, fields: &[(&str, Value)]) {
        let mut inner = self.inner();
        inner.seq += 1;
        let seq = inner.seq;
        let subscribers = inner.pool.iter().chain(inner.sessions.values().flatten());
        let interested = interested(kind, subscribers);
        deliver(inner, &interested, || {
            let fields = members_of(fields);
            Event::new(kind, seq, write(kind, seq, None, &About::default(), fields))
        });
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn interested<'a>(
    kind: EventKind,
    subscribers: impl Iterator<Item = &'a Arc<Subscriber>>,
) -> Vec<Arc<Subscriber>> {
    subscribers.filter(|subscriber| subscriber.mask.contains(kind)).cloned().collect()
}

/// Puts one event into the queues of those who want it, and wakes them; the event, if there is anybody.
fn deliver(
    inner: MutexGuard<'_, Inner>,
    interested: &[Arc<Subscriber>],
    event: impl FnOnce() -> Event,
) -> Option<Event> {
    if interested.is_empty() {
        return None;
    }
    let event = event();
    // Still under the lock: two events must reach every queue in the order of their numbers.
    let woken: Vec<_> =
        interested.iter().filter(|subscriber| subscriber.push(event.clone())).collect();
    drop(inner);
    woken.iter().for_each(|subscriber| subscriber.wake());
    Some(event)
}

/// The event's JSON: the envelope of SPEC 16.6, then the fields.
pub(super) fn write(
    kind: EventKind,
    seq: u64,
    session: Option<&SessionCore>,
    about: &About,
    fields: impl FnOnce(&mut Members),
) -> Arc<str> {
    let mut json = Members::new();
    json.add("v", &1);
    json.add("seq", &seq);
    json.add("type", kind.name());
    json.add("scope", kind.scope().as_str());
    if let Some(session) = session {
        json.add("session", &*session.id);
    }
    if let Some(server) = &about.server {
        json.add("server", &**server);
    }
    if let Some(index) = about.entry_index {
        json.add("entry_index", &index);
    }
    if let Some(generation) = about.generation {
        json.add("generation", &generation.0);
    }
    fields(&mut json);
    json.finish()
}

/// Fields that are values.
pub(super) fn members_of(fields: &[(&str, Value)]) -> impl FnOnce(&mut Members) {
    |json| fields.iter().for_each(|(name, value)| json.add(name, value))
}

type ToText<'a> = serde_json::Serializer<&'a mut Vec<u8>>;

/// The text of a JSON object, as it is written member by member. No name comes twice.
pub(super) struct Members(Vec<u8>);

impl Members {
    /// Room for an event about a server with a few fields, in bytes.
    const ROOM: usize = 256;

    fn new() -> Members {
        Members(Vec::with_capacity(Members::ROOM))
    }

    /// Adds one member.
    pub(super) fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.member(name, |json| value.serialize(json));
    }

    /// Adds one member that is a list of names.
    pub(super) fn add_names(&mut self, name: &str, names: &[Arc<str>]) {
        self.member(name, |json| json.collect_seq(names.iter().map(|name| &**name)));
    }

    fn member(
        &mut self,
        name: &str,
        value: impl FnOnce(&mut ToText<'_>) -> serde_json::Result<()>,
    ) {
        // Names of members are ours.
        debug_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"" } else { b",\"" });
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        let written = value(&mut self.text());
        debug_assert!(written.is_ok(), "neither memory nor these values refuse to be written");
    }

    fn text(&mut self) -> ToText<'_> {
        serde_json::Serializer::new(&mut self.0)
    }

    fn finish(mut self) -> Arc<str> {
        self.0.push(b'}');
        match std::str::from_utf8(&self.0) {
            Ok(text) => text.into(),
            // What is written as JSON is text.
            Err(_) => String::from_utf8_lossy(&self.0).into(),
        }
    }
}
