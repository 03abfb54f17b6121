//! Waiting until nothing that configuration caused is under way (SPEC 13.2).

use std::time::Duration;

use serde_json::{Map, Value, json};
use trunkline_pool::interface::words::gate;

use super::running::Standing;
use crate::api::deadline::Deadline;
use crate::api::pool::{KEEPING_WAIT_MAX, Pool, PoolCore};
use crate::{ErrorCode, Result};

impl Pool {
    /// Waits until no pass, no question to the host and no connect that configuration caused is under way, and says how every server that
    /// a source names stands: `{v, servers: {name: {state, reason?, error?, source, file?}}}` with the state `ready`, `failed`,
    /// `refused`, `waiting` (for room in the budget or within a limit, or for a connection to come back) or `off` (switched off, asleep, or wanted by nobody).
    /// Without `timeout` the times for handlers and connects bound it, that of a connect from its turn on (`start_parallel`), and nothing
    /// bounds a file system that is away: it is waited for like them. Until it is known what that says, a server stands as it stood before.
    /// Which tools of approved servers are accepted is kept by then, unless that takes longer than a second more.
    ///
    /// # Errors
    /// `timeout` with `detail.servers`, `closed`, `forked`.
    pub async fn settled(&self, timeout: Option<Duration>) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.settled(timeout).await
    }
}

impl PoolCore {
    async fn settled(&self, timeout: Option<Duration>) -> Result<Value> {
        let deadline = Deadline::after(timeout);
        loop {
            self.until_answered(deadline).await?;
            for session in self.live_sessions() {
                match session.ready(None, deadline.left()).await {
                    // A session that is closed waits for nothing.
                    Err(error) if error.code() != ErrorCode::Closed => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            if !self.sources.is_busy() {
                let left = deadline.left().unwrap_or(KEEPING_WAIT_MAX);
                let patience = left.min(KEEPING_WAIT_MAX);
                self.accepted_is_kept(patience).await;
                return Ok(json!({ "v": 1, "servers": self.states() }));
            }
        }
    }

    /// Waits until the host is asked for nothing.
    async fn until_answered(&self, deadline: Deadline) -> Result<()> {
        self.wait_while(deadline, || self.sources.is_busy()).await.map_err(|error| {
            let running = self.running();
            let waiting = running
                .all_named()
                .filter(|(_, named)| matches!(named.standing, Standing::Waiting(_)));
            let names: Vec<&str> = waiting.map(|(name, _)| name).collect();
            error.with_detail("servers", names)
        })
    }

    /// Waits until it is known what becomes of a server's configuration.
    ///
    /// # Errors
    /// `timeout` with `detail.which` `connect`.
    pub(in crate::api) async fn until_known(&self, server: &str, deadline: Deadline) -> Result<()> {
        // Most often it is known, and to register for a wait takes longer than to look.
        if !self.awaits_the_host(server) {
            return Ok(());
        }
        let waited = self.wait_while(deadline, || self.awaits_the_host(server)).await;
        waited.map_err(|error| error.with_server(server))
    }

    async fn wait_while(&self, deadline: Deadline, holds: impl Fn() -> bool) -> Result<()> {
        loop {
            let mut settled = std::pin::pin!(self.sources.settled.notified());
            // Registered before the look, so that nothing is missed between the look and the wait.
            settled.as_mut().enable();
            if !holds() {
                return Ok(());
            }
            deadline.before(&self.driver.runtime, settled).await?;
        }
    }

    /// How every server that a source names stands.
    fn states(&self) -> Map<String, Value> {
        let status = self.status();
        let rows = status["servers"].as_object().into_iter().flatten();
        let running = self.running();
        let state = |(name, row): (&String, &Value)| {
            let named = running.named(name)?;
            // What is wrong with an entry is what it says now, whatever goes on of an earlier one.
            let (reason, error) = match &named.standing {
                Standing::Invalid(error) => (Some(gate::INVALID_CONFIG), error.to_json()),
                _ => (row["reason"].as_str(), row["last_error"].clone()),
            };
            let state = match (&named.standing, row["state"].as_str(), reason) {
                (Standing::Invalid(_), ..) => "failed",
                (Standing::Waiting(_), ..) => "waiting",
                (Standing::Shut(_), _, Some("disabled")) => "off",
                (Standing::Shut(_), ..) => "refused",
                (Standing::Runs, _, Some("disabled" | "unused" | "asleep")) => "off",
                (Standing::Runs, Some("connected"), _) if row["admitted"] == true => "ready",
                (Standing::Runs, _, _) if row["admitted"] == false => "refused",
                (Standing::Runs, _, Some("budget" | "connecting" | "reconnecting")) => "waiting",
                (Standing::Runs, ..) => "failed",
            };
            let mut out = json!({ "state": state, "source": named.origin.source.to_string() });
            for (member, value) in [
                ("reason", reason.filter(|_| state != "ready").map(Value::from)),
                ("error", Some(error).filter(|_| state == "failed")),
                ("file", named.origin.file.as_deref().map(Value::from)),
            ] {
                if let Some(value) = value.filter(|value| !value.is_null()) {
                    out[member] = value;
                }
            }
            Some((name.clone(), out))
        };
        rows.filter_map(state).collect()
    }
}
