//! The calls of one connection.

pub(super) mod call_result;
