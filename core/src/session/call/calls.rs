//! The calls that a session has under way.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use trunkline_pool::id_map::IdMap;
use trunkline_pool::interface::words;

use super::usage::SessionUsage;
use crate::base::usage::CallEnd;
use crate::client::{Connection, RequestId};
use crate::{Error, ErrorCode, Result};

/// The calls of a session that are under way, so that its end can cancel them (SPEC 3.12).
#[derive(Default)]
pub(crate) struct Calls {
    inner: Mutex<CallTable>,
}

#[derive(Default)]
struct CallTable {
    last: u64,
    closed: bool,
    calls: IdMap<u64, Option<CallHandle>>,
    usage: SessionUsage,
}

impl Calls {
    /// The number of a call that may begin, where so many may be in flight.
    pub(crate) fn begin(&self, limit: u32, closed: impl FnOnce() -> Error) -> Result<u64> {
        let mut inner = self.inner();
        if inner.closed {
            return Err(closed());
        }
        if inner.calls.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            let message = format!(
                "the session has {limit} calls in flight, as many as `limits.in_flight_per_session` allows"
            );
            let error = Error::new(ErrorCode::Limit, message);
            return Err(error.with_detail("limit", words::limit::IN_FLIGHT_PER_SESSION));
        }
        inner.last += 1;
        let number = inner.last;
        inner.calls.insert(number, None);
        Ok(number)
    }

    /// The call is on its way; whether the session was closed meanwhile.
    pub(crate) fn started(&self, number: u64, started: &CallHandle) -> bool {
        let mut inner = self.inner();
        if let Some(call) = inner.calls.get_mut(&number) {
            *call = Some(started.clone());
        }
        inner.closed
    }

    /// The call has ended, and counts as one.
    pub(crate) fn end(&self, number: u64, ended: CallEnd) {
        let mut inner = self.inner();
        inner.calls.remove(&number);
        inner.usage.count(ended);
    }

    /// What its calls came to, for the status; nothing of a session that made none.
    pub(crate) fn usage(&self, session: &str) -> Option<Value> {
        let inner = self.inner();
        (inner.last > 0).then(|| inner.usage.to_json(session, inner.last, inner.calls.len()))
    }

    /// Cancels everything, and refuses what comes later.
    pub(crate) fn close(&self) {
        let calls: Vec<_> = {
            let mut inner = self.inner();
            inner.closed = true;
            inner.calls.values().flatten().cloned().collect()
        };
        calls.iter().for_each(CallHandle::cancel);
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, CallTable> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A call that was begun.
#[derive(Clone)]
pub(crate) enum CallHandle {
    /// A request on the wire.
    Once(Connection, RequestId),
    /// One that may outlive a connection, or waits for its server.
    Lasting(Arc<dyn CancelCall>),
}

/// A call that is more than one request, or none yet.
pub(crate) trait CancelCall: Send + Sync {
    /// Ends it with `cancelled`, unless it ended.
    fn cancel(&self);
}

impl CallHandle {
    /// Reads its answer on this thread, if nobody else needs to read.
    pub(crate) fn read_here(&self) {
        match self {
            CallHandle::Once(connection, id) => connection.read_here(*id),
            CallHandle::Lasting(_) => {}
        }
    }

    /// Ends it with `cancelled`, unless it ended.
    pub(crate) fn cancel(&self) {
        match self {
            CallHandle::Once(connection, id) => connection.cancel(*id),
            CallHandle::Lasting(call) => call.cancel(),
        }
    }
}
