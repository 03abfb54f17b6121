//! What the pool runs by its configuration: the outcome of the last pass, which sessions and the
//! status look at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trunkline_pool::config::ServerSpec;
use trunkline_pool::gates::{Facts, Gates, JoinedLists};
use trunkline_pool::interface::words;
use trunkline_pool::state::{Gate, GateReason};

use super::report_row::{Applied, ReconcileRow};
use super::types::{ConfigStatus, PendingOn, ServerPlan, ServerRecord, ServerVerdict, refusal};
use crate::Result;
use crate::driver::server_config::ResolvedServer;
use crate::driver::{Age, ConnectionKey};

/// The pool's servers by name, and what is known of names that have none.
#[derive(Default)]
pub(crate) struct Running {
    servers: ResolvedServers,
    /// Every name that a source names.
    named: BTreeMap<Box<str>, ServerRecord>,
    /// Names that were there, at most [`REMOVED_MAX`].
    removed: BTreeSet<Box<str>>,
    /// The lists of the host and of all sources.
    pub(crate) lists: JoinedLists,
}

/// Servers by name.
type ResolvedServers = BTreeMap<Box<str>, Arc<ResolvedServer>>;

/// Servers whose connection changed, each with the configuration before.
pub(crate) type ChangedServers = BTreeMap<Box<str>, Option<Arc<ResolvedServer>>>;

/// The servers whose attempts have another time to connect than before.
pub(crate) type TimeoutChanges = BTreeSet<Box<str>>;

/// What was known of a name at one moment, and what it had.
pub(crate) type PriorState = (Option<ServerRecord>, Option<Arc<ResolvedServer>>);

/// Names that are remembered as removed, for the reason of a refusal; of more, the first by name
/// are forgotten.
const REMOVED_MAX: usize = 4096;

impl Running {
    /// The lists that are in force before the first pass.
    pub(crate) fn begin(&mut self, lists: JoinedLists) {
        self.lists = lists;
    }

    /// What a name has, if anything.
    pub(crate) fn newest(&self, name: &str) -> Option<&Arc<ResolvedServer>> {
        self.servers.get(name)
    }

    /// Every server that may run.
    pub(crate) fn servers(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        let servers = self.servers.iter();
        servers.map(|(name, configured)| (name.clone(), configured.clone())).collect()
    }

    /// One server.
    ///
    /// # Errors
    /// `invalid_config` or `undefined_variable` when its entry is wrong; `not_admitted` with the
    /// reason, among them `removed` and `not_configured`; `unavailable` while the host is asked for
    /// what it needs.
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
    pub(crate) fn judge(&self, key: &ConnectionKey, moved: &ChangedServers) -> Option<Age> {
        let old = moved.get(&*key.name)?;
        let newest = self.servers.get(&*key.name).filter(|newest| !newest.spec().disabled);
        if newest.is_some_and(|newest| newest.leads_to(key)) {
            return Some(Age::Current);
        }
        old.as_ref().is_some_and(|old| old.leads_to(key)).then_some(Age::Outdated)
    }

    /// What is newest of a key's server, where an attempt has another time by that and it is the
    /// same connection.
    pub(crate) fn newer(&self, key: &ConnectionKey) -> Option<Arc<ServerSpec>> {
        let newest = self.servers.get(&*key.name)?;
        let is_newer = newest.spec().connect_timeout != key.spec.connect_timeout;
        (is_newer && newest.leads_to(key)).then(|| newest.spec().clone())
    }

    /// Becomes what a pass says; one row for each name, what moved, and what has another time to
    /// connect.
    pub(crate) fn replace(
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
    pub(crate) fn now(&self, name: &str) -> PriorState {
        (self.named.get(name).cloned(), self.servers.get(name).cloned())
    }

    /// What became of one name since; nothing of one that was never told of.
    pub(crate) fn row_since(
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

/// What of the lists and its own configuration keeps out what a name has.
fn kept_out_by(
    gates: &Gates,
    name: &str,
    configured: Option<&Arc<ResolvedServer>>,
) -> Option<GateReason> {
    let facts = match configured?.spec().disabled {
        true => Facts::of_name(name).shut_by(GateReason::Disabled),
        false => Facts::of_name(name),
    };
    match gates.decide(&facts) {
        Gate::Shut(reason) => Some(reason),
        Gate::Open => None,
    }
}
