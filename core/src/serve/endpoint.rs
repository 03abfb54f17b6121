//! The endpoint: who is let in, and the clients that there are.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use trunkline_pool::bridge::{
    BridgeInput, ClientFacts, ClientLimits, EndpointName, Era, LaneKind as BridgeLane, SealingKey,
    ServedPath as BridgePath,
};
use trunkline_pool::options::{
    Admission, NewClient, ServeOptions, ServerSelection, SessionOptions, StatusOptions,
};

use super::client::{AtEnd, PoolClient};
use super::lane::{Clients, LaneError, LaneKind, OpenedClient, Principal, Served, ServedPath};
use super::lanes::Lanes;
use super::leases::Leases;
use super::questions::{ClientLink, handlers};
use super::secrets::{random, sealing_key};
use super::watch::watch;
use crate::api::PoolEndpoint;
use crate::{ErrorCode, Pool, Result};

/// How long a host may take to decide about a client.
const DECISION_WAIT_MAX: Duration = Duration::from_secs(5);

/// What a client of a transparent path waits for its server before it is let in without.
const INTRODUCTION_WAIT_MAX: Duration = Duration::from_secs(30);

/// How long the last frames may take to leave.
const FLUSH_WAIT_MAX: Duration = Duration::from_secs(2);

/// Resources that one client may be subscribed to.
const SUBSCRIPTIONS_MAX: usize = 1024;

/// Each client of the process has a session of its own name.
static LAST: AtomicU64 = AtomicU64::new(0);

/// What a lane gets, or the reason why it gets nothing.
type Admitted<T> = std::result::Result<T, LaneError>;

/// What the lanes serve: the pool, for clients that do not embed it.
pub(crate) struct Endpoint {
    me: Weak<Endpoint>,
    pool: Pool,
    options: ServeOptions,
    key: SealingKey,
    /// How long the host may take to decide about a client.
    patience: Duration,
    state: Mutex<EndpointState>,
    /// What carries frames to it, while it is open.
    lanes: Mutex<Option<Lanes>>,
    /// Where it is reached.
    places: OnceLock<(Option<SocketAddr>, Option<PathBuf>)>,
    /// A client is gone.
    changed: Notify,
}

#[derive(Default)]
struct EndpointState {
    clients: BTreeMap<u64, Arc<PoolClient>>,
    /// What the modern requests of a principal at a path share.
    modern: HashMap<ModernKey, u64>,
    is_draining: bool,
}

/// Where a modern client is, who, and how it is reached.
type ModernKey = (BridgePath, String, LaneKind);

/// A client that asks to be let in.
struct Caller<'a> {
    path: &'a ServedPath,
    who: &'a Principal,
    lane: LaneKind,
    era: Era,
}

impl Endpoint {
    /// An endpoint without clients.
    ///
    /// # Errors
    /// `invalid_argument` or `store` for the file of its key, `internal` without random bytes.
    pub(super) fn new(pool: Pool, options: ServeOptions) -> Result<Arc<Endpoint>> {
        Endpoint::with_patience(pool, options, DECISION_WAIT_MAX)
    }

    /// The same, whose host has so long to decide about a client.
    fn with_patience(
        pool: Pool,
        options: ServeOptions,
        patience: Duration,
    ) -> Result<Arc<Endpoint>> {
        options.check()?;
        let key = sealing_key(options.state_key_file.as_deref())?;
        let known = pool.clone();
        let endpoint = Arc::new_cyclic(|me| Endpoint {
            me: me.clone(),
            pool,
            options,
            key,
            patience,
            state: Mutex::default(),
            lanes: Mutex::default(),
            places: OnceLock::new(),
            changed: Notify::new(),
        });
        let weak: Weak<Endpoint> = endpoint.me.clone();
        known.0.endpoints.add(weak);
        Ok(endpoint)
    }

    /// It is reached there from now on.
    pub(super) fn open_at(&self, lanes: Lanes, places: (Option<SocketAddr>, Option<PathBuf>)) {
        self.places.get_or_init(|| places);
        *self.lanes.lock().unwrap_or_else(PoisonError::into_inner) = Some(lanes);
    }

    fn take_lanes(&self) -> Option<Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(super) fn options(&self) -> &ServeOptions {
        &self.options
    }

    /// A new client, which is kept.
    async fn let_in(&self, caller: Caller<'_>) -> Admitted<Arc<dyn Served>> {
        let client: Arc<dyn Served> = self.keep(self.open(caller).await?)?;
        Ok(client)
    }

    /// Lets a client in, or says why not.
    async fn open(&self, caller: Caller<'_>) -> Admitted<Arc<PoolClient>> {
        self.check_open()?;
        let (path, options) = self.admitted(&caller).await?;
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let link = ClientLink::default();
        let client = self.client(&caller, (path, options), (number, &link))?;
        link.set(&client.me);
        let waits = client.server_is_there(INTRODUCTION_WAIT_MAX).await;
        let opened = waits.and_then(|()| watch(&client)).map_err(|error| of_pool(&error));
        if let Err(error) = opened.and_then(|()| self.check_open()) {
            client.end();
            return Err(error);
        }
        Ok(client)
    }

