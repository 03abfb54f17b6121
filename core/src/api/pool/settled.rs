//! Waiting until nothing that configuration caused is under way (SPEC 13.2).

use std::time::Duration;

use serde_json::{Map, Value, json};
use trunkline_pool::interface::words::gate;

use super::{KEEPING_WAIT_MAX, Pool, PoolCore};
use crate::api::session::Session;
use crate::config::ConfigStatus;
use crate::runtime::deadline::Deadline;
use crate::{ErrorCode, Result};

impl Pool {
    /// Waits until no pass, no question to the host and no connect that configuration caused is
    /// under way. Says how every server stands that a source names: `{v, servers: {name: {state,
    /// reason?, error?, source, file?}}}` with the state `ready`, `failed`, `refused`, `waiting`
    /// (for room in the budget or within a limit, or for a connection to come back) or `off`
    /// (switched off, asleep, or wanted by nobody). Without `timeout` the times for handlers and
    /// connects bound it, that of a connect from its turn on (`start_parallel`). Nothing bounds a
    /// file system that is away: it is waited for like them. Until it is known what that says, a
    /// server stands as it stood before. Which tools of approved servers are accepted is kept by
    /// then, unless that takes longer than a second more.
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
            self.config.until_answered(deadline).await?;
            for session in self.sessions.live_sessions().into_iter().map(Session::of) {
                match session.ready(None, deadline.left()).await {
                    // A session that is closed waits for nothing.
                    Err(error) if error.code() != ErrorCode::Closed => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            if !self.config.is_busy() {
                let left = deadline.left().unwrap_or(KEEPING_WAIT_MAX);
                let patience = left.min(KEEPING_WAIT_MAX);
                self.config.accepted_is_kept(patience).await;
                return Ok(json!({ "v": 1, "servers": self.states() }));
            }
        }
    }

    /// How every server that a source names stands.
    fn states(&self) -> Map<String, Value> {
        let status = self.parts().status();
        let rows = status["servers"].as_object().into_iter().flatten();
        let running = self.config.running();
        let state = |(name, row): (&String, &Value)| {
            let named = running.named(name)?;
            // What is wrong with an entry is what it says now, whatever goes on of an earlier one.
            let (reason, error) = match &named.standing {
                ConfigStatus::Invalid(error) => (Some(gate::INVALID_CONFIG), error.to_json()),
                _ => (row["reason"].as_str(), row["last_error"].clone()),
            };
            let state = match (&named.standing, row["state"].as_str(), reason) {
                (ConfigStatus::Invalid(_), ..) => "failed",
                (ConfigStatus::Waiting(_), ..) => "waiting",
                (ConfigStatus::Shut(_), _, Some("disabled")) => "off",
                (ConfigStatus::Shut(_), ..) => "refused",
                (ConfigStatus::Runs, _, Some("disabled" | "unused" | "asleep")) => "off",
                (ConfigStatus::Runs, Some("connected"), _) if row["admitted"] == true => "ready",
                (ConfigStatus::Runs, _, _) if row["admitted"] == false => "refused",
                (ConfigStatus::Runs, _, Some("budget" | "connecting" | "reconnecting")) => {
                    "waiting"
                }
                (ConfigStatus::Runs, ..) => "failed",
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
