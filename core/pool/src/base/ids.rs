//! The ids that the reducer and its surroundings speak of.

use std::fmt;

/// A moment on the pool's own monotonic clock, in nanoseconds since the pool was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u64);

impl Moment {
    /// This moment and `duration` more; the last representable moment when that does not fit.
    pub fn after(self, duration: std::time::Duration) -> Moment {
        Moment(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// A session, by a number that the pool never uses twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A server's name, interned: dense, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u32);

/// A pool key, interned: dense, from 0. Two acquires share a connection exactly when their keys are
/// equal.
///
/// A connection that is not shared has a key of its own per session (SPEC 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// An entry of the pool: dense, from 0, never reused (the index that a host sees is per server
/// name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

/// Which incarnation of an entry's connection this is; starts at 1 and only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u32);

/// Which listing of an incarnation this is; starts at 1 and only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListingNumber(pub u64);

/// One incarnation of an entry: what every event from outside carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    /// The entry.
    pub entry: EntryId,
    /// Its incarnation.
    pub generation: Generation,
}

/// A question that the reducer owes exactly one answer: `Grant`, `Refuse`, `Restarted`,
/// `ToolAccepted` or `Drained`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A session's hold on an entry, by a number that the pool never uses twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.entry.0, self.generation.0)
    }
}
