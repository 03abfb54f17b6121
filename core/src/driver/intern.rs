//! Names and pool keys as dense numbers, so that a step of the reducer does not depend on their text.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::options::Offered;
use trunkline_pool::state::{KeyId, ServerId, SessionId};

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

    /// The number of a pool key, kept once more. `owner` keeps the connection to one session.
    pub(crate) fn key(
        &mut self,
        name: &str,
        spec: &Arc<ServerSpec>,
        (fingerprint, offered, context): (Fingerprint, Offered, &Arc<Context>),
        owner: Option<SessionId>,
        host: Option<&Provided>,
    ) -> KeyId {
        let server = self.server(name);
        self.transports[server.0 as usize] = spec.transport_name();
        let identity = (server, fingerprint, owner);
        if let Some(&key) = self.keys.get(&identity) {
            self.keep(key);
            return key;
        }
        let name = self.names[server.0 as usize].clone();
        let (spec, host, context) = (spec.clone(), host.cloned(), context.clone());
        let keyed = Keyed { name, spec, host, fingerprint, offered, owner, context };
        let row = Some(Row { keyed, identity, uses: 1 });
        let key = self.free.pop().unwrap_or_else(|| {
            self.keyed.push(None);
            KeyId(self.keyed.len() as u32 - 1)
        });
        self.keyed[key.0 as usize] = row;
        self.keys.insert(identity, key);
        key
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
        let fingerprint = (spec.fingerprint("pool", &[]), Offered::default(), context);
        let spec = Arc::new(spec);
        let mut interner = Interner::default();
        let shared = interner.key("s", &spec, fingerprint, None, None);
        assert_eq!(interner.key("s", &spec, fingerprint, None, None), shared);
        for number in 0..1000 {
            let own = interner.key("s", &spec, fingerprint, Some(SessionId(number)), None);
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
