//! What the pool runs by its configuration: the outcome of the last pass, which sessions and the status look at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::gates::{ApprovalState, Gates, JoinedLists};
use trunkline_pool::interface::words;
use trunkline_pool::layers::SourceName;
use trunkline_pool::state::{Gate, GateReason};
use trunkline_pool::view::View;

use super::Config;
use super::kept_out::kept_out_by;
use super::overriding_entries::Over;
use super::pass::Shape;
use super::stack::OnUnresolved;
use crate::api::server_config::ResolvedServer;
use crate::driver::{Age, ConnectionKey};
use crate::{Error, ErrorCode, Result};

/// The pool's servers by name, and what is known of names that have none.
#[derive(Default)]
pub(crate) struct Running {
    servers: ResolvedServers,
    /// Every name that a source names.
    named: BTreeMap<Box<str>, ServerRecord>,
    /// Names that were there, at most [`REMOVED_MAX`].
    removed: BTreeSet<Box<str>>,
    /// The lists of the host and of all sources.
    pub(super) lists: JoinedLists,
}

/// Servers by name.
type ResolvedServers = BTreeMap<Box<str>, Arc<ResolvedServer>>;

/// Of which servers another connection is wanted than before, each with what was wanted then.
pub(super) type ChangedServers = BTreeMap<Box<str>, Option<Arc<ResolvedServer>>>;

/// What a source says of a name, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct ServerRecord {
    /// Where it is said.
    pub(crate) origin: Arc<EntryOrigin>,
    /// What came of it.
    pub(crate) standing: ConfigStatus,
    /// What was decided of it, whatever else keeps it out.
    pub(crate) approval: ApprovalState,
    /// What keeps out what the name has, though that could run.
    pub(super) kept_out: Option<GateReason>,
    /// The entries above it that may not run, and so hide nothing.
    pub(crate) over: Vec<Over>,
    /// The entry below that it takes the place of, of one that needs approval.
    pub(crate) hides: Option<EntryOrigin>,
}

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryOrigin {
    /// The source.
    pub(crate) source: Arc<SourceName>,
    /// The file, of a source that is one.
    pub(crate) file: Option<Arc<str>>,
    /// The line of its entry, from 1.
    pub(crate) line: Option<usize>,
}

/// What came of a configuration.
#[derive(Clone, Debug)]
pub(crate) enum ConfigStatus {
    /// It may run.
    Runs,
    /// It is wrong. What ran before goes on.
    Invalid(Error),
    /// It may not run.
    Shut(GateReason),
    /// It is not known yet. What ran before goes on.
    Waiting(PendingOn),
}

/// What has to come before it is known what becomes of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PendingOn {
    /// What the host is asked for.
    Host,
    /// What the file system says of what it names.
    Files,
}

/// What a pass says of one name.
pub(super) struct ServerPlan {
    pub(super) origin: Arc<EntryOrigin>,
    pub(super) verdict: ServerVerdict,
    pub(super) approval: ApprovalState,
    /// The entries above it that may not run.
    pub(super) over: Vec<Over>,
    /// The entry below that it takes the place of.
    pub(super) hides: Option<EntryOrigin>,
}

/// What is to be done about one name.
pub(super) enum ServerVerdict {
    /// It runs.
    Run(Arc<ResolvedServer>),
    /// It does not, for this reason.
    Shut(GateReason),
    /// It is wrong.
    Invalid(Error, OnUnresolved),
    /// It is not known yet.
    Wait(PendingOn, OnUnresolved),
}

/// The servers whose attempts have another time to connect than before.
pub(super) type TimeoutChanges = BTreeSet<Box<str>>;

/// What was known of a name at one moment, and what it had.
pub(super) type PriorState = (Option<ServerRecord>, Option<Arc<ResolvedServer>>);

/// Names that are remembered as removed, for the reason of a refusal; of more, the first by name are forgotten.
const REMOVED_MAX: usize = 4096;

impl Running {
    /// The lists that are in force before the first pass.
    pub(super) fn begin(&mut self, lists: JoinedLists) {
        self.lists = lists;
    }

    /// Every server that may run.
    pub(crate) fn servers(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        let servers = self.servers.iter();
        servers.map(|(name, configured)| (name.clone(), configured.clone())).collect()
    }

