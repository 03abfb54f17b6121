//! What a session keeps of the pool's servers that does not follow the pool's configuration (SPEC
//! 13.1).
//!
//! It is asked wherever a session that follows would ask the pool. So such a session wants, holds
//! and sees what it was opened with; what others have of a newer configuration stands beside it,
//! and its own connections go with their last holder. The gates are asked as of any other session.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::interface::words;
use trunkline_pool::options::Follow;

use crate::config::Config;
use crate::driver::server_config::ResolvedServer;
use crate::{Error, ErrorCode, Result};

/// The pool's servers as they were when the session was opened.
pub(crate) struct PinnedConfig(BTreeMap<Box<str>, Arc<ResolvedServer>>);

impl PinnedConfig {
    /// What a session keeps that is opened now; nothing when it follows.
    pub(crate) fn of(config: &Config, follow: Follow) -> Option<PinnedConfig> {
        match follow {
            Follow::Newest => None,
            Follow::Opened => Some(PinnedConfig(config.servers().into_iter().collect())),
        }
    }

    /// All of them.
    pub(crate) fn servers(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        self.0.iter().map(|(name, configured)| (name.clone(), configured.clone())).collect()
    }

    /// One server.
    ///
    /// # Errors
    /// `not_admitted` with the reason `not_configured` for one that came later; for others, why the
    /// pool has none.
    pub(crate) fn server(&self, config: &Config, name: &str) -> Result<Arc<ResolvedServer>> {
        if let Some(configured) = self.0.get(name) {
            return Ok(configured.clone());
        }
        config.configured(name)?;
        let message =
            "the server came after the session was opened, which keeps what it was opened with";
        let error = Error::new(ErrorCode::NotAdmitted, message).with_server(name);
        let error = error.with_detail("reason", words::gate::NOT_CONFIGURED);
        Err(error.with_hint("open another session, or one that follows the configuration"))
    }
}
