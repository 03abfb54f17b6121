//! Authorization contexts: whose credentials a connection is made with (SPEC 1.2, 7.5).
//!
//! A pool has one. A session that brings a source of credentials has one of its own: its
//! connections to remote servers are others than those of the pool, and nothing that one context
//! was given is sent for another (S-34, S-47).
//!
//! A resumed session goes on with the context that it left, because it takes over connections that
//! were made with it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trunkline_pool::config::{Fingerprint, ServerSpec, Transport};
use trunkline_pool::options::Handlers;

use super::client_config::ClientSpec;
use super::credentials::Credentials;
use super::fetch::warnings::Warnings;
use super::host_credentials::HostCredentials;
use crate::net::address_policy::Author;
use crate::storage::tokens::Store;

/// The id of a pool's own, which is also that of everything that is never let in by credentials.
pub(crate) const POOL: &str = "pool";

/// Configurations whose credentials are remembered. Of more those go that no connection uses: first
/// those without any, then the one that was asked for longest ago, whose sign-in is lost unless a
/// file has it. What is used is bounded by the connections.
const REMEMBERED_MAX: usize = 1024;

/// The credentials of one context.
pub(crate) struct Context {
    id: Box<str>,
    /// The host, where it gives credentials.
    source: Option<HostCredentials>,
    /// Where sign-ins are kept beside the memory; a session's own are not.
    store: Option<Arc<Store>>,
    warnings: Arc<Warnings>,
    known: Mutex<CredentialTable>,
}

/// Whose credentials: the configuration, and who wrote it. What a source may reach is not what the
/// user may, so that the two share nothing though they say the same.
type Of = (Fingerprint, Author);

/// The credentials of each configuration.
#[derive(Default)]
struct CredentialTable {
    of: HashMap<Of, Remembered>,
    /// How often one was asked for.
    turns: u64,
}

struct Remembered {
    credentials: Arc<Credentials>,
    /// When it was asked for last.
    turn: u64,
}

impl CredentialTable {
    fn of(&mut self, whose: Of, new: impl FnOnce() -> Credentials) -> Arc<Credentials> {
        self.turns += 1;
        let turn = self.turns;
        if self.of.len() >= REMEMBERED_MAX && !self.of.contains_key(&whose) {
            self.make_room();
        }
        let new = || Remembered { credentials: Arc::new(new()), turn };
        let remembered = self.of.entry(whose).or_insert_with(new);
        remembered.turn = turn;
        remembered.credentials.clone()
    }

    fn make_room(&mut self) {
        let is_used = |known: &Remembered| Arc::strong_count(&known.credentials) > 1;
        self.of.retain(|_, known| is_used(known) || !known.credentials.is_empty());
        while self.of.len() >= REMEMBERED_MAX {
            let unused = self.of.iter().filter(|(_, known)| !is_used(known));
            let oldest = unused.min_by_key(|(_, known)| known.turn).map(|(key, _)| *key);
            let Some(oldest) = oldest else { return };
            self.of.remove(&oldest);
        }
    }
}

impl Context {
    /// That of a pool with these handlers.
    pub(crate) fn of_pool(
        handlers: &Handlers,
        patience: Duration,
        store: Option<Arc<Store>>,
    ) -> Arc<Context> {
        let source = HostCredentials::of(handlers, "", patience);
        Context::new(POOL.into(), source, store, Arc::default())
    }

    /// That of a session with these handlers of its own: the pool's, unless one of them gives
    /// credentials. A session that is resumed goes on with the one that it `left`, whose
    /// connections it takes over; the host is asked by the new handler from then on.
    pub(crate) fn of_session(
        self: &Arc<Self>,
        (session, left): (&str, Option<Arc<Context>>),
        handlers: &Handlers,
        patience: Duration,
    ) -> Arc<Context> {
        static LAST: AtomicU64 = AtomicU64::new(1);
        let Some(source) = HostCredentials::of(handlers, session, patience) else {
            return self.clone();
        };
        if let Some(left) = left.filter(|left| !left.is_of_pool()) {
            left.source.iter().for_each(|old| old.reopen(handlers));
            return left;
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let id = format!("session {number}").into();
        Context::new(id, Some(source), None, self.warnings.clone())
    }

    #[cfg(test)]
    pub(crate) fn default_of_tests() -> Arc<Context> {
        Context::of_pool(&Handlers::new(), Duration::ZERO, None)
    }

    fn new(
        id: Box<str>,
        source: Option<HostCredentials>,
        store: Option<Arc<Store>>,
        warnings: Arc<Warnings>,
    ) -> Arc<Context> {
        Arc::new(Context { id, source, store, warnings, known: Mutex::default() })
    }

    /// What sign-ins tell the host of that stops nothing.
    pub(crate) fn warnings(&self) -> &Arc<Warnings> {
        &self.warnings
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
            // Nothing lets these in.
            _ => POOL,
        }
    }

