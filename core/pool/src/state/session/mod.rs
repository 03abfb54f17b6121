//! Sessions: what they ask for, what they hold, and the end of all of it.

pub(in crate::state) mod acquire;
pub(in crate::state) mod ask;
mod drain;
mod leases;
pub(in crate::state) mod records;
