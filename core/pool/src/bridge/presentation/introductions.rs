//! How an endpoint introduces itself: the answers to `initialize` and `server/discover`.

use serde_json::{Map, Value, json};

use crate::bridge::facts::{EndpointName, ServedPath};
use crate::bridge::offers::{Offers, SaidOfItself, ServerOffer};
use crate::bridge::wire::frames::text;
use crate::bridge::wire::revisions::spoken;
use crate::catalog::{CacheScope, ListKind};
use crate::config::Era;
use crate::json::readable;

/// Bytes of the instructions of one server on the aggregate path.
const INSTRUCTIONS_BYTES_MAX: usize = 2 << 10;
/// Bytes of the instructions of all of them.
const ALL_INSTRUCTIONS_BYTES_MAX: usize = 16 << 10;

/// The lists that can change.
const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// What stands before the instructions of servers.
const RULE_OF_NAMES: &str = "The tools and prompts here are called `<server>__<name>`. What follows \
                             was written by each server for its own.";

/// What a path offers, and how it calls itself.
#[derive(Clone, Copy)]
pub(in crate::bridge) struct Introducing<'a> {
    pub path: &'a ServedPath,
    pub endpoint: &'a EndpointName,
    pub offers: &'a dyn Offers,
    pub era: Era,
}

impl Introducing<'_> {
    /// The JSON of `serverInfo`: that of the server on a transparent path.
    pub fn identity(&self) -> String {
        let server = self.path.server.as_ref().and_then(|name| self.offers.server(name));
        let identity = server.and_then(|server| server.introduction?.identity);
        let is_object =
            |identity: &&str| readable(identity).is_some_and(|identity| identity.is_object());
        identity.filter(is_object).map_or_else(
            || json!({ "name": self.endpoint.name, "version": self.endpoint.version }).to_string(),
            str::to_owned,
        )
    }

    /// Whether something is offered for methods of this capability.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities().contains_key(capability)
    }

    /// The capabilities: what some server has, and the bridge carries.
    pub fn capabilities(&self) -> Map<String, Value> {
        let servers = self.offers.servers();
        let is_aggregate = self.path.server.is_none();
        let has = |capability: &str| {
            servers.is_empty() || servers.iter().any(|server| offers(server, capability))
        };
        let mut all = Map::new();
        for list in LISTS.into_iter().filter(|list| is_aggregate || has(list)) {
            // Servers come late, and every change of a view is told.
            all.insert(list.to_owned(), json!({ "listChanged": true }));
        }
        if let Some(resources) = all.get_mut("resources").filter(|_| has("subscribe")) {
            resources["subscribe"] = Value::from(true);
        }
        // A server without completions completes nothing.
        if is_aggregate || has("completions") {
            all.insert("completions".to_owned(), json!({}));
        }
        if has("logging") && !(is_aggregate && self.era == Era::Modern) {
            all.insert("logging".to_owned(), json!({}));
        }
        all
    }

    /// The result of `initialize`.
    pub fn initialize(&self, revision: &str) -> String {
        let (capabilities, identity) = (Value::Object(self.capabilities()), self.identity());
        let instructions = self.instructions();
        let instructions = instructions
            .map_or(String::new(), |words| format!(r#","instructions":{}"#, text(&words)));
        format!(
            r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{identity}{instructions}}}"#
        )
    }

    /// The result of `server/discover`, as it is before it gets the members of every result.
    pub fn discover(&self) -> String {
        let mut result = json!({
            "supportedVersions": spoken(),
            "capabilities": self.capabilities(),
        });
        if let Some(instructions) = self.instructions() {
            result["instructions"] = Value::from(instructions);
        }
        let (ttl, scope) = self.freshness();
        result["ttlMs"] = Value::from(ttl);
        result["cacheScope"] = Value::from(scope);
        result.to_string()
    }

    /// How long everything here is fresh, and the word for whom: the least of the servers'.
    pub fn freshness(&self) -> (u64, &'static str) {
        let servers = self.offers.servers();
        let ttl = |server: &ServerOffer<'_>| match server.era {
            Era::Modern => server.freshness.0,
            Era::Legacy => 0,
        };
        let is_public = |server: &ServerOffer<'_>| {
            server.era == Era::Modern && server.freshness.1 == CacheScope::Shared
        };
        let least = servers.iter().map(ttl).min().unwrap_or(0);
        let is_public = !servers.is_empty() && servers.iter().all(is_public);
        (least, if is_public { "public" } else { "private" })
    }

    /// The instructions: those of the server, or a block of each that has visible tools.
    fn instructions(&self) -> Option<String> {
        let said = |server: &ServerOffer<'_>| {
            server.introduction?.instructions.map(str::to_owned).filter(|words| !words.is_empty())
        };
        if let Some(server) = &self.path.server {
            return self.offers.server(server).as_ref().and_then(said);
        }
        let mut all = RULE_OF_NAMES.to_owned();
        for server in self.offers.servers() {
            if self.offers.items(server.name, ListKind::Tools).is_empty() {
                continue;
            }
            let Some(words) = said(&server) else { continue };
            let block =
                format!("\n\n## {}\n{}", server.name, beginning(&words, INSTRUCTIONS_BYTES_MAX));
            if all.len() + block.len() <= ALL_INSTRUCTIONS_BYTES_MAX {
                all.push_str(&block);
            }
        }
        Some(all)
    }
}

/// Whether a server has a capability; one that nobody knows yet may have any.
fn offers(server: &ServerOffer<'_>, capability: &str) -> bool {
    let Some(SaidOfItself { capabilities, .. }) = server.introduction else { return true };
    let capabilities = readable(capabilities).unwrap_or_default();
    match capability {
        "subscribe" => capabilities["resources"]["subscribe"] == true,
        _ => capabilities.get(capability).is_some_and(|had| !had.is_null() && *had != false),
    }
}

/// The first bytes of a text, at whole characters.
fn beginning(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}
