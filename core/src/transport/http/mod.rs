//! A remote server over Streamable HTTP, HTTP+SSE or a websocket: how its messages are posted, its streams read, and its session kept.
//!
//! Each message is a POST of its own, carried by a task of its own. What a server sends unasked comes over one GET stream; over
//! HTTP+SSE its answers do too.

mod body;
mod channel;
mod client;
mod endpoint;
mod error_context;
mod events;
mod exchange;
mod failure;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gap;
mod inbox;
mod listen;
mod mirror;
mod modern;
mod network;
mod outgoing;
mod pace;
mod post;
mod probe;
mod refusal;
mod said;
mod socket;
mod standing;
mod status;
mod stream;
mod wire;

pub(crate) use self::client::{address, secrets};
pub(crate) use self::refusal::MODERN_ERRORS;
pub(crate) use self::socket::SocketWire;
pub(crate) use self::wire::HttpWire;
