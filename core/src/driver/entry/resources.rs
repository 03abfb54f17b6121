//! Resource subscriptions of an entry, counted by URI: the wire sees the first and the last, and a
//! new connection is told again (SPEC 7.7).
//!
//! The end of a subscription runs as a task that no caller can drop. It holds the resource's line
//! until the server has answered, for ten seconds at most.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::sync::{Semaphore, oneshot};
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words::{self, warning_code};
use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::Generation;
use trunkline_pool::text::escaped;

pub(crate) use super::resource_demands::{Asking, Resources};
use super::resource_demands::{Knows, ServerKnowledge};
use crate::client::{Connection, OutgoingRequest, ReplyCallback, RequestId};
use crate::driver::{Driver, EntryCell};
use crate::events::EventSubject;
use crate::platform;
use crate::runtime::Runtime;
use crate::{Error, ErrorCode, Outcome, Result};

/// Who waits until a server is told.
pub(crate) enum Asker<'a> {
    /// A host that wants something, by a call that is counted and limited like any other, and is
    /// taken back when it is dropped.
    Host(&'a Runtime),
    /// The session that listens here, while somebody does. The end of the connection does not wait
    /// for it, and nothing takes it back.
    Listener(&'a mut oneshot::Sender<Result<()>>),
    /// Nobody. The end of the connection does not wait for it either.
    Nobody,
}

impl EntryCell {
    /// Tells the server what it does not know yet about the demand for a resource.
    ///
    /// With a dropped future a subscription is taken back that the server may know by then; the
    /// next message to it starts from that.
    ///
    /// # Errors
    /// `timeout` for a host at the end of its time, which is one for the wait until others were
    /// answered and for its own request; else those of the request.
    pub(crate) async fn tell_demand(
        &self,
        options: &PoolOptions,
        uri: &str,
        asker: Asker<'_>,
    ) -> Result<()> {
        let in_hand = self.resources.told(uri);
        let timeout = self.call_timeout(options);
        let host = match asker {
            Asker::Host(runtime) => Some(runtime),
            Asker::Listener(_) | Asker::Nobody => None,
        };
        let mut outcome = Outcome::NotSent;
        let telling = async {
            let mut told = in_hand.told.lock().await;
            outcome = Outcome::Unknown;
            self.tell_demand_by(&mut told, (options, timeout, asker), uri).await
        };
        let Some(runtime) = host else { return telling.await };
        let told = in_time(runtime, timeout, telling).await;
        told.unwrap_or_else(|| Err(overdue(timeout).with_outcome(outcome)))
    }

    async fn tell_demand_by(
        &self,
        told: &mut ServerKnowledge,
        (options, timeout, asker): (&PoolOptions, Duration, Asker<'_>),
        uri: &str,
    ) -> Result<()> {
        let wanted = self.resources.is_wanted(uri);
        let Some((generation, connection)) = self.live_connection() else {
            *told = ServerKnowledge::default();
            return if wanted { Err(not_connected()) } else { Ok(()) };
        };
        if told.generation != generation {
            *told = ServerKnowledge { generation, knows: Knows::Nothing };
        }
        let times = (timeout, self.spec.call_idle_timeout.unwrap_or(options.call_idle_timeout));
        match (wanted, told.knows) {
            (true, Knows::Demand) | (false, Knows::Nothing) => Ok(()),
            (true, Knows::Nothing | Knows::Perhaps) => {
                told.knows = Knows::Perhaps;
                let is_host = matches!(asker, Asker::Host(_));
                let subscribe = ("resources/subscribe", uri);
                let subscribed = match connection.is_modern() {
                    true => connection.listen(uri).await,
                    false => request(&connection, times, is_host, subscribe).await,
                };
                told.knows = match &subscribed {
                    Ok(()) => Knows::Demand,
                    // It may be granted yet, as one that is dropped.
                    Err(error) if error.code() == ErrorCode::Timeout => Knows::Perhaps,
                    Err(_) => Knows::Nothing,
                };
                subscribed
            }
            // Who took away what it wanted tells that, and cannot be dropped over it.
            (false, Knows::Perhaps | Knows::Demand) if matches!(asker, Asker::Host(_)) => Ok(()),
            (false, Knows::Perhaps | Knows::Demand) => {
                told.knows = Knows::Nothing;
                if connection.is_modern() {
                    connection.ignore(uri);
                    return Ok(());
                }
                // What ends a subscription goes out, whatever becomes of the caller. The next
                // session that wants the resource waits for the answer, but not long for one that
                // nobody else waits for.
                let unsubscribe = ("resources/unsubscribe", uri);
                let sent = tokio::select! {
                    biased;
                    sent = request(&connection, times, false, unsubscribe) => sent,
                    () = alone_for(asker, END_WAIT) => Ok(()),
                };
                // With the connection the subscription is gone too.
                sent.or_else(|error| match error.code() {
                    ErrorCode::CallInterrupted => Ok(()),
                    _ => Err(error),
                })
            }
        }
    }

    fn call_timeout(&self, options: &PoolOptions) -> Duration {
        self.spec.call_timeout.unwrap_or(options.call_timeout)
    }
}

/// Sends a request about a resource; a host's is taken back when it is dropped.
async fn request(
    connection: &Connection,
    (timeout, idle_timeout): (Duration, Duration),
    is_host: bool,
    (method, uri): (&str, &str),
) -> Result<()> {
    let params = json!({ "uri": uri }).to_string();
    let (send, receive) = oneshot::channel();
    let request = OutgoingRequest {
        method,
        params: &params,
        has_own_meta: false,
        // What a subscription leads to is no session's in particular.
        caller: None,
        attempts: None,
        timeout,
        idle_timeout: idle_timeout.min(timeout),
        progress: None,
        reads_here: false,
        relayed: None,
    };
    let done: ReplyCallback = Box::new(move |result| drop(send.send(result.map(drop))));
    let _taken_back = match is_host {
        true => Some(ResourceRequestGuard::new(connection, connection.start(request, done))),
        false => {
            connection.start_apart(request, done);
            None
        }
    };
    let lost = |_| Err(Error::new(ErrorCode::Internal, "the request was lost"));
    receive.await.unwrap_or_else(lost)
}

/// So long after nobody listens any more.
async fn alone_for(asker: Asker<'_>, wait: Duration) {
    if let Asker::Listener(listener) = asker {
        listener.closed().await;
    }
    tokio::time::sleep(wait).await;
}

/// What comes within this time.
async fn in_time<T>(
    runtime: &Runtime,
    timeout: Duration,
    coming: impl Future<Output = T>,
) -> Option<T> {
    let Some(at) = tokio::time::Instant::now().checked_add(timeout) else {
        return Some(coming.await);
    };
    tokio::select! {
        biased;
        came = coming => Some(came),
        () = runtime.sleep_until(at) => None,
    }
}

/// Takes a request back, unless it has ended; in a forked child it is the parent's.
struct ResourceRequestGuard<'a> {
    connection: &'a Connection,
    id: RequestId,
    fork_generation: u64,
}

impl ResourceRequestGuard<'_> {
    fn new(connection: &Connection, id: RequestId) -> ResourceRequestGuard<'_> {
        ResourceRequestGuard { connection, id, fork_generation: platform::fork_generation() }
    }
}

