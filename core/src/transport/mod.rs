//! Frames over pipes: one JSON-RPC message a line, in both directions, with a bound on everything.

pub(crate) mod escape;
mod reader;
pub(crate) mod redact;
pub(crate) mod stdio;
mod writer;

pub(crate) use self::reader::{FrameReader, Line};
pub(crate) use self::writer::{FrameKind, FrameWriter, Sent};
