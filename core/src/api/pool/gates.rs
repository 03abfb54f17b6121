//! The gates of a pool, as the host sets them (SPEC 11).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::approvals::Replaced;
use trunkline_pool::gates::{Facts, GateLists};
use trunkline_pool::interface::words;
use trunkline_pool::state::Gate;

use super::{Pool, PoolCore};
use crate::config::ServerRecord;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::session::session_core::SessionCore;
use crate::{Error, ErrorCode, Result};

impl Pool {
    /// Replaces the lists of servers that may run, within what `launch_allowed` bounds. What is no
    /// longer admitted ends at once, its tools go, and asking for it is `not_admitted` with the
    /// reason; what is admitted again starts in the sessions that want it. A lease on what was kept
    /// out stays closed: acquire it again. Equal lists do nothing. Returns as soon as that is under
    /// way, with the report `{v, servers: {name: {admitted, reason?}}}` of the servers about which
    /// it changed.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub fn set_gates(&self, lists: GateLists) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        Ok(self.0.set_gates(lists))
    }
}

impl PoolCore {
    fn set_gates(self: &Arc<Self>, lists: GateLists) -> Value {
        let before = self.admission();
        self.config.set_host_lists(lists);
        let mut report = self.admission();
        report.retain(|name, row| before.get(name) != Some(row));
        json!({ "v": 1, "servers": report })
    }

    /// What the gates say of every server that is configured or has something running.
    fn admission(&self) -> Map<String, Value> {
        // Before the lock of what runs, which the driver's comes before.
        let (gates, entries) = (self.driver.gates(), self.driver.entries());
        let running = self.config.running();
        let row = |name: &str| {
            let by_name = gates.decide(&Facts::of_name(name));
            match running.named(name).map(ServerRecord::gate).unwrap_or_default().and(by_name) {
                Gate::Open => json!({ "admitted": true }),
                Gate::Shut(reason) => json!({ "admitted": false, "reason": reason.as_str() }),
            }
        };
        let configured = running.all_named().map(|(name, _)| name.to_owned());
        let entries = entries.into_iter().map(|(_, cell)| cell.server.to_string());
        configured.chain(entries).map(|name| (name.clone(), row(&name))).collect()
    }
}

impl SessionCore {
    /// The same error, first with what of its program is another, of a server that waits for
    /// approval because of that (SPEC 12.12).
    pub(crate) fn as_replaced(&self, server: &str, error: Error) -> Error {
        let waits = words::gate::PENDING_APPROVAL;
        let reason = error.detail().get("reason").and_then(|reason| reason.as_str());
        if error.code() != ErrorCode::NotAdmitted || reason != Some(waits) {
            return error;
        }
        let Some(replaced) = self.replaced(server) else { return error };
        let message = format!("{}, so that the server waits for approval", replaced.clause());
        let told = Error::new(ErrorCode::NotAdmitted, message).with_detail("reason", waits);
        self.named(server, told.with_detail("replaced", replaced.to_json()))
    }

    /// How the program of what it has of a server is another than was looked at, if it is.
    pub(crate) fn replaced(&self, server: &str) -> Option<Replaced> {
        match self.either_spec(server) {
            Ok(configured) => configured.authority.replaced(),
            Err(_) => self.config.replaced(server),
        }
    }

    /// What keeps a server of the pool's out of this session: the lists, and what is decided of the
    /// configuration that it has of it.
    pub(crate) fn gate_of(&self, name: &str) -> Gate {
        self.gate_by(name, self.spec(name, ConfigOwner::Pool).ok().as_deref())
    }

    /// The same, by the configuration that it has of it.
    pub(crate) fn gate_by(&self, name: &str, configured: Option<&ResolvedServer>) -> Gate {
        let decided = match configured {
            Some(configured) => configured.authority.gate(),
            None => self.config.running().named(name).map(ServerRecord::gate).unwrap_or_default(),
        };
        self.driver.gates().decide(&Facts::of_name(name)).and(decided)
    }
}
