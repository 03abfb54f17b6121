//! What a server of the modern era announces: it is asked for by `subscriptions/listen`, one stream
//! for all lists and one for each resource (SPEC 7.1, 7.7).
//!
//! A stream is a request that is answered only at its end. However it ends, by a result, an error,
//! a cancellation or without a word, it is opened again; and since something may have been missed,
//! those who wait for it are told so.
//!
//! Each resource has a stream: a stream cannot be changed, so one for all would be opened anew with
//! each subscription.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::interface::words;
use trunkline_pool::json::Plain;
use trunkline_pool::lenient::{kinds, lenient};

use super::freshness::BUSY_MAX;
use crate::client::calls::in_flight::Purpose;
use crate::client::connection::{Life, Link};
use crate::client::state::ignored_counts::count;
use crate::client::state::list_capabilities::ListCapabilities;
use crate::client::state::streams::{AnnouncedShare, Listening, Topic};
use crate::client::types::{Reply, RequestId};
use crate::client::{Connection, errors};
use crate::{Error, ErrorCode, Outcome, Result};

/// How long a stream may take to be acknowledged; one that is not counts as ended.
const ACKNOWLEDGED_WAIT: Duration = Duration::from_secs(10);

/// How long the first listing waits for the stream of the lists. What is acknowledged later is
/// followed by another listing.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// From the end of a stream to its next opening; it doubles while streams are short-lived. A busy
/// server has the time that it asks for.
const REOPEN_WAIT: Duration = Duration::from_millis(500);

/// The longest such wait.
const REOPEN_WAIT_MAX: Duration = Duration::from_secs(60);

/// A stream that lasted so long was a good one.
const HEALTHY_AFTER: Duration = Duration::from_secs(30);

/// Resources that one connection listens to: over HTTP each costs a socket.
const RESOURCES_MAX: usize = 256;

/// The params of a notification, as far as they say whose it is.
#[derive(Deserialize)]
struct Tagged {
    #[serde(rename = "_meta", default)]
    meta: SubscriptionMeta,
    #[serde(default)]
    notifications: Plain,
    #[serde(rename = "requestId")]
    request: Option<Id>,
}

#[derive(Deserialize, Default)]
struct SubscriptionMeta {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<Id>,
}

/// An id of ours as it comes back: some servers make texts of numbers.
#[derive(Deserialize)]
#[serde(untagged)]
pub(in crate::client) enum Id {
    Number(u64),
    Text(String),
}

impl Id {
    /// The number that it is, or that it says.
    pub(in crate::client) fn number(&self) -> Option<u64> {
        match self {
            Id::Number(id) => Some(*id),
            Id::Text(text) => text.parse().ok(),
        }
    }
}

impl Link {
    /// Opens the stream of the lists, and waits for its acknowledgement for a moment. A server that
    /// has none is listed at the keep-alive.
    pub(in crate::client) async fn listen_to_lists(self: &Arc<Self>) {
        let Some(lists) = self.declared.get().copied().filter(ListCapabilities::change) else {
            return;
        };
        if !self.metadata.is_modern() {
            return;
        }
        let (opened, first) = oneshot::channel();
        tokio::spawn(keep(self.clone(), Topic::Lists(lists), opened));
        let _ = tokio::time::timeout(FIRST_WAIT, first).await;
    }

    /// A stream was acknowledged.
    pub(in crate::client) fn take_acknowledged(&self, params: &str) {
        let read = lenient(params, &kinds::NOTIFICATION);
        let Ok(Tagged { meta, notifications, .. }) = serde_json::from_str(&read) else {
            return count(&self.ignored.notifications);
        };
        let id = meta.subscription.and_then(|id| id.number());
        let waits = id.and_then(|id| self.listens.streams().get_mut(&id)?.waits.take());
        match waits {
            // Nobody waits when the stream was given up.
            Some(waits) => drop(waits.send(notifications.0)),
            None => count(&self.ignored.notifications),
        }
    }

    /// Ends the stream that the server takes back; whether it was one.
    pub(in crate::client) fn ends_stream(&self, params: &str) -> bool {
        let tagged = serde_json::from_str::<Tagged>(&lenient(params, &kinds::NOTIFICATION)).ok();
        let id = tagged.and_then(|tagged| tagged.request?.number());
        let id = id.filter(|id| self.listens.streams().contains_key(id));
        if let Some(id) = id {
            // Nothing is wrong with the stream: it may well be granted the next time.
            let ended = Error::new(ErrorCode::CallInterrupted, "the server ended the stream");
            let ended = ended.with_server(self.server.as_ref()).with_outcome(Outcome::Unknown);
            self.end_flight(id, ended);
        }
        id.is_some()
    }

