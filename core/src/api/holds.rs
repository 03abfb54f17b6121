//! What a session holds: one hold per lease, and what its view is made of.

mod ids;
mod ops;
mod review;
mod rows;
mod table;

pub(super) use self::ids::{HoldId, HoldKind};
pub(super) use self::table::LeaseTable;
