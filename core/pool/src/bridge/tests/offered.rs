//! Servers as tests offer them.

use std::collections::BTreeMap;

use crate::bridge::{ItemOffer, Offers, SaidOfItself, ServerOffer};
use crate::catalog::{CacheScope, ListKind};
use crate::config::Era;

/// One server.
#[derive(Clone, Debug)]
pub struct Server {
    pub era: Era,
    pub capabilities: Option<String>,
    pub identity: Option<String>,
    pub instructions: Option<String>,
    pub is_listed: bool,
    pub freshness: (u64, CacheScope),
    pub items: BTreeMap<ListKind, Vec<(String, String)>>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Servers(pub BTreeMap<String, Server>);

/// A server with everything, and a tool, a prompt, a resource and a template.
pub fn full(era: Era) -> Server {
    let mut items = BTreeMap::new();
    let mut add = |kind, name: &str, definition: &str| {
        items.insert(kind, vec![(name.to_owned(), definition.to_owned())]);
    };
    add(
        ListKind::Tools,
        "echo",
        r#"{"name":"echo","inputSchema":{"type":"object", "$defs":{}},"execution":{"taskSupport":"optional"}}"#,
    );
    add(ListKind::Prompts, "hello", r#"{"name":"hello"}"#);
    add(ListKind::Resources, "file:///a", r#"{"uri":"file:///a","name":"a"}"#);
    add(ListKind::ResourceTemplates, "x://{id}", r#"{"uriTemplate":"x://{id}","name":"t"}"#);
    Server {
        era,
        capabilities: Some(
            r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{},"tasks":{}}"#
                .to_owned(),
        ),
        identity: Some(r#"{"name":"upstream","version":"9"}"#.to_owned()),
        instructions: Some("Be kind.".to_owned()),
        is_listed: true,
        freshness: (5000, CacheScope::Shared),
        items,
    }
}

impl Server {
    fn offer<'a>(&'a self, name: &'a str) -> ServerOffer<'a> {
        let introduction = self.capabilities.as_deref().map(|capabilities| SaidOfItself {
            capabilities,
            identity: self.identity.as_deref(),
            instructions: self.instructions.as_deref(),
        });
        ServerOffer {
            name,
            era: self.era,
            introduction,
            is_listed: self.is_listed,
            freshness: self.freshness,
        }
    }
}

impl Servers {
    /// These, by name.
    pub fn of<'a>(all: impl IntoIterator<Item = (&'a str, Server)>) -> Servers {
        Servers(all.into_iter().map(|(name, server)| (name.to_owned(), server)).collect())
    }
}

impl Offers for Servers {
    fn servers(&self) -> Vec<ServerOffer<'_>> {
        self.0.iter().map(|(name, server)| server.offer(name)).collect()
    }

    fn items(&self, server: &str, kind: ListKind) -> Vec<ItemOffer<'_>> {
        let items = self.0.get(server).and_then(|server| server.items.get(&kind));
        let all = items.into_iter().flatten();
        all.map(|(name, definition)| ItemOffer { name, definition }).collect()
    }
}
