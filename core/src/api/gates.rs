//! The gates of a pool, as the host sets them (SPEC 11).

use serde_json::{Map, Value, json};
use trunkline_pool::gates::{Facts, GateLists};
use trunkline_pool::state::Gate;

use super::pool::{Pool, PoolCore};
use super::wanted::follow_together;
use crate::Result;

impl Pool {
    /// Replaces the lists of servers that may run, within what `launch_allowed` bounds. What is no longer admitted ends at once,
    /// its tools go, and asking for it is `not_admitted` with the reason; what is admitted again starts in the sessions that
    /// want it. A lease on what was kept out stays closed: acquire it again. Equal lists do nothing. Returns as soon as that is under way, with the report
    /// `{v, servers: {name: {admitted, reason?}}}` of the servers about which it changed.
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
    fn set_gates(&self, lists: GateLists) -> Value {
        let before = self.admission();
        self.driver.set_gates(lists);
        // Each session takes what is newest when its turn comes, as after a reconcile.
        let sessions = self.live_sessions();
        let cores: Vec<_> = sessions.iter().map(|session| session.core().clone()).collect();
        follow_together(&cores);
        let mut report = self.admission();
        report.retain(|name, row| before.get(name) != Some(row));
        json!({ "v": 1, "servers": report })
    }

    /// What the gates say of every server that is configured or has something running.
    fn admission(&self) -> Map<String, Value> {
        let gates = self.driver.gates();
        let row = |name: &str| match gates.decide(&Facts::of_name(name)) {
            Gate::Open => json!({ "admitted": true }),
            Gate::Shut(reason) => json!({ "admitted": false, "reason": reason.as_str() }),
        };
        let configured = self.servers().into_iter().map(|(name, _)| name.into_string());
        let entries = self.driver.entries().into_iter().map(|(_, cell)| cell.server.to_string());
        configured.chain(entries).map(|name| (name.clone(), row(&name))).collect()
    }

    /// # Errors
    /// `not_admitted` with the reason.
    pub(super) fn check_admitted(&self, server: &str) -> Result<()> {
        let gate = self.driver.gates().decide(&Facts::of_name(server));
        gate.check().map_err(|error| error.with_server(server))
    }
}
