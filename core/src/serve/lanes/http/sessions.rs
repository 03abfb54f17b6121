//! Legacy sessions, by the id that each was given (SERVING A3).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::time::Instant;

use crate::Result;
use crate::serve::lane::{Principal, Served, ServedPath};
use crate::serve::lanes::quotas::Seat;
use crate::serve::outlet::{Outlet, StreamId};
use crate::serve::secrets::random;

/// All sessions of an endpoint.
#[derive(Default)]
pub(in crate::serve::lanes) struct LegacySessions(Mutex<HashMap<Box<str>, Arc<LegacySession>>>);

/// One of them.
pub(super) struct LegacySession {
    pub id: Box<str>,
    who: Principal,
    path: ServedPath,
    pub client: Arc<dyn Served>,
    state: Mutex<SessionState>,
    _seat: Seat,
}

struct SessionState {
    /// Event streams of requests, newest last: a client may come back for what it missed.
    streams: VecDeque<KeptStream>,
    /// The stream for what belongs to no request.
    listening: Option<Outlet>,
    /// Requests and streams that are read now.
    open: usize,
    last_used: Instant,
}

struct KeptStream {
    outlet: Outlet,
    /// When its end was seen.
    ended: Option<Instant>,
}

/// What a session keeps of its streams after their end.
#[derive(Clone, Copy)]
pub(in crate::serve::lanes) struct ReplayBounds {
    pub bytes_max: usize,
    pub time: Duration,
}

/// An open request of a session, which is not idle meanwhile.
pub(super) struct InUse(Arc<LegacySession>);

/// Streams that have ended and are kept.
const ENDED_STREAMS_MAX: usize = 64;

impl LegacySessions {
    /// Keeps a session that was opened.
    ///
    /// # Errors
    /// `internal` where the system gives no random bytes.
    pub(super) fn add(
        &self,
        (who, path): (Principal, ServedPath),
        client: Arc<dyn Served>,
        seat: Seat,
    ) -> Result<Arc<LegacySession>> {
        let id: Box<str> = URL_SAFE_NO_PAD.encode(random()?).into();
        let state = Mutex::new(SessionState {
            streams: VecDeque::new(),
            listening: None,
            open: 0,
            last_used: Instant::now(),
        });
        let session =
            Arc::new(LegacySession { id: id.clone(), who, path, client, state, _seat: seat });
        self.all().insert(id, session.clone());
        Ok(session)
    }

    /// The session of this id: of this principal and at this path, or none.
    pub(super) fn find(
        &self,
        id: &str,
        who: &Principal,
        path: &ServedPath,
    ) -> Option<Arc<LegacySession>> {
        let session = self.all().get(id).cloned()?;
        (session.who == *who && session.path == *path).then_some(session)
    }

    /// Ends a session.
    pub(super) fn end(&self, session: &LegacySession) {
        let had = self.all().remove(&session.id);
        if let Some(session) = had {
            session.client.close();
        }
    }

    /// Forgets old streams, and ends the sessions that nobody used for so long. A request whose
    /// client went does not keep one.
    pub(super) fn end_idle(&self, now: Instant, idle: Duration, replay: ReplayBounds) {
        let all: Vec<Arc<LegacySession>> = self.all().values().cloned().collect();
        for session in all {
            if session.is_idle(now, idle, replay) {
                self.end(&session);
            }
        }
    }

    /// Ends every session.
    pub(in crate::serve::lanes) fn close_all(&self) {
        let all = std::mem::take(&mut *self.all());
        all.into_values().for_each(|session| session.client.close());
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<LegacySession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LegacySession {
    /// Uses the session: while this lives it is not idle.
    pub(super) fn in_use(self: &Arc<Self>) -> InUse {
        let mut state = self.state();
        state.open += 1;
        state.last_used = Instant::now();
        InUse(self.clone())
    }

    /// Keeps the event stream of a request for a client that comes back.
    pub(super) fn keep(&self, outlet: Outlet, replay: ReplayBounds) {
        let mut state = self.state();
        state.forget_old(Instant::now(), replay);
        state.streams.push_back(KeptStream { outlet, ended: None });
    }

    /// The event stream of a request of this session.
    pub(super) fn stream(&self, id: StreamId) -> Option<Outlet> {
        let state = self.state();
        let mut streams = state.streams.iter().map(|kept| &kept.outlet);
        streams.find(|outlet| outlet.stream() == id).cloned()
    }

    /// The stream for what belongs to no request, if it is this one.
    pub(super) fn listening(&self, id: StreamId) -> Option<Outlet> {
        self.state().listening.clone().filter(|outlet| outlet.stream() == id)
    }

    /// From here on, this is the stream for what belongs to no request.
    pub(super) fn listen(&self, outlet: Outlet) {
        self.state().listening = Some(outlet.clone());
        self.client.stream(outlet);
    }

    fn is_idle(&self, now: Instant, idle: Duration, replay: ReplayBounds) -> bool {
        let mut state = self.state();
        state.forget_old(now, replay);
        state.open == 0 && now.saturating_duration_since(state.last_used) >= idle
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    /// Forgets streams that ended long ago, and the oldest of too many.
    fn forget_old(&mut self, now: Instant, replay: ReplayBounds) {
        for kept in self.streams.iter_mut().filter(|kept| !kept.outlet.is_open()) {
            kept.ended.get_or_insert(now);
        }
        self.streams.retain(|kept| {
            kept.ended.is_none_or(|at| now.saturating_duration_since(at) < replay.time)
        });
        let ended = |kept: &&KeptStream| kept.ended.is_some();
        let mut count = self.streams.iter().filter(ended).count();
        let mut bytes: usize =
            self.streams.iter().filter(ended).map(|kept| kept.outlet.bytes()).sum();
        self.streams.retain(|kept| {
            let is_too_much = count > ENDED_STREAMS_MAX || bytes > replay.bytes_max;
            let goes = is_too_much && kept.ended.is_some();
            if goes {
                count -= 1;
                bytes = bytes.saturating_sub(kept.outlet.bytes());
            }
            !goes
        });
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open = state.open.saturating_sub(1);
        state.last_used = Instant::now();
    }
}
