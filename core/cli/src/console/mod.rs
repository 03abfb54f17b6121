//! One run: its command line, its streams and their interruption, its pool, and how it ends.

pub(crate) mod adopted;
pub(crate) mod arguments;
pub(crate) mod context;
pub(crate) mod exit;
pub(crate) mod failure;
pub(crate) mod format;
pub(crate) mod hints;
pub(crate) mod interrupt;
pub(crate) mod products;
pub(crate) mod shell_words;
pub(crate) mod state_label;
mod subcommands;
pub(crate) mod terminal;
pub(crate) mod typed;
