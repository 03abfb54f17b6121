//! An endpoint as its host has it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trunkline_pool::options::{ServeLimits, ServeOptions};

use super::endpoint::Endpoint;
use super::lane::Clients;
use super::lanes::{LaneBounds, LaneConfig, Lanes};
use crate::{Pool, Result};

/// An endpoint that serves a pool to clients that do not embed it (SPEC 19).
///
/// It keeps its pool open. Dropping it ends it at once, and nothing of it is left.
pub struct Serving {
    endpoint: Arc<Endpoint>,
    address: Option<SocketAddr>,
    socket: Option<PathBuf>,
    token: Option<Arc<str>>,
}

impl Pool {
    /// Opens an endpoint for clients that do not embed the library: over HTTP at a loopback
    /// address, and on a Unix socket.
    ///
    /// `/mcp/<server>` is one server as it is, `/mcp` all of them, and `/profiles/<name>/mcp…` what
    /// that profile has. Each client has a session of its own, so the pool's gates, approvals and
    /// limits hold for it. The calling thread opens files and sockets, and may wait for them.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path` for an address, a socket or a file that cannot be
    /// used, `limit` for a port or a socket that is taken, `store` for a file of tokens that cannot
    /// be read or made, `closing`, `closed`, `forked`.
    pub fn serve(&self, options: ServeOptions) -> Result<Serving> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        let config = lane_config(&options);
        let endpoint = Endpoint::new(self.clone(), options)?;
        let mut serving = Serving { endpoint, address: None, socket: None, token: None };
        let clients: Arc<dyn Clients> = serving.endpoint.clone();
        let lanes = Lanes::open(config, clients, self.0.driver.runtime.handle())?;
        serving.address = lanes.address();
        serving.socket = lanes.socket().map(Path::to_owned);
        serving.token = lanes.token();
        serving.endpoint.open_at(lanes, (serving.address, serving.socket.clone()));
        Ok(serving)
    }
}

impl Serving {
    /// The address for HTTP, with the port that it has; none without HTTP.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The path of the Unix socket; none without one.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// The first token of the file, for a client of the host's own. Where no file is named it is
    /// the only one, and in no file; it ends with the endpoint.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Lets nobody in any more, waits for the calls that are under way, at most for `drain` of its
    /// options, and ends everything. Repeating it does nothing.
    ///
    /// It begins when it is called. Dropping the future stops nothing.
    pub fn close(&self) -> impl Future<Output = ()> + Send + use<> {
        let (endpoint, wait) = (self.endpoint.clone(), self.endpoint.options().drain);
        let ending =
            self.endpoint.pool().0.driver.spawn(async move { endpoint.finish(wait).await });
        async move {
            // One that panicked has ended too.
            let _ = ending.await;
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.endpoint.pool().0.driver.runtime.is_forked() {
            return;
        }
        self.endpoint.end();
    }
}

/// What the lanes need of the options.
fn lane_config(options: &ServeOptions) -> LaneConfig {
    let ServeLimits { connections, sessions, body_bytes, header_bytes, .. } = options.limits;
    LaneConfig {
        http: options.http,
        socket: options.socket.as_ref().map(PathBuf::from),
        token_file: options.token_file.as_ref().map(PathBuf::from),
        allowed_hosts: options.allowed_hosts.clone(),
        allowed_origins: options.allowed_origins.clone(),
        bounds: LaneBounds {
            connections,
            sessions,
            body_bytes,
            header_bytes,
            idle: options.idle,
            ..LaneBounds::default()
        },
    }
}
