//! What may begin, and who waits for room: the gates, the budget and the process slots.

pub(in crate::state) mod admission;
pub(in crate::state) mod budget;
mod eviction;
pub(in crate::state) mod waitlist;
