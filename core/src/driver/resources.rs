//! Resource subscriptions of an entry, counted by URI: the wire sees the first and the last, and a new connection is told
//! again (SPEC 7.7).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use serde_json::json;
use tokio::sync::oneshot;
use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::{Generation, SessionId};

use super::{Driver, EntryCell};
use crate::api::SessionCore;
use crate::client::{Connection, Request};
use crate::{Error, ErrorCode, Outcome, Result};

/// Who wants updates of what, and what the server knows of it.
#[derive(Default)]
pub(crate) struct Resources {
    /// By URI. No map is empty.
    wanted: Mutex<Wanted>,
    /// Held while the server is told, so that nobody overtakes.
    told: tokio::sync::Mutex<Told>,
}

type Wanted = HashMap<Box<str>, BTreeMap<SessionId, Weak<SessionCore>>>;

/// What the server of one incarnation was told.
#[derive(Default)]
struct Told {
    generation: Generation,
    uris: HashSet<Box<str>>,
}

impl Resources {
    /// A session wants updates of a resource; whether it did not before.
    pub(crate) fn want(&self, uri: &str, session: &Arc<SessionCore>) -> bool {
        let mut wanted = self.wanted();
        let sessions = wanted.entry(uri.into()).or_default();
        sessions.insert(session.number, Arc::downgrade(session)).is_none()
    }

    /// A session no longer wants updates of a resource.
    pub(crate) fn unwant(&self, uri: &str, session: SessionId) {
        let mut wanted = self.wanted();
        if let Some(sessions) = wanted.get_mut(uri) {
            sessions.remove(&session);
            if sessions.is_empty() {
                wanted.remove(uri);
            }
        }
    }

    /// A session wants nothing any more; the resources that nobody wants then.
    pub(super) fn unwant_all(&self, session: SessionId) -> Vec<Box<str>> {
        let mut unwanted = Vec::new();
        self.wanted().retain(|uri, sessions| {
            sessions.remove(&session);
            if sessions.is_empty() {
                unwanted.push(uri.clone());
            }
            !sessions.is_empty()
        });
        unwanted
    }

    /// The sessions that want updates of a resource.
    pub(super) fn subscribers(&self, uri: &str) -> Vec<Arc<SessionCore>> {
        let wanted = self.wanted();
        let sessions = wanted.get(uri).into_iter().flat_map(BTreeMap::values);
        sessions.filter_map(Weak::upgrade).collect()
    }

    /// Whether a session wants updates of a resource.
    pub(super) fn is_wanted_by(&self, uri: &str, session: SessionId) -> bool {
        self.wanted().get(uri).is_some_and(|sessions| sessions.contains_key(&session))
    }

    /// The resources that somebody wants updates of.
    pub(super) fn uris(&self) -> Vec<Box<str>> {
        self.wanted().keys().cloned().collect()
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl EntryCell {
    /// Tells the server what it does not know yet about the demand for a resource.
    ///
    /// A dropped future leaves the server told; whoever tells it next starts from that.
    pub(crate) async fn tell_demand(&self, options: &PoolOptions, uri: &str) -> Result<()> {
        let mut told = self.resources.told.lock().await;
        let wanted = self.resources.wanted().contains_key(uri);
        let Some((generation, connection)) = self.live_connection() else {
            return if wanted { Err(not_connected()) } else { Ok(()) };
        };
        if told.generation != generation {
            *told = Told { generation, uris: HashSet::new() };
        }
        if wanted == told.uris.contains(uri) {
            return Ok(());
        }
        if !wanted {
            told.uris.remove(uri);
            if connection.is_modern() {
                connection.ignore(uri);
                return Ok(());
            }
            let sent = request(&connection, options, "resources/unsubscribe", uri).await;
            // With the connection the subscription is gone too.
            return sent.or_else(|error| match error.code() {
                ErrorCode::CallInterrupted => Ok(()),
                _ => Err(error),
            });
        }
        told.uris.insert(uri.into());
        let subscribed = match connection.is_modern() {
            true => connection.listen(uri).await,
            false => request(&connection, options, "resources/subscribe", uri).await,
        };
        if subscribed.is_err() {
            told.uris.remove(uri);
        }
        subscribed
    }
}

impl Driver {
    /// Tells the server about these resources, in the background.
    pub(crate) fn tell_demand_later(self: &Arc<Self>, cell: &Arc<EntryCell>, uris: Vec<Box<str>>) {
        if uris.is_empty() {
            return;
        }
        let (driver, cell) = (Arc::downgrade(self), cell.clone());
        self.spawn(async move {
            for uri in uris {
                let Some(options) = driver.upgrade().map(|driver| driver.options.clone()) else {
                    return;
                };
                if let Err(error) = cell.tell_demand(&options, &uri).await {
                    tracing::warn!(server = %cell.server, %error, "a resource subscription failed");
                }
            }
        });
    }

    /// A new connection knows of no subscription.
    pub(super) fn renew_demand(self: &Arc<Self>, cell: &Arc<EntryCell>) {
        self.tell_demand_later(cell, cell.resources.uris());
    }
}

async fn request(
    connection: &Connection,
    options: &PoolOptions,
    method: &str,
    uri: &str,
) -> Result<()> {
    let params = json!({ "uri": uri }).to_string();
    let (timeout, idle_timeout) = (options.call_timeout, options.call_idle_timeout);
    let (send, receive) = oneshot::channel();
    let request = Request {
        method,
        params: &params,
        // What a subscription leads to is no session's in particular.
        caller: None,
        attempts: None,
        timeout,
        idle_timeout,
        progress: None,
        reads_here: false,
    };
    connection.start(request, Box::new(move |result| drop(send.send(result.map(drop)))));
    let lost = |_| Err(Error::new(ErrorCode::Internal, "the request was lost"));
    receive.await.unwrap_or_else(lost)
}

fn not_connected() -> Error {
    let error = Error::new(ErrorCode::Unavailable, "the server is not connected now");
    error.with_outcome(Outcome::NotSent)
}
