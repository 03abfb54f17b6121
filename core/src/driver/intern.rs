//! Names and pool keys as dense numbers, so that a step of the reducer does not depend on their text.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::state::{KeyId, ServerId, SessionId};

/// What a pool key stands for.
#[derive(Clone)]
pub(crate) struct Keyed {
    /// The server's name.
    pub name: Arc<str>,
    /// Its configuration.
    pub spec: Arc<ServerSpec>,
}

/// The numbers of a pool's names and keys.
#[derive(Default)]
pub(crate) struct Interner {
    names: Vec<Arc<str>>,
    servers: HashMap<Arc<str>, ServerId>,
    keys: HashMap<(ServerId, Fingerprint, Option<SessionId>), KeyId>,
    keyed: Vec<Keyed>,
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
        self.servers.insert(name, server);
        server
    }

    /// The number of a name that was seen before.
    pub(crate) fn known_server(&self, name: &str) -> Option<ServerId> {
        self.servers.get(name).copied()
    }

    /// The number of a pool key. `owner` keeps the connection to one session.
    pub(crate) fn key(
        &mut self,
        name: &str,
        spec: &Arc<ServerSpec>,
        fingerprint: Fingerprint,
        owner: Option<SessionId>,
    ) -> KeyId {
        let server = self.server(name);
        let next = KeyId(self.keyed.len() as u32);
        let key = *self.keys.entry((server, fingerprint, owner)).or_insert(next);
        if key == next {
            let name = self.names[server.0 as usize].clone();
            self.keyed.push(Keyed { name, spec: spec.clone() });
        }
        key
    }

    /// What a key stands for.
    pub(crate) fn keyed(&self, key: KeyId) -> &Keyed {
        &self.keyed[key.0 as usize]
    }
}
