//! What configures a pool: its sources, the trust in its workspace, and what is asked because of them (SPEC 10, 13).
//!
//! Every change is written into [`Desired`] and ends in one pass, [`PoolCore::change`], which makes what runs of it. `reconcile`, `set_gates`,
//! a file that is read again and an answer of the host all take this way.

mod accepted;
mod approving;
mod claims;
mod decided;
mod desired;
mod entry;
mod files;
mod findings;
mod hook;
mod kept_out;
mod lists;
mod looked;
mod looks;
mod needed;
mod over;
mod pass;
mod place;
mod questions;
mod reading;
mod running;
mod settled;
mod sighted;
mod stack;
mod telling;
mod warrant;
mod warrants;
mod watching;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use trunkline_pool::approvals::Root;
use trunkline_pool::config::{ServerSpec, check_name};
use trunkline_pool::gates::GateLists;
use trunkline_pool::layers::{Contents, Entry, Scope, SourceName, Switch, WorkspaceTrust};
use trunkline_pool::options::ReloadOptions;
use trunkline_pool::settings::ReadOptions;
use trunkline_pool::state::GateReason;

use self::accepted::Accepted;
use self::desired::Desired;
use self::entry::Fresh;
use self::findings::{Findings, Said, unknown_of};
use self::looks::Looks;
pub(super) use self::over::Over;
use self::pass::{Passed, Shape};
pub(super) use self::running::{Named, Origin, Running, Standing};
use self::warrants::Warrants;
use self::watching::Watching;
use super::configured::Servers;
use super::pool::{Pool, PoolCore};
use crate::driver::Driver;
use crate::storage::approvals::{Approvals, root_of};
use crate::{Error, ErrorCode, Result};

/// The sources of a pool, and what they are made with.
pub(super) struct Sources {
    desired: Mutex<Desired>,
    approvals: Arc<Approvals>,
    root: Root,
    /// By what servers run, as the last pass judged it.
    warrants: Warrants,
    /// What their programs were found to be.
    looks: Looks,
    /// The tools that are accepted by approvals.
    accepted: Accepted,
    /// A pass ended, or something that one waits for.
    settled: Notify,
    /// Passes under way.
    passes: AtomicUsize,
    /// How many words about trust were given. No lock: a forked process asks, and is refused.
    words: AtomicU64,
    permits: Arc<Semaphore>,
    watching: Watching,
}

impl Sources {
    /// No sources yet.
    ///
    /// # Errors
    /// `invalid_argument` for an option `approvals` that is no whole path.
    pub(super) fn new(driver: &Driver) -> Result<Sources> {
        let options = &driver.options;
        Ok(Sources {
            desired: Mutex::new(Desired::new(options)),
            approvals: Arc::new(Approvals::open(options.approvals.as_deref())?),
            root: root_of(&driver.workspace)?,
            warrants: Warrants::new(options.trusted),
            looks: Looks::default(),
            accepted: Accepted::default(),
            settled: Notify::new(),
            passes: AtomicUsize::new(0),
            words: AtomicU64::new(0),
            permits: questions::permits(),
            watching: Watching::default(),
        })
    }

    /// Whether a pass, or a question to the host, is under way.
    fn is_busy(&self) -> bool {
        // The question first: its answer begins a pass before it is over.
        self.desired().is_waiting() || self.passes.load(Ordering::Acquire) > 0
    }

    fn desired(&self) -> MutexGuard<'_, Desired> {
        self.desired.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Pool {
    /// Replaces a source whole by the text of settings, in any form that `docs/configuration.md` names; `None` removes it. What is new
    /// starts in the sessions that want it, what is gone is released, what is equal is not touched. Servers of `project` and
    /// `workspace` sources wait for approval. Variables in the text are expanded. Returns as soon as that is under way, with
    /// `{v, source, servers: {name: {action, source?, reason?, error?}}, findings: [{kind, path, line, column, server?, what?}]}`: the
    /// servers of the source, and others that it changed; and what of the text has no effect. What is new is looked up in the calling thread,
    /// which so waits for the file system: its programs, its files of variables and, the first time, the file of approvals.
    ///
    /// # Errors
    /// `invalid_config` for a text that cannot be read, with `detail.line`, and `invalid_argument` for a source of the scope
    /// `runtime`, which has verbs of its own: nothing is changed then. `closing`, `closed`, `forked`. A bad entry is an entry of the
    /// report, and keeps what it had.
    pub fn set_source(&self, source: &SourceName, settings: Option<&str>) -> Result<Value> {
        self.check()?;
        if source.scope() == Scope::Runtime {
            let message =
                "the source `runtime` is set by `reconcile`, `add_server` and `remove_server`";
            return Err(
                Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "source")
            );
        }
        let workspace = self.0.driver.workspace.to_str().map(str::to_owned);
        let read = settings.map(|text| {
            let options = ReadOptions { workspace, ..ReadOptions::default() };
            let file = match source.part() {
                "" => source.scope().as_str(),
                part => part,
            };
            Said::read(text, file, &options, (source.scope(), self.0.says_now(source).as_deref()))
        });
        let said = read.transpose()?;
        Ok(self.0.put_source(source, said))
    }

