//! What may begin, and who waits for room: the gates, the budget and the process slots.

mod admission;
mod budget;
mod eviction;
pub(in crate::state) mod ledger;
pub(in crate::state) mod obstacle;
mod waitlist;
