//! The reports of what a pool was asked to do.

use std::collections::HashMap;

use serde_json::{Value, json};
use trunkline_pool::state::{DrainReport, EntryId, RestartRefusal, RestartReport};

use crate::driver::Driver;
use crate::{Error, ErrorCode};

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
                if error.code() == ErrorCode::AuthRequired {
                    row["reason"] = "auth_required".into();
                }
            }
        }
    }
    row
}

/// The row of a restart's answer for what is not to run: an entry, or a server that has none.
pub(super) fn restart_refused(index: Option<u32>, reason: &str, error: Option<&Error>) -> Value {
    let mut row = json!({ "entry_index": index, "restarted": false, "reason": reason });
    if let Some(error) = error {
        row["error"] = error.to_json();
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
