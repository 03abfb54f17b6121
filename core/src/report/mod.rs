//! What the pool says of itself (SPEC 9.4). No secret, no argument and no fingerprint is in it.

pub(crate) mod explain;
mod introduction;
mod parts;
mod server;
pub(crate) mod status_file;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::metrics;
use trunkline_pool::options::StatusOptions;
use trunkline_pool::state::EntryState;

pub(crate) use self::parts::Parts;
use self::server::Server;
pub(crate) use self::server::ServerObstacles;
use crate::driver::server_config::ResolvedServer;
use crate::platform::{self, ProcessStats};

impl Parts<'_> {
    /// The whole pool as JSON.
    pub(crate) fn status(&self) -> Value {
        self.status_with(&StatusOptions::default())
    }

    /// The same, with what costs more than a look at the pool's own state.
    pub(crate) fn status_with(&self, options: &StatusOptions) -> Value {
        let mut by_name = self.servers_seen();
        if options.processes {
            take_stock(&mut by_name);
        }
        let disabled_by = self.sessions.disabled_by();
        let without = |name: &str| disabled_by.get(name).map_or(&[][..], Vec::as_slice);
        let row = |name, server: &Server| server.row(self, name, without(name));
        let rows: BTreeMap<&str, Value> =
            by_name.iter().map(|(name, server)| (&**name, row(name, server))).collect();
        let count =
            |member: &str, word: &str| rows.values().filter(|row| row[member] == word).count();
        let (sessions, kept) = self.sessions.sessions_seen();
        let processes: usize = by_name.values().map(|server| server.pids().count()).sum();
        let totals = json!({
            "servers": rows.len(),
            "connected": count("state", "connected"),
            "connecting": count("state", "connecting"),
            "failed": count("reason", "failed") + count("reason", "invalid_config"),
            "skipped": KEPT_OUT.iter().map(|reason| count("reason", reason)).sum::<usize>(),
            "entries": by_name.values().map(|server| server.entries.len()).sum::<usize>(),
            "sessions": sessions.len(),
            "sessions_kept": kept,
        });
        json!({
            "v": 1,
            "initialized": true,
            "scope": "workspace",
            "discovery": self.discovery(&by_name),
            "closing": self.driver.check_open().is_err(),
            "totals": totals,
            "processes": processes,
            "supervision": platform::supervision(),
            "budget": self.driver.budget(),
            "refusals": self.driver.refusals(),
            "sessions": sessions.iter().map(|(id, _)| &**id).collect::<Vec<&str>>(),
            "usage": sessions.iter().filter_map(|(id, calls)| calls.usage(id)).collect::<Vec<_>>(),
            "servers": rows.into_iter().map(|(name, row)| (name.to_owned(), row)).collect::<Map<_, _>>(),
        })
    }

    /// What the pool did and is doing, as a collector of metrics reads it.
    pub(crate) fn metrics(&self, options: &StatusOptions) -> String {
        metrics::text(&self.status_with(options))
    }

    /// Every server that a source names, or that has something left.
    fn servers_seen(&self) -> BTreeMap<Box<str>, Server> {
        let mut by_name: BTreeMap<Box<str>, Server> = BTreeMap::new();
        {
            let running = self.config.running();
            for (name, configured) in running.servers() {
                by_name.entry(name).or_default().configured = Some(configured);
            }
            for (name, named) in running.all_named() {
                by_name.entry(name.into()).or_default().named = Some(named.clone());
            }
        }
        for (status, cell) in self.driver.entries() {
            let server = by_name.entry((&*cell.server).into()).or_default();
            server.entries.push((status, cell));
        }
        for (name, configured) in self.failed_of_sessions() {
            let server = by_name.entry(name).or_default();
            if server.named.is_none() {
                server.configured.get_or_insert(configured);
            }
        }
        by_name
    }

    /// What sessions brought themselves and what failed, so that nothing else is left of it.
    pub(crate) fn failed_of_sessions(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        let mut brought = self.sessions.brought_by_sessions();
        brought.retain(|(name, _)| self.driver.last_error(name).is_some());
        brought
    }

    /// What keeps one server from being connected.
    pub(crate) fn seen(&self, name: &str) -> ServerObstacles {
        let mut server = Server::default();
        {
            let running = self.config.running();
            server.configured = running.server(name).ok();
            server.named = running.named(name).cloned();
        }
        let entries = self.driver.entries().into_iter();
        server.entries.extend(entries.filter(|(_, cell)| &*cell.server == name));
        if server.named.is_none() && server.configured.is_none() {
            let mut failed = self.failed_of_sessions().into_iter();
            server.configured = failed.find(|(brought, _)| **brought == *name).map(|(_, it)| it);
        }
        server.seen(self, name)
    }

    /// How far the servers have been looked at: not at all, some for the first time now, all that
    /// were asked for.
    fn discovery(&self, by_name: &BTreeMap<Box<str>, Server>) -> &'static str {
        let mut entries = by_name.values().flat_map(|server| &server.entries);
        if entries.any(|(status, _)| status.state == EntryState::Spawning) {
            "in_progress"
        } else if self.driver.has_started() {
            "completed"
        } else {
            "not_started"
        }
    }
}

/// Looks up what the processes of all servers take.
fn take_stock(by_name: &mut BTreeMap<Box<str>, Server>) {
    let of_each: Vec<Vec<u32>> = by_name.values().map(|server| server.pids().collect()).collect();
    let mut taken = platform::taken(&of_each.concat()).into_iter();
    for (server, pids) in by_name.values_mut().zip(of_each) {
        let sum = |sum: Option<ProcessStats>, one: ProcessStats| {
            let sum = sum.unwrap_or_default();
            Some(ProcessStats {
                memory_bytes: sum.memory_bytes + one.memory_bytes,
                cpu_ms: sum.cpu_ms + one.cpu_ms,
            })
        };
        server.taken = taken.by_ref().take(pids.len()).flatten().fold(None, sum);
    }
}

/// The reasons of servers that a gate keeps out, which is no failure.
const KEPT_OUT: [&str; 6] =
    ["untrusted", "excluded", "not_allowed", "disabled", "rejected", "pending_approval"];
