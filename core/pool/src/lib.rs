//! The pure half of trunkline: every rule of the pool, and no IO.
//!
//! Nothing in this crate reads a clock, opens a file, spawns a process or awaits. Time and ids come
//! in as arguments, and everything that is to happen goes out as an [`Effect`](state::Effect). That
//! is what lets a simulator run a million steps of it in a second, and what makes a race in it
//! impossible.
//!
//! - [`error`]: the one error type and its stable codes.
//! - [`interface`]: the registry of errors, events and options that all four languages share.
//! - [`oauth`]: what authorization servers answer.
//! - [`options`]: typed options, parsed once from JSON.
//! - [`config`]: a server's configuration and its fingerprint.
//! - [`settings`]: the settings files of products, read into configurations.
//! - [`expand`]: the variables in those configurations, put in place.
//! - [`layers`]: several sources of configuration, and for each server the one that counts.
//! - [`bridge`]: what a served client says, as requests to servers, and back.
//! - [`catalog`]: what a server listed, and the differences between two lists.
//! - [`catalog_cache`]: what servers listed last, for the time in which they are not connected.
//! - [`approvals`]: what a person is asked before a project's server runs, and what they decided.
//! - [`acceptance`]: the definitions of tools that are accepted, and what is held back.
//! - [`explain`]: why a server or a tool is not there, and what can be done.
//! - [`view`]: what a session makes of a catalog.
//! - [`text`] and [`glob`]: strings that others wrote, shown safely and matched.
//! - [`id_map`]: maps by ids of our own.
//! - [`in_flight`]: the requests of one connection that wait for an answer.
//! - [`revision`]: which revision of the protocol a server that refuses one is asked for.
//! - [`reader_role`]: who reads what the server of a connection writes.
//! - [`json`]: JSON where it must be read in one way only.
//! - [`message`]: whether what a server sent is a message, and which.
//! - [`lenient`]: what others send, as readers with types want it.
//! - [`metrics`]: the status as a collector of metrics reads it.
//! - [`naming`]: the names under which tools are exposed to a model.
//! - [`shapes`]: tools in the shapes in which model APIs take them.
//! - [`trace_context`]: the trace that a call belongs to.
//! - [`state`]: the reducer that decides.
//! - [`plan`]: the differences that a new desired state asks for.
#![forbid(unsafe_code)]

pub mod acceptance;
pub mod approvals;
mod base;
pub mod bridge;
pub mod catalog;
pub mod catalog_cache;
pub mod config;
pub mod error;
pub mod expand;
pub mod gates;
pub mod interface;
pub mod json;
pub mod layers;
pub mod lenient;
pub mod naming;
pub mod oauth;
pub mod options;
mod protocol;
mod requests;
pub mod settings;
pub mod shapes;
pub mod state;
pub mod view;

/// What reads files, for tests that hand it anything: no part of the interface.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    use serde_json::Value;

    pub use crate::catalog_cache::fuzzing::sealed;
    use crate::json;

    /// What a JSON text says where it must be read in one way only, and how many places of it are
    /// not to be trusted.
    pub fn strict(text: &str) -> Option<(Value, usize)> {
        json::parse(text).ok().map(|(value, defects)| (value, defects.len()))
    }

    /// The one form of all texts of that meaning.
    pub fn canonical(text: &str) -> Option<String> {
        json::canonical(text).ok()
    }
}

pub use base::{glob, id_map, text};
pub use error::{Error, ErrorCode, Outcome, Result};
pub use interface::metrics;
pub use layers::plan;
pub use protocol::{message, revision, trace_context};
pub use requests::{in_flight, reader_role};
pub use view::explain;
