//! The ids that the bridge and its surroundings speak of.

/// Where frames go: one POST, one GET, or one connection of lines. The lane gives the number, and
/// never gives it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// A request to a server. The bridge gives the number, once for each client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// A question of a server to a client. The surroundings give the number, and never give it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u64);