    /// What tells it apart, in other processes too, for what is kept of a server: sign-ins of
    /// another file are another's. That of a session means nothing to them, so that nothing of it
    /// may outlive the process.
    pub(crate) fn lasting_id(&self, spec: &ServerSpec) -> Cow<'_, str> {
        match (&spec.transport, &self.store) {
            (Transport::Remote(_), Some(store)) => {
                format!("{} {}", self.id, store.path().display()).into()
            }
            _ => self.id_for(spec).into(),
        }
    }

    /// Whether what a server lists may be for what it was sent to be let in, and the next process
    /// need not have the same.
    pub(crate) fn is_passing(&self, server: &Arc<str>, spec: &ServerSpec, author: Author) -> bool {
        let Some(credentials) = self.of(server, spec, author) else { return false };
        !self.is_of_pool() || (credentials.header().is_some() && !credentials.is_in_file())
    }

    /// Whether it is a pool's own.
    pub(crate) fn is_of_pool(&self) -> bool {
        &*self.id == POOL
    }

    /// Whether a connection of that configuration is made with these credentials.
    pub(crate) fn has(
        &self,
        one: &Arc<Credentials>,
        server: &Arc<str>,
        (spec, author): (&ServerSpec, Author),
    ) -> bool {
        one.is_of(spec) && self.of(server, spec, author).is_some_and(|own| Arc::ptr_eq(&own, one))
    }

    /// The credentials of a configuration. Those of one that nobody can sign in to are none.
    pub(crate) fn of(
        &self,
        server: &Arc<str>,
        spec: &ServerSpec,
        author: Author,
    ) -> Option<Arc<Credentials>> {
        let Transport::Remote(remote) = &spec.transport else { return None };
        if remote.socket_path.is_some() {
            // What its address names is not what it is reached at, so nothing that it leads to is
            // known to be its own.
            return None;
        }
        // What a session offers a server is no part of what lets it in.
        let fingerprint = &spec.fingerprint(&self.id, &[]);
        let new = || {
            let mut client = ClientSpec::of(&spec.oauth);
            client.secret_of_files = spec.secret_of_files().cloned();
            let (source, store) = (self.source.clone(), self.store.clone());
            let of = (server.clone(), *fingerprint, author);
            Credentials::new(of, remote, client, (source, store, self.warnings.clone()))
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Some(known.of((*fingerprint, author), new))
    }
}

/// Without the credentials.
impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({}, [redacted])", self.id)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use trunkline_pool::config::ServerSpec;
    use trunkline_pool::options::{HandlerKind, Handlers};

    use super::{Author, Context, REMEMBERED_MAX};

    fn spec(number: usize) -> ServerSpec {
        let url = format!("https://server.example/{number}");
        ServerSpec::from_value("s", &json!({ "type": "http", "url": url })).unwrap()
    }

    /// SPEC 15.3: what was signed in to long ago and is used by nobody makes room; what is used
    /// stays.
    #[test]
    fn the_configurations_that_are_remembered_are_bounded() {
        let context = Context::default_of_tests();
        let of = |number| context.of(&"s".into(), &spec(number), Author::Host).unwrap();
        let used = of(0);
        used.belongs_to("https://issuer.example");
        for number in 1..REMEMBERED_MAX + 50 {
            of(number).belongs_to("https://issuer.example");
            // Asked for again and again, though nobody holds it meanwhile.
            of(1);
        }
        assert_eq!(context.known.lock().unwrap().of.len(), REMEMBERED_MAX);
        assert!(std::sync::Arc::ptr_eq(&used, &of(0)));
        assert!(!of(1).is_empty() && !of(REMEMBERED_MAX + 49).is_empty());
        assert!(of(2).is_empty(), "the oldest went first");
    }

    /// SPEC 12.9: what the user signed in for is not sent for a source that says the same.
    #[test]
    fn a_source_shares_no_credentials_with_the_user() {
        let context = Context::default_of_tests();
        let of = |author| context.of(&"s".into(), &spec(1), author).unwrap();
        assert!(std::sync::Arc::ptr_eq(&of(Author::Host), &of(Author::Host)));
        assert!(!std::sync::Arc::ptr_eq(&of(Author::Host), &of(Author::Source)));
        assert!(context.has(&of(Author::Source), &"s".into(), (&spec(1), Author::Source)));
        assert!(!context.has(&of(Author::Source), &"s".into(), (&spec(1), Author::Host)));
    }

    /// SPEC 14.2, S-47: what a session's own credentials let in is nobody else's; a program that is
    /// started needs none.
    #[test]
    fn what_is_listed_for_credentials_of_a_session_is_passing() {
        let host = Handlers::new().with(HandlerKind::Credentials, |_| std::future::pending());
        let pool = Context::default_of_tests();
        let session = pool.of_session(("a", None), &host, Duration::ZERO);
        let program = ServerSpec::from_value("s", &json!({ "command": "c" })).unwrap();
        let passing = |context: &Context, spec: &ServerSpec| {
            context.is_passing(&"s".into(), spec, Author::Host)
        };
        assert!(passing(&session, &spec(1)) && !passing(&session, &program));
        assert!(!passing(&pool, &spec(1)) && !passing(&pool, &program));
        assert_ne!(session.lasting_id(&spec(1)), pool.lasting_id(&spec(1)));
        assert_eq!(session.lasting_id(&program), pool.lasting_id(&program));
    }
}
