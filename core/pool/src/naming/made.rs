//! Plain and hashed names, made of a pair.

use sha2::{Digest, Sha256};

/// The longest exposed name, in characters: what the strictest model provider takes.
pub const EXPOSED_NAME_MAX: usize = 63;

/// The longest name that a served client is shown: 64 less `mcp__trunkline__`, and 60 for the names
/// of server and tool together are what the strictest clients take.
pub const SERVED_NAME_MAX: usize = 46;

pub(super) const PREFIX: &str = "mcp__";
pub(super) const JOINT: &str = "__";

/// Characters of the hash, five bits each. Sixty bits: nobody finds a tool whose name takes
/// another's place.
const HASH_CHARS: usize = 12;

/// Thirty-two letters and digits, without those that look like one another.
const HASH_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// What stands before the pair in a name, and how long the name may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameShape {
    pub prefix: &'static str,
    pub longest: usize,
}

/// The plain name of a pair that has one.
pub(super) fn plain(
    NameShape { prefix, longest }: NameShape,
    server: &str,
    tool: &str,
) -> Option<String> {
    let is_plain =
        |name: &str| !name.is_empty() && name.chars().all(is_exposable) && !name.contains(JOINT);
    let has_loose_joint = server.starts_with('_') || server.ends_with('_') || tool.starts_with('_');
    if !is_plain(server) || !is_plain(tool) || has_loose_joint {
        return None;
    }
    let name = format!("{prefix}{server}{JOINT}{tool}");
    (name.len() <= longest && begins_well(&name)).then_some(name)
}

/// Whether a tool's own name can be its exposed one.
pub(super) fn is_bare(tool: &str) -> bool {
    tool.len() <= EXPOSED_NAME_MAX
        && begins_well(tool)
        && tool.chars().all(is_exposable)
        && !tool.contains(JOINT)
}

/// The hashed name of any pair; another one for each round.
pub(super) fn hashed(shape: NameShape, server: &str, tool: &str, round: u32) -> String {
    let prefix = shape.prefix;
    let (mut server_part, mut tool_part) = (clean_server(prefix, server), clean(tool));
    let half = half(shape);
    // Clean names are ASCII, so any length is a boundary. Each part may have half, and what the
    // other leaves.
    tool_part.truncate(half.max((2 * half).saturating_sub(server_part.len())));
    server_part.truncate(2 * half - tool_part.len());
    format!("{prefix}{server_part}{JOINT}{tool_part}{JOINT}{}", hash(server, tool, round))
}

/// Half of what prefix, joints and hash leave of a name.
fn half(NameShape { prefix, longest }: NameShape) -> usize {
    (longest - prefix.len() - 2 * JOINT.len() - HASH_CHARS) / 2
}

/// Whether a name, without its prefix, begins with a server's part that was cut: it has all the
/// room that there is then.
pub(super) fn begins_with_cut(shape: NameShape, rest: &str, clean: &str) -> bool {
    let half = half(shape);
    let begins = |cut: usize| {
        let after = rest.strip_prefix(&clean[..cut]);
        after.is_some_and(|after| after.starts_with(JOINT))
    };
    rest.len() == 2 * (half + JOINT.len()) + HASH_CHARS && (half..clean.len()).any(begins)
}

/// A server's part of a hashed name, before it is cut. Where nothing stands before it, it begins as
/// a name must.
pub(super) fn clean_server(prefix: &str, server: &str) -> String {
    let clean = clean(server);
    let needs_lead = prefix.is_empty() && !clean.is_empty() && !begins_well(&clean);
    if needs_lead { format!("_{clean}") } else { clean }
}

fn clean(name: &str) -> String {
    name.chars().map(|c| if is_exposable(c) { c } else { '_' }).collect()
}

fn is_exposable(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

fn begins_well(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
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
