//! What configures a pool: its sources, the trust in its workspace, and what is asked because of
//! them (SPEC 10, 13).
//!
//! Every change is written into [`Desired`] and ends in one pass, [`Config::change`], which makes
//! what runs of it. `reconcile`, `set_gates`, a file that is read again and an answer of the host
//! all take this way.

mod desired;
mod event_sequencer;
pub(crate) mod files;
mod pass;
mod pool_config;
mod report_row;
pub(crate) mod resolve;
mod running;
mod telling;
pub(crate) mod trust;
mod types;

pub(crate) use self::pool_config::Config;
pub(crate) use self::types::{ConfigStatus, EntryOrigin, Over, ServerRecord};
