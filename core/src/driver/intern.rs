//! Names and pool keys as dense numbers, so that a step of the reducer does not depend on their
//! text.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::catalog_cache::WrittenHash;
use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::gates::WarrantId;
use trunkline_pool::id_map::IdMap;
use trunkline_pool::options::Offered;
use trunkline_pool::state::{KeyId, ServerId, SessionId};

use super::connection::starts::StartPriority;
use super::gates::authority::Authority;
use crate::auth::Context;
use crate::base::usage::ServerUsage;
use crate::client::Provided;

/// What a pool key stands for.
#[derive(Clone)]
pub(crate) struct ConnectionKey {
    /// The server's name.
    pub name: Arc<str>,
    /// Its configuration, as who asked last has it, or the pool since.
    pub spec: Arc<ServerSpec>,
    /// The server itself, when the host provides it.
    pub host: Option<Provided>,
    /// The identity of that.
    pub fingerprint: Fingerprint,
    /// The capabilities that the server is offered.
    pub offered: Offered,
    /// The session whose own the connection is.
    pub owner: Option<SessionId>,
    /// Whose credentials the connection is made with.
    pub context: Arc<Context>,
    /// On whose word it is made.
    pub authority: Authority,
    /// The configuration as who asked last has it written; absent for a server that the host
    /// provides.
    pub written: Option<WrittenHash>,
    /// When it has its turn to connect: the earliest of those asked for since it was connected
    /// last.
    pub turn: StartPriority,
    /// Where its calls are counted, with those of every key of the name.
    pub usage: Arc<ServerUsage>,
}

/// What a key is asked for with, beside the server's name.
pub(crate) struct KeyRequest<'a> {
    /// The configuration.
    pub spec: &'a Arc<ServerSpec>,
    /// The server itself, when the host provides it.
    pub host: Option<&'a Provided>,
    /// The identity of the connection.
    pub fingerprint: Fingerprint,
    /// The capabilities that the server is offered.
    pub offered: Offered,
    /// The session whose own the connection is.
    pub owner: Option<SessionId>,
    /// Whose credentials it is made with.
    pub context: &'a Arc<Context>,
    /// On whose word it is made.
    pub authority: &'a Authority,
    /// The configuration as it is written; absent for a server that the host provides.
    pub written: Option<WrittenHash>,
    /// When it has its turn to connect.
    pub turn: StartPriority,
}

/// The numbers of a pool's names and keys.
///
/// A name keeps its number for as long as the pool lives, since the indices of its entries are
/// never reused. A key is forgotten with the last who [keeps](Self::keep) it, and its number used
/// again: otherwise every session with a connection of its own, and every secret that was rotated,
/// would leave something behind.
#[derive(Default)]
pub(crate) struct Interner {
    names: Vec<Arc<str>>,
    /// The transport of each name's newest key.
    transports: Vec<&'static str>,
    /// What the calls of each name came to.
    usages: Vec<Arc<ServerUsage>>,
    servers: HashMap<Arc<str>, ServerId>,
    keys: IdMap<KeyIdentity, KeyId>,
    /// By number.
    keyed: Vec<Option<KeyRow>>,
    free: Vec<KeyId>,
    /// Keys that are new and run by a warrant: their gates are to be set.
    unjudged: Vec<KeyId>,
    /// Keys whose turn to connect has become earlier.
    hastened: Vec<KeyId>,
}

/// A warrant is known by its place as long as its key is kept, which has it.
type KeyIdentity = (ServerId, Fingerprint, Option<SessionId>, Option<WarrantId>);

struct KeyRow {
    keyed: ConnectionKey,
    identity: KeyIdentity,
    uses: u32,
}

impl Interner {
    /// The number of a server's name.
    pub(crate) fn server(&mut self, name: &str) -> ServerId {
        if let Some(server) = self.servers.get(name) {
            return *server;
        }
        let name: Arc<str> = name.into();
        let server = ServerId(self.names.len() as u32);
        self.names.push(name.clone());
        self.transports.push("");
        self.usages.push(Arc::default());
        self.servers.insert(name, server);
        server
    }

