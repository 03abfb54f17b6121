//! What configures a pool: its sources, the trust in its workspace, and what is asked because of them (SPEC 10, 13).
//!
//! Every change is written into [`Desired`] and ends in one pass, [`Config::change`], which makes what runs of it. `reconcile`, `set_gates`,
//! a file that is read again and an answer of the host all take this way.

mod accepted;
mod approving;
mod claims;
mod config;
mod decided;
mod desired;
mod edit;
mod entry;
mod files;
mod findings;
mod hook;
mod kept_out;
mod looked;
mod looks;
mod needed;
mod over;
mod pass;
mod place;
mod questions;
mod reading;
mod running;
mod sighted;
mod stack;
mod telling;
mod warrant;
mod warrants;
mod watching;

pub(crate) use self::config::Config;
pub(crate) use self::over::Over;
pub(crate) use self::running::{ConfigStatus, EntryOrigin, ServerRecord};
