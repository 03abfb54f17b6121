//! Until when a caller waits.

use std::time::Duration;

use tokio::time::Instant;
use trunkline_pool::interface::words;

use super::Runtime;
use crate::{Error, ErrorCode, Result};

/// The end of one wait, whatever it is for on the way.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    /// Absent for one that waits for as long as it takes.
    at: Option<Instant>,
    timeout: Duration,
}

impl Deadline {
    /// So long from now. Without a time, and with one that no clock reaches, there is no end.
    pub(crate) fn after(timeout: Option<Duration>) -> Deadline {
        let at = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Deadline { at, timeout: timeout.unwrap_or_default() }
    }

    /// What is left until then, where there is an end.
    pub(crate) fn left(self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// What comes before it. Dropping the future drops what was coming.
    ///
    /// # Errors
    /// `timeout` with `detail.which` `connect`.
    pub(crate) async fn before<T>(
        self,
        runtime: &Runtime,
        coming: impl Future<Output = T>,
    ) -> Result<T> {
        let Some(at) = self.at else { return Ok(coming.await) };
        tokio::select! {
            biased;
            came = coming => Ok(came),
            () = runtime.sleep_until(at) => Err(self.passed()),
        }
    }

    /// The error of a wait that was too long.
    fn passed(self) -> Error {
        let millis = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        Error::new(ErrorCode::Timeout, format!("the server was not connected within {millis} ms"))
            .with_detail("which", words::deadline::CONNECT)
            .with_detail("timeout_ms", millis)
            .with_hint("raise `timeout_ms` of the acquire if the server is only slow; its status says what it is at")
    }
}
