//! Decisions of people about servers of the project (SPEC 12).
//!
//! Two books are never merged: each change is made to what the file holds, under its lock.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use trunkline_pool::approvals::{
    ApprovalHash, Book, Decision, Identity, Record, Replaced, Standing, ToolDigests,
};
use trunkline_pool::interface::words;

use super::warrant::Approving;
use crate::config::Config;
use crate::config::desired::also;
use crate::config::pass::ReconcileReport;
use crate::config::report_row::RowDetail;
use crate::config::resolve::launch_preview::Command;
use crate::config::resolve::looks::Looks;
use crate::config::types::RefreshScope;
use crate::driver::Warrant;
use crate::events::EventSubject;
use crate::host_env::FoundProgram;
use crate::runtime::blocking_pool;
use crate::{Error, ErrorCode, Result};

/// How soon decisions that could not be read are tried again: what is transient is over by then.
const REREAD_FIRST: Duration = Duration::from_millis(500);

/// And how seldom at last: what a person has to mend.
const REREAD_LAST: Duration = Duration::from_secs(30);

impl Config {
    /// What waits for approval, and what was decided for this workspace.
    ///
    /// # Errors
    /// `store` when the decisions cannot be read.
    pub(crate) async fn approvals(self: &Arc<Self>) -> Result<Value> {
        let book = self.newest_book().await?;
        // Its first reader may have been a server's start.
        if self.desired().book.as_ref() != Some(&book) {
            self.change_apart(RefreshScope::No, |_| BTreeSet::new()).await?;
        }
        let root = &self.root;
        let requests = self.desired().requests(root);
        let row = |record: &Record| {
            let Standing { decision, at_ms, .. } = record.standing;
            let hash = record.hash.to_string();
            json!({ "server": record.server, "hash": hash, "decision": decision.as_str(), "at_ms": at_ms })
        };
        let decisions: Vec<Value> = book.of_root(root).map(row).collect();
        Ok(json!({ "v": 1, "root": root.as_str(), "requests": requests, "decisions": decisions }))
    }

