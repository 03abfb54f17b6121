//! Legacy sessions, by the id that each was given (SERVING A3).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Streams of requests, newest last: a client may come back for what it missed.
    streams: VecDeque<Outlet>,
    /// Requests and streams that are read now.
    open: usize,
    last_used: Instant,
}

/// Streams that are kept for a client that comes back.
const STREAMS_MAX: usize = 64;

/// An open request of a session, which is not idle meanwhile.
pub(super) struct InUse(Arc<LegacySession>);

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
        let state = SessionState { streams: VecDeque::new(), open: 0, last_used: Instant::now() };
        let state = Mutex::new(state);
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

    /// Ends the sessions that nobody used since then.
    pub(super) fn end_idle(&self, before: Instant) {
        let idle: Vec<Arc<LegacySession>> = {
            let all = self.all();
            all.values().filter(|session| session.is_idle_since(before)).cloned().collect()
        };
        idle.iter().for_each(|session| self.end(session));
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

    /// Keeps the stream of a request for a client that comes back.
    pub(super) fn keep(&self, outlet: Outlet) {
        let mut state = self.state();
        state.streams.push_back(outlet);
        if state.streams.len() > STREAMS_MAX {
            // The oldest whose end was sent; a request that runs stays.
            let spent = state.streams.iter().position(Outlet::is_spent).unwrap_or(0);
            state.streams.remove(spent);
        }
    }

    /// A stream of this session.
    pub(super) fn stream(&self, id: StreamId) -> Option<Outlet> {
        self.state().streams.iter().find(|outlet| outlet.stream() == id).cloned()
    }

    fn is_idle_since(&self, before: Instant) -> bool {
        let state = self.state();
        state.open == 0 && state.last_used <= before && state.streams.iter().all(Outlet::is_spent)
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open = state.open.saturating_sub(1);
        state.last_used = Instant::now();
    }
}
