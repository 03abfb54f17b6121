//! The run-time source: what replaces it, and the report of what that changed (SPEC 13.1, 13.2).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::config::ServerSpec;

use super::pool::{Configured, PoolCore, Servers};
use crate::Result;

/// What a change of the source meant to one server.
#[derive(Clone, Copy)]
enum Applied {
    /// Nothing, but perhaps to the views of it.
    Unchanged,
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
            Applied::Added => "added",
            Applied::Replaced => "replaced",
            Applied::Removed => "removed",
        }
    }
}

impl PoolCore {
    /// Replaces the run-time source, and lets the live sessions follow it.
    pub(super) fn reconcile(&self, servers: Servers) -> Value {
        let mut report = Map::new();
        {
            let mut source = self.source();
            let mut gone = std::mem::take(&mut *source);
            for (name, spec) in servers.0 {
                let name: Box<str> = name.into();
                let row = replace(&mut source, &name, gone.remove(&name), spec);
                report.insert(name.into(), row);
            }
            let removed = json!({ "action": Applied::Removed.as_str() });
            report.extend(gone.into_keys().map(|name| (name.into(), removed.clone())));
        }
        // Each takes what is newest when its turn comes: a session that opens or another change that comes meanwhile
        // makes none of them miss anything.
        for session in self.live_sessions() {
            session.core().follow();
        }
        json!({ "v": 1, "servers": report })
    }
}

/// Puts one server into the new source; its row in the report. A bad one keeps what it had.
fn replace(
    source: &mut BTreeMap<Box<str>, Arc<Configured>>,
    name: &str,
    old: Option<Arc<Configured>>,
    spec: Result<ServerSpec>,
) -> Value {
    let new = match spec {
        Ok(spec) => Configured::new(Arc::new(spec)),
        Err(error) => {
            source.extend(old.map(|old| (name.into(), old)));
            return json!({ "action": "invalid", "error": error.to_json() });
        }
    };
    let applied = match &old {
        None => Applied::Added,
        Some(old) if old.fingerprint == new.fingerprint => Applied::Unchanged,
        Some(_) => Applied::Replaced,
    };
    source.insert(name.into(), new);
    json!({ "action": applied.as_str() })
}
