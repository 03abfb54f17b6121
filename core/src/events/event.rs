//! Events: what subscribers are told, in order.

use trunkline_pool::interface::EventKind;

/// One event. Its JSON has the envelope `{v, seq, type, scope, session?, server?, entry_index?,
/// generation?, …}`.
#[derive(Clone, Debug)]
pub struct Event {
    kind: EventKind,
    seq: u64,
    json: String,
}

impl Event {
    pub(crate) fn new(kind: EventKind, seq: u64, json: String) -> Event {
        Event { kind, seq, json }
    }

    /// What happened.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// Its place in the order of the pool's events; grows, from 1.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The whole event as JSON text.
    pub fn json(&self) -> &str {
        &self.json
    }
}

/// A set of event kinds: bit `n` is the kind with number `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventMask(pub u64);

impl EventMask {
    /// Every kind.
    pub const ALL: EventMask = EventMask(u64::MAX);

    /// Whether the kind is in the set (`lagged` always is).
    pub fn contains(self, kind: EventKind) -> bool {
        kind == EventKind::Lagged || self.0 & (1 << kind as u8) != 0
    }
}
