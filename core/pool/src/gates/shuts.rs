//! By which decision a server runs, and how often its gates were shut: what tells one that was let
//! in again from one that was never out.

/// The number of what admits a configuration of a source: two that are equal stand for one
/// decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WarrantId(pub usize);

/// How often a server was shut out so far. What was asked for under other numbers is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shuts {
    /// By its name.
    pub name: u64,
    /// By the warrant that it runs by.
    pub warrant: u64,
}
