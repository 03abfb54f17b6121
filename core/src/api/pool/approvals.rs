//! The host tells what people decided about servers of the project (SPEC 12).

use serde_json::Value;
use trunkline_pool::approvals::Decision;

use super::Pool;
use crate::Result;

impl Pool {
    /// What waits for approval, and what was decided for this workspace:
    /// `{v, root, requests, decisions: [{server, hash, decision, at_ms}]}`.
    /// `docs/guide/approvals.md` describes a request. Decisions that another process took meanwhile
    /// are read, and followed.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `store` when the decisions cannot be read, `closing`, `closed`, `forked`.
    pub async fn approvals(&self) -> Result<Value> {
        self.check()?;
        self.0.config.approvals().await
    }

    /// Lets the configuration run whose request with that hash was shown; it starts in the sessions
    /// that want it. The report is that of [`set_source`](Self::set_source). A rejection by another
    /// host that was not seen here stays in force, which the report tells.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `stale_approval` when the server's configuration has another hash by now, `invalid_argument`
    /// for a server that needs no approval or a text that is no hash; `store` when it cannot be
    /// kept: it is not in force then. `closing`, `closed`, `forked`.
    pub async fn approve(&self, server: &str, hash: &str) -> Result<Value> {
        self.check()?;
        self.0.config.decide(server, hash, Decision::Approved).await
    }

    /// Keeps the configuration with that hash from running, which ends at once if it runs; nobody
    /// is asked again. It may be an earlier one that was approved and that something is still to
    /// run by, also where no source has it any more. The report is that of
    /// [`approve`](Self::approve).
    ///
    /// # Errors
    /// Those of [`approve`](Self::approve).
    pub async fn reject(&self, server: &str, hash: &str) -> Result<Value> {
        self.check()?;
        self.0.config.decide(server, hash, Decision::Rejected).await
    }

    /// Forgets every decision about a server of this workspace, so that it waits for approval
    /// again: `{v, forgotten, servers}`.
    ///
    /// # Errors
    /// `store` when that cannot be kept, `closing`, `closed`, `forked`.
    pub async fn forget(&self, server: &str) -> Result<Value> {
        self.check()?;
        self.0.config.forget(server).await
    }
}