    /// One server.
    ///
    /// # Errors
    /// `invalid_config` or `undefined_variable` when its entry is wrong; `not_admitted` with the reason, among them `removed` and
    /// `not_configured`; `unavailable` while the host is asked for what it needs.
    pub(crate) fn server(&self, name: &str) -> Result<Arc<ResolvedServer>> {
        if let Some(configured) = self.servers.get(name) {
            return Ok(configured.clone());
        }
        let error = match self.named.get(name) {
            Some(named) => named.error(),
            None => match self.removed.contains(name) {
                true => {
                    refusal(words::gate::REMOVED, "the server was removed from the configuration")
                }
                false => {
                    refusal(words::gate::NOT_CONFIGURED, "no server of that name is configured")
                        .with_nearest(name, self.named.keys().map(|known| &**known))
                }
            },
        };
        Err(error.with_server(name))
    }

    /// What a source says of a name, if any does.
    pub(crate) fn named(&self, name: &str) -> Option<&ServerRecord> {
        self.named.get(name)
    }

    /// Every name that a source names.
    pub(crate) fn all_named(&self) -> impl Iterator<Item = (&str, &ServerRecord)> {
        self.named.iter().map(|(name, named)| (&**name, named))
    }

    /// Those, and the names of what was removed.
    pub(crate) fn all_names(&self) -> Vec<Box<str>> {
        self.named.keys().chain(&self.removed).cloned().collect()
    }

    /// Whether it was there, and is not any more.
    pub(crate) fn is_removed(&self, name: &str) -> bool {
        self.removed.contains(name)
    }

    /// How a key stands to what is newest, of servers that moved.
    pub(super) fn judge(&self, key: &ConnectionKey, moved: &ChangedServers) -> Option<Age> {
        let old = moved.get(&*key.name)?;
        let newest = self.servers.get(&*key.name).filter(|newest| !newest.spec().disabled);
        if newest.is_some_and(|newest| newest.leads_to(key)) {
            return Some(Age::Current);
        }
        old.as_ref().is_some_and(|old| old.leads_to(key)).then_some(Age::Outdated)
    }

    /// What is newest of a key's server, where an attempt has another time by that and it is the same connection.
    pub(super) fn newer(&self, key: &ConnectionKey) -> Option<Arc<ServerSpec>> {
        let newest = self.servers.get(&*key.name)?;
        let is_newer = newest.spec().connect_timeout != key.spec.connect_timeout;
        (is_newer && newest.leads_to(key)).then(|| newest.spec().clone())
    }

    /// Becomes what a pass says; one row for each name, what moved, and what has another time to connect.
    pub(super) fn replace(
        &mut self,
        plan: BTreeMap<Box<str>, ServerPlan>,
        gates: &Gates,
    ) -> (BTreeMap<Box<str>, ReconcileRow>, ChangedServers, TimeoutChanges) {
        let before = std::mem::take(&mut self.servers);
        let mut gone_names = std::mem::take(&mut self.named);
        let mut rows = BTreeMap::new();
        for (name, planned) in plan {
            self.removed.remove(&name);
            let earlier = gone_names.remove(&name);
            let was = (earlier.as_ref(), before.get(&name));
            let row = self.put(&name, was, planned, gates);
            rows.insert(name, row);
        }
        for (name, named) in gone_names {
            let had = before.contains_key(&name);
            // Nobody was told of it.
            if !had && matches!(named.standing, ConfigStatus::Waiting(PendingOn::Files)) {
                continue;
            }
            rows.insert(name.clone(), ReconcileRow::of(Applied::Removed));
            // What was only waited for was never there.
            if had || !matches!(named.standing, ConfigStatus::Waiting(_)) {
                self.removed.insert(name);
            }
        }
        while self.removed.len() > REMOVED_MAX {
            self.removed.pop_first();
        }
        let (moved, retimed) = (self.moved_since(&before), self.retimed_since(&before));
        (rows, moved, retimed)
    }

    /// Puts one name in; its row of the report.
    fn put(
        &mut self,
        name: &str,
        (earlier, old): (Option<&ServerRecord>, Option<&Arc<ResolvedServer>>),
        ServerPlan { origin, verdict, approval, over, hides }: ServerPlan,
        gates: &Gates,
    ) -> ReconcileRow {
        let (standing, runs) = match verdict {
            ServerVerdict::Run(new) => (ConfigStatus::Runs, Some(new)),
            ServerVerdict::Shut(reason) => (ConfigStatus::Shut(reason), None),
            ServerVerdict::Invalid(error, before) => (ConfigStatus::Invalid(error), before.of(old)),
            ServerVerdict::Wait(awaited, before) => {
                (ConfigStatus::Waiting(awaited), before.of(old))
            }
        };
        let kept_out = kept_out_by(gates, name, runs.as_ref());
        let mut named = ServerRecord { origin, standing, approval, kept_out, over, hides };
        // That is over in a moment, as a rule: until then it stands as it stood, unless it ends.
        if let (ConfigStatus::Waiting(PendingOn::Files), Some(earlier)) = (&named.standing, earlier)
            && runs.is_some() == old.is_some()
        {
            named = ServerRecord { kept_out, over: named.over, ..earlier.clone() };
        }
        let row = ReconcileRow::of_change((earlier, old), (&named, runs.as_ref()));
        self.servers.extend(runs.map(|runs| (name.into(), runs)));
        self.named.insert(name.into(), named);
        row
    }

