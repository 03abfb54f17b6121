//! What every room may use, and what uses no room.

pub(crate) mod escape;