    fn client(
        &self,
        caller: &Caller<'_>,
        (path, mut options): (BridgePath, SessionOptions),
        (number, link): (u64, &ClientLink),
    ) -> Admitted<Arc<PoolClient>> {
        options.id = format!("served-{number}");
        options.handlers = handlers(link);
        if let Some(server) = &path.server {
            options.servers = ServerSelection::Names(vec![server.clone()]);
        }
        let facts = self.facts(caller, path).map_err(|error| of_pool(&error))?;
        let session = self.pool.session(options).map_err(|error| of_pool(&error))?;
        if let Some(server) = &facts.path.server {
            session.introduction(server).map_err(|error| of_pool(&error))?;
        }
        let driver = self.pool.0.driver.clone();
        Ok(Arc::new_cyclic(|me| {
            let endpoint = self.me.clone();
            let at_end: AtEnd = Box::new(move |number| {
                if let Some(endpoint) = endpoint.upgrade() {
                    endpoint.forget(number);
                }
            });
            let of = (at_end, driver);
            PoolClient::new(me, of, (number, caller.lane, facts), (session, Leases::default()))
        }))
    }

    fn facts(&self, caller: &Caller<'_>, path: BridgePath) -> Result<ClientFacts> {
        let (options, limits) = (&self.options, &self.options.limits);
        Ok(ClientFacts {
            era: caller.era,
            lane: match caller.lane {
                LaneKind::Http => BridgeLane::Http,
                LaneKind::Lines => BridgeLane::Lines,
            },
            path,
            principal: caller.who.to_string(),
            endpoint: EndpointName {
                name: "trunkline".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            parking: options.parking,
            limits: ClientLimits {
                calls: limits.calls as usize,
                parked: limits.parked as usize,
                listens: limits.listens as usize,
                subscriptions: SUBSCRIPTIONS_MAX,
                parked_for: options.parked_for,
                idle: options.idle,
            },
            key: self.key.clone(),
            nonce: random()?,
        })
    }

    /// The path and the session options of a client that may come in.
    async fn admitted(&self, caller: &Caller<'_>) -> Admitted<(BridgePath, SessionOptions)> {
        let (asked, held) = (caller.path.profile.as_deref(), caller.who.profile.as_deref());
        let mut profile = match (asked, held) {
            (Some(asked), Some(held)) if asked != held => {
                return Err(refused(403, "the token is one of another profile"));
            }
            (asked, held) => asked.or(held).map(str::to_owned),
        };
        let server = caller.path.server.as_deref().map(str::to_owned);
        let path = BridgePath { profile: asked.map(str::to_owned), server };
        match self.decided(caller, &path).await {
            Admission::Accept => {}
            Admission::Profile(other) => profile = Some(other),
            _ => return Err(refused(403, "the host refuses this client")),
        }
        let options = match &profile {
            None => SessionOptions::new("served"),
            Some(name) => match self.options.profiles.get(name) {
                Some(options) => options.clone(),
                None => return Err(refused(404, "there is no such profile")),
            },
        };
        if let Some(server) = &path.server
            && !options.servers.names(server)
        {
            return Err(refused(404, "the profile has no such server"));
        }
        Ok((path, options))
    }

    /// What the host decides. A panic and silence refuse.
    async fn decided(&self, caller: &Caller<'_>, path: &BridgePath) -> Admission {
        let Some(on_client) = self.options.on_client.clone() else { return Admission::Accept };
        let client = NewClient::new(caller.who.to_string(), path.to_string());
        let mut deciding = self.pool.0.driver.spawn(async move { on_client.decide(client).await });
        match tokio::time::timeout(self.patience, &mut deciding).await {
            Ok(Ok(admission)) => admission,
            Ok(Err(error)) => {
                tracing::warn!(%error, "a client is refused: `on_client` failed");
                Admission::Refuse
            }
            Err(_) => {
                deciding.abort();
                tracing::warn!("a client is refused: `on_client` did not decide in time");
                Admission::Refuse
            }
        }
    }

    /// Keeps a client; the one that is there already, of a modern principal.
    fn keep(&self, client: Arc<PoolClient>) -> Admitted<Arc<PoolClient>> {
        let kept = {
            let mut state = self.state();
            let key = (client.path.clone(), client.principal.clone(), client.lane);
            let other = state.modern.get(&key).filter(|_| client.is_modern);
            match other.and_then(|number| state.clients.get(number)).cloned() {
                _ if state.is_draining => None,
                Some(other) => Some(other),
                None => {
                    if client.is_modern {
                        state.modern.insert(key, client.number);
                    }
                    state.clients.insert(client.number, client.clone());
                    Some(client.clone())
                }
            }
        };
        match kept {
            Some(kept) if Arc::ptr_eq(&kept, &client) => Ok(kept),
            kept => {
                client.end();
                kept.ok_or_else(draining)
            }
        }
    }

    /// The client that the modern requests of a principal share, if there is one.
    fn modern_client(
        &self,
        path: &ServedPath,
        who: &Principal,
        lane: LaneKind,
    ) -> Option<Arc<PoolClient>> {
        let path = BridgePath {
            profile: path.profile.as_deref().map(str::to_owned),
            server: path.server.as_deref().map(str::to_owned),
        };
        let state = self.state();
        let number = state.modern.get(&(path, who.to_string(), lane))?;
        state.clients.get(number).filter(|client| !client.is_over()).cloned()
    }

    /// A client is gone.
    pub(super) fn forget(&self, number: u64) {
        let gone = {
            let mut state = self.state();
            state.modern.retain(|_, client| *client != number);
            state.clients.remove(&number)
        };
        drop(gone);
        self.changed.notify_waiters();
    }

    /// Lets nobody in any more, and has every client finish what it asked.
    pub(super) async fn finish(&self, wait: Duration) {
        let clients = {
            let mut state = self.state();
            state.is_draining = true;
            state.clients.values().cloned().collect::<Vec<_>>()
        };
        clients.iter().for_each(|client| client.input(BridgeInput::Drain));
        let until = Instant::now() + wait;
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if clients.iter().all(|client| client.is_over()) {
                break;
            }
            if tokio::time::timeout_at(until, changed).await.is_err() {
                break;
            }
        }
        let lanes = self.take_lanes();
        self.end();
        if let Some(mut lanes) = lanes {
            // What was queued last is still on its way.
            let left = until.saturating_duration_since(Instant::now());
            lanes.drain(left.min(FLUSH_WAIT_MAX)).await;
        }
    }

