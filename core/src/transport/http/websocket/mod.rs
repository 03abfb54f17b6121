//! A remote server over a websocket: an HTTP request that is upgraded, and one JSON-RPC message in
//! each of its messages.
//!
//! The way up to the upgrade is that of any other request: the same TLS, proxies, headers,
//! redirects and refusals.
//!
//! A connector of its own would know no proxy and bring a second TLS set-up.

mod activity;
mod handshake;
mod outbox;
mod pump;
mod skim;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use trunkline_pool::config::RemoteSpec;
use trunkline_pool::state::CloseExit;

use self::outbox::Outbox;
#[cfg(feature = "fuzzing")]
pub(in crate::transport::http) use self::pump::{bounds, line};
use super::http_client::Target;
use super::http_session::HttpSession;
use crate::Result;
use crate::auth::Credentials;
use crate::net::cookies::Jar;
use crate::net::redact::Redactor;
use crate::transport::{BoxFuture, FrameKind, Graces, Inbound, Wire, WriteOutcome};

/// A server that is spoken with over a websocket.
pub(crate) struct SocketWire {
    channel: Arc<HttpSession>,
    outbox: Arc<Outbox>,
    /// The server ended what was open, and gave no reason that is about itself.
    ended_by_word: Arc<AtomicBool>,
    /// The one task, once it runs.
    tasks: Mutex<JoinSet<()>>,
}

impl SocketWire {
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
    ) -> Result<SocketWire> {
        let target = Target::of(server, spec, patience, cookies)?;
        let channel = HttpSession::new(server.clone(), frame_bytes, redactor, target, credentials);
        Ok(SocketWire {
            channel: Arc::new(channel),
            outbox: Arc::default(),
            ended_by_word: Arc::default(),
            tasks: Mutex::default(),
        })
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire for SocketWire {
    fn run(self: Arc<Self>, inbound: Arc<dyn Inbound>) {
        self.channel.open(inbound);
        let (channel, outbox) = (self.channel.clone(), self.outbox.clone());
        self.tasks().spawn(pump::carry(channel, outbox, self.ended_by_word.clone()));
    }

    fn send(&self, frame: &[u8], kind: FrameKind) -> WriteOutcome {
        self.outbox.send(frame.trim_ascii_end(), kind)
    }

    fn withdraw(&self, request: u64) -> bool {
        self.outbox.withdraw(request)
    }

    fn unsent(&self) -> HashSet<u64> {
        self.outbox.unsent()
    }

    fn stop(&self) -> Vec<u64> {
        self.outbox.stop()
    }

    fn may_have_ended_by_word(&self) -> bool {
        self.ended_by_word.load(Ordering::SeqCst)
    }

    fn end(
        self: Arc<Self>,
        graces: Graces,
        mut killed: watch::Receiver<bool>,
    ) -> BoxFuture<'static, CloseExit> {
        Box::pin(async move {
            let mut tasks = std::mem::take(&mut *self.tasks());
            self.outbox.close();
            let exit = tokio::select! {
                biased;
                Ok(_) = killed.wait_for(|killed| *killed) => CloseExit::Forced,
                // A server that does not answer the farewell is left without one.
                _ = tokio::time::timeout(graces.exit, tasks.join_next()) => CloseExit::Clean,
            };
            // What the task holds, the socket above all, goes before this returns.
            tasks.shutdown().await;
            self.channel.close();
            exit
        })
    }
}
