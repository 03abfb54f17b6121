//! A remote server as a wire: a task for each message, one that listens, and their end.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use trunkline_pool::catalog::Catalog;
use trunkline_pool::config::RemoteSpec;
use trunkline_pool::state::CloseExit;

use super::body::SendStage;
use super::http_client::Target;
use super::http_session::{Dialect, HttpSession};
use super::outgoing::Post;
use super::sse::get_stream;
use super::{modern_headers, post};
use crate::auth::Credentials;
use crate::net::cookies::Jar;
use crate::net::redact::Redactor;
use crate::transport::{BoxFuture, FrameKind, Graces, Inbound, Wire, WriteOutcome};
use crate::{Outcome, Result};

/// Notifications and replies that may be on their way: each has a socket until the server takes it.
/// A server that asks without end, or that takes nothing, must not crowd out the calls.
const UNANSWERED_MAX: usize = 256;

/// Requests that were taken back and whose answers are still read.
const RECALLED_MAX: usize = 64;

/// How long the answer to a request that was taken back is still read: most servers end it, and the
/// socket can be used again.
const RECALLED_WAIT: Duration = Duration::from_secs(1);

/// Requests below which those that have ended may stay in the table.
const SWEEP_MIN: usize = 64;

/// A server that is spoken with over HTTP.
pub(crate) struct HttpWire {
    channel: Arc<HttpSession>,
    tasks: Mutex<Tasks>,
}

struct Tasks {
    /// Absent before `run`.
    runtime: Option<Handle>,
    running: JoinSet<()>,
    requests: HashMap<u64, PostedRequest>,
    /// One less for each notification or reply on its way.
    unanswered: Arc<Semaphore>,
    /// One more for each request that was taken back.
    recalled: Arc<()>,
    listener: Option<AbortHandle>,
    /// How many requests there may be before those that have ended are looked for.
    sweep_at: usize,
    stopped: bool,
}

/// A request on its way.
struct PostedRequest {
    way: Arc<SendStage>,
    recalled: oneshot::Sender<Arc<()>>,
    task: AbortHandle,
    /// The end of its response takes it back.
    is_modern: bool,
}

