//! The servers of a run, as the bridge is shown them.

use trunkline_pool::bridge::{Era, ItemOffer, Offers, SaidOfItself, ServerOffer};
use trunkline_pool::catalog::{CacheScope, ListKind};

const CAPABILITIES: &str =
    r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{}}"#;

/// The names of servers: a run has the first of them.
pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// What every server has: a tool, a prompt, and a resource.
const ITEMS: [(ListKind, &str, &str); 3] = [
    (ListKind::Tools, "t", r#"{"name":"t","inputSchema":{"type":"object"}}"#),
    (ListKind::Prompts, "p", r#"{"name":"p"}"#),
    (ListKind::Resources, "r:1", r#"{"uri":"r:1","name":"r"}"#),
];

#[derive(Debug)]
pub struct Offered {
    /// The era of each server.
    pub eras: Vec<Era>,
}

impl Offered {
    pub fn era(&self, server: &str) -> Era {
        let place = NAMES.iter().position(|name| *name == server).unwrap_or(0);
        self.eras[place]
    }
}

impl Offers for Offered {
    fn servers(&self) -> Vec<ServerOffer<'_>> {
        let said = SaidOfItself { capabilities: CAPABILITIES, identity: None, instructions: None };
        let offer = |(name, era): (&'static str, &Era)| ServerOffer {
            name,
            era: *era,
            introduction: Some(said),
            is_listed: true,
            freshness: (0, CacheScope::Private),
        };
        NAMES.into_iter().zip(&self.eras).map(offer).collect()
    }

    fn items(&self, _: &str, kind: ListKind) -> Vec<ItemOffer<'_>> {
        let of_kind = ITEMS.iter().filter(|(had, ..)| *had == kind);
        of_kind.map(|(_, name, definition)| ItemOffer { name, definition }).collect()
    }
}
