//! What reads files, for tests that hand it anything: no part of the interface.

use serde_json::Value;

pub use crate::catalog_cache::fuzzing::sealed;
use crate::json;

/// What a JSON text says where it must be read in one way only, and how many places of it are not
/// to be trusted.
pub fn strict(text: &str) -> Option<(Value, usize)> {
    json::parse(text).ok().map(|(value, defects)| (value, defects.len()))
}

/// The one form of all texts of that meaning.
pub fn canonical(text: &str) -> Option<String> {
    json::canonical(text).ok()
}
