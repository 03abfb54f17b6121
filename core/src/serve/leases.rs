//! The servers that a served client uses, each held once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use trunkline_pool::options::{AcquireOptions, CallOptions, LogLevel};
use trunkline_pool::state::EntryState;

use crate::{Error, ErrorCode, Lease, Result, Session};

/// Its leases, by the names of their servers.
#[derive(Default)]
pub(super) struct Leases(Mutex<HeldServers>);

#[derive(Default)]
struct HeldServers {
    leases: BTreeMap<String, Arc<Lease>>,
    /// How much it wants to hear of their logs.
    level: Option<LogLevel>,
    is_over: bool,
}

impl Leases {
    /// The lease of a server that is of use.
    pub(super) fn held(&self, server: &str) -> Option<Arc<Lease>> {
        self.inner().leases.get(server).filter(|lease| is_of_use(lease)).cloned()
    }

    /// The same, which waits for the server.
    ///
    /// # Errors
    /// Those of [`Session::acquire`].
    pub(super) async fn lease(&self, session: &Session, server: &str) -> Result<Arc<Lease>> {
        if let Some(lease) = self.held(server) {
            return Ok(lease);
        }
        let mut options = AcquireOptions::default();
        options.log_level = self.inner().level;
        let lease = Arc::new(session.acquire(server, None, &options).await?);
        let mut inner = self.inner();
        if inner.is_over {
            drop(inner);
            let error = Error::new(ErrorCode::Closed, "the client is gone");
            return Err(error.with_server(server));
        }
        // Another call may have come first.
        let other = inner.leases.get(server).filter(|lease| is_of_use(lease)).cloned();
        let (lease, unneeded) = match other {
            Some(other) => (other, Some(lease)),
            None => {
                let before = inner.leases.insert(server.to_owned(), lease.clone());
                (lease, before)
            }
        };
        drop(inner);
        drop(unneeded);
        Ok(lease)
    }

    /// The client wants to hear so much of every log.
    pub(super) fn set_level(&self, level: LogLevel) {
        let leases: Vec<Arc<Lease>> = {
            let mut inner = self.inner();
            inner.level = Some(level);
            inner.leases.values().cloned().collect()
        };
        let params = json!({ "level": level.as_str() }).to_string();
        for lease in leases {
            let server = lease.server().to_owned();
            lease.start_request(
                "logging/setLevel",
                &params,
                &CallOptions::default(),
                move |told| {
                    if let Err(error) = told {
                        tracing::debug!(%server, %error, "the server was not told of a log level");
                    }
                },
            );
        }
    }

    /// Gives everything up, for good.
    pub(super) fn give_up(&self) {
        let leases = {
            let mut inner = self.inner();
            inner.is_over = true;
            std::mem::take(&mut inner.leases)
        };
        drop(leases);
    }

    fn inner(&self) -> MutexGuard<'_, HeldServers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that was given up, or whose server failed, is acquired anew.
fn is_of_use(lease: &Lease) -> bool {
    !matches!(lease.state(), EntryState::Closed | EntryState::Failed)
}
