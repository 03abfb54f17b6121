//! Frames on their way: one JSON-RPC message each, in both directions, with a bound on everything.

mod child;
mod coalesce;
mod event_loop;
mod frame_queue;
mod frame_reader;
mod frame_writer;
pub(crate) mod host;
pub(crate) mod http;
mod server_error;
pub(crate) mod stdio;
mod value_command;
mod wire;

pub(crate) use self::child::Child;
pub use self::coalesce::{WriteBatch, leaves_requests, took_results};
pub(crate) use self::coalesce::{take_turns, write_held};
pub use self::event_loop::EventLoop;
pub(crate) use self::event_loop::{AnswerReader, Borrower, LentOutput};
pub(crate) use self::frame_queue::{FrameKind, QUEUE_BYTES_MAX, QUEUE_REPLIES_MAX};
pub(crate) use self::frame_reader::{Ahead, FrameReader, ServerLine};
pub(crate) use self::frame_writer::{FrameWriter, WriteOutcome};
pub(crate) use self::host::HostWire;
pub use self::host::{HostConnection, HostServer};
#[cfg(feature = "fuzzing")]
pub(crate) use self::http::fuzzing;
pub(crate) use self::server_error::of_server;
pub(crate) use self::value_command::{printed_by, run_command};
pub(crate) use self::wire::{
    BoxFuture, DisconnectCause, Graces, Inbound, MayHaveRun, UndeliveredAnswer, Via, Wire,
};
