//! The names under which tools are exposed to a model (SPEC 14.3).
//!
//! ```text
//! plain    mcp__<server>__<tool>
//! hashed   mcp__<clean server>__<clean tool>__<hash>
//! ```
//!
//! 1. A name holds letters, digits, `_` and `-` only, and at most 63 of them.
//! 2. A plain name is reversible: its server has no `__` and no underscore at its ends, its tool has no `__` and does
//!    not begin with an underscore. So no two pairs have one plain name.
//! 3. After the first `__` that follows the prefix, a plain name has no other and a hashed one has, however its parts
//!    were cut. So the two kinds never meet.
//! 4. Two hashed names meet only when 60 bits of SHA-256 over the pair do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// The longest exposed name, in characters: what the strictest model provider takes.
pub const EXPOSED_NAME_MAX: usize = 63;

const PREFIX: &str = "mcp__";
const JOINT: &str = "__";

/// Characters of the hash, five bits each. Sixty bits: nobody finds a tool whose name takes another's place.
const HASH_CHARS: usize = 12;

/// Thirty-two letters and digits, without those that look like one another.
const HASH_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The exposed name of a server's tool; depends on the two names alone.
pub fn exposed_name(server: &str, tool: &str) -> String {
    plain_name(server, tool).unwrap_or_else(|| hashed_name(server, tool, 0))
}

/// The same, for a host that keeps some names for itself: a tool whose name is reserved gets the next hashed one that
/// is not. It depends on the two names and on the reserved ones, never on what else is there.
pub fn exposed_name_beside(server: &str, tool: &str, reserved: &BTreeSet<String>) -> String {
    let plain = plain_name(server, tool).filter(|name| !reserved.contains(name));
    plain.unwrap_or_else(|| {
        let mut rounds = (0..).map(|round| hashed_name(server, tool, round));
        rounds
            .find(|name| !reserved.contains(name))
            .expect("a finite set does not hold the names of every round")
    })
}

/// A tool, by the server's name and its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName {
    /// The server.
    pub server: Arc<str>,
    /// The server's own name for the tool.
    pub tool: Arc<str>,
}

/// The tools of a session by exposed name, in the order of the exposed names. Names are looked up here, never parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap {
    by_name: BTreeMap<Arc<str>, ToolName>,
    left_out: Vec<ToolName>,
}

impl NameMap {
    /// Names every tool of a session's views. The order of `tools` does not count, and a pair may come twice.
    pub fn new(tools: impl IntoIterator<Item = ToolName>, reserved: &BTreeSet<String>) -> NameMap {
        let tools: BTreeSet<ToolName> = tools.into_iter().collect();
        let mut map = NameMap::default();
        for tool in tools {
            let name = exposed_name_beside(&tool.server, &tool.tool, reserved);
            match map.by_name.entry(name.into()) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(tool);
                }
                std::collections::btree_map::Entry::Occupied(_) => map.left_out.push(tool),
            }
        }
        map
    }

    /// The tool of an exposed name.
    pub fn resolve(&self, exposed: &str) -> Option<&ToolName> {
        self.by_name.get(exposed)
    }

    /// Every exposed name and its tool, sorted by exposed name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &ToolName)> {
        self.by_name.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Tools whose name another tool has; it takes a collision of hashes.
    pub fn left_out(&self) -> &[ToolName] {
        &self.left_out
    }
}

/// The server that an unknown exposed name would belong to: of all whose part the name begins with, the longest
/// (SPEC 11.6). It is a guess for an explanation, never a way to find a tool.
pub fn explain_unknown<'a>(
    exposed: &str,
    servers: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let rest = exposed.strip_prefix(PREFIX)?;
    let begins = |server: &str| {
        let after = rest.strip_prefix(server).or_else(|| rest.strip_prefix(&*clean(server)));
        after.is_some_and(|after| after.starts_with(JOINT))
    };
    servers
        .into_iter()
        .filter(|server| !server.is_empty() && begins(server))
        // Of servers whose parts are equally long, the one that is first by name.
        .max_by(|a, b| a.chars().count().cmp(&b.chars().count()).then_with(|| b.cmp(a)))
}

fn plain_name(server: &str, tool: &str) -> Option<String> {
    let is_plain =
        |name: &str| !name.is_empty() && name.chars().all(is_exposable) && !name.contains(JOINT);
    let has_loose_joint = server.starts_with('_') || server.ends_with('_') || tool.starts_with('_');
    if !is_plain(server) || !is_plain(tool) || has_loose_joint {
        return None;
    }
    let name = format!("{PREFIX}{server}{JOINT}{tool}");
    (name.len() <= EXPOSED_NAME_MAX).then_some(name)
}

fn hashed_name(server: &str, tool: &str, round: u32) -> String {
    let (mut server_part, mut tool_part) = (clean(server), clean(tool));
    // Clean names are ASCII, so any length is a boundary. Each part may have half, and what the other leaves.
    tool_part.truncate(HALF.max((2 * HALF).saturating_sub(server_part.len())));
    server_part.truncate(2 * HALF - tool_part.len());
    format!("{PREFIX}{server_part}{JOINT}{tool_part}{JOINT}{}", hash(server, tool, round))
}

/// Half of what prefix, joints and hash leave of a name.
const HALF: usize = (EXPOSED_NAME_MAX - PREFIX.len() - 2 * JOINT.len() - HASH_CHARS) / 2;

fn clean(name: &str) -> String {
    name.chars().map(|c| if is_exposable(c) { c } else { '_' }).collect()
}

fn is_exposable(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

fn hash(server: &str, tool: &str, round: u32) -> String {
    let mut hasher = Sha256::new();
    // The length comes first, so that no part of one name can pass for part of the other.
    hasher.update((server.len() as u64).to_be_bytes());
    hasher.update(server);
    hasher.update(tool);
    hasher.update(round.to_be_bytes());
    let digest = hasher.finalize();
    let letter = |byte: &u8| char::from(HASH_ALPHABET[usize::from(byte % 32)]);
    digest.iter().take(HASH_CHARS).map(letter).collect()
}

#[cfg(test)]
mod tests;
