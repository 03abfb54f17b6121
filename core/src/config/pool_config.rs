//! The configuration of a pool: its state, and the looks at it that wait for nothing but a pass.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{Notify, Semaphore};
use trunkline_pool::approvals::ProjectRoot;
use trunkline_pool::explain::ReasonSource;
use trunkline_pool::gates::{Facts, GateLists};
use trunkline_pool::state::GateReason;

use super::desired::Desired;
use super::files::watch_state::Watching;
use super::resolve::launch_preview::PreviewContext;
use super::resolve::looks::Looks;
use super::running::{ChangedServers, Running};
use super::trust::unsaved_tools::Accepted;
use super::trust::warrants::Warrants;
use super::types::{ConfigStatus, ServerRecord};
use crate::Result;
use crate::driver::Driver;
use crate::driver::server_config::ResolvedServer;
use crate::runtime::deadline::Deadline;
use crate::storage::approvals::{Approvals, root_of};

/// Handlers and commands at work for settings at one time: each may hold a process or a thread of
/// the host's.
const ASKED_AT_ONCE_MAX: usize = 8;

/// What a pool is configured by, and what the last pass made of that.
pub(crate) struct Config {
    pub(crate) driver: Arc<Driver>,
    desired: Mutex<Desired>,
    /// What the last pass made of it.
    running: Mutex<Running>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) root: ProjectRoot,
    /// By what servers run, as the last pass judged it.
    pub(crate) warrants: Warrants,
    /// What their programs were found to be.
    pub(crate) looks: Looks,
    /// The tools that are accepted by approvals.
    pub(crate) accepted: Accepted,
    /// A pass ended, or something that one waits for.
    pub(crate) settled: Notify,
    /// Passes under way.
    pub(crate) passes: AtomicUsize,
    /// How many words about trust were given. No lock: a forked process asks, and is refused.
    pub(crate) words: AtomicU64,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) watching: Watching,
}

impl Config {
    /// No sources yet.
    ///
    /// # Errors
    /// `invalid_argument` for an option `approvals` that is no whole path.
    pub(crate) fn new(driver: Arc<Driver>) -> Result<Arc<Config>> {
        let options = &driver.options;
        Ok(Arc::new(Config {
            desired: Mutex::new(Desired::new(options)),
            running: Mutex::default(),
            approvals: Arc::new(Approvals::open(options.approvals.as_deref())?),
            root: root_of(&driver.workspace)?,
            warrants: Warrants::new(options.trusted),
            looks: Looks::default(),
            accepted: Accepted::default(),
            settled: Notify::new(),
            passes: AtomicUsize::new(0),
            words: AtomicU64::new(0),
            permits: Arc::new(Semaphore::new(ASKED_AT_ONCE_MAX)),
            watching: Watching::default(),
            driver,
        }))
    }

    /// Puts the host's lists in force, and has warnings about decisions told.
    pub(crate) fn begin_sources(self: &Arc<Self>) {
        self.running().begin(self.desired().lists());
        let weak = Arc::downgrade(self);
        self.approvals.on_warning(move |message| {
            if let Some(config) = weak.upgrade() {
                config.warn_of_approvals(message);
            }
        });
    }

    /// Whether a pass, or a question to the host, is under way.
    pub(crate) fn is_busy(&self) -> bool {
        // The question first: its answer begins a pass before it is over.
        self.desired().is_waiting() || self.passes.load(Ordering::Acquire) > 0
    }

    pub(crate) fn desired(&self) -> MutexGuard<'_, Desired> {
        self.desired.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What the last pass made of the sources.
    pub(crate) fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Every server that may run by its configuration.
    pub(crate) fn servers(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        self.running().servers()
    }

    /// One of them.
    ///
    /// # Errors
    /// Those of [`Running::server`].
    pub(crate) fn configured(&self, name: &str) -> Result<Arc<ResolvedServer>> {
        self.running().server(name)
    }

    /// Whether the lists and what is decided of its configuration admit a server.
    ///
    /// # Errors
    /// `not_admitted` with the reason.
    pub(crate) fn check_admitted(&self, server: &str) -> Result<()> {
        let by_name = self.driver.gates().decide(&Facts::of_name(server));
        let decided = self.running().named(server).map(ServerRecord::gate).unwrap_or_default();
        decided.and(by_name).check().map_err(|error| error.with_server(server))
    }

