//! What the pool says of itself (SPEC 9.4). No secret, no argument and no fingerprint is in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};
use trunkline_pool::state::{
    DrainReport, EntryId, EntryState, EntryStatus, RestartRefusal, RestartReport,
};

use super::pool::{Configured, PoolCore};
use crate::driver::{Driver, EntryCell};
use crate::platform;

impl PoolCore {
    /// The whole pool as JSON.
    pub(super) fn status(&self) -> Value {
        let mut by_name: BTreeMap<Box<str>, Server> = BTreeMap::new();
        for (name, configured) in self.servers() {
            by_name.entry(name).or_default().configured = Some(configured);
        }
        for (status, cell) in self.driver.entries() {
            let server = by_name.entry((&*cell.server).into()).or_default();
            server.entries.push((status, cell));
        }
        let entries = || by_name.values().flat_map(|server| &server.entries);
        let processes = entries().filter(|(_, cell)| cell.pid().is_some()).count();
        let connected = by_name.values().filter(|server| server.state() == "connected").count();
        let (sessions, kept) = self.session_ids();
        let totals = json!({
            "servers": by_name.len(),
            "connected": connected,
            "entries": entries().count(),
            "sessions": sessions.len(),
            "sessions_kept": kept,
        });
        let servers: Map<String, Value> =
            by_name.iter().map(|(name, row)| (name.to_string(), self.server(name, row))).collect();
        json!({
            "v": 1,
            "initialized": true,
            "scope": "workspace",
            "closing": self.driver.check_open().is_err(),
            "totals": totals,
            "processes": processes,
            "supervision": platform::supervision(),
            "sessions": sessions.iter().map(|id| &**id).collect::<Vec<&str>>(),
            "servers": servers,
        })
    }

    fn server(&self, name: &str, server: &Server) -> Value {
        let spec = server.configured.as_ref().map(|configured| &configured.spec);
        let spec = spec.or_else(|| server.entries.first().map(|(_, cell)| &cell.spec));
        let newest = server.entries.last().map(|(_, cell)| cell.load_full());
        let catalog = newest.as_ref().map(|published| published.slot.catalog.clone());
        let catalog = catalog.unwrap_or_default();
        let error = newest.as_ref().and_then(|published| published.slot.error.clone());
        // What could not be started has no entry; its error stays until the next one connects.
        let gone = || newest.is_none().then(|| self.driver.last_error(name)).flatten();
        let error = error.or_else(gone);
        let pids: Vec<u32> = server.entries.iter().filter_map(|(_, cell)| cell.pid()).collect();
        json!({
            "configured": server.configured.is_some(),
            "admitted": true,
            "state": server.state(),
            "transport": spec.map(|spec| spec.transport_name()),
            "origin": if server.configured.is_some() { "runtime" } else { "session" },
            "pid_count": pids.len(),
            "entry_count": server.entries.len(),
            "counts": {
                "tools": catalog.tools.len(),
                "prompts": catalog.prompts.len(),
                "resources": catalog.resources.len(),
                "resource_templates": catalog.resource_templates.len(),
                "skipped": catalog.skipped.len(),
            },
            "error_code": error.as_ref().map(|error| error.code().name()),
            "last_error": error.as_ref().map(|error| error.to_json()),
            "hint": error.as_ref().and_then(|error| error.hint()),
            "entries": server.entries.iter().map(|row| self.entry(row)).collect::<Vec<_>>(),
        })
    }

    fn entry(&self, (status, cell): &(EntryStatus, Arc<EntryCell>)) -> Value {
        let now = self.driver.now();
        let uptime = status.connected_at.map(|since| now.0.saturating_sub(since.0) / 1_000_000);
        let connection = cell.connection(status.generation);
        let facts = connection.as_ref().map(|connection| connection.server_facts());
        json!({
            "entry_index": status.index,
            "refs": status.refs,
            "state": status.state.as_str(),
            "generation": status.generation.0,
            "uptime_ms": uptime,
            "calls": cell.calls.load(Ordering::Relaxed),
            "errors": cell.errors.load(Ordering::Relaxed),
            "in_flight": connection.as_ref().map_or(0, |connection| connection.in_flight()),
            "losses": status.losses,
            "pid": cell.pid(),
            "era": facts.as_ref().map(|_| "legacy"),
            "protocol_version": facts.as_ref().map(|facts| facts.protocol_version.clone()),
            "server_name": facts.as_ref().map(|facts| facts.name.clone()),
            "server_version": facts.as_ref().map(|facts| facts.version.clone()),
            "stderr": connection.as_ref().map(|connection| connection.stderr_tail()),
        })
    }
}

#[derive(Default)]
struct Server {
    configured: Option<Arc<Configured>>,
    entries: Vec<(EntryStatus, Arc<EntryCell>)>,
}

impl Server {
    /// Any connected entry, else any connecting one, else not.
    fn state(&self) -> &'static str {
        let has = |wanted: &[EntryState]| {
            self.entries.iter().any(|(status, _)| wanted.contains(&status.state))
        };
        if has(&[EntryState::Active, EntryState::Draining]) {
            "connected"
        } else if has(&[EntryState::Spawning, EntryState::Reconnecting]) {
            "connecting"
        } else {
            "disconnected"
        }
    }
}

/// One row of a restart's answer.
pub(super) fn restart_report(indices: &HashMap<EntryId, u32>, report: &RestartReport) -> Value {
    let index = indices.get(&report.entry);
    let mut row = json!({ "entry_index": index, "restarted": report.result.is_ok() });
    match &report.result {
        Ok(duration) => {
            row["duration_ms"] = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into();
        }
        Err(refusal) => {
            row["reason"] = refusal.as_str().into();
            if let RestartRefusal::Failed(error) = refusal {
                row["error"] = error.to_json();
            }
        }
    }
    row
}

/// The answer to a drain.
pub(super) fn drain_report(driver: &Driver, report: &DrainReport) -> Value {
    let errors: Vec<_> = report
        .errors
        .iter()
        .map(|(entry, error)| {
            let cell = driver.entry(*entry);
            json!({
                "server": cell.as_ref().map(|cell| cell.server.to_string()),
                "entry_index": cell.as_ref().map(|cell| cell.index),
                "error": error.to_json(),
            })
        })
        .collect();
    json!({ "v": 1, "drained": report.drained, "forced": report.forced, "errors": errors })
}
