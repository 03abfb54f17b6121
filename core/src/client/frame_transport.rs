//! What rmcp sees of a connection: the handshake. Nothing else reaches it.
//!
//! It never waits for the pipe and never owns the process, so that neither a server that stops reading nor rmcp itself
//! can hold up a call or a close.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, Implementation, JsonRpcMessage, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, RxJsonRpcMessage, TxJsonRpcMessage,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use trunkline_pool::config::Era;

use super::link::{Link, count};
use super::lists::Lists;
use super::{ServerFacts, failure};
use crate::transport::{FrameKind, Wire};
use crate::{Error, ErrorCode, Result};

/// Messages that wait for rmcp: the answer that it asked for.
const ANSWERS_WAITING_MAX: usize = 1;

/// The revisions that are spoken here; a server that answers with another is told nothing more.
pub(super) const REVISIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The link between the reader and rmcp.
#[derive(Default)]
pub(super) struct Handshake {
    inner: Arc<Mutex<Inner>>,
    /// Whether a question is open beside it, whose answer may make it needless.
    question: watch::Sender<bool>,
}

#[derive(Default)]
struct Inner {
    /// The id of the request whose answer rmcp waits for.
    expected: Option<u64>,
    to_rmcp: Option<mpsc::Sender<RxJsonRpcMessage<RoleClient>>>,
    ended: bool,
}

impl Handshake {
    /// Whether this is the answer that rmcp waits for.
    pub(super) fn expects(&self, id: u64) -> bool {
        lock(&self.inner).expected == Some(id)
    }

    /// A question is open beside it, or is not any more.
    pub(super) fn set_question(&self, is_open: bool) {
        self.question.send_replace(is_open);
    }

    /// Waits until no question is open beside it; whether it is wanted then.
    pub(super) fn is_wanted(&self) -> impl Future<Output = bool> + use<> {
        let (inner, mut question) = (self.inner.clone(), self.question.subscribe());
        async move {
            let _ = question.wait_for(|is_open| !is_open).await;
            !lock(&inner).ended
        }
    }

    /// Lets go of rmcp. It is told nothing more.
    pub(super) fn end(&self) {
        let mut inner = lock(&self.inner);
        inner.ended = true;
        inner.expected = None;
        let rest = inner.to_rmcp.take();
        drop(inner);
        drop(rest);
        self.set_question(false);
    }
}

/// What servers are told of this client.
pub(super) fn us() -> Implementation {
    Implementation::new("trunkline", env!("CARGO_PKG_VERSION"))
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Shakes hands, and keeps what the server said of itself. The caller sets the deadline.
    ///
    /// A dropped future ends rmcp's part; the process is not touched.
    pub(super) async fn shake_hands(&self) -> Result<()> {
        let (to_rmcp, from_server) = mpsc::channel(ANSWERS_WAITING_MAX);
        {
            let mut inner = lock(&self.handshake.inner);
            if inner.ended {
                return Err(failure::protocol(&self.server, "the connection has ended"));
            }
            inner.to_rmcp = Some(to_rmcp);
        }
        let transport = FrameTransport {
            server: self.server.clone(),
            wire: self.wire.clone(),
            handshake: self.handshake.inner.clone(),
            from_server,
        };
        let client = ClientConfig::new(self.capabilities(Era::Legacy), us())
            .with_protocol_version(ProtocolVersion::V_2025_11_25);
        let mode = ClientLifecycleMode::Initialize;
        let service =
            serve_client_with_lifecycle_and_ct(client, transport, mode, Default::default())
                .await
                .map_err(|error| refusal(self, error))?;
        self.keep_facts(&service)?;
        // Its part is over: what it would keep ready for more is three times what all the rest of an idle connection takes.
        self.handshake.end();
        drop(service);
        Ok(())
    }

    fn keep_facts(&self, service: &RunningService<RoleClient, ClientConfig>) -> Result<()> {
        let Some(peer) = service.peer().peer_info() else {
            return Err(failure::protocol(&self.server, "the server's handshake is incomplete"));
        };
        let lists = Lists::declared_by(&peer.capabilities);
        let (name, version) = match &peer.server_info {
            Some(server) => (self.redactor.text(&server.name), self.redactor.text(&server.version)),
            None => Default::default(),
        };
        let protocol_version = peer.protocol_version.as_str().to_owned();
        let facts = ServerFacts { era: Some(Era::Legacy), protocol_version, name, version };
        // A connection shakes hands once.
        let _ = (self.facts.set(facts), self.declared.set(lists));
        Ok(())
    }

    /// Whether a server's revision is one that is spoken here; it is told nothing more otherwise.
    fn check_revision(&self, revision: &str) -> Result<()> {
        if REVISIONS.contains(&revision) {
            return Ok(());
        }
        let shown = failure::revision(&self.redactor.text(revision));
        let message =
            format!("the server speaks revision {shown} of the protocol, which is unknown here");
        Err(failure::protocol(&self.server, message).with_detail("revision", shown))
    }

    /// A reply that no call of ours waits for: the handshake's, or nobody's.
    ///
    /// # Errors
    /// When it is the handshake's, and cannot be read or is of a revision that is not spoken here.
    pub(super) fn take_handshake_reply(&self, id: Option<u64>, frame: &[u8]) -> Result<()> {
        let mut inner = lock(&self.handshake.inner);
        let wanted = inner.expected.is_some() && id.is_none_or(|id| inner.expected == Some(id));
        let Some(to_rmcp) = inner.to_rmcp.clone().filter(|_| wanted) else {
            count(&self.ignored.replies);
            return Ok(());
        };
        inner.expected = None;
        drop(inner);
        let unusable = || failure::protocol(&self.server, unusable(frame));
        let message: RxJsonRpcMessage<RoleClient> =
            serde_json::from_slice(frame).map_err(|_| unusable())?;
        if let JsonRpcMessage::Response(response) = &message {
            let ServerResult::InitializeResult(result) = &response.result else {
                return Err(unusable());
            };
            // Before rmcp has it, since what rmcp sends next must say so.
            let revision = result.protocol_version.as_str();
            self.check_revision(revision)?;
            self.wire.negotiated(revision);
            self.note_tasks(frame);
        }
        // The one place is free: rmcp asks one thing at a time.
        to_rmcp
            .try_send(message)
            .map_err(|_| failure::protocol(&self.server, "the handshake was answered twice"))
    }
}

