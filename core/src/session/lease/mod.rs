//! What a session holds: one hold per lease, and what its view is made of.

mod ids;
pub(crate) mod lease_state;
mod ops;
mod review;
mod rows;
mod table;

pub(crate) use self::ids::{HoldId, HoldKind};
pub(crate) use self::table::LeaseTable;