    /// How many names there are, numbered from 0.
    pub(crate) fn names(&self) -> usize {
        self.names.len()
    }

    /// The number of a name that was seen before.
    pub(crate) fn known_server(&self, name: &str) -> Option<ServerId> {
        self.servers.get(name).copied()
    }

    /// A server's name, and the transport that it was last asked for with.
    pub(crate) fn describe(&self, server: ServerId) -> (&str, &'static str) {
        let place = server.0 as usize;
        (&self.names[place], self.transports[place])
    }

    /// What the calls of a server's name came to.
    pub(crate) fn usage(&self, server: ServerId) -> Arc<ServerUsage> {
        self.usages[server.0 as usize].clone()
    }

    /// The numbers of a server's name and of a pool key, which is kept once more.
    pub(crate) fn key(&mut self, name: &str, wanted: &KeyRequest<'_>) -> (ServerId, KeyId) {
        let server = self.server(name);
        self.transports[server.0 as usize] = wanted.spec.transport_name();
        let identity = (server, wanted.fingerprint, wanted.owner, wanted.authority.id());
        if let Some(&key) = self.keys.get(&identity) {
            self.keep(key);
            self.heed(key, wanted);
            return (server, key);
        }
        let keyed = ConnectionKey {
            name: self.names[server.0 as usize].clone(),
            spec: wanted.spec.clone(),
            host: wanted.host.cloned(),
            fingerprint: wanted.fingerprint,
            offered: wanted.offered,
            owner: wanted.owner,
            context: wanted.context.clone(),
            authority: wanted.authority.clone(),
            written: wanted.written,
            turn: wanted.turn,
            usage: self.usage(server),
        };
        let row = Some(KeyRow { keyed, identity, uses: 1 });
        let key = self.free.pop().unwrap_or_else(|| {
            self.keyed.push(None);
            KeyId(self.keyed.len() as u32 - 1)
        });
        self.keyed[key.0 as usize] = row;
        self.keys.insert(identity, key);
        if wanted.authority.warrant().is_some() {
            self.unjudged.push(key);
        }
        (server, key)
    }

    /// Another asks for a connection that there is.
    fn heed(&mut self, key: KeyId, wanted: &KeyRequest<'_>) {
        let Some(Some(row)) = self.keyed.get_mut(key.0 as usize) else { return };
        row.keyed.written = wanted.written;
        if !Arc::ptr_eq(&row.keyed.spec, wanted.spec) {
            row.keyed.spec = wanted.spec.clone();
        }
        if wanted.turn < row.keyed.turn {
            row.keyed.turn = wanted.turn;
            self.hastened.push(key);
        }
    }

    /// What is configured beside the identity of connections that there are, where that is another
    /// now.
    pub(super) fn renew(&mut self, newer: impl Fn(&ConnectionKey) -> Option<Arc<ServerSpec>>) {
        for row in self.keyed.iter_mut().flatten() {
            if let Some(spec) = newer(&row.keyed) {
                row.keyed.spec = spec;
            }
        }
    }

    /// A key is connected: later askers get its turn from now on.
    pub(super) fn mark_connected(&mut self, key: KeyId) {
        if let Some(Some(row)) = self.keyed.get_mut(key.0 as usize) {
            row.keyed.turn = StartPriority::default();
        }
    }

    /// The keys whose turn to connect has become earlier since.
    pub(super) fn take_hastened(&mut self) -> Vec<KeyId> {
        std::mem::take(&mut self.hastened)
    }

    /// The keys that are to be judged for the first time.
    pub(super) fn take_unjudged(&mut self) -> Vec<KeyId> {
        std::mem::take(&mut self.unjudged)
    }

    /// Every key that is kept.
    pub(super) fn rows(&self) -> impl Iterator<Item = (KeyId, &ConnectionKey)> {
        let rows = self.keyed.iter().zip(0..);
        rows.filter_map(|(row, number)| Some((KeyId(number), &row.as_ref()?.keyed)))
    }

    /// What a key stands for.
    pub(crate) fn keyed(&self, key: KeyId) -> Option<&ConnectionKey> {
        self.keyed.get(key.0 as usize)?.as_ref().map(|row| &row.keyed)
    }

