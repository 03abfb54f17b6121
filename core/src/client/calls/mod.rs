//! The calls of one connection.

pub(super) mod call_result;
pub(super) mod dispatch;
pub(super) mod in_flight;
pub(super) mod pending_notices;
pub(super) mod requests;
pub(super) mod time_budget;