    /// Whether a server's own configuration switches it off.
    pub(crate) fn is_switched_off(&self, server: &str) -> bool {
        let running = self.running();
        let standing = running.named(server).map(|named| &named.standing);
        matches!(standing, Some(ConfigStatus::Shut(GateReason::Disabled)))
            || running.server(server).is_ok_and(|configured| configured.spec().disabled)
    }

    /// Whether the host is asked for what a server needs, and nothing of an earlier configuration
    /// goes on meanwhile.
    pub(crate) fn awaits_the_host(&self, server: &str) -> bool {
        let running = self.running();
        let standing = running.named(server).map(|named| &named.standing);
        matches!(standing, Some(ConfigStatus::Waiting(_))) && running.server(server).is_err()
    }

    /// Waits until the host is asked for nothing.
    pub(crate) async fn until_answered(&self, deadline: Deadline) -> Result<()> {
        self.wait_while(deadline, || self.is_busy()).await.map_err(|error| {
            let running = self.running();
            let waiting = running
                .all_named()
                .filter(|(_, named)| matches!(named.standing, ConfigStatus::Waiting(_)));
            let names: Vec<&str> = waiting.map(|(name, _)| name).collect();
            error.with_detail("servers", names)
        })
    }

    /// Waits until it is known what becomes of a server's configuration.
    ///
    /// # Errors
    /// `timeout` with `detail.which` `connect`.
    pub(crate) async fn until_known(&self, server: &str, deadline: Deadline) -> Result<()> {
        // Most often it is known, and to register for a wait takes longer than to look.
        if !self.awaits_the_host(server) {
            return Ok(());
        }
        let waited = self.wait_while(deadline, || self.awaits_the_host(server)).await;
        waited.map_err(|error| error.with_server(server))
    }

    async fn wait_while(&self, deadline: Deadline, holds: impl Fn() -> bool) -> Result<()> {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            // Registered before the look, so that nothing is missed between the look and the wait.
            settled.as_mut().enable();
            if !holds() {
                return Ok(());
            }
            deadline.before(&self.driver.runtime, settled).await?;
        }
    }

    /// What was asked for just now, as a session had it from before: the pool may have another
    /// configuration of it by now.
    pub(crate) fn judge_asked(&self, name: &str, asked: &Arc<ResolvedServer>) {
        let is_it = |newest: &Arc<ResolvedServer>| {
            newest.is_same_connection(asked) && !newest.spec().disabled
        };
        let is_newest = self.running().newest(name).is_some_and(is_it);
        if !is_newest {
            let asked = ChangedServers::from([(name.into(), Some(asked.clone()))]);
            self.driver.reconfigure(|key| self.running().judge(key, &asked));
        }
    }

    /// The list that keeps a server of that name out for that reason: the host's first, then those
    /// of sources, from the least.
    pub(crate) fn list_of(&self, reason: GateReason, server: &str) -> Option<ReasonSource> {
        let of_host =
            |list| ReasonSource { source: "host".into(), list, ..ReasonSource::default() };
        let desired = self.desired();
        let by_host = desired.host_lists.list_of(reason, server);
        if by_host.is_some() {
            return Some(of_host(by_host));
        }
        let bound = self.driver.options.launch_allowed.clone();
        let bound = GateLists::new(bound, Vec::new(), Vec::new());
        if bound.list_of(reason, server).is_some() {
            return Some(of_host(Some("launch_allowed")));
        }
        desired.layers.lists().into_iter().find_map(|(source, lists)| {
            let list = Some(lists.list_of(reason, server)?);
            let file = desired.files.get(&source).map(|file| file.shown.to_string());
            Some(ReasonSource { source: source.to_string(), file, line: None, list })
        })
    }

    /// What entries that need approval are looked at with.
    pub(crate) fn sighting(&self) -> PreviewContext<'_> {
        let driver = &self.driver;
        PreviewContext {
            workspace: &driver.workspace,
            inherit_env: &driver.options.inherit_env,
            looks: &self.looks,
        }
    }
}
