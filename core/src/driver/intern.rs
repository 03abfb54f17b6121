//! Names and pool keys as dense numbers, so that a step of the reducer does not depend on their text.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::options::Offered;
use trunkline_pool::state::{KeyId, ServerId, SessionId};

use super::authority::Authority;
use crate::auth::Context;
use crate::client::Provided;

/// What a pool key stands for.
#[derive(Clone)]
pub(crate) struct Keyed {
    /// The server's name.
    pub name: Arc<str>,
    /// Its configuration.
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
    /// The identity of the configuration alone, whoever asks; absent for the host's own.
    pub configuration: Option<Fingerprint>,
}

/// What a key is asked for with, beside the server's name.
pub(crate) struct Wanted<'a> {
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
    /// The identity of the configuration alone; absent for the host's own.
    pub configuration: Option<Fingerprint>,
}

/// The numbers of a pool's names and keys.
///
/// A name keeps its number for as long as the pool lives, since the indices of its entries are never reused. A key is
/// forgotten with the last who [keeps](Self::keep) it, and its number used again: otherwise every session with a
/// connection of its own, and every secret that was rotated, would leave something behind.
#[derive(Default)]
pub(crate) struct Interner {
    names: Vec<Arc<str>>,
    /// The transport of each name's newest key.
    transports: Vec<&'static str>,
    servers: HashMap<Arc<str>, ServerId>,
    keys: HashMap<Identity, KeyId>,
    /// By number.
    keyed: Vec<Option<Row>>,
    free: Vec<KeyId>,
    /// Keys whose word is new, or another than before: their gates are to be set.
    unjudged: Vec<KeyId>,
}

type Identity = (ServerId, Fingerprint, Option<SessionId>);

struct Row {
    keyed: Keyed,
    identity: Identity,
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

    /// The number of a pool key, kept once more.
    pub(crate) fn key(&mut self, name: &str, wanted: &Wanted<'_>) -> KeyId {
        let server = self.server(name);
        self.transports[server.0 as usize] = wanted.spec.transport_name();
        let identity = (server, wanted.fingerprint, wanted.owner);
        if let Some(&key) = self.keys.get(&identity) {
            self.keep(key);
            self.heed(key, wanted);
            return key;
        }
        let keyed = Keyed {
            name: self.names[server.0 as usize].clone(),
            spec: wanted.spec.clone(),
            host: wanted.host.cloned(),
            fingerprint: wanted.fingerprint,
            offered: wanted.offered,
            owner: wanted.owner,
            context: wanted.context.clone(),
            authority: wanted.authority.clone(),
            configuration: wanted.configuration,
        };
        let row = Some(Row { keyed, identity, uses: 1 });
        let key = self.free.pop().unwrap_or_else(|| {
            self.keyed.push(None);
            KeyId(self.keyed.len() as u32 - 1)
        });
        self.keyed[key.0 as usize] = row;
        self.keys.insert(identity, key);
        if wanted.authority.warrant().is_some() {
            self.unjudged.push(key);
        }
        key
    }

    /// Another asks for a connection that there is.
    fn heed(&mut self, key: KeyId, wanted: &Wanted<'_>) {
        let Some(Some(row)) = self.keyed.get_mut(key.0 as usize) else { return };
        if row.keyed.authority.heed(wanted.authority) {
            row.keyed.configuration = wanted.configuration;
            self.unjudged.push(key);
        }
    }

    /// The keys whose word is new, each to be judged once.
    pub(super) fn take_unjudged(&mut self) -> Vec<KeyId> {
        std::mem::take(&mut self.unjudged)
    }

    /// Every key that is kept.
    pub(super) fn rows(&self) -> impl Iterator<Item = (KeyId, &Keyed)> {
        let rows = self.keyed.iter().zip(0..);
        rows.filter_map(|(row, number)| Some((KeyId(number), &row.as_ref()?.keyed)))
    }

    /// What a key stands for.
    pub(crate) fn keyed(&self, key: KeyId) -> Option<&Keyed> {
        self.keyed.get(key.0 as usize)?.as_ref().map(|row| &row.keyed)
    }

    /// One more keeps a key.
    pub(crate) fn keep(&mut self, key: KeyId) {
        if let Some(Some(row)) = self.keyed.get_mut(key.0 as usize) {
            row.uses += 1;
        }
    }

    /// One less keeps a key. What it stood for comes out with the last, to be dropped once no lock is held.
    #[must_use]
    pub(crate) fn release(&mut self, key: KeyId) -> Option<Keyed> {
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
    use super::*;

    /// SPEC 2.2: a connection that is not shared has a key of its own, for as long as somebody uses it.
    #[test]
    fn a_key_that_nobody_keeps_is_forgotten_and_its_number_used_again() {
        let spec = ServerSpec::from_value("s", &serde_json::json!({ "command": "x" })).unwrap();
        let context = &Context::default_of_tests();
        let fingerprint = spec.fingerprint("pool", &[]);
        let spec = &Arc::new(spec);
        let wanted = |owner| Wanted {
            spec,
            host: None,
            fingerprint,
            offered: Offered::default(),
            owner,
            context,
            authority: &Authority::Host,
            configuration: None,
        };
        let mut interner = Interner::default();
        let shared = interner.key("s", &wanted(None));
        assert_eq!(interner.key("s", &wanted(None)), shared);
        for number in 0..1000 {
            let own = interner.key("s", &wanted(Some(SessionId(number))));
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
