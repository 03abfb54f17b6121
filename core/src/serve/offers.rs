//! What a served client is offered: the view of its session, as the bridge asks for it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use trunkline_pool::bridge::{Era, ItemOffer, MODERN, Offers, SaidOfItself, ServerOffer};
use trunkline_pool::catalog::{CacheScope, ListKind};

use crate::client::Introduction;
use crate::{List, Session};

/// What servers said of themselves, read once.
#[derive(Default)]
pub(super) struct OfferCache(Mutex<BTreeMap<Arc<str>, Introduced>>);

/// An introduction, and its texts.
type Introduced = (Introduction, Arc<SaidTexts>);

/// What one server said of itself, as the bridge takes it.
struct SaidTexts {
    capabilities: String,
    identity: Option<String>,
    instructions: Option<String>,
}

/// The view of a session during one input.
pub(super) struct SessionOffers<'a> {
    session: &'a Session,
    said: &'a OfferCache,
    /// The one server of a transparent path.
    only: Option<&'a str>,
    lists: OnceCell<[List; 4]>,
    servers: OnceCell<Vec<KnownServer>>,
}

struct KnownServer {
    name: Arc<str>,
    era: Era,
    said: Option<Arc<SaidTexts>>,
    is_listed: bool,
}

impl<'a> SessionOffers<'a> {
    /// What the session sees, and of a transparent path only the server of that.
    pub(super) fn new(session: &'a Session, said: &'a OfferCache, only: Option<&'a str>) -> Self {
        SessionOffers { session, said, only, lists: OnceCell::new(), servers: OnceCell::new() }
    }

    fn lists(&self) -> &[List; 4] {
        self.lists.get_or_init(|| {
            let session = self.session;
            // A session that was closed shows nothing.
            [session.tools(), session.prompts(), session.resources(), session.resource_templates()]
                .map(Result::unwrap_or_default)
        })
    }

    fn known(&self) -> &[KnownServer] {
        self.servers.get_or_init(|| {
            if let Some(only) = self.only {
                return vec![self.look(only.into())];
            }
            let core = self.session.core();
            let listed = self.lists().iter().flatten().map(|item| item.server.clone());
            let held = core.holds.cells().into_iter().map(|cell| cell.server.clone());
            let wanted: Vec<Arc<str>> =
                core.wants().servers.keys().map(|name| Arc::from(&**name)).collect();
            let names: BTreeSet<Arc<str>> = listed.chain(held).chain(wanted).collect();
            names.into_iter().map(|name| self.look(name)).collect()
        })
    }

    fn look(&self, name: Arc<str>) -> KnownServer {
        let cell = self.session.core().holds.cell_of(&name);
        let published = cell.as_ref().map(|cell| cell.load_full());
        let introduction = cell.as_ref().and_then(|cell| cell.introduction());
        let connection = published.as_ref().and_then(|published| published.connection.as_ref());
        let is_modern = match (connection, &introduction) {
            (Some(connection), _) => connection.is_modern(),
            (None, Some(introduction)) => &*introduction.protocol_version() >= MODERN,
            (None, None) => true,
        };
        let has_items = self.lists().iter().flatten().any(|item| item.server == name);
        let is_connected = published.is_some_and(|published| published.slot.state.is_connected());
        KnownServer {
            era: if is_modern { Era::Modern } else { Era::Legacy },
            said: introduction.map(|introduction| self.said.of(&name, introduction)),
            is_listed: has_items || is_connected,
            name,
        }
    }
}

impl Offers for SessionOffers<'_> {
    fn servers(&self) -> Vec<ServerOffer<'_>> {
        self.known().iter().map(KnownServer::offer).collect()
    }

    fn server(&self, name: &str) -> Option<ServerOffer<'_>> {
        self.known().iter().find(|server| *server.name == *name).map(KnownServer::offer)
    }

    fn items(&self, server: &str, kind: ListKind) -> Vec<ItemOffer<'_>> {
        let list = &self.lists()[kind as usize];
        let of_server = list.iter().filter(|item| *item.server == *server);
        of_server
            .map(|item| ItemOffer { name: &item.own_name, definition: &item.definition })
            .collect()
    }
}

impl KnownServer {
    fn offer(&self) -> ServerOffer<'_> {
        ServerOffer {
            name: &self.name,
            era: self.era,
            introduction: self.said.as_ref().map(|said| SaidOfItself {
                capabilities: &said.capabilities,
                identity: said.identity.as_deref(),
                instructions: said.instructions.as_deref(),
            }),
            is_listed: self.is_listed,
            // How long a list is fresh is the pool's to see to: it announces each change.
            freshness: (0, CacheScope::Private),
        }
    }
}

impl OfferCache {
    fn of(&self, server: &Arc<str>, introduction: Introduction) -> Arc<SaidTexts> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(server) {
            Some((same, said)) if *same == introduction => said.clone(),
            Some(_) | None => {
                let said = Arc::new(SaidTexts::of(&introduction));
                known.insert(server.clone(), (introduction, said.clone()));
                said
            }
        }
    }
}

impl SaidTexts {
    fn of(introduction: &Introduction) -> SaidTexts {
        let members = introduction.members();
        let text = |name: &str| members.get(name).map(Value::to_string);
        let identity = text("server_info").filter(|identity| identity != "{}");
        let instructions = members.get("instructions").and_then(Value::as_str);
        SaidTexts {
            capabilities: text("capabilities").unwrap_or_else(|| "{}".to_owned()),
            identity,
            instructions: instructions.map(str::to_owned),
        }
    }
}