impl Drop for ResourceRequestGuard<'_> {
    fn drop(&mut self) {
        if self.fork_generation == platform::fork_generation() {
            self.connection.cancel(self.id);
        }
    }
}

impl Driver {
    /// Tells the server of the end of a subscription, and waits until it is told. Neither the end
    /// of that wait nor a dropped future ends the telling: until the server has answered, it is
    /// told nothing else of the resource.
    ///
    /// # Errors
    /// `timeout` when the wait ends; else those of the request.
    pub(crate) async fn tell_end(self: &Arc<Self>, cell: &Arc<EntryCell>, uri: &str) -> Result<()> {
        let timeout = cell.call_timeout(&self.options);
        let (mut send, told) = oneshot::channel();
        let (options, uri, telling) = (self.options.clone(), Box::<str>::from(uri), cell.clone());
        self.spawn(async move {
            let listener = Asker::Listener(&mut send);
            let told = telling.tell_demand(&options, &uri, listener).await;
            // Nobody listens any more when the wait has ended.
            let _ = send.send(told);
        });
        let told = in_time(&self.runtime, timeout, told).await;
        let told = told.ok_or_else(|| overdue(timeout).with_outcome(Outcome::Unknown))?;
        told.unwrap_or_else(|_| Err(Error::new(ErrorCode::Internal, "the request was lost")))
    }

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