    /// A resource was updated, or a part of it: a listener to the whole knows the name of the whole
    /// alone.
    pub(in crate::client) fn take_updated(&self, params: &str) {
        #[derive(Deserialize)]
        struct Updated {
            uri: Box<str>,
        }
        let updated = serde_json::from_str::<Updated>(&lenient(params, &kinds::NOTIFICATION)).ok();
        let uri = updated.and_then(|Updated { uri }| match self.named_stream(params) {
            None => Some(uri),
            Some(id) => match &self.listens.streams().get(&id.number()?)?.topic {
                Topic::Resource(whole) => Some(whole.clone()),
                Topic::Lists(_) => Some(uri),
            },
        });
        match uri {
            Some(uri) => self.tell(|events| events.resource_updated(&uri)),
            None => count(&self.ignored.notifications),
        }
    }

    /// Whether a notification belongs to a stream that is open here.
    pub(in crate::client) fn is_ours(&self, params: &str) -> bool {
        let is_open = |id: u64| self.listens.streams().contains_key(&id);
        self.named_stream(params).is_none_or(|id| id.number().is_some_and(is_open))
    }

    /// The stream that a notification says it belongs to. Over a pipe all streams share one way.
    fn named_stream(&self, params: &str) -> Option<Id> {
        if !self.metadata.is_modern() {
            return None;
        }
        serde_json::from_str::<Tagged>(&lenient(params, &kinds::NOTIFICATION))
            .ok()?
            .meta
            .subscription
    }

    /// Opens a stream once.
    fn open_stream(self: &Arc<Self>, topic: &Topic) -> SubscriptionStream {
        let (acknowledge, acknowledged) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let id = self.calls.new_id();
        // Before the request goes out: the acknowledgement may be here before the function that
        // sends it returns.
        let listening = Listening { topic: topic.clone(), waits: Some(acknowledge) };
        self.listens.streams().insert(id, listening);
        let params = json!({ "notifications": topic.filter() }).to_string();
        self.start_own_as(id, Purpose::Stream, ("subscriptions/listen", &params), end);
        SubscriptionStream { link: self.clone(), id: RequestId(id), acknowledged, ended }
    }

    /// Something may have been missed.
    fn catch_up(&self, topic: &Topic) {
        match topic {
            Topic::Lists(_) => self.tell(|events| events.list_changed(ListKind::Tools)),
            Topic::Resource(uri) => self.tell(|events| events.resource_updated(uri)),
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.stands(), Life::Connecting | Life::Open)
    }
}

impl Connection {
    /// Whether the server is spoken with in the modern era.
    pub(crate) fn is_modern(&self) -> bool {
        self.0.metadata.is_modern()
    }

    /// Listens to a resource of a modern server, until [`ignore`](Self::ignore) or the end of the
    /// connection.
    ///
    /// # Errors
    /// `server_error` and `protocol` when the server does not grant it, `timeout` when it does not
    /// say, `limit`. Nobody listens then. A dropped future leaves the stream as it is.
    pub(crate) async fn listen(&self, uri: &str) -> Result<()> {
        let (opened, first) = oneshot::channel();
        {
            let mut resources = self.0.listens.resources();
            resources.retain(|_, task| !task.is_finished());
            if resources.len() >= RESOURCES_MAX {
                return Err(errors::limit(&self.0.server, words::limit::RESOURCE_STREAMS));
            }
            let keep = keep(self.0.clone(), Topic::Resource(uri.into()), opened);
            let task = self.0.runtime.spawn(keep).abort_handle();
            if let Some(before) = resources.insert(uri.into(), task) {
                before.abort();
            }
        }
        let lost = |_| Err(errors::interrupted(&self.0.server, Outcome::Unknown));
        let granted = first.await.unwrap_or_else(lost);
        if granted.is_err() {
            self.ignore(uri);
        }
        granted
    }

    /// The counterpart of [`listen`](Self::listen).
    pub(crate) fn ignore(&self, uri: &str) {
        if let Some(task) = self.0.listens.resources().remove(uri) {
            task.abort();
        }
    }
}

