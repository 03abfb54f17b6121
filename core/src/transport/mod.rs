//! Frames on their way: one JSON-RPC message each, in both directions, with a bound on everything.

mod child;
pub(crate) mod host;
pub(crate) mod http;
mod joined;
mod loan;
mod queue;
mod reader;
mod seldom;
mod server_error;
pub(crate) mod stdio;
mod wire;
mod writer;

pub(crate) use self::child::Child;
pub(crate) use self::host::HostWire;
pub use self::host::{HostConnection, HostServer};
#[cfg(feature = "fuzzing")]
pub(crate) use self::http::fuzzing;
pub use self::joined::{JoinedRequests, leaves_requests, took_results};
pub(crate) use self::joined::{take_turns, write_held};
pub use self::loan::EventLoop;
pub(crate) use self::loan::{Borrower, LentOutput, ReadBy};
pub(crate) use self::queue::{FrameKind, QUEUE_BYTES_MAX, QUEUE_REPLIES_MAX};
pub(crate) use self::reader::{Ahead, FrameReader, Line};
pub(crate) use self::server_error::of_server;
pub(crate) use self::wire::{Answer, BoxFuture, Doubt, Graces, Inbound, Sighting, Via, Wire};
pub(crate) use self::writer::{FrameWriter, Sent};
