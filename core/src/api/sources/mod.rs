//! What configures a pool: its sources, the trust in its workspace, and what is asked because of
//! them (SPEC 10, 13).
//!
//! Every change is written into [`Desired`] and ends in one pass, [`Config::change`], which makes
//! what runs of it. `reconcile`, `set_gates`, a file that is read again and an answer of the host
//! all take this way.

mod acceptance_store;
mod approving;
mod claims;
mod config;
mod decision;
mod desired;
mod edit;
mod entry;
mod file_scope;
mod files;
mod findings;
mod hook;
mod inputs;
mod kept_out;
mod launch_preview;
mod looks;
mod lookup_cell;
mod overriding_entries;
mod pass;
mod questions;
mod reading;
mod running;
mod stack;
mod telling;
mod warrant;
mod warrants;
mod watching;

pub(crate) use self::config::Config;
pub(crate) use self::overriding_entries::Over;
pub(crate) use self::running::{ConfigStatus, EntryOrigin, ServerRecord};
