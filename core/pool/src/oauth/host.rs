//! Hosts that somebody else resolves, judged by their names alone.

/// Names that stand for this machine or its network, and all below them (RFC 6761, RFC 6762, RFC
/// 8375, ICANN's `.internal`).
const NEAR: &[&str] =
    &["localhost", "localdomain", "local", "internal", "home.arpa", "intranet", "lan"];

/// Names at which machines of a cloud find what they are and what they may do.
const OF_CLOUDS: &[&str] = &[
    "metadata.goog",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
];

/// Whether a name can be that of somebody on the internet. A proxy resolves it, so that nobody here
/// sees what it leads to: a name of one label, a name of this machine or network, and a cloud's own
/// name are not public, also with a final dot.
///
/// Addresses are no names: the caller has parsed the host, so that every form of an address is one.
pub fn is_public_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_at_or_below = |known: &&str| {
        host.strip_suffix(*known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let labels = host.split('.');
    let is_whole = labels.clone().count() > 1 && labels.clone().all(|label| !label.is_empty());
    is_whole && !NEAR.iter().chain(OF_CLOUDS).any(is_at_or_below)
}