/// One opening of a stream; dropped, it is taken back.
struct SubscriptionStream {
    link: Arc<Link>,
    id: RequestId,
    acknowledged: oneshot::Receiver<Value>,
    ended: oneshot::Receiver<Result<Reply>>,
}

impl SubscriptionStream {
    /// What was granted.
    ///
    /// # Errors
    /// When the stream ended before it was acknowledged, or is not.
    async fn granted(&mut self) -> Result<Value> {
        let server = &self.link.server;
        tokio::select! {
            biased;
            Ok(granted) = &mut self.acknowledged => Ok(granted),
            ended = &mut self.ended => {
                let silent = || errors::interrupted(server, Outcome::Unknown);
                Err(ended.ok().and_then(Result::err).unwrap_or_else(silent))
            }
            () = tokio::time::sleep(ACKNOWLEDGED_WAIT) => {
                Err(unacknowledged().with_server(server.as_ref()))
            }
        }
    }
}

fn unacknowledged() -> Error {
    let limit = u64::try_from(ACKNOWLEDGED_WAIT.as_millis()).unwrap_or(u64::MAX);
    let message = format!("the server did not acknowledge a stream of changes within {limit} ms");
    Error::new(ErrorCode::Timeout, message)
        .with_detail("which", words::deadline::TOTAL)
        .with_detail("limit_ms", limit)
        .with_outcome(Outcome::Unknown)
        .with_hint("see whether the server acknowledges what is subscribed: it may be given up, or be too busy")
}

impl Drop for SubscriptionStream {
    fn drop(&mut self) {
        self.link.cancel(self.id);
        self.link.listens.streams().remove(&self.id.0);
    }
}

/// Keeps a stream open as long as the connection stands. The body of one task. `opened` hears of
/// the first opening.
async fn keep(link: Arc<Link>, topic: Topic, opened: oneshot::Sender<Result<()>>) {
    let mut opened = Some(opened);
    let mut was_granted = false;
    let mut wait = REOPEN_WAIT;
    while !link.is_over() {
        let begun = Instant::now();
        let mut stream = link.open_stream(&topic);
        let granted = stream.granted().await.map(|granted| topic.grant(&granted));
        let refused = match granted {
            Ok(grant @ (AnnouncedShare::Part | AnnouncedShare::Whole)) => {
                was_granted = true;
                if matches!(topic, Topic::Lists(_)) {
                    link.pulse.leaves_out.store(grant == AnnouncedShare::Part, Ordering::Relaxed);
                }
                let told = opened.take().map(|opened| opened.send(Ok(())).is_ok());
                if told != Some(true) {
                    link.catch_up(&topic);
                }
                let _ = (&mut stream.ended).await;
                None
            }
            Ok(AnnouncedShare::Nothing) => {
                let message = "the server does not announce what it was asked to";
                Some(errors::protocol(&link.server, message))
            }
            Err(error) => Some(error),
        };
        drop(stream);
        let asked = refused.as_ref().and_then(Error::retry_after).unwrap_or_default().min(BUSY_MAX);
        if matches!(topic, Topic::Lists(_)) {
            // Whatever it announced before: the keep-alive looks after the lists while there is no
            // stream.
            link.pulse.announces.store(false, Ordering::Relaxed);
        }
        if let Some(error) = refused.filter(|_| !link.is_over()) {
            tracing::warn!(server = %link.server, %error, "a stream of changes was refused");
            // What is not there, or not granted, will not be there the next time, unless it was
            // there before.
            let is_refusal =
                errors::is_method_not_found(&error) || error.code() == ErrorCode::Protocol;
            let is_final = is_refusal && !was_granted;
            let asker = opened.take_if(|_| is_final || matches!(topic, Topic::Resource(_)));
            let told = asker.is_some_and(|asker| asker.send(Err(error)).is_ok());
            if is_final || told {
                return;
            }
        }
        wait = if begun.elapsed() >= HEALTHY_AFTER { REOPEN_WAIT } else { wait };
        let mut ended = link.ending.ended.subscribe();
        tokio::select! {
            _ = ended.wait_for(Option::is_some) => return,
            () = tokio::time::sleep(wait.max(asked)) => {}
        }
        wait = (wait * 2).min(REOPEN_WAIT_MAX);
    }
}