/// The transport of the one connection that rmcp serves.
struct FrameTransport {
    server: Arc<str>,
    wire: Arc<dyn Wire>,
    handshake: Arc<Mutex<Inner>>,
    from_server: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

impl Transport<RoleClient> for FrameTransport {
    type Error = Infallible;

    /// Queues at most, and never waits. What a full queue refuses is lost: its server does not read.
    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = std::result::Result<(), Infallible>> + Send + 'static {
        let sent: Ready<std::result::Result<(), Infallible>> = ready(Ok(()));
        let kind = match &item {
            JsonRpcMessage::Request(request) => {
                let id = match request.id {
                    RequestId::Number(id) => u64::try_from(id).ok(),
                    RequestId::String(_) => None,
                };
                lock(&self.handshake).expected = id;
                id.map_or(FrameKind::Notification, FrameKind::Request)
            }
            JsonRpcMessage::Notification(_) => FrameKind::Notification,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => FrameKind::Reply,
        };
        match serde_json::to_vec(&item) {
            Ok(mut frame) => {
                frame.push(b'\n');
                self.wire.send(&frame, kind);
            }
            Err(_) => tracing::error!(server = %self.server, "a message of ours cannot be written"),
        }
        sent
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.from_server.recv().await
    }

    async fn close(&mut self) -> std::result::Result<(), Infallible> {
        Ok(())
    }
}

/// What is wrong with an answer to the handshake (PROTOCOL 1.1), without what is in it.
fn unusable(frame: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    const SAID: &str = "the server's answer to the handshake";
    let Ok(Answer { result }) = serde_json::from_slice(frame) else {
        return format!("{SAID} cannot be read");
    };
    let Ok(members) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(result.get()) else {
        return format!("{SAID} is no object");
    };
    let names = ["protocolVersion", "capabilities", "serverInfo"];
    let missing = names.iter().filter(|name| !members.contains_key(**name));
    let missing: Vec<String> = missing.map(|name| format!("no `{name}`")).collect();
    match missing.is_empty() {
        true => format!("{SAID} has a `capabilities` or `serverInfo` that is of another kind"),
        false => format!("{SAID} has {}", missing.join(" and ")),
    }
}

/// Why rmcp gave up, without what the server sent: that may be anything.
fn refusal(link: &Link, error: ClientInitializeError) -> Error {
    let server = &link.server;
    match error {
        ClientInitializeError::JsonRpcError(refusal) => {
            let text = serde_json::to_string(&refusal).unwrap_or_default();
            let refused = link.refused(&text);
            Error::new(ErrorCode::Protocol, "the server refused the handshake")
                .with_server(server.as_ref())
                .with_cause(refused)
        }
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::Cancelled => {
            failure::protocol(server, "the connection ended during the handshake")
        }
        _ => failure::protocol(
            server,
            "what came instead of the server's answer to the handshake is none",
        ),
    }
}
