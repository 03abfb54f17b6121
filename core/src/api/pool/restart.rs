//! Restarts of a server's entries, and their reports (SPEC 9.1).

use serde_json::{Value, json};
use tokio::sync::oneshot;
use trunkline_pool::state::{PoolInput, RestartRefusal, RestartReport};

use super::PoolCore;
use crate::driver::TicketReply;
use crate::session::lease::lease_state::DISABLED;
use crate::session::session_core::PoolSessions;
use crate::{Error, ErrorCode, Result};

impl PoolCore {
    pub(crate) async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        if let Some(rows) = self.restart_of_disabled(server, index) {
            return Ok(json!({ "v": 1, "entries": rows }));
        }
        let gate = if index.is_none() {
            self.sessions.start_what_failed(server);
            self.restart_gate(server)
        } else {
            None
        };
        let Some(server) = self.driver.known_server(server) else {
            return Ok(json!({ "v": 1, "entries": gate.as_slice() }));
        };
        let (send, receive) = oneshot::channel();
        let answer = move |answered| drop(send.send(answered));
        self.driver.ask(|ticket, _| PoolInput::Restart { ticket, server, index }, Box::new(answer));
        match receive.await {
            Ok(TicketReply::Restarted(reports)) => {
                let mut rows: Vec<Value> = reports.iter().map(report_of).collect();
                if rows.is_empty() {
                    rows.extend(gate);
                }
                Ok(json!({ "v": 1, "entries": rows }))
            }
            Ok(TicketReply::Refused(error)) => Err(error),
            Ok(_) | Err(_) => Err(Error::new(ErrorCode::Internal, "the pool gave no answer")),
        }
    }

    /// The rows of a server that nobody holds because it is switched off, or because sessions do
    /// without it; nothing of any other.
    fn restart_of_disabled(&self, server: &str, index: Option<u32>) -> Option<Vec<Value>> {
        let is_off = self.config.is_switched_off(server);
        if !is_off && !self.sessions.disabled_by().contains_key(server) {
            return None;
        }
        let entries = self.driver.entries().into_iter();
        let (rows, _): (Vec<_>, Vec<_>) =
            entries.filter(|(_, cell)| &*cell.server == server).unzip();
        if rows.iter().any(|row| row.refs > 0 || row.waiters > 0) {
            return None;
        }
        let asked = rows.iter().filter(|row| index.is_none_or(|index| index == row.index));
        let row = |entry_index| refused(entry_index, DISABLED, None);
        let mut answer: Vec<Value> = asked.map(|entry| row(Some(entry.index))).collect();
        if rows.is_empty() && index.is_none() {
            answer.push(row(None));
        }
        Some(answer)
    }

    /// Why a server has no entry that could be restarted, as a row of the answer.
    fn restart_gate(&self, server: &str) -> Option<Value> {
        let error = match self.config.configured(server) {
            Ok(_) => self.config.check_admitted(server).err()?,
            Err(error) if self.config.running().named(server).is_some() => error,
            Err(_) => return None,
        };
        Some(refused(None, "not_admitted", Some(&error)))
    }
}

/// One row of a restart's answer.
fn report_of(report: &RestartReport) -> Value {
    let mut row = json!({ "entry_index": report.index, "restarted": report.result.is_ok() });
    match &report.result {
        Ok(duration) => {
            row["duration_ms"] = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into();
        }
        Err(refusal) => {
            row["reason"] = refusal.as_str().into();
            if let RestartRefusal::Failed(error) = refusal {
                row["error"] = error.to_json();
                if error.code() == ErrorCode::AuthRequired {
                    row["reason"] = "auth_required".into();
                }
            }
        }
    }
    row
}

/// The row of a restart's answer for what is not to run: an entry, or a server that has none.
pub(crate) fn refused(index: Option<u32>, reason: &str, error: Option<&Error>) -> Value {
    let mut row = json!({ "entry_index": index, "restarted": false, "reason": reason });
    if let Some(error) = error {
        row["error"] = error.to_json();
    }
    row
}
