//! The state of one connection, shared by its tasks and by everybody who calls through it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::watch;
use trunkline_pool::state::{CloseExit, LossReason};

use super::calls::in_flight::InFlight;
use super::era::Introduced;
use super::lists::freshness::Freshness;
use super::state::handshake::Handshake;
use super::state::ignored_counts::Ignored;
use super::state::list_capabilities::ListCapabilities;
use super::state::liveness::Liveness;
use super::state::open_requests::ServerRequests;
use super::state::outbox::NoticeOutbox;
use super::state::streams::Listens;
use super::types::{ConnectOptions, ConnectionEvents, ServerFacts};
use crate::Error;
use crate::net::redact::Redactor;
use crate::transport::{Child, Wire};

/// One connection.
pub(crate) struct Link {
    pub(super) server: Arc<str>,
    pub(super) options: ConnectOptions,
    pub(super) wire: Arc<dyn Wire>,
    pub(super) calls: InFlight,
    /// The server's own, that handlers work on.
    pub(super) asked: ServerRequests,
    /// Itself, for the tasks that it starts.
    pub(super) me: Weak<Link>,
    /// Takes the server's own secrets out of what it prints.
    pub(super) redactor: Arc<Redactor>,
    /// What each request says of us; there as soon as the server is spoken with as one of the
    /// modern era.
    pub(super) metadata: Introduced,
    pub(super) listens: Listens,
    pub(super) facts: OnceLock<ServerFacts>,
    /// Which lists the server declared.
    pub(super) declared: OnceLock<ListCapabilities>,
    /// Whether calls of its tools can be tasks.
    pub(super) has_tasks: AtomicBool,
    pub(super) handshake: Handshake,
    pub(super) pulse: Liveness,
    pub(super) freshness: Freshness,
    /// What the server is told once there is room.
    pub(super) owed: NoticeOutbox,
    /// What nobody asked for, by kind.
    pub(super) ignored: Ignored,
    pub(super) runtime: Handle,
    pub(super) ending: Ending,
    events: Arc<dyn ConnectionEvents>,
    /// When the connect gives up.
    pub(super) given_up_at: tokio::time::Instant,
    life: Mutex<Life>,
}

/// Where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// Until `connect` succeeds; a loss is its error.
    Connecting,
    /// A loss is reported to the driver.
    Open,
    /// Over, by itself.
    Lost,
    /// Over, on request.
    Closing,
}

/// The channels of the end.
pub(super) struct Ending {
    /// Set once, when the connection was lost.
    pub lost: watch::Sender<Option<Loss>>,
    /// Set when the graces are to be skipped.
    pub kill: watch::Sender<bool>,
    /// Set once, when nothing of the far end is left here.
    pub ended: watch::Sender<Option<CloseExit>>,
    pub begun: Mutex<bool>,
}

/// How a connection was lost.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    pub reason: LossReason,
    pub error: Error,
}

impl Link {
    /// One that nothing serves yet. `begun` is when the connect began.
    pub(super) fn new(
        wire: Arc<dyn Wire>,
        redactor: Arc<Redactor>,
        options: ConnectOptions,
        events: Arc<dyn ConnectionEvents>,
        begun: tokio::time::Instant,
    ) -> Arc<Link> {
        Arc::new_cyclic(|me| Link {
            server: options.server.clone(),
            wire,
            calls: InFlight::new(options.in_flight),
            asked: ServerRequests::new(Instant::now()),
            me: me.clone(),
            redactor,
            metadata: Introduced::default(),
            listens: Listens::default(),
            facts: OnceLock::new(),
            declared: OnceLock::new(),
            has_tasks: AtomicBool::new(false),
            handshake: Handshake::default(),
            pulse: Liveness::new(),
            freshness: Freshness::default(),
            owed: NoticeOutbox::default(),
            ignored: Ignored::default(),
            runtime: Handle::current(),
            ending: Ending {
                lost: watch::Sender::new(None),
                kill: watch::Sender::new(false),
                ended: watch::Sender::new(None),
                begun: Mutex::new(false),
            },
            given_up_at: begun + options.timeout,
            options,
            events,
            life: Mutex::new(Life::Connecting),
        })
    }

    /// Calls the driver. A panic of its stays here.
    pub(super) fn tell(&self, tell: impl FnOnce(&dyn ConnectionEvents)) {
        if catch_unwind(AssertUnwindSafe(|| tell(&*self.events))).is_err() {
            tracing::error!(server = %self.server, "a connection's event receiver panicked");
        }
    }

    /// Goes to another state if `allowed` says so of the present one; gives back the one before.
    pub(super) fn advance(&self, to: Life, allowed: impl FnOnce(Life) -> bool) -> Life {
        let mut life = self.life();
        let before = *life;
        if allowed(before) {
            *life = to;
        }
        before
    }

    /// Where the connection stands.
    pub(super) fn stands(&self) -> Life {
        *self.life()
    }

    /// What is kept of the server's stderr, escaped, oldest line first; empty where it has none.
    pub(super) fn stderr_lines(&self) -> Vec<String> {
        self.wire.child().map(Child::stderr_lines).unwrap_or_default()
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
