//! What the pool knows of its servers now, as a client is shown it.

use crate::catalog::{CacheScope, ListKind};
use crate::config::Era;

/// What a client is offered: one view, which does not change during one input. An input may ask
/// several times.
pub trait Offers {
    /// The servers of this path, in the order of their names. Of a transparent path, the one.
    fn servers(&self) -> Vec<ServerOffer<'_>>;

    /// One of them.
    fn server(&self, name: &str) -> Option<ServerOffer<'_>> {
        self.servers().into_iter().find(|server| server.name == name)
    }

    /// What this server lists and this client may see.
    fn items(&self, server: &str, kind: ListKind) -> Vec<ItemOffer<'_>>;

    /// The definition of one of them.
    fn item(&self, server: &str, kind: ListKind, name: &str) -> Option<ItemOffer<'_>> {
        self.items(server, kind).into_iter().find(|item| item.name == name)
    }
}

/// One server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOffer<'a> {
    /// Our name of it.
    pub name: &'a str,
    /// The era that it speaks; of one that was never connected, the newer.
    pub era: Era,
    /// What it said of itself; nothing before it was connected once.
    pub introduction: Option<SaidOfItself<'a>>,
    /// Whether its lists are there: one that failed or was never connected has none.
    pub is_listed: bool,
    /// How long its lists are fresh yet, in milliseconds, and for whom.
    pub freshness: (u64, CacheScope),
}

/// What a server said of itself, in `initialize` or `server/discover`.
#[derive(Clone, Copy, Debug)]
pub struct SaidOfItself<'a> {
    /// The JSON of its capabilities.
    pub capabilities: &'a str,
    /// The JSON of its `serverInfo`.
    pub identity: Option<&'a str>,
    /// Its instructions.
    pub instructions: Option<&'a str>,
}

/// One thing that a server lists.
#[derive(Clone, Copy, Debug)]
pub struct ItemOffer<'a> {
    /// The server's own name for it; a resource's is its URI, a template's its URI template.
    pub name: &'a str,
    /// The definition, byte for byte.
    pub definition: &'a str,
}
