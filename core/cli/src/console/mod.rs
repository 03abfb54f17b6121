//! One run: its command line, its streams and their interruption, its pool, and how it ends.

pub(crate) mod arguments;
pub(crate) mod context;
pub(crate) mod exit;
pub(crate) mod failure;
pub(crate) mod format;
pub(crate) mod interrupt;
pub(crate) mod state_label;
pub(crate) mod terminal;
