//! A remote server over Streamable HTTP, HTTP+SSE or a websocket: how its messages are posted, its
//! streams read, and its session kept.
//!
//! Each message is a POST of its own, carried by a task of its own. What a server sends unasked
//! comes over one GET stream; over HTTP+SSE its answers do too.
//!
//! HTTP/1.1 is what every server has. HTTP/2 would save sockets, for a further protocol in every
//! host. Compression is not asked for, so that no body is larger than what is read of the socket.

mod body;
mod detect;
mod errors;
mod exchange;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod http_client;
mod http_session;
mod modern_headers;
mod outgoing;
mod param_headers;
mod post;
mod sse;
mod status_errors;
mod websocket;
mod wire;

pub(crate) use self::http_client::{address, secrets};
pub(crate) use self::status_errors::MODERN_ERRORS;
pub(crate) use self::websocket::SocketWire;
pub(crate) use self::wire::HttpWire;
