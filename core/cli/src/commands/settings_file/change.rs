//! What a command does to one server of a file.

use serde_json::{Map, Value};

/// What is to become of one server.
pub(super) enum Change {
    /// It is put in, with these members.
    Add(Map<String, Value>),
    Remove,
    /// One member of it gets this value.
    Set(&'static str, bool),
}