impl HttpWire {
    /// A wire to that server, which is not spoken with yet. What cannot be reached within
    /// `patience` is given up.
    ///
    /// # Errors
    /// `invalid_config` for an address or header that cannot be sent.
    pub(crate) fn new(
        server: &Arc<str>,
        spec: &RemoteSpec,
        redactor: Arc<Redactor>,
        frame_bytes: usize,
        patience: Duration,
        (credentials, cookies): (Option<Arc<Credentials>>, Arc<Jar>),
    ) -> Result<HttpWire> {
        let target = Target::of(server, spec, patience, cookies)?;
        let channel = HttpSession::new(server.clone(), frame_bytes, redactor, target, credentials);
        let tasks = Tasks {
            runtime: None,
            running: JoinSet::new(),
            requests: HashMap::new(),
            unanswered: Arc::new(Semaphore::new(UNANSWERED_MAX)),
            recalled: Arc::default(),
            listener: None,
            sweep_at: SWEEP_MIN,
            stopped: false,
        };
        Ok(HttpWire { channel: Arc::new(channel), tasks: Mutex::new(tasks) })
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire for HttpWire {
    fn run(self: Arc<Self>, inbound: Arc<dyn Inbound>) {
        self.channel.open(inbound);
        let runtime = Handle::current();
        let mut tasks = self.tasks();
        let listener = tasks.running.spawn_on(get_stream::listen(self.channel.clone()), &runtime);
        tasks.listener = Some(listener);
        tasks.runtime = Some(runtime);
    }

    fn send(&self, frame: &[u8], kind: FrameKind) -> WriteOutcome {
        let bytes = Bytes::copy_from_slice(frame.trim_ascii_end());
        // Arguments are read without the lock, which every message takes.
        let Ok(headers) = modern_headers::headers(&bytes, &self.channel.mirrors) else {
            // A lost connection is told as such, whatever the arguments.
            return if self.tasks().stopped { WriteOutcome::Closed } else { WriteOutcome::Doubled };
        };
        let mut tasks = self.tasks();
        let Some(runtime) = tasks.runtime.clone().filter(|_| !tasks.stopped) else {
            return WriteOutcome::Closed;
        };
        tasks.reap();
        let unanswered = match kind {
            FrameKind::Request(_) => None,
            FrameKind::Notification | FrameKind::Reply => {
                match tasks.unanswered.clone().try_acquire_owned() {
                    Err(_) => return WriteOutcome::Full,
                    Ok(counted) => Some(counted),
                }
            }
        };
        let way = Arc::<SendStage>::default();
        let is_modern = headers.is_some();
        let post = Post { headers, bytes, kind, way: way.clone() };
        let carried = post::carry(self.channel.clone(), post);
        match kind {
            FrameKind::Request(id) => {
                let (recalled, taken_back) = oneshot::channel();
                let task = until_recalled(carried, taken_back);
                let task = tasks.running.spawn_on(task, &runtime);
                tasks.requests.insert(id, PostedRequest { way, recalled, task, is_modern });
            }
            FrameKind::Notification | FrameKind::Reply => {
                let counted = async move {
                    carried.await;
                    drop(unanswered);
                };
                tasks.running.spawn_on(counted, &runtime);
            }
        }
        WriteOutcome::Queued
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        let unanswered = self.tasks().unanswered.clone();
        Some(Box::pin(async move { drop(unanswered.acquire_owned().await) }))
    }

    fn withdraw(&self, request: u64) -> bool {
        let mut tasks = self.tasks();
        let Some(request) = tasks.requests.remove(&request) else { return false };
        if request.way.withdraw() {
            request.task.abort();
            return true;
        }
        match one_of(&tasks.recalled, RECALLED_MAX).filter(|_| !request.is_modern) {
            // One that has ended by itself needs nothing.
            Some(counted) => drop(request.recalled.send(counted)),
            None => request.task.abort(),
        }
        false
    }

    fn unsent(&self) -> HashSet<u64> {
        let tasks = self.tasks();
        let waiting = tasks.requests.iter().filter(|(_, request)| {
            request.way.outcome() == Outcome::NotSent && !request.task.is_finished()
        });
        waiting.map(|(id, _)| *id).collect()
    }

    fn stop(&self) -> Vec<u64> {
        let mut tasks = self.tasks();
        tasks.stopped = true;
        if let Some(listener) = tasks.listener.take() {
            listener.abort();
        }
        let requests = std::mem::take(&mut tasks.requests);
        let mut unsent = Vec::new();
        for (id, request) in requests {
            if request.way.withdraw() {
                unsent.push(id);
            }
            request.task.abort();
        }
        unsent
    }

    fn tells_withdrawals(&self) -> bool {
        true
    }

    fn mirrors_arguments(&self) -> bool {
        true
    }

    fn take_tools(&self, catalog: &mut Catalog) {
        self.channel.mirrors.take(catalog, &self.channel.server);
    }

    fn negotiated(&self, revision: &str) {
        self.channel.negotiated(revision);
    }

    fn transport(&self) -> Option<&'static str> {
        match self.channel.dialect() {
            Dialect::Unknown => None,
            Dialect::Streamable => Some("http"),
            Dialect::Events => Some("sse"),
        }
    }

    fn end(
        self: Arc<Self>,
        graces: Graces,
        mut killed: watch::Receiver<bool>,
    ) -> BoxFuture<'static, CloseExit> {
        Box::pin(async move {
            let mut running = std::mem::take(&mut self.tasks().running);
            let farewell = async {
                // Notifications that take calls back are still carried.
                let carried = async { while running.join_next().await.is_some() {} };
                let _ = tokio::time::timeout(graces.exit, carried).await;
                let _ = tokio::time::timeout(graces.kill, end_session(&self.channel)).await;
            };
            let exit = tokio::select! {
                biased;
                Ok(_) = killed.wait_for(|killed| *killed) => CloseExit::Forced,
                () = farewell => CloseExit::Clean,
            };
            running.shutdown().await;
            self.channel.close();
            exit
        })
    }
}

impl Tasks {
    /// Lets go of what has ended.
    fn reap(&mut self) {
        while self.running.try_join_next().is_some() {}
        if self.requests.len() >= self.sweep_at {
            self.requests.retain(|_, request| !request.task.is_finished());
            self.sweep_at = SWEEP_MIN.max(self.requests.len() * 2);
        }
    }
}

/// One of so many, until it is dropped; none when there are as many.
fn one_of(counter: &Arc<()>, most: usize) -> Option<Arc<()>> {
    // The counter itself is the first.
    (Arc::strong_count(counter) <= most).then(|| counter.clone())
}

/// Carries a request until it is taken back.
async fn until_recalled(carried: impl Future<Output = ()>, recalled: oneshot::Receiver<Arc<()>>) {
    tokio::pin!(carried);
    tokio::select! {
        biased;
        () = &mut carried => {}
        Ok(counted) = recalled => {
            let _ = tokio::time::timeout(RECALLED_WAIT, carried).await;
            drop(counted);
        }
    }
}

/// Ends the session that the server gave.
async fn end_session(channel: &HttpSession) {
    if let Some(session) = channel.leave_session() {
        post::end_session(channel, session).await;
    }
}