    /// Switches a source off, so that it is as if it were empty, or on again. A name without a part of its own stands for every source of
    /// its scope, those that come later included. The report is that of [`set_source`](Self::set_source), and so is what is looked up.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn switch_source(&self, source: &SourceName, to: Switch) -> Result<Value> {
        self.check()?;
        let passed = self.0.change(|desired| {
            desired.layers.switch(source, to);
        });
        Ok(report(Some(source), &passed))
    }

    /// Adds a server to the run-time source, which beats every other, or replaces it there: `{v, server, result, reason?, findings?}` with
    /// the result `added`, `replaced`, `unchanged` or `refused`. One that is refused, with the reason of SPEC 11.6, stays in the source
    /// and starts when what refuses it is gone. Members that no rule knows are `findings: [{kind: "unknown", server, path, nearest?}]`,
    /// with the known member that was probably meant.
    ///
    /// # Errors
    /// `invalid_config` for a name that no server can have, `closing`, `closed`, `forked`.
    pub fn add_server(&self, server: &str, spec: &ServerSpec) -> Result<Value> {
        self.check()?;
        check_name(server)?;
        let passed = self.0.change_with(Fresh::No, |desired| {
            let entry = Entry::Literal(Arc::new(spec.clone()));
            desired.layers.set(&SourceName::of_scope(Scope::Runtime), server, Some(entry));
            BTreeSet::from([server.into()])
        });
        let (result, reason) = passed.result(server);
        let mut report = json!({ "v": 1, "server": server, "result": result });
        if let Some(reason) = reason {
            report["reason"] = reason.into();
        }
        Ok(with_unknown(report, [(server, spec)]))
    }

    /// Takes a server out of the run-time source: `{v, server, result}` with the result `removed` or `not_present`. What another source says
    /// of that name counts again.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn remove_server(&self, server: &str) -> Result<Value> {
        self.check()?;
        let mut was_there = false;
        self.0.change(|desired| {
            was_there = desired.layers.set(&SourceName::of_scope(Scope::Runtime), server, None);
        });
        let result = if was_there { "removed" } else { "not_present" };
        Ok(json!({ "v": 1, "server": server, "result": result }))
    }

    /// Says whether the workspace is trusted. What needs trust and has it no more ends at once; what has it again is looked at anew, and
    /// starts or asks for approval; files that were not read meanwhile are read first. The report is `{v, servers}`, as that of [`set_source`](Self::set_source).
    ///
    /// Of several words the one that was given last holds, whichever of their files take how long: a call counts from when it is made, and
    /// is carried out when its future is polled. Dropping the future stops nothing that was begun; of a grant that still waits for its
    /// files nothing was.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn set_trusted(
        &self,
        trust: WorkspaceTrust,
    ) -> impl Future<Output = Result<Value>> + Send + use<> {
        let (pool, word) = (self.clone(), self.0.next_word(trust));
        async move {
            pool.check()?;
            let passed = pool.0.set_trust(word).await?;
            Ok(report(None, &passed))
        }
    }

    /// Reads every loaded file again and makes a pass with everything looked up anew: variables, programs, decisions, and what the host
    /// gave no answer to. It can have servers reconnected besides. In a workspace that is not trusted, files of sources that need trust are
    /// not read. The report is `{v, servers, errors: [{source, error}], findings: [{source, kind, …}], reconnected?}`; a file that cannot be
    /// read keeps its last good state, and findings are those of every file that was read, as [`set_source`](Self::set_source) has them.
    /// `reconnected` is there with `reconnect`: by server what became of each of its entries, as [`restart`](Self::restart) says it, and
    /// where that could not be begun a row with the code of the `error` as its `reason`. What becomes of a server that is `waiting` is told by
    /// the event `reconciled` of the pass that follows.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub async fn reload(&self, options: &ReloadOptions) -> Result<Value> {
        self.check()?;
        self.0.reload(options).await
    }

    pub(super) fn check(&self) -> Result<()> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()
    }
}