    /// What is known of one name.
    pub(super) fn now(&self, name: &str) -> PriorState {
        (self.named.get(name).cloned(), self.servers.get(name).cloned())
    }

    /// What became of one name since; nothing of one that was never told of.
    pub(super) fn row_since(
        &self,
        name: &str,
        (earlier, old): &PriorState,
    ) -> Option<ReconcileRow> {
        match (self.named.get(name), earlier) {
            (Some(named), earlier) => {
                let before = (earlier.as_ref(), old.as_ref());
                Some(ReconcileRow::of_change(before, (named, self.servers.get(name))))
            }
            (None, Some(_)) => Some(ReconcileRow::of(Applied::Removed)),
            (None, None) => None,
        }
    }

    fn retimed_since(&self, before: &ResolvedServers) -> TimeoutChanges {
        let time = |configured: &Arc<ResolvedServer>| configured.spec().connect_timeout;
        let is_same = |name: &str, new: &Arc<ResolvedServer>| {
            before.get(name).is_some_and(|old| time(old) == time(new))
        };
        let retimed = self.servers.iter().filter(|(name, new)| !is_same(name, new));
        retimed.map(|(name, _)| name.clone()).collect()
    }

    fn moved_since(&self, before: &ResolvedServers) -> ChangedServers {
        let is_same = |name: &str, old: &Arc<ResolvedServer>| {
            let new = self.servers.get(name);
            new.is_some_and(|new| {
                new.spec().disabled == old.spec().disabled && old.is_same_connection(new)
            })
        };
        let gone = before.iter().filter(|(name, old)| !is_same(name, old));
        let mut moved: ChangedServers = gone
            .map(|(name, old)| (name.clone(), (!old.spec().disabled).then(|| old.clone())))
            .collect();
        let new = self.servers.keys().filter(|name| !before.contains_key(*name));
        moved.extend(new.map(|name| (name.clone(), None)));
        moved
    }
}

#[cfg(test)]
impl Running {
    /// One server that runs by what is decided of it.
    pub(crate) fn put_warranted(&mut self, name: &str, configured: Arc<ResolvedServer>) {
        self.servers.insert(name.into(), configured);
    }
}

impl Config {
    /// What was asked for just now, as a session had it from before: the pool may have another configuration of it by now.
    pub(crate) fn judge_asked(&self, name: &str, asked: &Arc<ResolvedServer>) {
        let newest = self.running().servers.get(name).cloned();
        let is_it = |newest: Arc<ResolvedServer>| {
            newest.is_same_connection(asked) && !newest.spec().disabled
        };
        if !newest.is_some_and(is_it) {
            let asked = ChangedServers::from([(name.into(), Some(asked.clone()))]);
            self.driver.reconfigure(|key| self.running().judge(key, &asked));
        }
    }
}

impl ServerRecord {
    /// What is decided of it, apart from the lists of names.
    pub(crate) fn gate(&self) -> Gate {
        match &self.standing {
            ConfigStatus::Shut(reason) => Gate::Shut(*reason),
            ConfigStatus::Runs | ConfigStatus::Invalid(_) | ConfigStatus::Waiting(_) => Gate::Open,
        }
    }

    /// Why it does not run.
    fn error(&self) -> Error {
        let error = match &self.standing {
            ConfigStatus::Invalid(error) => return error.clone(),
            ConfigStatus::Shut(reason) => {
                let refused = Gate::Shut(*reason).check().err();
                refused.unwrap_or_else(|| refusal(reason.as_str(), "a gate keeps the server out"))
            }
            ConfigStatus::Waiting(PendingOn::Files) => {
                let message = "the file system is asked for what the server's configuration names";
                Error::new(ErrorCode::Unavailable, message).with_hint(
                    "try again in a moment; what is mounted there may have stopped answering",
                )
            }
            ConfigStatus::Waiting(PendingOn::Host) | ConfigStatus::Runs => {
                let message = "the host is asked for what the server's configuration needs";
                Error::new(ErrorCode::Unavailable, message)
                    .with_hint("answer the question, or wait until `settled`")
            }
        };
        let error = error.with_detail("source", self.origin.source.to_string());
        match &self.origin.file {
            Some(file) => error.with_detail("file", &**file),
            None => error,
        }
    }
}

