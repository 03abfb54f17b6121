//! Authorization contexts: whose credentials a connection is made with (SPEC 1.2, 7.5).
//!
//! A pool has one. A session that brings a source of credentials has one of its own: its connections to remote servers are
//! others than those of the pool, and nothing that one context was given is sent for another (S-34, S-47).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trunkline_pool::config::{Fingerprint, ServerSpec, Transport};
use trunkline_pool::options::Handlers;

use super::client::ClientSpec;
use super::credentials::Credentials;
use super::source::Source;
use super::store::Store;

/// The id of a pool's own, which is also that of everything that is never let in by credentials.
pub(crate) const POOL: &str = "pool";

/// Configurations whose credentials are remembered; of more, those without any go.
const REMEMBERED_MAX: usize = 1024;

/// The credentials of one context.
pub(crate) struct Context {
    id: Box<str>,
    /// The host, where it gives credentials.
    source: Option<Source>,
    /// Where sign-ins are kept beside the memory; a session's own are not.
    store: Option<Arc<Store>>,
    known: Mutex<HashMap<Fingerprint, Arc<Credentials>>>,
}

impl Context {
    /// That of a pool with these handlers.
    pub(crate) fn of_pool(
        handlers: &Handlers,
        patience: Duration,
        store: Option<Arc<Store>>,
    ) -> Arc<Context> {
        Context::new(POOL.into(), Source::of(handlers, "", patience), store)
    }

    /// That of a session with these handlers of its own: the pool's, unless one of them gives credentials. A session that is resumed
    /// goes on with the one that it `left`, whose connections it takes over; the host is asked by the new handler from then on.
    pub(crate) fn of_session(
        self: &Arc<Self>,
        (session, left): (&str, Option<Arc<Context>>),
        handlers: &Handlers,
        patience: Duration,
    ) -> Arc<Context> {
        static LAST: AtomicU64 = AtomicU64::new(1);
        let Some(source) = Source::of(handlers, session, patience) else { return self.clone() };
        if let Some(left) = left.filter(|left| !left.is_of_pool()) {
            left.source.iter().for_each(|old| old.reopen(handlers));
            return left;
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Context::new(format!("session {number}").into(), Some(source), None)
    }

    #[cfg(test)]
    pub(crate) fn default_of_tests() -> Arc<Context> {
        Context::of_pool(&Handlers::new(), Duration::ZERO, None)
    }

    fn new(id: Box<str>, source: Option<Source>, store: Option<Arc<Store>>) -> Arc<Context> {
        Arc::new(Context { id, source, store, known: Mutex::default() })
    }

    /// Where what is signed in is kept beside the memory.
    pub(crate) fn store(&self) -> Option<&Arc<Store>> {
        self.store.as_ref()
    }

    /// The host gives nothing more.
    pub(crate) fn close(&self) {
        if let Some(source) = &self.source {
            source.close();
        }
    }

    /// Whether the host gives credentials.
    pub(crate) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// What of it is part of the identity of a connection with that server.
    pub(crate) fn id_for(&self, spec: &ServerSpec) -> &str {
        match spec.transport {
            Transport::Remote(_) => &self.id,
            // Nothing lets these in, whoever asks.
            _ => POOL,
        }
    }

    /// Whether it is a pool's own.
    pub(crate) fn is_of_pool(&self) -> bool {
        &*self.id == POOL
    }

    /// The credentials of a configuration. Those of one that nobody can sign in to are none.
    pub(crate) fn of(&self, server: &Arc<str>, spec: &ServerSpec) -> Option<Arc<Credentials>> {
        let Transport::Remote(remote) = &spec.transport else { return None };
        if remote.socket_path.is_some() {
            // What its address names is not what it is reached at, so nothing that it leads to is known to be its own.
            return None;
        }
        // What a session offers a server is no part of what lets it in.
        let fingerprint = &spec.fingerprint(&self.id, &[]);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX && !known.contains_key(fingerprint) {
            known.retain(|_, credentials| {
                Arc::strong_count(credentials) > 1 || !credentials.is_empty()
            });
        }
        let new = || {
            let client = ClientSpec::of(&spec.oauth);
            let (source, store) = (self.source.clone(), self.store.clone());
            Credentials::new((server.clone(), *fingerprint), remote, client, (source, store))
        };
        Some(known.entry(*fingerprint).or_insert_with(|| Arc::new(new())).clone())
    }
}

/// Without the credentials.
impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({}, [redacted])", self.id)
    }
}