impl PoolCore {
    /// What the pool has to be there for: the host's lists, and who hears of what is wrong with decisions.
    pub(super) fn begin_sources(self: &Arc<Self>) {
        self.running().begin(self.sources.desired().lists());
        let weak = Arc::downgrade(self);
        self.sources.approvals.on_warning(move |message| {
            if let Some(pool) = weak.upgrade() {
                pool.warn_of_approvals(message);
            }
        });
    }

    /// Whether a server's own configuration switches it off.
    pub(super) fn is_switched_off(&self, server: &str) -> bool {
        let running = self.running();
        let standing = running.named(server).map(|named| &named.standing);
        matches!(standing, Some(Standing::Shut(GateReason::Disabled)))
            || running.server(server).is_ok_and(|configured| configured.spec().disabled)
    }

    /// Whether the host is asked for what a server needs, and nothing of an earlier configuration goes on meanwhile.
    pub(super) fn awaits_the_host(&self, server: &str) -> bool {
        let running = self.running();
        let standing = running.named(server).map(|named| &named.standing);
        matches!(standing, Some(Standing::Waiting(_))) && running.server(server).is_err()
    }

    /// Replaces the run-time source. Subscribers of the pool hear of it, unless it changed nothing.
    pub(super) async fn reconcile(self: &Arc<Self>, servers: Servers) -> Result<Value> {
        let valid =
            servers.0.iter().filter_map(|(name, spec)| Some((&**name, spec.as_ref().ok()?)));
        let mut report = with_unknown(json!({ "v": 1 }), valid);
        let replace = |desired: &mut Desired| {
            let now = Contents::literal(servers.0);
            let name = SourceName::of_scope(Scope::Runtime);
            let names = |contents: &Contents| contents.servers.keys().cloned().collect::<Vec<_>>();
            let mut mentioned: BTreeSet<Box<str>> = names(&now).into_iter().collect();
            let before = desired.layers.put(name, now);
            mentioned.extend(before.iter().flat_map(|before| names(before)));
            mentioned
        };
        let passed = self.change_apart(Fresh::No, replace).await?;
        report["servers"] = passed.rows_to_json(Shape::Plain);
        Ok(report)
    }

    /// Sets the host's lists.
    pub(super) fn set_host_lists(self: &Arc<Self>, lists: GateLists) {
        self.change(|desired| desired.host_lists = lists);
    }

    /// What a source says by what was read of it last.
    pub(super) fn says_now(&self, source: &SourceName) -> Option<Arc<Contents>> {
        self.sources.desired().layers.contents(source).cloned()
    }

    /// Replaces a source, or removes it; the report.
    fn put_source(self: &Arc<Self>, source: &SourceName, said: Option<Said>) -> Value {
        let findings = said.as_ref().map(|said| said.findings.clone()).unwrap_or_default();
        let mut was_file = false;
        let begun = self.begin(Fresh::No, |desired| {
            let mentioned = names(said.as_ref().map(|said| &said.contents));
            was_file = said.is_none() && desired.files.contains_key(source);
            desired.put(source, said);
            mentioned
        });
        if was_file {
            self.watch_files();
        }
        report_with_findings(source, &begun.here(), &findings)
    }
}

fn names(contents: Option<&Contents>) -> BTreeSet<Box<str>> {
    contents.into_iter().flat_map(|contents| contents.servers.keys().cloned()).collect()
}

/// The report, with `findings` where members of these servers have no effect.
fn with_unknown<'a>(
    mut report: Value,
    servers: impl IntoIterator<Item = (&'a str, &'a ServerSpec)>,
) -> Value {
    let findings = unknown_of(servers);
    if !findings.is_empty() {
        report["findings"] = findings.into();
    }
    report
}

/// `{v, source, servers, findings}`.
fn report_with_findings(source: &SourceName, passed: &Passed, findings: &Findings) -> Value {
    let mut report = report(Some(source), passed);
    report["findings"] = findings.to_json();
    report
}

/// `{v, source?, servers}`.
fn report(source: Option<&SourceName>, passed: &Passed) -> Value {
    let mut report = json!({ "v": 1 });
    if let Some(source) = source {
        report["source"] = source.to_string().into();
    }
    report["servers"] = passed.rows_to_json(Shape::Sourced);
    report
}
