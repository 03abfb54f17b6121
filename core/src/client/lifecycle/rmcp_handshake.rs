//! What rmcp sees of a connection: the handshake. Nothing else reaches it.
//!
//! It never waits for the pipe and never owns the process. So neither a server that stops reading
//! nor rmcp itself can hold up a call or a close.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};

use rmcp::RoleClient;
use rmcp::model::{ClientConfig, Implementation, JsonRpcMessage, ProtocolVersion, RequestId};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, RxJsonRpcMessage, TxJsonRpcMessage,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use trunkline_pool::config::Era;
use trunkline_pool::json::readable;
use trunkline_pool::lenient::{kinds, lenient};
use trunkline_pool::options::ClientInfo;
use trunkline_pool::revision;

use crate::client::connection::Link;
use crate::client::errors;
use crate::client::introduction::Introduction;
use crate::client::state::handshake::{HandshakeState, lock};
use crate::client::state::ignored_counts::count;
use crate::client::state::list_capabilities::ListCapabilities;
use crate::client::types::ServerFacts;
use crate::transport::{FrameKind, Wire};
use crate::{Error, ErrorCode, Result};

/// Messages that wait for rmcp: the answer that it asked for.
const ANSWERS_WAITING_MAX: usize = 1;

/// The revisions that are spoken here; a server that answers with another is told nothing more.
pub(in crate::client) const REVISIONS: &[&str] =
    &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

impl Link {
    /// What servers are told of this client.
    pub(in crate::client) fn us(&self) -> Implementation {
        let host = self.options.client_info.as_ref().map(ClientInfo::to_protocol);
        let host = host.and_then(|host| serde_json::from_value(host).ok());
        host.unwrap_or_else(|| Implementation::new("trunkline", env!("CARGO_PKG_VERSION")))
    }

    /// Shakes hands, and keeps what the server said of itself. The caller sets the deadline. A
    /// server that refuses the revision is asked once more, for the newest that both know (SPEC
    /// 18.5).
    ///
    /// A dropped future ends rmcp's part; the process is not touched.
    pub(in crate::client) async fn shake_hands(&self) -> Result<()> {
        let newest = ProtocolVersion::V_2025_11_25;
        let refused = match self.shake_hands_in(newest.clone()).await {
            Err(refused) => refused,
            done => return done,
        };
        let said = lock(&self.handshake.inner).refusal.take();
        let other = said.and_then(|said| revision::instead(&said, newest.as_str(), REVISIONS));
        let other = other.and_then(|other| serde_json::from_value(json!(other)).ok());
        match other {
            Some(other) => self.shake_hands_in(other).await,
            None => Err(refused),
        }
    }

    async fn shake_hands_in(&self, revision: ProtocolVersion) -> Result<()> {
        let (to_rmcp, from_server) = mpsc::channel(ANSWERS_WAITING_MAX);
        {
            let mut inner = lock(&self.handshake.inner);
            if inner.ended {
                return Err(errors::protocol(&self.server, "the connection has ended"));
            }
            inner.to_rmcp = Some(to_rmcp);
        }
        let transport = FrameTransport {
            server: self.server.clone(),
            wire: self.wire.clone(),
            handshake: self.handshake.inner.clone(),
            from_server,
        };
        let client = ClientConfig::new(self.capabilities(Era::Legacy), self.us())
            .with_protocol_version(revision);
        let mode = ClientLifecycleMode::Initialize;
        let service =
            serve_client_with_lifecycle_and_ct(client, transport, mode, Default::default())
                .await
                .map_err(|error| refusal(self, error))?;
        self.keep_facts(&service)?;
        // Its part is over: what it would keep ready for more is three times what all the rest of
        // an idle connection takes.
        self.handshake.end();
        drop(service);
        Ok(())
    }

    fn keep_facts(&self, service: &RunningService<RoleClient, ClientConfig>) -> Result<()> {
        let Some(peer) = service.peer().peer_info() else {
            return Err(errors::protocol(&self.server, "the server's handshake is incomplete"));
        };
        let lists = ListCapabilities::declared_by(&peer.capabilities);
        let (name, version) = match &peer.server_info {
            Some(server) => (self.redactor.text(&server.name), self.redactor.text(&server.version)),
            None => Default::default(),
        };
        let protocol_version = peer.protocol_version.as_str().to_owned();
        let introduction = lock(&self.handshake.inner).said.take();
        let has_logging = peer.capabilities.logging.is_some();
        let era = Some(Era::Legacy);
        let facts = ServerFacts { era, protocol_version, name, version, introduction, has_logging };
        // A connection shakes hands once.
        let _ = (self.facts.set(facts), self.declared.set(lists));
        Ok(())
    }