impl ConfigStatus {
    fn is(&self, other: &ConfigStatus) -> bool {
        match (self, other) {
            (ConfigStatus::Runs, ConfigStatus::Runs) => true,
            (ConfigStatus::Waiting(one), ConfigStatus::Waiting(other)) => one == other,
            (ConfigStatus::Invalid(one), ConfigStatus::Invalid(other)) => one == other,
            (ConfigStatus::Shut(one), ConfigStatus::Shut(other)) => one == other,
            _ => false,
        }
    }
}

/// What a pass meant to one server, as a row of the report.
#[derive(Clone, Debug)]
pub(super) struct ReconcileRow {
    pub(super) applied: Applied,
    source: Option<Arc<SourceName>>,
    pub(super) reason: Option<&'static str>,
    error: Option<Error>,
    /// Whether it is other than before.
    pub(super) is_news: bool,
}

/// What a pass meant to one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// Nothing.
    Unchanged,
    /// Another view of the same connection.
    Reviewed,
    /// It is new.
    Added,
    /// It is another connection from here on.
    Replaced,
    /// It is gone.
    Removed,
    /// It is wrong.
    Invalid,
    /// It may not run.
    Refused,
    /// The host is asked for something of it.
    Waiting,
}

impl Applied {
    fn between(old: Option<&Arc<ResolvedServer>>, new: &Arc<ResolvedServer>) -> Applied {
        match old {
            None => Applied::Added,
            Some(old) if Arc::ptr_eq(old, new) => Applied::Unchanged,
            Some(old) if !old.is_same_connection(new) => Applied::Replaced,
            Some(old) if View::of(old.spec()) != View::of(new.spec()) => Applied::Reviewed,
            Some(_) => Applied::Unchanged,
        }
    }

    /// The word in a report.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Applied::Unchanged => "unchanged",
            Applied::Reviewed => "reviewed",
            Applied::Added => "added",
            Applied::Replaced => "replaced",
            Applied::Removed => "removed",
            Applied::Invalid => "invalid",
            Applied::Refused => "refused",
            Applied::Waiting => "waiting",
        }
    }
}

impl ReconcileRow {
    fn of(applied: Applied) -> ReconcileRow {
        let is_news = applied != Applied::Unchanged;
        ReconcileRow { applied, source: None, reason: None, error: None, is_news }
    }

    /// From what a name had to what it has.
    pub(super) fn between(
        (earlier, old): (Option<&ServerRecord>, Option<&Arc<ResolvedServer>>),
        (named, new): (&ServerRecord, Option<&Arc<ResolvedServer>>),
    ) -> ReconcileRow {
        // What ends what ran is news, though the entry stands as it stood.
        let is_lost = old.is_some() && new.is_none();
        let is_news =
            is_lost || earlier.is_none_or(|earlier| !earlier.standing.is(&named.standing));
        let row = match (&named.standing, new) {
            (ConfigStatus::Runs, Some(new)) => {
                let row = ReconcileRow::of(Applied::between(old, new));
                // One that waited, or was wrong, is as it was: whoever was told so hears of the end.
                ReconcileRow { is_news: row.is_news || is_news, ..row }
            }
            (ConfigStatus::Runs, None) => ReconcileRow::of(Applied::Removed),
            (ConfigStatus::Shut(reason), _) => ReconcileRow {
                reason: Some(reason.as_str()),
                is_news,
                ..ReconcileRow::of(Applied::Refused)
            },
            (ConfigStatus::Invalid(error), _) => ReconcileRow {
                error: Some(error.clone()),
                is_news,
                ..ReconcileRow::of(Applied::Invalid)
            },
            (ConfigStatus::Waiting(PendingOn::Host), _) => {
                ReconcileRow { is_news, ..ReconcileRow::of(Applied::Waiting) }
            }
            (ConfigStatus::Waiting(PendingOn::Files), _) => {
                ReconcileRow { is_news: is_lost, ..ReconcileRow::of(Applied::Waiting) }
            }
        };
        ReconcileRow { source: Some(named.origin.source.clone()), ..row }
    }

    /// As JSON: `{action, source?, reason?, error?}`.
    pub(super) fn to_json(&self, shape: Shape) -> Value {
        let mut out = Map::new();
        out.insert("action".into(), self.applied.as_str().into());
        let source = self
            .source
            .as_ref()
            .filter(|_| shape == Shape::Sourced)
            .map(|source| source.to_string().into());
        let reason = self.reason.map(Value::from);
        let error = self.error.as_ref().map(|error| error.to_json());
        let rest = [("source", source), ("reason", reason), ("error", error)];
        out.extend(rest.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        out.into()
    }
}

fn refusal(reason: &str, message: &str) -> Error {
    Error::new(ErrorCode::NotAdmitted, message).with_detail("reason", reason)
}
