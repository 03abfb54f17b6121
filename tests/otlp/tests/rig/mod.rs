//! A pool that is watched, and a receiver of OTLP.

mod receiver;
#[path = "../../../../core/tests/rig/testserver.rs"]
mod testserver;

use std::time::Duration;

use serde_json::{Value, json};
use trunkline::otlp::{Export, Telemetry};
use trunkline::{
    AcquireOptions, CallOptions, CallResult, Lease, Pool, PoolOptions, Result, Servers, Session,
    SessionOptions,
};

pub use receiver::{Answers, Receiver};
#[allow(unused_imports, reason = "not every test looks at what was told")]
pub use receiver::{Told, texts};
pub use testserver::testserver;

/// No wait of a test comes near it; a test that reaches it hangs.
pub const HANG: Duration = Duration::from_secs(90);

/// A host's own runtime.
pub fn host<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A pool that is watched.
pub struct Rig {
    /// What it is watched with.
    pub telemetry: Telemetry,
    /// The pool.
    pub pool: Pool,
}

impl Rig {
    /// A pool that tells that receiver.
    pub fn new(receiver: &Receiver) -> Rig {
        Rig::with(&Export::to(receiver.endpoint()))
    }

    /// One that is told in that way.
    pub fn with(to: &Export) -> Rig {
        Rig::watched(Telemetry::export(to).unwrap())
    }

    /// One that is watched with that.
    pub fn watched(telemetry: Telemetry) -> Rig {
        let options = PoolOptions::from_json(r#"{"cache":"off"}"#).unwrap();
        Rig { pool: Pool::with_telemetry(options, &telemetry).unwrap(), telemetry }
    }

    /// Makes these servers the pool's.
    pub async fn configure(&self, servers: Value) {
        let servers = Servers::from_json(&servers.to_string()).unwrap();
        self.pool.reconcile(servers).await.unwrap();
    }

    /// The reference server as `s`, and a session that is ready to call its tools.
    pub async fn session(&self, id: &str) -> Session {
        self.configure(json!({ "s": { "command": testserver() } })).await;
        let session = self.pool.session(SessionOptions::new(id)).unwrap();
        session.ready(Some("s"), None).await.unwrap();
        session
    }

    /// A lease of that session.
    pub async fn lease(&self, session: &Session) -> Lease {
        session.acquire("s", None, &AcquireOptions::default()).await.unwrap()
    }

    /// Closes the pool, and has the rest told.
    pub async fn end(self) {
        self.pool.close().await.unwrap();
        self.telemetry.shutdown(Telemetry::SHUTDOWN_MAX).unwrap();
    }
}

/// A call with the options that nearly all have.
pub async fn call(lease: &Lease, tool: &str, arguments: Value) -> Result<CallResult> {
    lease.call_tool(tool, &arguments.to_string(), &CallOptions::default()).await
}