    /// A new connection knows of no subscription. Of what it grants those who want it are told an
    /// update, which they may have missed; what it refuses is asked for again after a while, and
    /// then they are warned. A connection that has gone is another's matter.
    pub(in crate::driver) fn renew_demand(
        self: &Arc<Self>,
        cell: &Arc<EntryCell>,
        uris: Vec<Box<str>>,
    ) {
        let Some((generation, _)) = cell.live_connection() else { return };
        let (driver, cell) = (Arc::downgrade(self), cell.clone());
        self.spawn(async move {
            let turns = Semaphore::new(TOLD_AT_ONCE);
            let (driver, at, when) = (&driver, (&*cell, generation), (&turns, &RENEWAL_WAITS[..]));
            let renewed = |uri: Box<str>| renew(driver, at, uri, when);
            stream::iter(uris).for_each_concurrent(None, renewed).await;
        });
    }

    /// Sessions that want updates of a resource are told that there will be none.
    fn warn_of_silence(&self, cell: &EntryCell, generation: Generation, uri: &str) {
        let uri_shown = escaped(uri);
        let message =
            format!("the server took no new subscription to `{uri_shown}` after a reconnect");
        let fields = [("code", warning_code::SUBSCRIPTION.into()), ("message", message.into())];
        for session in cell.resources.subscribers(uri) {
            let wants = || cell.resources.is_wanted_by(uri, session.recipient().number);
            let about = EventSubject::entry(&cell.named, generation);
            self.hub.publish_if(
                EventKind::Warning,
                Some(session.recipient()),
                &about,
                &fields,
                wants,
            );
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
        if cell.connection(generation).is_none() {
            return;
        }
        if tell(driver, cell, &uri).await {
            // Until now the server knew of nobody to tell: the resource may have been updated.
            if let Some(driver) = driver.upgrade() {
                driver.resource_updated(cell, generation, &uri);
            }
            return;
        }
    }
    if let Some(driver) = driver.upgrade()
        && cell.connection(generation).is_some()
    {
        driver.warn_of_silence(cell, generation, &uri);
    }
}

/// Tells the server about a resource, for nobody who waits; whether it is told, or there is nobody
/// left to tell it for.
async fn tell(driver: &Weak<Driver>, cell: &EntryCell, uri: &str) -> bool {
    let Some(options) = driver.upgrade().map(|driver| driver.options.clone()) else { return true };
    let told = cell.tell_demand(&options, uri, Asker::Nobody).await;
    if let Err(error) = &told {
        tracing::warn!(server = %cell.server, %error, "a resource subscription failed");
    }
    told.is_ok()
}

/// Resources that a server hears of at one time, in the background: enough that a few that it does
/// not answer hold up no other, and no burst.
const TOLD_AT_ONCE: usize = 16;

/// How long an end of a subscription that nobody waits for holds up who wants the same resource.
const END_WAIT: Duration = Duration::from_secs(10);

/// Before each attempt to renew subscriptions: a server that has just come up may be busy for a
/// moment, and what lasts longer is its answer.
const RENEWAL_WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];

/// The error of a host that waited too long.
fn overdue(timeout: Duration) -> Error {
    let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    Error::new(ErrorCode::Timeout, format!("no answer within {millis} ms"))
        .with_detail("which", words::deadline::TOTAL)
        .with_detail("limit_ms", millis)
        .with_hint(
            "raise `call_timeout_ms` of the pool, or call_timeout_ms in the server's configuration",
        )
}

fn not_connected() -> Error {
    let error = Error::new(ErrorCode::Unavailable, "the server is not connected now");
    error.with_outcome(Outcome::NotSent)
}
