//! The host edits the sources of a pool (SPEC 10, 13).

use std::collections::BTreeSet;
use std::path::Path;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::layers::{SourceName, Switch, WorkspaceTrust};
use trunkline_pool::options::{LoadOptions, Reconnected, ReloadOptions};

use super::restart::refused;
use super::{Pool, PoolCore};
use crate::Result;

impl Pool {
    /// Replaces a source whole by the text of settings, in any form that
    /// `docs/guide/configuration.md` names; `None` removes it. What is new starts in the sessions
    /// that want it, what is gone is released, what is equal is not touched. Servers of `project`
    /// and `workspace` sources wait for approval. Variables in the text are expanded. Returns as
    /// soon as that is under way, with
    /// `{v, source, servers: {name: {action, source?, reason?, error?}}, findings: [{kind, path, line, column, server?, what?}]}`:
    /// the servers of the source, and others that it changed; and what of the text has no effect.
    /// What is new is looked up in the calling thread, which so waits for the file system: its
    /// programs, its files of variables and, the first time, the file of approvals.
    ///
    /// # Errors
    /// `invalid_config` for a text that cannot be read, with `detail.line`, and `invalid_argument`
    /// for a source of the scope `runtime`, which has verbs of its own: nothing is changed then.
    /// `closing`, `closed`, `forked`. A bad entry is an entry of the report, and keeps what it had.
    pub fn set_source(&self, source: &SourceName, settings: Option<&str>) -> Result<Value> {
        self.check()?;
        self.0.config.set_source(source, settings)
    }

    /// Switches a source off, so that it is as if it were empty, or on again. A name without a part
    /// of its own stands for every source of its scope, those that come later included. The report
    /// is that of [`set_source`](Self::set_source), and so is what is looked up.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn switch_source(&self, source: &SourceName, to: Switch) -> Result<Value> {
        self.check()?;
        Ok(self.0.config.switch_source(source, to))
    }

    /// Adds a server to the run-time source, which beats every other, or replaces it there:
    /// `{v, server, result, reason?, findings?}` with the result `added`, `replaced`, `unchanged`
    /// or `refused`. One that is refused, with the reason of SPEC 11.6, stays in the source and
    /// starts when what refuses it is gone. Members that no rule knows are
    /// `findings: [{kind: "unknown", server, path, nearest?}]`, with the known member that was
    /// probably meant.
    ///
    /// # Errors
    /// `invalid_config` for a name that no server can have, `closing`, `closed`, `forked`.
    pub fn add_server(&self, server: &str, spec: &ServerSpec) -> Result<Value> {
        self.check()?;
        self.0.config.add_server(server, spec)
    }

    /// Takes a server out of the run-time source: `{v, server, result}` with the result `removed`
    /// or `not_present`. What another source says of that name counts again.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn remove_server(&self, server: &str) -> Result<Value> {
        self.check()?;
        Ok(self.0.config.remove_server(server))
    }

    /// Says whether the workspace is trusted. What needs trust and has it no more ends at once;
    /// what has it again is looked at anew, and starts or asks for approval; files that were not
    /// read meanwhile are read first. The report is `{v, servers}`, as that of
    /// [`set_source`](Self::set_source).
    ///
    /// Of several words the one that was given last holds, whichever of their files take how long:
    /// a call counts from when it is made, and is carried out when its future is polled. Dropping
    /// the future stops nothing that was begun; of a grant that still waits for its files nothing
    /// was.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn set_trusted(
        &self,
        trust: WorkspaceTrust,
    ) -> impl Future<Output = Result<Value>> + Send + use<> {
        let (pool, word) = (self.clone(), self.0.config.next_word(trust));
        async move {
            pool.check()?;
            pool.0.config.set_trusted(word).await
        }
    }

    /// Reads a settings file into the source that its place implies: that of a known file, else
    /// inside of the workspace `workspace` (its `.mcp.json` is `project`), outside `user`. The
    /// report is that of [`set_source`](Self::set_source). With `watch` the file is read again
    /// whenever it changes, and may be missing at first.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `invalid_config` for a file that cannot be read, with `detail.source` and, where it does not
    /// parse, `line`; `invalid_argument` for a source that a file inside of the workspace cannot
    /// be: nothing is changed then. `closing`, `closed`, `forked`.
    pub async fn load(&self, path: impl AsRef<Path>, options: &LoadOptions) -> Result<Value> {
        self.check()?;
        self.0.config.load(path.as_ref(), options).await
    }

    /// Reads every loaded file again and makes a pass with everything looked up anew: variables,
    /// programs, decisions, and what the host gave no answer to. It can have servers reconnected
    /// besides. In a workspace that is not trusted, files of sources that need trust are not read.
    /// The report is
    /// `{v, servers, errors: [{source, error}], findings: [{source, kind, …}], reconnected?}`; a
    /// file that cannot be read keeps its last good state, and findings are those of every file
    /// that was read, as [`set_source`](Self::set_source) has them. `reconnected` is there with
    /// `reconnect`: by server what became of each of its entries, as [`restart`](Self::restart)
    /// says it. Where that could not be begun, a row has the code of the `error` as its `reason`.
    /// What becomes of a server that is `waiting` is told by the event `reconciled` of the pass
    /// that follows.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub async fn reload(&self, options: &ReloadOptions) -> Result<Value> {
        self.check()?;
        let mut report = self.0.config.reload().await?;
        if let Some(reconnected) = self.0.reconnect(&options.reconnect).await {
            report["reconnected"] = reconnected.into();
        }
        Ok(report)
    }
}

impl PoolCore {
    /// Makes connections anew, all at once; what became of each, by server, where that was asked
    /// for.
    async fn reconnect(&self, which: &Reconnected) -> Option<Map<String, Value>> {
        let names: BTreeSet<String> = match which {
            Reconnected::None => return None,
            Reconnected::Names(names) => names.iter().cloned().collect(),
            Reconnected::All => {
                let sessions = self.sessions.live_sessions();
                let failed = sessions.iter().flat_map(|session| session.core().failed_wants());
                let servers = self.driver.entries().into_iter();
                let servers = servers.map(|(_, cell)| cell.server.to_string());
                servers.chain(failed.map(String::from)).collect()
            }
        };
        let made = names.into_iter().map(async |name| {
            let rows = match self.restart(&name, None).await {
                Ok(report) => report["entries"].clone(),
                Err(error) => json!([refused(None, error.code().name(), Some(&error))]),
            };
            (name, rows)
        });
        Some(join_all(made).await.into_iter().collect())
    }
}
