//! The drain of a pool, and its report (SPEC 9.7).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use trunkline_pool::options::DrainOptions;
use trunkline_pool::state::{DrainMode, DrainReport, PoolInput};

use super::PoolCore;
use crate::driver::{Driver, TicketReply};

impl PoolCore {
    pub(crate) async fn drain(&self, options: &DrainOptions) -> Value {
        let (send, receive) = oneshot::channel();
        let timeout = options.timeout.unwrap_or(self.driver.options.close_timeout);
        self.ask_drain(options.mode, timeout, move |answered| drop(send.send(answered)));
        match receive.await {
            Ok(TicketReply::Drained(report)) => report_of(&self.driver, &report),
            _ => json!({ "v": 1, "drained": 0, "forced": 0, "errors": [] }),
        }
    }

    pub(crate) fn ask_drain(
        &self,
        how: DrainMode,
        timeout: Duration,
        answer: impl FnOnce(TicketReply) + Send + 'static,
    ) {
        let deadline = self.driver.moment_after(timeout);
        self.driver.ask(|ticket, _| PoolInput::Drain { ticket, how, deadline }, Box::new(answer));
    }
}

/// The answer to a drain.
fn report_of(driver: &Driver, report: &DrainReport) -> Value {
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