    /// One more keeps a key.
    pub(crate) fn keep(&mut self, key: KeyId) {
        if let Some(Some(row)) = self.keyed.get_mut(key.0 as usize) {
            row.uses += 1;
        }
    }

    /// One less keeps a key. What it stood for comes out with the last, to be dropped once no lock
    /// is held.
    #[must_use]
    pub(crate) fn release(&mut self, key: KeyId) -> Option<ConnectionKey> {
        let place = self.keyed.get_mut(key.0 as usize)?;
        let row = place.as_mut()?;
        row.uses -= 1;
        if row.uses > 0 {
            return None;
        }
        self.keys.remove(&row.identity);
        self.free.push(key);
        place.take().map(|row| row.keyed)
    }
}

#[cfg(test)]
mod tests {
    use trunkline_pool::state::Gate;

    use super::*;
    use crate::driver::Warrant;

    /// A word that nothing is asked of.
    struct Word;

    impl Warrant for Word {
        fn gate(&self) -> Gate {
            Gate::Open
        }

        fn recheck(&self) -> crate::Result<Gate> {
            Ok(Gate::Open)
        }

        fn rechecks(&self) -> Option<&crate::runtime::blocking_pool::OneByOne> {
            None
        }

        fn admits_program(
            &self,
            _: &crate::host_env::FoundProgram,
        ) -> Option<crate::platform::Expected> {
            Some(Default::default())
        }
    }

    /// SPEC 2.1, 11.5: an equal configuration is another connection by another word, and the same
    /// by the same.
    #[test]
    fn what_runs_by_another_word_is_another_key() {
        let spec = ServerSpec::from_value("s", &serde_json::json!({ "command": "x" })).unwrap();
        let (context, fingerprint) = (&Context::default_of_tests(), spec.fingerprint("pool", &[]));
        let spec = &Arc::new(spec);
        let offered = Offered::default();
        let word = || Authority::Warrant(Arc::new(Word));
        let words = [Authority::Host, word(), word()];
        let mut interner = Interner::default();
        let mut key = |authority| {
            let (host, owner, written, turn) = (None, None, None, StartPriority::default());
            let wanted = KeyRequest {
                spec,
                host,
                fingerprint,
                offered,
                owner,
                context,
                authority,
                written,
                turn,
            };
            interner.key("s", &wanted).1
        };
        let keys = [&words[0], &words[1], &words[2]].map(&mut key);
        assert_eq!(keys, [KeyId(0), KeyId(1), KeyId(2)]);
        assert_eq!([&words[2], &words[1], &words[0]].map(key), [KeyId(2), KeyId(1), KeyId(0)]);
        assert_eq!(interner.take_unjudged(), [KeyId(1), KeyId(2)]);
    }

    /// SPEC 2.2: a connection that is not shared has a key of its own, for as long as somebody uses
    /// it.
    #[test]
    fn a_key_that_nobody_keeps_is_forgotten_and_its_number_used_again() {
        let spec = ServerSpec::from_value("s", &serde_json::json!({ "command": "x" })).unwrap();
        let context = &Context::default_of_tests();
        let fingerprint = spec.fingerprint("pool", &[]);
        let spec = &Arc::new(spec);
        let wanted = |owner| KeyRequest {
            spec,
            host: None,
            fingerprint,
            offered: Offered::default(),
            owner,
            context,
            authority: &Authority::Host,
            written: None,
            turn: StartPriority::default(),
        };
        let mut interner = Interner::default();
        let (_, shared) = interner.key("s", &wanted(None));
        assert_eq!(interner.key("s", &wanted(None)).1, shared);
        for number in 0..1000 {
            let (_, own) = interner.key("s", &wanted(Some(SessionId(number))));
            assert_eq!(own, KeyId(1));
            interner.keep(own);
            assert!(interner.release(own).is_none());
            assert!(interner.keyed(own).is_some());
            assert!(interner.release(own).is_some());
            assert!(interner.keyed(own).is_none());
        }
        assert!(interner.release(shared).is_none());
        assert!(interner.keyed(shared).is_some());
        assert_eq!(interner.keys.len(), 1);
    }
}
