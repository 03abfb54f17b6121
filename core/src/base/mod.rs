//! What every room may use, and what uses no room.

pub(crate) mod escape;
pub(crate) mod poll_on_wake;
