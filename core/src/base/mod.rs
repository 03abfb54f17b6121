//! What every room may use, and what uses no room.

pub mod bounded_reader;
mod bounded_stream;
pub(crate) mod escape;
pub mod panics;
pub(crate) mod poll_on_wake;
pub(crate) mod sync;
pub(crate) mod usage;
pub(crate) mod wakes;
