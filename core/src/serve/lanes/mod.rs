//! The lanes: how frames travel between an endpoint and its clients (SPEC 19.2, 19.7).
//!
//! Streamable HTTP on a loopback port and on a Unix socket; one message a line on the socket.

mod accept;
mod bounds;
mod front;
mod guard;
mod http;
mod lines;
mod quotas;
mod rpc_errors;
mod stalled;
#[cfg(test)]
mod tests;
mod tokens;
#[cfg(unix)]
mod unix_socket;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::front::Front;
use self::guard::OriginGuard;
use self::http::sessions::LegacySessions;
use self::quotas::Quotas;
use self::tokens::Tokens;
use super::lane::Clients;
use crate::{Error, ErrorCode, Result};

pub(super) use self::bounds::LaneBounds;

/// What the lanes of an endpoint are.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneConfig {
    pub http: Option<SocketAddr>,
    pub socket: Option<PathBuf>,
    /// Where the tokens of a port are: the file is made if it is not there. Without one there is a
    /// token that is in no file.
    pub token_file: Option<PathBuf>,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    pub bounds: LaneBounds,
}

/// The smallest head that hyper reads.
const HEADER_BYTES_MIN: usize = 8 << 10;

/// The lanes of an endpoint while it serves. When dropped, every connection ends at once.
pub(super) struct Lanes {
    front: Arc<Front>,
    address: Option<SocketAddr>,
    #[cfg(unix)]
    socket: Option<unix_socket::BoundSocket>,
    drain: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Lanes {
    /// Opens them. It may block.
    ///
    /// # Errors
    /// `invalid_argument` for a host, an origin or a socket that cannot be one; `limit` for a port
    /// or a socket that is taken; `store` for the file of tokens.
    pub(super) fn open(
        config: LaneConfig,
        clients: Arc<dyn Clients>,
        runtime: &Handle,
    ) -> Result<Lanes> {
        let _inside = runtime.enter();
        let listener = config.http.map(bound_port).transpose()?;
        let address = listener.as_ref().map(TcpListener::local_addr).transpose();
        let address =
            address.map_err(|error| Error::new(ErrorCode::Internal, error.to_string()))?;
        let guard = OriginGuard::new(address, &config.allowed_hosts, &config.allowed_origins)?;
        let tokens = match &config.token_file {
            Some(file) => Some(Arc::new(Tokens::open(file.clone(), config.bounds.token_recheck)?)),
            None if config.http.is_some() => Some(Arc::new(Tokens::random()?)),
            None => None,
        };
        let mut bounds = config.bounds;
        bounds.header_bytes = bounds.header_bytes.max(HEADER_BYTES_MIN);
        let quotas = Quotas::new(&bounds);
        let front = Arc::new(Front {
            clients,
            bounds,
            guard,
            tokens,
            quotas,
            sessions: LegacySessions::default(),
        });
        let (drain, drained) = watch::channel(false);
        let mut tasks = vec![runtime.spawn(http::idle::end_idle(front.clone(), drained.clone()))];
        tasks.extend(listener.map(|listener| {
            runtime.spawn(accept::serve_tcp(front.clone(), listener, drained.clone()))
        }));
        #[cfg(unix)]
        let socket = {
            let mut socket =
                config.socket.as_deref().map(unix_socket::BoundSocket::bind).transpose()?;
            let user = crate::platform::own_user();
            let listener = socket.as_mut().and_then(|socket| socket.listener.take());
            tasks.extend(listener.map(|listener| {
                runtime.spawn(accept::serve_unix(front.clone(), listener, user, drained))
            }));
            socket
        };
        #[cfg(not(unix))]
        if config.socket.is_some() {
            let message = "option `socket`: this system has no Unix sockets; use `http`";
            return Err(
                Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "socket")
            );
        }
        Ok(Lanes {
            front,
            address,
            #[cfg(unix)]
            socket,
            drain,
            tasks,
        })
    }

    /// The address of the port.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Where the socket is.
    pub(super) fn socket(&self) -> Option<&Path> {
        #[cfg(unix)]
        return self.socket.as_ref().map(unix_socket::BoundSocket::path);
        #[cfg(not(unix))]
        None
    }

    /// The first token, for a client of the host's own.
    pub(super) fn token(&self) -> Option<Arc<str>> {
        self.front.tokens.as_ref().and_then(|tokens| tokens.first())
    }

    /// Takes no more connections, and waits for those that are there: at most so long.
    ///
    /// A dropped future goes on with nothing: the lanes stay draining until they are dropped.
    pub(super) async fn drain(&mut self, wait: Duration) {
        self.drain.send_replace(true);
        self.front.sessions.close_all();
        let all = async {
            for task in &mut self.tasks {
                // A task that panicked is over too.
                let _ = task.await;
            }
        };
        let _ = tokio::time::timeout(wait, all).await;
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.drain.send_replace(true);
        self.tasks.iter().for_each(JoinHandle::abort);
        self.front.sessions.close_all();
    }
}

/// A listener at an address of this machine.
fn bound_port(address: SocketAddr) -> Result<TcpListener> {
    let listen = || {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    };
    listen().map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::AddrInUse => ErrorCode::Limit,
            _ => ErrorCode::InvalidArgument,
        };
        let message = format!("option `http`: {address} cannot be listened at: {error}");
        Error::new(code, message)
            .with_detail("path", "http")
            .with_hint("give another port, or 0 for any that is free")
    })
}
