//! The parts of a pool that reports are made of.

use crate::config::Config;
use crate::driver::Driver;
use crate::session::session_core::{PoolSessions, SessionCore};

/// What a report is made of.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub driver: &'a Driver,
    pub config: &'a Config,
    pub sessions: &'a dyn PoolSessions,
}

impl SessionCore {
    /// What a report is made of.
    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts { driver: &self.driver, config: &self.config, sessions: &*self.sessions }
    }
}
