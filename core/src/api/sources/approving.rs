//! Decisions of people about servers of the project (SPEC 12).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::approvals::{ApprovalHash, Book, Decision, Identity, Record, Standing};
use trunkline_pool::interface::words;

use super::entry::Fresh;
use super::pass::{Passed, Shape};
use crate::api::pool::{Pool, PoolCore};
use crate::driver::About;
use crate::{Error, ErrorCode, Result};

impl Pool {
    /// What waits for approval, and what was decided for this workspace: `{v, root, requests, decisions: [{server, hash, decision, at_ms}]}`.
    /// `docs/approvals.md` describes a request. Decisions that another process took meanwhile are read, and followed.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `store` when the decisions cannot be read, `closing`, `closed`, `forked`.
    pub async fn approvals(&self) -> Result<Value> {
        self.check()?;
        self.0.approvals().await
    }

    /// Lets the configuration run whose request with that hash was shown; it starts in the sessions that want it. The report is that of
    /// [`set_source`](Self::set_source). A rejection by another host that was not seen here stays in force, which the report tells.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `stale_approval` when the server's configuration has another hash by now, `invalid_argument` for a server that needs no approval or a text
    /// that is no hash, `store` when it cannot be kept: it is not in force then. `closing`, `closed`, `forked`.
    pub async fn approve(&self, server: &str, hash: &str) -> Result<Value> {
        self.check()?;
        self.0.decide(server, hash, Decision::Approved).await
    }

    /// Keeps the configuration with that hash from running, which ends at once if it runs; nobody is asked again. The report is that of
    /// [`approve`](Self::approve).
    ///
    /// # Errors
    /// Those of [`approve`](Self::approve).
    pub async fn reject(&self, server: &str, hash: &str) -> Result<Value> {
        self.check()?;
        self.0.decide(server, hash, Decision::Rejected).await
    }

    /// Forgets every decision about a server of this workspace, so that it waits for approval again: `{v, forgotten, servers}`.
    ///
    /// # Errors
    /// `store` when that cannot be kept, `closing`, `closed`, `forked`.
    pub async fn forget(&self, server: &str) -> Result<Value> {
        self.check()?;
        let (approvals, root) = (self.0.sources.approvals.clone(), self.0.sources.root.clone());
        let name = server.to_owned();
        let forgotten = self.0.off_thread(move || approvals.forget(&root, &name)).await?;
        let passed = self.0.follow_decisions(server);
        let servers = passed.rows_to_json(Shape::Sourced);
        Ok(json!({ "v": 1, "forgotten": forgotten, "servers": servers }))
    }
}

impl PoolCore {
    async fn approvals(self: &Arc<Self>) -> Result<Value> {
        let approvals = self.sources.approvals.clone();
        if self.off_thread(move || approvals.reread_if_changed()).await? {
            self.change_with(Fresh::No, |desired| {
                desired.book = None;
                BTreeSet::new()
            });
        }
        let book = self.sources.approvals.book()?;
        let root = &self.sources.root;
        let requests = self.sources.desired().requests(root);
        let row = |record: &Record| {
            let Standing { decision, at_ms, .. } = record.standing;
            let hash = record.hash.to_string();
            json!({ "server": record.server, "hash": hash, "decision": decision.as_str(), "at_ms": at_ms })
        };
        let decisions: Vec<Value> = book.of_root(root).map(row).collect();
        Ok(json!({ "v": 1, "root": root.as_str(), "requests": requests, "decisions": decisions }))
    }

    async fn decide(
        self: &Arc<Self>,
        server: &str,
        hash: &str,
        decision: Decision,
    ) -> Result<Value> {
        let wrong = |path: &str, message: &str| {
            let error = Error::new(ErrorCode::InvalidArgument, message).with_server(server);
            Err(error.with_detail("path", path))
        };
        let Some(hash) = ApprovalHash::parse(hash) else {
            return wrong("hash", "the text is no hash of a request");
        };
        let (live, book) = self.live(server);
        if live.is_empty() {
            return wrong("server", "no server of that name needs approval");
        }
        let Some(identity) = live.into_iter().find(|identity| identity.hash == hash) else {
            let message = "the server's configuration is another than the one that was shown";
            let error = Error::new(ErrorCode::StaleApproval, message).with_server(server);
            return Err(error.with_hint("look at the requests again"));
        };
        let seen = book.standing(&self.sources.root, server, hash);
        let (approvals, root) = (self.sources.approvals.clone(), self.sources.root.clone());
        let name = server.to_owned();
        self.off_thread(move || approvals.decide(&root, &name, &identity, decision, seen)).await?;
        let passed = self.follow_decisions(server);
        Ok(json!({ "v": 1, "servers": passed.rows_to_json(Shape::Sourced) }))
    }

    /// What can be decided about a server now, and what was decided as far as this host knows.
    fn live(&self, server: &str) -> (Vec<Identity>, Arc<Book>) {
        let desired = self.sources.desired();
        let known = desired.known.get(server).and_then(|known| known.sighted());
        let claimed = desired.claims.iter().filter(|claim| *claim.name == *server);
        let known = known.map(|sighted| &sighted.identity).into_iter();
        let live = known.chain(claimed.map(|claim| claim.identity())).cloned().collect();
        (live, desired.book.clone().unwrap_or_default())
    }

    /// Takes up what was decided about a server.
    fn follow_decisions(self: &Arc<Self>, server: &str) -> Passed {
        self.change_with(Fresh::No, |desired| {
            desired.book = None;
            BTreeSet::from([server.into()])
        })
    }

    /// Takes up what other processes decided.
    pub(super) async fn reread_decisions(self: &Arc<Self>) {
        let approvals = self.sources.approvals.clone();
        if let Err(error) = self.off_thread(move || approvals.reread_if_changed()).await {
            tracing::warn!(%error, "the decisions about servers cannot be read");
        }
        self.sources.desired().book = None;
    }

    /// What was decided, as far as it can be read; else nothing.
    pub(super) fn read_book(&self) -> Arc<Book> {
        self.sources.approvals.book().unwrap_or_else(|error| {
            self.warn_of_approvals(error.message());
            Arc::default()
        })
    }

    /// Tells what went wrong with the decisions while nobody waited for it.
    pub(super) fn warn_of_approvals(&self, message: &str) {
        let fields = [("code", words::warning_code::APPROVALS.into()), ("message", message.into())];
        let kind = trunkline_pool::interface::EventKind::Warning;
        self.driver.hub.publish(kind, None, &About::default(), &fields);
    }

    /// Runs what waits for the disk on a thread for that.
    pub(super) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.driver.runtime.handle().spawn_blocking(work).await;
        done.unwrap_or_else(|_| Err(Error::new(ErrorCode::Internal, "work on files was lost")))
    }
}