    /// Ends every client at once, and what carries frames.
    pub(super) fn end(&self) {
        drop(self.take_lanes());
        let clients = {
            let mut state = self.state();
            state.is_draining = true;
            state.modern.clear();
            std::mem::take(&mut state.clients)
        };
        clients.into_values().for_each(|client| client.end());
    }

    /// Its clients, for the status.
    pub(super) fn clients(&self) -> Vec<Value> {
        let clients: Vec<_> = self.state().clients.values().cloned().collect();
        let row = |client: &Arc<PoolClient>| {
            json!({
                "path": client.path.to_string(),
                "principal": client.principal,
                "era": if client.is_modern { "modern" } else { "legacy" },
                "session": client.session.id(),
                "calls": client.calls_under_way(),
            })
        };
        clients.iter().map(row).collect()
    }

    fn check_open(&self) -> Admitted<()> {
        if self.is_ready() { Ok(()) } else { Err(draining()) }
    }

    fn state(&self) -> MutexGuard<'_, EndpointState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolEndpoint for Endpoint {
    fn status(&self) -> Value {
        let (address, socket) = self.places.get().cloned().unwrap_or_default();
        json!({
            "address": address.map(|address| address.to_string()),
            "socket": socket.map(|socket| socket.to_string_lossy().into_owned()),
            "clients": self.clients(),
        })
    }

    fn drain(self: Arc<Self>, wait: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { self.finish(wait).await })
    }
}

impl Clients for Endpoint {
    fn legacy<'a>(
        &'a self,
        path: &'a ServedPath,
        who: &'a Principal,
        lane: LaneKind,
    ) -> OpenedClient<'a> {
        Box::pin(async move { self.let_in(Caller { path, who, lane, era: Era::Legacy }).await })
    }

    fn modern<'a>(
        &'a self,
        path: &'a ServedPath,
        who: &'a Principal,
        lane: LaneKind,
    ) -> OpenedClient<'a> {
        Box::pin(async move {
            match self.modern_client(path, who, lane) {
                Some(client) => Ok(client as Arc<dyn Served>),
                None => self.let_in(Caller { path, who, lane, era: Era::Modern }).await,
            }
        })
    }

    fn is_ready(&self) -> bool {
        !self.state().is_draining && self.pool.0.driver.check_open().is_ok()
    }

    fn metrics(&self) -> String {
        // A fork's child has no socket of the endpoint.
        self.pool.metrics(&StatusOptions::default()).unwrap_or_default()
    }
}

fn draining() -> LaneError {
    refused(503, "the endpoint is closing")
}

fn refused(status: u16, message: &str) -> LaneError {
    LaneError { status, code: -32600, message: message.to_owned() }
}

/// Why the pool takes no such client.
fn of_pool(error: &crate::Error) -> LaneError {
    let status = match error.code() {
        ErrorCode::NotAdmitted => 404,
        ErrorCode::Limit => 429,
        _ => 503,
    };
    LaneError { status, code: -32603, message: error.message().to_owned() }
}