    /// Keeps a decision about the configuration with that hash; the report.
    ///
    /// # Errors
    /// `stale_approval`, `invalid_argument`, `store`.
    pub(crate) async fn decide(
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
            return wrong("hash", "the `hash` must be `v1:` followed by 64 hex digits");
        };
        let (mut live, book) = self.live(server);
        if decision == Decision::Rejected {
            // A rejection reaches what runs by an earlier approval, whether a source still has it
            // or not.
            live.extend(self.warrants.identities(server));
        }
        if live.is_empty() {
            return wrong("server", "no server of that name needs approval");
        }
        let Some(identity) = live.into_iter().find(|identity| identity.hash == hash) else {
            let message = "the server's configuration is another than the one that was shown";
            let error = Error::new(ErrorCode::StaleApproval, message).with_server(server);
            return Err(error.with_hint("look at the requests again"));
        };
        let seen = book.standing(&self.root, server, hash);
        let (approvals, root) = (self.approvals.clone(), self.root.clone());
        let name = server.to_owned();
        let written = self.written(server, hash).filter(|_| decision == Decision::Rejected);
        // The next host sees the rejected program first, and must not take it for what was approved
        // before.
        let before = written.map(|written| {
            let seen = book.standing(&root, server, written.hash);
            (written, seen)
        });
        let all: Vec<_> = before.into_iter().chain([(identity, seen)]).collect();
        let kept =
            self.off_thread(move || approvals.decide_all(&root, &name, &all, decision)).await;
        // Also when it could not be kept: what others decided was read for it.
        let passed = self.follow_decisions(server).await;
        kept?;
        Ok(json!({ "v": 1, "servers": passed?.rows_to_json(RowDetail::Sourced) }))
    }

    /// Forgets every decision about a server; the report.
    ///
    /// # Errors
    /// `store` when that cannot be kept.
    pub(crate) async fn forget(self: &Arc<Self>, server: &str) -> Result<Value> {
        let (approvals, root) = (self.approvals.clone(), self.root.clone());
        let name = server.to_owned();
        let forgotten = self.off_thread(move || approvals.forget(&root, &name)).await;
        // Also when it could not be kept: what others decided was read for it.
        let passed = self.follow_decisions(server).await;
        let (forgotten, passed) = (forgotten?, passed?);
        let servers = passed.rows_to_json(RowDetail::Sourced);
        Ok(json!({ "v": 1, "forgotten": forgotten, "servers": servers }))
    }

    /// What can be decided about a server now, and what was decided as far as this host knows.
    fn live(&self, server: &str) -> (Vec<Identity>, Arc<Book>) {
        let desired = self.desired();
        let known = desired.known_of(server).map(|sighted| &sighted.identity);
        let claimed = desired.claims.iter().filter(|claim| *claim.name == *server);
        let live = known.chain(claimed.filter_map(|claim| claim.identity())).cloned().collect();
        (live, desired.book.clone().unwrap_or_default())
    }

    /// What a configuration with that hash was before its program was another, if it is.
    fn written(&self, server: &str, hash: ApprovalHash) -> Option<Identity> {
        let desired = self.desired();
        let replaced = desired.sighted(server).find(|sighted| sighted.identity.hash == hash)?;
        replaced.replaced().map(|_| replaced.as_written().clone())
    }

    /// How the program of a server that waits for approval is another than was looked at, if it is:
    /// of what a source has of that name, or of the newest that a session brought, where no source
    /// names it.
    pub(crate) fn replaced(&self, server: &str) -> Option<Replaced> {
        let desired = self.desired();
        let looks = &self.looks;
        if desired.known.contains_key(server) {
            let mut known = desired.known_of(server);
            return known.find_map(|it| looks.replaced(server, it.as_written().hash));
        }
        let mut newest = desired.claims.iter().rev().filter(|claim| *claim.name == *server);
        let warrant = newest.find_map(|claim| claim.warrant.upgrade())?;
        warrant.replaced()
    }

    /// Takes up what was decided about a server.
    async fn follow_decisions(self: &Arc<Self>, server: &str) -> Result<ReconcileReport> {
        let mentioned = BTreeSet::from([server.into()]);
        self.change_apart(RefreshScope::No, |_| mentioned).await
    }

    /// What was decided by now, by any process.
    async fn newest_book(self: &Arc<Self>) -> Result<Arc<Book>> {
        let approvals = self.approvals.clone();
        let read = self.off_thread(move || {
            approvals.reread_if_changed()?;
            approvals.book()
        });
        read.await.inspect_err(|error| self.retry_decisions(error))
    }

    /// Reads what other processes decided, for the pass that comes next.
    pub(crate) async fn reread_decisions(self: &Arc<Self>) {
        // What cannot be read was told.
        let _ = self.newest_book().await;
    }

    /// Reads the decisions for the first time, as far as they can be read.
    pub(crate) fn read_book(self: &Arc<Self>) {
        if let Err(error) = self.approvals.book() {
            self.retry_decisions(&error);
        }
    }

    /// Decisions cannot be read: what runs goes on, nothing that needs one begins, and they are
    /// tried again until they can be read, which makes a pass. Subscribers hear of it once.
    pub(crate) fn retry_decisions(self: &Arc<Self>, why: &Error) {
        let is_first = {
            let mut desired = self.desired();
            desired.unread += 1;
            desired.unread == 1
        };
        if is_first {
            self.warn_of_approvals(why.message());
            self.driver.spawn(reread_until_known(Arc::downgrade(self)));
        }
    }

    /// Decisions were read again: whether that is all, since none could not be read after so many
    /// that could not.
    async fn take_reread(self: &Arc<Self>, unread: u64) -> bool {
        let is_all = {
            let mut desired = self.desired();
            let is_all = desired.unread == unread;
            if is_all {
                desired.unread = 0;
            }
            is_all
        };
        // What could not begin meanwhile is begun, no matter who waits for it.
        if let Some(sessions) = self.driver.session_set() {
            sessions.retry_undecided();
        }
        self.driver.restart_undecided();
        // It fails with the process alone.
        let _ = self.change_apart(RefreshScope::No, also(|_| {})).await;
        is_all
    }

    /// Tells what went wrong with the decisions while nobody waited for it.
    pub(crate) fn warn_of_approvals(&self, message: &str) {
        let fields = [("code", words::warning_code::APPROVALS.into()), ("message", message.into())];
        let kind = trunkline_pool::interface::EventKind::Warning;
        self.driver.hub.publish(kind, None, &EventSubject::default(), &fields);
    }

    /// Runs what waits for the disk on a thread for that.
    pub(crate) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = blocking_pool::begin(work).await;
        done.unwrap_or_else(|_| Err(Error::new(ErrorCode::Internal, "work on files was lost")))
    }
}

/// Tries decisions again until they can be read. What could not be read during the last wait is
/// waited for once more: what came of that is known by then.
async fn reread_until_known(config: Weak<Config>) {
    let mut delay = REREAD_FIRST;
    loop {
        let Some(unread) = config.upgrade().map(|config| config.desired().unread) else { return };
        tokio::time::sleep(delay).await;
        let Some(config) = config.upgrade() else { return };
        if config.driver.check_open().is_err() {
            return;
        }
        let approvals = config.approvals.clone();
        delay = match config.off_thread(move || approvals.reread_if_changed()).await {
            Ok(_) if config.take_reread(unread).await => return,
            Ok(_) => REREAD_FIRST,
            Err(_) => (delay * 2).min(REREAD_LAST),
        };
    }
}

impl Approving for Config {
    fn read_decision(
        self: Arc<Self>,
        name: &str,
        hash: ApprovalHash,
    ) -> Result<(bool, Option<Standing>)> {
        let read = self.approvals.reread_if_changed().and_then(|is_other| {
            let standing = self.approvals.standing(&self.root, name, hash);
            Ok((is_other, standing?))
        });
        read.inspect_err(|error| self.retry_decisions(error))
    }

    fn find_program(&self, name: &str, command: &Command) -> Option<FoundProgram> {
        command.found(name, &self.driver.workspace, &self.driver.options.inherit_env)
    }

    fn look_anew(self: Arc<Self>) {
        self.look_again();
    }

    fn accepted(&self, name: &str, hash: ApprovalHash) -> Option<(Standing, Arc<ToolDigests>)> {
        self.accepted_by(name, hash)
    }

    fn keep(
        self: Arc<Self>,
        of: (&str, ApprovalHash),
        tools: &Arc<ToolDigests>,
        tool: Option<&Arc<str>>,
    ) {
        self.keep_accepted(of, tools, tool);
    }

    fn looks(&self) -> &Looks {
        &self.looks
    }
}
