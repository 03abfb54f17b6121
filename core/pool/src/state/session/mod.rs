//! Sessions: what they ask for, what they hold, and the end of all of it.

pub(in crate::state) mod acquire;
pub(in crate::state) mod ask;
pub(in crate::state) mod drain;
pub(in crate::state) mod leases;
