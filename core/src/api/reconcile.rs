//! The run-time source: what replaces it, and the report of what that changed (SPEC 13.1, 13.2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words;
use trunkline_pool::options::PoolOptions;
use trunkline_pool::view::View;

use super::pool::{Configured, PoolCore, Servers};
use super::wanted::follow_together;
use crate::driver::{About, Age, Keyed};
use crate::{Error, ErrorCode, Result};

/// The run-time source: servers by name, and what is known of names that have none.
#[derive(Default)]
pub(super) struct Source {
    servers: BTreeMap<Box<str>, Arc<Configured>>,
    /// Entries of the newest state that are wrong, and had nothing right before.
    invalid: BTreeMap<Box<str>, Error>,
    /// Names that were there, at most [`REMOVED_MAX`].
    removed: BTreeSet<Box<str>>,
}

/// Servers by name.
type Running = BTreeMap<Box<str>, Arc<Configured>>;

/// Names that are remembered as removed, for the reason of a refusal; of more, the first by name are forgotten.
const REMOVED_MAX: usize = 4096;

impl Source {
    /// Every server.
    pub(super) fn servers(&self) -> Vec<(Box<str>, Arc<Configured>)> {
        let servers = self.servers.iter();
        servers.map(|(name, configured)| (name.clone(), configured.clone())).collect()
    }

    /// One server.
    ///
    /// # Errors
    /// `invalid_config` when its entry is wrong; `not_admitted` with the reason `removed` or `not_configured`.
    pub(super) fn server(&self, name: &str) -> Result<Arc<Configured>> {
        if let Some(configured) = self.servers.get(name) {
            return Ok(configured.clone());
        }
        if let Some(error) = self.invalid.get(name) {
            return Err(error.clone().with_server(name));
        }
        let (reason, message) = match self.removed.contains(name) {
            true => (words::gate::REMOVED, "the server was removed from the configuration"),
            false => (words::gate::NOT_CONFIGURED, "no server of that name is configured"),
        };
        let error = Error::new(ErrorCode::NotAdmitted, message).with_server(name);
        Err(error.with_detail("reason", reason))
    }

    /// The entries that are wrong.
    pub(super) fn invalid(&self) -> impl Iterator<Item = (&str, &Error)> {
        self.invalid.iter().map(|(name, error)| (&**name, error))
    }

    /// Whether it was there, and is not any more.
    pub(super) fn is_removed(&self, name: &str) -> bool {
        self.removed.contains(name)
    }

    /// Of which servers another connection is wanted than before, each with what was wanted then.
    fn moved_since(&self, before: &Running) -> BTreeMap<Box<str>, Option<Arc<Configured>>> {
        let now = self.running();
        let is_same = |name: &str| match (before.get(name), now.get(name)) {
            (Some(old), Some(new)) => old.is_same_connection(new),
            (old, new) => old.is_none() && new.is_none(),
        };
        let names = before.keys().chain(now.keys()).filter(|name| !is_same(name));
        names.map(|name| (name.clone(), before.get(name).cloned())).collect()
    }

    /// The servers that are not switched off.
    fn running(&self) -> Running {
        let servers = self.servers().into_iter();
        servers.filter(|(_, configured)| !configured.spec.disabled).collect()
    }

    /// Becomes this; one row for each server of the report.
    fn replace(&mut self, servers: Servers, options: &PoolOptions) -> Map<String, Value> {
        let mut report = Map::new();
        let mut gone = std::mem::take(&mut self.servers);
        self.invalid.clear();
        for (name, spec) in servers.0 {
            let name: Box<str> = name.into();
            self.removed.remove(&name);
            let spec = spec.map(|spec| Configured::new(Arc::new(spec), options));
            let row = self.put(&name, gone.remove(&name), spec);
            report.insert(name.into(), row);
        }
        let removed = json!({ "action": Applied::Removed.as_str() });
        report.extend(gone.keys().map(|name| (name.to_string(), removed.clone())));
        self.removed.extend(gone.into_keys());
        while self.removed.len() > REMOVED_MAX {
            self.removed.pop_first();
        }
        report
    }

    /// Puts one server in; its row of the report. A bad one keeps what it had.
    fn put(
        &mut self,
        name: &str,
        old: Option<Arc<Configured>>,
        new: Result<Arc<Configured>>,
    ) -> Value {
        let new = match new {
            Ok(new) => new,
            Err(error) => {
                let row = json!({ "action": "invalid", "error": error.to_json() });
                match old {
                    Some(old) => drop(self.servers.insert(name.into(), old)),
                    None => drop(self.invalid.insert(name.into(), error)),
                }
                return row;
            }
        };
        let applied = match &old {
            None => Applied::Added,
            Some(old) if !old.is_same_connection(&new) => Applied::Replaced,
            Some(old) if View::of(&old.spec) != View::of(&new.spec) => Applied::Reviewed,
            Some(_) => Applied::Unchanged,
        };
        self.servers.insert(name.into(), new);
        json!({ "action": applied.as_str() })
    }
}

/// What a change of the source meant to one server.
#[derive(Clone, Copy)]
enum Applied {
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
}

impl Applied {
    /// The word in a report.
    fn as_str(self) -> &'static str {
        match self {
            Applied::Unchanged => "unchanged",
            Applied::Reviewed => "reviewed",
            Applied::Added => "added",
            Applied::Replaced => "replaced",
            Applied::Removed => "removed",
        }
    }
}

impl PoolCore {
    /// Replaces the run-time source, and lets the live sessions follow it. Subscribers of the pool hear of it, unless it changed nothing.
    pub(super) fn reconcile(&self, servers: Servers) -> Value {
        let (report, moved) = {
            let mut source = self.source();
            let before = source.running();
            let report = source.replace(servers, &self.driver.options);
            (report, source.moved_since(&before))
        };
        // Before the sessions follow: a restart of what they let go then makes room for what they ask for.
        if !moved.is_empty() {
            self.driver.reconfigure(|key| self.judge(key, &moved));
        }
        // Each takes what is newest when its turn comes: a session that opens or another change that comes meanwhile
        // makes none of them miss anything. The handles stay until all have followed.
        let sessions = self.live_sessions();
        let cores: Vec<_> = sessions.iter().map(|session| session.core().clone()).collect();
        follow_together(&cores);
        let is_news = report.values().any(|row| row["action"] != Applied::Unchanged.as_str());
        let report = Value::Object(report);
        if is_news {
            let fields = [("servers", report.clone())];
            self.driver.hub.publish(EventKind::Reconciled, None, &About::default(), &fields);
        }
        json!({ "v": 1, "servers": report })
    }

    /// How a key stands to what is newest, of servers that moved. Asked under the driver's mutex, so that of two changes at once
    /// the last word is the newest.
    fn judge(
        &self,
        key: &Keyed,
        moved: &BTreeMap<Box<str>, Option<Arc<Configured>>>,
    ) -> Option<Age> {
        let old = moved.get(&*key.name)?;
        let source = self.source();
        let newest = source.servers.get(&*key.name).filter(|newest| !newest.spec.disabled);
        if newest.is_some_and(|newest| newest.leads_to(key)) {
            return Some(Age::Current);
        }
        old.as_ref().is_some_and(|old| old.leads_to(key)).then_some(Age::Outdated)
    }
}
