//! A remote server over Streamable HTTP, HTTP+SSE or a websocket: how its messages are posted, its streams read, and its session kept.
//!
//! Each message is a POST of its own, carried by a task of its own. What a server sends unasked comes over one GET stream; over
//! HTTP+SSE its answers do too.

mod body;
mod channel;
mod client;
mod cookies;
mod events;
mod failure;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gap;
mod inbox;
mod listen;
mod mirror;
mod modern;
mod network;
mod pace;
mod post;
mod probe;
mod proxies;
mod refusal;
mod roots;
mod said;
mod socket;
mod standing;
mod stream;
mod wire;

pub(crate) use self::client::{Road, address, basic_pair, plain, secrets, tls};
pub(crate) use self::cookies::Jar;
pub(crate) use self::network::{is_unanswered, why_unreached};
pub(crate) use self::proxies::{misread as misread_proxies, proxy_of};
pub(crate) use self::refusal::MODERN_ERRORS;
pub(crate) use self::roots::NAMED_BY as ROOTS_NAMED_BY;
pub(crate) use self::said::coding;
pub(crate) use self::socket::SocketWire;
pub(crate) use self::wire::HttpWire;
