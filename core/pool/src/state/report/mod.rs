//! What the reducer says: notices, the status, and how a restart and a drain went.

pub(in crate::state) mod messages;
pub(in crate::state) mod notice;
pub(in crate::state) mod outcomes;
pub(in crate::state) mod status;
