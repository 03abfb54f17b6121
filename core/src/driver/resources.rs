//! Resource subscriptions of an entry, counted by URI: the wire sees the first and the last, and a new connection is told
//! again (SPEC 7.7).

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::sync::{Semaphore, oneshot};
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words::warning_code;
use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::{Generation, SessionId};
use trunkline_pool::text::escaped;

use super::{About, Driver, EntryCell};
use crate::api::SessionCore;
use crate::client::{Connection, Done, Request, RequestId};
use crate::platform;
use crate::{Error, ErrorCode, Outcome, Result};

/// Who wants updates of what, and what the server knows of it.
#[derive(Default)]
pub(crate) struct Resources {
    /// By URI. No map is empty.
    wanted: Mutex<Wanted>,
    /// By URI. Each is held while the server is told of that resource, so that nobody overtakes; what it does not answer for one holds
    /// up no other.
    told: Mutex<HashMap<Box<str>, Line>>,
}

/// What the server was told of one resource.
#[derive(Default)]
struct Line {
    told: Arc<tokio::sync::Mutex<Told>>,
    /// Who has it in their hands.
    users: usize,
}

type Wanted = HashMap<Box<str>, BTreeMap<SessionId, Weak<SessionCore>>>;

/// What the server of one incarnation was told of a resource.
#[derive(Default)]
struct Told {
    generation: Generation,
    knows: Knows,
}

/// What a server knows of the demand for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Knows {
    /// Of none.
    #[default]
    Nothing,
    /// Perhaps of some: whoever told it did not wait for the answer.
    Perhaps,
    /// Of some.
    Demand,
}

/// Who waits until a server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A host, by a call that is counted and limited like any other, and is taken back when it is dropped.
    Host,
    /// Nobody. The end of the connection does not wait for it either.
    Nobody,
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

    /// Whether anybody wants updates of a resource.
    fn is_wanted(&self, uri: &str) -> bool {
        self.wanted().contains_key(uri)
    }

    /// Takes what the server was told of a resource in hand.
    fn told(&self, uri: &str) -> InHand<'_> {
        let mut lines = self.lines();
        let line = lines.entry(uri.into()).or_default();
        line.users += 1;
        InHand { resources: self, uri: uri.into(), told: line.told.clone() }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<Box<str>, Line>> {
        self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What a server was told of a resource, until it is laid down. Where that is nothing, the last lays nothing down.
struct InHand<'a> {
    resources: &'a Resources,
    uri: Box<str>,
    told: Arc<tokio::sync::Mutex<Told>>,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        let mut lines = self.resources.lines();
        let Some(line) = lines.get_mut(&self.uri) else { return };
        line.users -= 1;
        // Nobody else has it locked: who does has it in hand.
        let is_untold = || line.told.try_lock().is_ok_and(|told| told.knows == Knows::Nothing);
        if line.users == 0 && is_untold() {
            lines.remove(&self.uri);
        }
    }
}

impl EntryCell {
    /// Tells the server what it does not know yet about the demand for a resource.
    ///
    /// With a dropped future a subscription is taken back, of which the server may know then; whoever tells it next starts from that.
    pub(crate) async fn tell_demand(
        &self,
        options: &PoolOptions,
        uri: &str,
        asker: Asker,
    ) -> Result<()> {
        let in_hand = self.resources.told(uri);
        let mut told = in_hand.told.lock().await;
        self.tell_demand_by(&mut told, (options, asker), uri).await
    }

    async fn tell_demand_by(
        &self,
        told: &mut Told,
        by: (&PoolOptions, Asker),
        uri: &str,
    ) -> Result<()> {
        let wanted = self.resources.is_wanted(uri);
        let Some((generation, connection)) = self.live_connection() else {
            *told = Told::default();
            return if wanted { Err(not_connected()) } else { Ok(()) };
        };
        if told.generation != generation {
            *told = Told { generation, knows: Knows::Nothing };
        }
        match (wanted, told.knows) {
            (true, Knows::Demand) | (false, Knows::Nothing) => Ok(()),
            (true, Knows::Nothing | Knows::Perhaps) => {
                told.knows = Knows::Perhaps;
                let subscribed = match connection.is_modern() {
                    true => connection.listen(uri).await,
                    false => self.request(&connection, by, ("resources/subscribe", uri)).await,
                };
                told.knows = if subscribed.is_ok() { Knows::Demand } else { Knows::Nothing };
                subscribed
            }
            (false, Knows::Perhaps | Knows::Demand) => {
                told.knows = Knows::Nothing;
                if connection.is_modern() {
                    connection.ignore(uri);
                    return Ok(());
                }
                // What ends a subscription goes out, whatever becomes of who asked.
                let apart = (by.0, Asker::Nobody);
                let sending = self.request(&connection, apart, ("resources/unsubscribe", uri));
                let sent = match by.1 {
                    Asker::Host => sending.await,
                    // Whoever wants the resource next does not wait for a server that answers no end of a subscription.
                    Asker::Nobody => {
                        tokio::time::timeout(END_WAIT, sending).await.unwrap_or(Ok(()))
                    }
                };
                // With the connection the subscription is gone too.
                sent.or_else(|error| match error.code() {
                    ErrorCode::CallInterrupted => Ok(()),
                    _ => Err(error),
                })
            }
        }
    }

