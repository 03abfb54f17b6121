//! Where the front listens: a port of the loopback, or a Unix socket.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;

use super::front::Speech;
use super::{events, refuse, socket};
use crate::flags::Flags;

/// A place that is listened at.
pub struct Place {
    /// Its connections, for as long as the process runs.
    pub streams: Box<dyn Iterator<Item = TcpStream> + Send>,
    /// What is printed of it: an address, or the name of the socket.
    pub address: String,
    pub origin: String,
    pub speech: Speech,
}

impl Place {
    /// Listens where the flags say; nothing when they say nothing.
    pub fn of(flags: &Flags) -> Option<Place> {
        if let Some(path) = &flags.http_unix {
            return Some(Place::unix(path));
        }
        let (port, speech, (scheme, path)) = match (flags.http, flags.sse, flags.ws) {
            (Some(port), ..) => (port, Speech::Streamable, ("http", "/mcp")),
            (_, Some(port), _) => (port, Speech::Events, ("http", events::STREAM_PATH)),
            (.., Some(port)) => (port, Speech::Socket, ("ws", socket::SOCKET_PATH)),
            (None, None, None) => return None,
        };
        let listener = TcpListener::bind(("127.0.0.1", port));
        let listener = listener.unwrap_or_else(|error| refuse(&format!("listen: {error}")));
        let Ok(address) = listener.local_addr() else { refuse("no address") };
        let streams = std::iter::from_fn(move || Some(listener.accept().ok()?.0));
        Some(Place {
            streams: Box::new(streams),
            address: format!("{scheme}://{address}{path}"),
            origin: format!("http://{address}"),
            speech,
        })
    }

    /// Streamable HTTP over a Unix socket. `@` alone takes a name that no other process has.
    fn unix(path: &str) -> Place {
        let address = match path {
            "@" => format!("@trunkline-testserver-{}", std::process::id()),
            path => path.to_string(),
        };
        let listener = match address.strip_prefix('@') {
            Some(name) => bind_name(name),
            None => UnixListener::bind(&address),
        };
        let listener = listener.unwrap_or_else(|error| refuse(&format!("listen: {error}")));
        // The calls of a stream are the same whatever it is of.
        let streams =
            std::iter::from_fn(move || Some(OwnedFd::from(listener.accept().ok()?.0).into()));
        let origin = "http://localhost".to_string();
        Place { streams: Box::new(streams), address, origin, speech: Speech::Streamable }
    }
}

#[cfg(target_os = "linux")]
fn bind_name(name: &str) -> std::io::Result<UnixListener> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    UnixListener::bind_addr(&address)
}

#[cfg(not(target_os = "linux"))]
fn bind_name(_name: &str) -> std::io::Result<UnixListener> {
    Err(std::io::ErrorKind::Unsupported.into())
}
