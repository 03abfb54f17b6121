//! What configures a pool: its sources, the trust in its workspace, and what is asked because of
//! them (SPEC 10, 13).
//!
//! Every change is written into [`Desired`] and ends in one pass, [`Config::change`], which makes
//! what runs of it. `reconcile`, `set_gates`, a file that is read again and an answer of the host
//! all take this way.

mod acceptance_store;
mod answers;
mod approving;
mod claim;
mod claims;
mod config;
mod decision;
mod desired;
mod edit;
mod entry;
mod event_sequencer;
mod file_scope;
mod files;
mod findings;
mod hook;
mod inputs;
mod launch_preview;
mod looks;
mod lookup_cell;
mod lookup_job;
mod lookups;
mod pass;
mod questions;
mod reading;
mod report_row;
mod resolved_entry;
mod running;
mod stack;
mod telling;
mod types;
mod unsaved_tools;
mod warrant;
mod warrants;
mod watch_state;
mod watching;

pub(crate) use self::config::Config;
pub(crate) use self::types::{ConfigStatus, EntryOrigin, Over, ServerRecord};
