//! A client of an endpoint: what it sends, and the frames that come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use trunkline_pool::bridge::Era;
use trunkline_pool::options::ServeOptions;

use crate::Pool;
use crate::api::scripted::pool_with;
use crate::serve::endpoint::Endpoint;
use crate::serve::lane::{Clients, LaneKind, Principal, PrincipalKind, Served, ServedPath};
use crate::serve::outlet::{FirstAnswer, FrameOutbox, Outlet, OutletBounds, StreamId};
use crate::testserver::testserver;

/// No wait of a test comes near it; a test that reaches it hangs.
const HANG: Duration = Duration::from_secs(60);

/// The numbers of streams, as a lane gives them.
static STREAMS: AtomicU64 = AtomicU64::new(1);

/// An endpoint over a server of that era, which is called `s`.
pub(super) async fn endpoint(server_era: &str, options: &str) -> (Pool, Arc<Endpoint>) {
    let server =
        json!({ "command": testserver(), "args": ["--era", server_era, "--list-changes"] });
    let pool = pool_with(json!({}), json!({ "s": server })).await;
    let options = ServeOptions::from_json(options).unwrap();
    let endpoint = Endpoint::new(pool.clone(), options).unwrap();
    (pool, endpoint)
}

/// A client, over HTTP as far as a lane is concerned.
pub(super) struct Peer {
    client: Arc<dyn Served>,
    era: Era,
    capabilities: Value,
    next: AtomicU64,
    /// What belongs to no request, of a legacy client.
    unasked: Option<FrameOutbox>,
}

impl Peer {
    /// One that has said what there is to say first.
    pub(super) async fn new(
        endpoint: &Endpoint,
        (era, name, at): (Era, &str, &str),
        capabilities: Value,
    ) -> Peer {
        let who = Principal { kind: PrincipalKind::Token, name: name.into(), profile: None };
        let path = ServedPath::parse(at).unwrap();
        let client = match era {
            Era::Legacy => endpoint.legacy(&path, &who, LaneKind::Http).await.unwrap(),
            Era::Modern => endpoint.modern(&path, &who, LaneKind::Http).await.unwrap(),
        };
        let mut peer = Peer { client, era, capabilities, next: AtomicU64::new(1), unasked: None };
        if era == Era::Legacy {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": peer.capabilities,
                "clientInfo": { "name": "peer", "version": "1" },
            });
            let opened = peer.ask("initialize", params).await;
            assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
            let said = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            peer.say(&said).await;
            let (outlet, unasked) = stream(false);
            peer.client.stream(outlet);
            peer.unasked = Some(unasked);
        }
        peer
    }

    /// Sends a request, and gives where it is answered.
    pub(super) fn send(&self, method: &str, mut params: Value) -> (u64, Exchange) {
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities.clone();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let (outlet, answers) = stream(true);
        let number = outlet.stream();
        self.client.message(&message.to_string(), None, outlet);
        (id, Exchange { stream: number, answers })
    }

    /// The answer to a request, whatever comes before it.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Value {
        let (id, mut exchange) = self.send(method, params);
        loop {
            let frame = exchange.frame().await;
            if frame["id"] == id && frame.get("method").is_none() {
                return frame;
            }
        }
    }

    /// Calls a tool.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Sends what is not answered.
    pub(super) async fn say(&self, message: &Value) {
        let (outlet, mut answers) = stream(true);
        self.client.message(&message.to_string(), None, outlet);
        let first = timeout(HANG, answers.first()).await.unwrap();
        assert!(matches!(first, FirstAnswer::Status(_)), "{first:?}");
    }

    /// The next message that belongs to no request.
    pub(super) async fn unasked(&mut self) -> Value {
        next(self.unasked.as_mut().unwrap()).await
    }

    /// Lets go of a stream, as a lane that loses its connection.
    pub(super) fn hang_up(&self, exchange: &Exchange) {
        self.client.stream_closed(exchange.stream);
    }
}

/// One request and what comes for it.
pub(super) struct Exchange {
    stream: StreamId,
    answers: FrameOutbox,
}

impl Exchange {
    pub(super) async fn frame(&mut self) -> Value {
        next(&mut self.answers).await
    }

    /// Whether it ended without another frame.
    pub(super) async fn is_over(&mut self) -> bool {
        timeout(HANG, self.answers.next()).await.unwrap().is_err()
    }
}

async fn next(answers: &mut FrameOutbox) -> Value {
    let frame = timeout(HANG, answers.next()).await.expect("no frame came");
    serde_json::from_str(&frame.expect("the stream ended").text).unwrap()
}

fn stream(ends_with_last: bool) -> (Outlet, FrameOutbox) {
    let bounds = OutletBounds { ends_with_last, unsent_bytes_max: 1 << 24, replay_bytes_max: 0 };
    Outlet::new(StreamId(STREAMS.fetch_add(1, Ordering::Relaxed)), bounds)
}
