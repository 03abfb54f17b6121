//! The start of a session: waiting until its servers are there, and no longer than the start gate
//! (SPEC 14.1).
//!
//! `started` is a verb beside `ready`: an option of `ready` would give one time-out two meanings.

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use trunkline_pool::state::EntryState;

use super::{DemandState, ServerDemand};
use crate::session::session_core::SessionCore;
use crate::{Error, ErrorCode, Result};

impl SessionCore {
    pub(crate) async fn started(self: &std::sync::Arc<Self>) -> Result<Value> {
        let gate = self.opened + self.driver.options.start_gate;
        let left = gate.saturating_duration_since(Instant::now());
        match self.ready(None, Some(left)).await {
            Err(error) if error.code() != ErrorCode::Timeout => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Ok(json!({ "v": 1, "servers": self.standings()? }))
    }

    /// How every server stands that is wanted.
    fn standings(&self) -> Result<Map<String, Value>> {
        let tools = self.view()?.tools.clone();
        let deferred = |server: &str| {
            let is_it = |tool: &&crate::session::view::list::ListedItem| {
                tool.deferred && &*tool.server == server
            };
            tools.iter().filter(is_it).count()
        };
        let mut standings = Map::new();
        for (name, want) in &self.wants().servers {
            let (state, error) = self.standing(name, want);
            let mut out = json!({ "state": state });
            if matches!(state, "waiting" | "asleep") {
                out["deferred"] = deferred(name).into();
            }
            if let Some(error) = error {
                out["error"] = self.named(name, error).to_json();
            }
            standings.insert(name.to_string(), out);
        }
        Ok(standings)
    }

    fn standing(&self, name: &str, want: &ServerDemand) -> (&'static str, Option<Error>) {
        match &want.state {
            _ if self.has_connected(name) => ("ready", None),
            DemandState::Looking | DemandState::Pending | DemandState::Over => ("waiting", None),
            DemandState::Waiting(error) => ("waiting", Some(error.clone())),
            DemandState::Failed(error) => ("failed", Some(error.clone())),
            DemandState::Asleep(error) => ("asleep", error.clone()),
            DemandState::Ready(hold) => {
                // Without a hold the session is being closed, or does without the server from now
                // on.
                let Some(held) = self.holds.held(*hold) else { return ("waiting", None) };
                let slot = &held.cell().load_full().slot;
                if slot.state.is_connected() {
                    return ("ready", None);
                }
                match slot.state {
                    EntryState::Spawning | EntryState::Reconnecting => ("waiting", None),
                    _ => ("failed", slot.error.clone()),
                }
            }
        }
    }
}