    /// Whether a server's revision is one that is spoken here; it is told nothing more otherwise.
    fn check_revision(&self, revision: &str) -> Result<()> {
        if REVISIONS.contains(&revision) {
            return Ok(());
        }
        let shown = errors::revision(&self.redactor.text(revision));
        let known = REVISIONS.join(", ");
        let message = format!(
            "the server answered `initialize` with revision {shown} of the protocol, and not with one of {known}"
        );
        Err(errors::protocol(&self.server, message).with_detail("revision", shown))
    }

    /// The answer to the handshake as rmcp wants it, of what can be understood (SPEC 18.2).
    ///
    /// # Errors
    /// When it names no revision that is spoken here.
    fn introduced(&self, id: Option<u64>, result: &str) -> Result<Value> {
        let read = readable(&lenient(result, &kinds::INITIALIZE)).unwrap_or_default();
        let text = |value: &Value, name: &str| {
            self.redactor.text(value[name].as_str().unwrap_or_default())
        };
        let Some(revision) = read["protocolVersion"].as_str() else {
            let what =
                if read.is_object() { "has no `protocolVersion`" } else { "is not an object" };
            let message = format!("the server's answer to the handshake {what}");
            return Err(errors::protocol(&self.server, message));
        };
        // Before rmcp has it, since what rmcp sends next must say so.
        self.check_revision(revision)?;
        self.wire.negotiated(revision);
        self.note_tasks(&read);
        let server = &read["serverInfo"];
        let said = Introduction::new(revision, (&read, server), &self.redactor);
        lock(&self.handshake.inner).said = Some(said);
        // It stands in rmcp's log as it is given: nothing that may be secret, and no more than is
        // needed.
        let result = json!({
            "protocolVersion": revision,
            "capabilities": offered(&read["capabilities"]),
            "serverInfo": { "name": text(server, "name"), "version": text(server, "version") },
        });
        Ok(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    /// A reply that no call of ours waits for: the handshake's, or nobody's.
    ///
    /// # Errors
    /// When it is the handshake's, and cannot be read or is of a revision that is not spoken here.
    pub(in crate::client) fn take_handshake_reply(
        &self,
        id: Option<u64>,
        reply: std::result::Result<&str, &str>,
    ) -> Result<()> {
        let mut inner = lock(&self.handshake.inner);
        let wanted = inner.expected.is_some() && id.is_none_or(|id| inner.expected == Some(id));
        let Some(to_rmcp) = inner.to_rmcp.clone().filter(|_| wanted) else {
            count(&self.ignored.replies);
            return Ok(());
        };
        let id = inner.expected.take();
        inner.refusal = reply.err().map(str::to_owned);
        drop(inner);
        let message = match reply {
            Ok(result) => self.introduced(id, result)?,
            // What is wrong stays here: rmcp is told that something is.
            Err(_) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 0, "message": "" } }),
        };
        let message: RxJsonRpcMessage<RoleClient> = serde_json::from_value(message)
            .map_err(|_| errors::protocol(&self.server, UNUSABLE))?;
        // The one place is free: rmcp asks one thing at a time.
        to_rmcp
            .try_send(message)
            .map_err(|_| errors::protocol(&self.server, "the handshake was answered twice"))
    }
}

/// Of what a server offers, the part that is asked for later.
fn offered(capabilities: &Value) -> Value {
    let is_asked = |(name, value): &(&String, &Value)| {
        ["listChanged", "subscribe"].contains(&name.as_str()) && value.is_boolean()
    };
    let part = |name: &str| {
        let said = capabilities[name].as_object()?;
        let asked = said.iter().filter(is_asked).map(|(name, value)| (name.clone(), value.clone()));
        Some((name.to_owned(), Value::Object(asked.collect())))
    };
    let parts = ["tools", "prompts", "resources", "logging", "completions"];
    parts.into_iter().filter_map(part).collect::<Map<_, _>>().into()
}

/// The transport of the one connection that rmcp serves.
struct FrameTransport {
    server: Arc<str>,
    wire: Arc<dyn Wire>,
    handshake: Arc<Mutex<HandshakeState>>,
    from_server: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

impl Transport<RoleClient> for FrameTransport {
    type Error = Infallible;

    /// Queues at most, and never waits. What a full queue refuses is lost: its server does not
    /// read.
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

/// What is said of an answer to the handshake that nothing can be made of.
const UNUSABLE: &str = "the server's answer to the handshake cannot be read";

/// Why rmcp gave up, without what the server sent: that may be anything.
fn refusal(link: &Link, error: ClientInitializeError) -> Error {
    let server = &link.server;
    match error {
        ClientInitializeError::JsonRpcError(_) => {
            let said = lock(&link.handshake.inner).refusal.clone();
            let refused = link.refused(&said.unwrap_or_default());
            Error::new(ErrorCode::Protocol, "the server refused the handshake")
                .with_server(server.as_ref())
                .with_cause(refused)
        }
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::Cancelled => {
            errors::protocol(server, "the connection ended during the handshake")
        }
        _ => errors::protocol(
            server,
            "what came instead of the server's answer to the handshake is none",
        ),
    }
}
