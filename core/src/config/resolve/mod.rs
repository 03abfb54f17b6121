//! One entry of the sources on its way to a server that runs: what is asked, looked up and decided.

pub(crate) mod answers;
pub(crate) mod decision;
pub(crate) mod entry;
pub(crate) mod hook;
pub(crate) mod inputs;
pub(crate) mod launch_preview;
pub(crate) mod looks;
pub(crate) mod lookup_cell;
pub(crate) mod lookup_job;
pub(crate) mod lookups;
pub(crate) mod questions;
pub(crate) mod resolved_entry;
pub(crate) mod stack;
