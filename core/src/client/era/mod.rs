//! The two eras of the protocol on one connection: which of them a server speaks, and what a
//! request of the modern one carries (SPEC 4.8).
//!
//! A connection is modern from the moment that it has [`Metadata`]: each request of ours then
//! stands for itself, and what only a session of the legacy era knows is neither sent nor taken.

mod discover;
mod input_rounds;
mod negotiate;
mod request_meta;
mod result_type;

pub(super) use self::negotiate::GreetingFailure;
pub(super) use self::request_meta::{Introduced, Metadata, write_params};
pub(super) use self::result_type::ResultType;

use trunkline_pool::config::Era;

/// The revisions of the modern era that are spoken here, the preferred one first.
const REVISIONS: &[&str] = &["2026-07-28"];

/// How the first words to a server are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It is asked what it speaks.
    Probe,
    /// It spoke this the last time.
    Known(Era),
    /// Its configuration settles it.
    Only(Era),
}
