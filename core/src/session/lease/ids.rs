//! By what a session tells its holds apart.

/// One hold of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HoldId(pub(crate) u64);

/// What a hold is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldKind {
    /// A lease of the host's.
    Lease,
    /// A server that the session wants unasked.
    Want,
    /// One that it wants for as long only as calls of its tools run.
    Calls,
    /// What an earlier session of the same id held, until this one holds the server itself.
    Inherited,
}