    async fn request(
        &self,
        connection: &Connection,
        (options, asker): (&PoolOptions, Asker),
        (method, uri): (&str, &str),
    ) -> Result<()> {
        let params = json!({ "uri": uri }).to_string();
        let timeout = self.spec.call_timeout.unwrap_or(options.call_timeout);
        let idle_timeout = self.spec.call_idle_timeout.unwrap_or(options.call_idle_timeout);
        let (send, receive) = oneshot::channel();
        let request = Request {
            method,
            params: &params,
            // What a subscription leads to is no session's in particular.
            caller: None,
            attempts: None,
            timeout,
            idle_timeout: idle_timeout.min(timeout),
            progress: None,
            reads_here: false,
        };
        let done: Done = Box::new(move |result| drop(send.send(result.map(drop))));
        let _taken_back = match asker {
            Asker::Host => Some(CancelOnDrop::new(connection, connection.start(request, done))),
            Asker::Nobody => {
                connection.start_apart(request, done);
                None
            }
        };
        let lost = |_| Err(Error::new(ErrorCode::Internal, "the request was lost"));
        receive.await.unwrap_or_else(lost)
    }
}

/// Takes a request back, unless it has ended; in a forked child it is the parent's.
struct CancelOnDrop<'a> {
    connection: &'a Connection,
    id: RequestId,
    fork_generation: u64,
}

impl CancelOnDrop<'_> {
    fn new(connection: &Connection, id: RequestId) -> CancelOnDrop<'_> {
        CancelOnDrop { connection, id, fork_generation: platform::fork_generation() }
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.fork_generation == platform::fork_generation() {
            self.connection.cancel(self.id);
        }
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
            let told = |uri: Box<str>| {
                let (driver, cell) = (&driver, &cell);
                async move {
                    let _told = tell(driver, cell, &uri).await;
                }
            };
            stream::iter(uris).for_each_concurrent(TOLD_AT_ONCE, told).await;
        });
    }

    /// A new connection knows of no subscription. What it refuses is asked for again after a while, and then those who want it are
    /// warned; a connection that has gone is another's matter.
    pub(super) fn renew_demand(self: &Arc<Self>, cell: &Arc<EntryCell>) {
        let Some((generation, _)) = cell.live_connection() else { return };
        let uris = cell.resources.uris();
        let (driver, cell) = (Arc::downgrade(self), cell.clone());
        self.spawn(async move {
            let turns = Semaphore::new(TOLD_AT_ONCE);
            let (driver, at, when) = (&driver, (&*cell, generation), (&turns, &RENEWAL_WAITS[..]));
            let renewed = |uri: Box<str>| renew(driver, at, uri, when);
            stream::iter(uris).for_each_concurrent(None, renewed).await;
        });
    }

    /// Whoever wants updates of a resource is told that there will be none.
    fn warn_of_silence(&self, cell: &EntryCell, generation: Generation, uri: &str) {
        let uri_shown = escaped(uri);
        let message =
            format!("the server took no new subscription to `{uri_shown}` after a reconnect");
        let fields = [("code", warning_code::SUBSCRIPTION.into()), ("message", message.into())];
        for session in cell.resources.subscribers(uri) {
            let wants = || cell.resources.is_wanted_by(uri, session.number);
            let about = About::entry(cell, generation);
            self.hub.publish_if(EventKind::Warning, Some(&session), &about, &fields, wants);
        }
    }
}

/// Asks a new connection for one subscription, until it grants it or there is another.
async fn renew(
    driver: &Weak<Driver>,
    (cell, generation): (&EntryCell, Generation),
    uri: Box<str>,
    (turns, waits): (&Semaphore, &[Duration]),
) {
    for wait in waits {
        tokio::time::sleep(*wait).await;
        let _turn = turns.acquire().await;
        if cell.connection(generation).is_none() || tell(driver, cell, &uri).await {
            return;
        }
    }
    if let Some(driver) = driver.upgrade()
        && cell.connection(generation).is_some()
    {
        driver.warn_of_silence(cell, generation, &uri);
    }
}

/// Tells the server about a resource, for nobody who waits; whether it is told, or there is nobody left to tell it for.
async fn tell(driver: &Weak<Driver>, cell: &EntryCell, uri: &str) -> bool {
    let Some(options) = driver.upgrade().map(|driver| driver.options.clone()) else { return true };
    let told = cell.tell_demand(&options, uri, Asker::Nobody).await;
    if let Err(error) = &told {
        tracing::warn!(server = %cell.server, %error, "a resource subscription failed");
    }
    told.is_ok()
}

/// Resources that a server is told of at one time, in the background: enough that a few that it does not answer hold up no other, and no
/// burst.
const TOLD_AT_ONCE: usize = 16;

/// How long an end of a subscription that nobody waits for holds up who wants the same resource.
const END_WAIT: Duration = Duration::from_secs(10);

/// Before each attempt to renew subscriptions: a server that has just come up may be busy for a moment, and what lasts longer is its
/// answer.
const RENEWAL_WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];

fn not_connected() -> Error {
    let error = Error::new(ErrorCode::Unavailable, "the server is not connected now");
    error.with_outcome(Outcome::NotSent)
}
